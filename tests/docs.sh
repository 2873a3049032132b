#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Are the documents about this program? -h against man pages and completion, a page and a golden case
# for every command, links and make targets in the documents. Lines "ok NAME" or "FAIL NAME: why".
# PROFBPF is the program.
set -eu
cd "$(dirname "$0")/.."
bin=${PROFBPF:-build/release/profbpf}
status=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# verdict NAME: the file $tmp/wrong says what is wrong
verdict() {
	if [ -s "$tmp/wrong" ]; then
		echo "FAIL $1: $(head -n 1 "$tmp/wrong")"
		sed 's/^/    /' "$tmp/wrong"
		status=1
	else
		echo "ok $1"
	fi
	: >"$tmp/wrong"
}
: >"$tmp/wrong"

"$bin" -h >"$tmp/main"
commands=$(sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' "$tmp/main" | grep -vx help)
[ -n "$commands" ] || echo "profbpf -h lists no command" >>"$tmp/wrong"
verdict commands

# The options of a page: ".It Fl p , Fl -pid Ar PID" has --pid.
page_options() {
	sed -n 's/^\.It Fl/Fl/p' "$1" | grep -o 'Fl -[a-z][a-z-]*' | sed 's/^Fl -/--/' | sort -u
}
help_options() {
	grep -o '^  \(-., \|    \)--[a-z][a-z-]*' "$1" | sed 's/.*--/--/' | sort -u
}

for c in $commands; do
	page=docs/man/profbpf-$c.1
	"$bin" "$c" -h >"$tmp/help" || echo "profbpf $c -h: exit status $?" >>"$tmp/wrong"
	if [ ! -e "$page" ]; then
		echo "no $page" >>"$tmp/wrong"
	else
		help_options "$tmp/help" >"$tmp/has"
		# the options that every command has are described once, in profbpf.1
		{
			page_options "$page"
			page_options docs/man/profbpf.1
		} | sort -u >"$tmp/said"
		comm -23 "$tmp/has" "$tmp/said" | sed "s|^|$page lacks |" >>"$tmp/wrong"
		page_options "$page" | comm -13 "$tmp/has" - | sed "s|^|$page has, -h has not: |" >>"$tmp/wrong"
	fi
	grep -q "Xr profbpf-$c 1" docs/man/profbpf.1 || echo "profbpf.1 does not refer to profbpf-$c" >>"$tmp/wrong"
	verdict "man-$c"
done

for page in docs/man/*.1; do
	if command -v mandoc >/dev/null; then
		mandoc -T lint -W warning "$page" | grep -v 'referenced manual not found' >>"$tmp/wrong" || :
	fi
	c=$(basename "$page" .1)
	c=${c#profbpf-}
	[ "$c" = profbpf ] || echo "$commands" | grep -qx "$c" || echo "$page is about no command" >>"$tmp/wrong"
done
verdict man-lint

# Completion reads -h; does it find every command and option there?
cat >"$tmp/complete" <<'END'
. docs/completions/profbpf.bash
PATH=$1:$PATH
complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _profbpf; printf '%s\n' "${COMPREPLY[@]}"; }
shift
complete_words "$@"
END
mkdir "$tmp/bin"
ln -s "$(realpath "$bin")" "$tmp/bin/profbpf"
bash "$tmp/complete" "$tmp/bin" profbpf '' | sort >"$tmp/said"
printf '%s\n' "$commands" | sort | comm -23 - "$tmp/said" | sed 's/^/not completed: /' >>"$tmp/wrong"
for c in $commands; do
	"$bin" "$c" -h | help_options /dev/stdin >"$tmp/has"
	bash "$tmp/complete" "$tmp/bin" profbpf "$c" -- 2>"$tmp/err" | sort -u >"$tmp/said" || :
	bash "$tmp/complete" "$tmp/bin" profbpf "$c" --h 2>>"$tmp/err" | grep -qx -- --help || echo "$c --h does not complete to --help" >>"$tmp/wrong"
	comm -23 "$tmp/has" "$tmp/said" | sed "s/^/not completed for $c: /" >>"$tmp/wrong"
	cat "$tmp/err" >>"$tmp/wrong"
done
verdict completion

for c in $commands; do
	case $c in record | doctor) continue ;; esac # their output is of this machine: end-to-end tests
	grep -lqs "profbpf\"* $c\b\|\$PROFBPF\"* $c\b\|^$c\b" tests/golden/*/cmd 2>/dev/null || echo "no golden case for $c" >>"$tmp/wrong"
done
verdict golden-cases

# Links to files and headings of our own documents.
anchors() { # the headings of a markdown file as its anchors
	sed -n 's/^##*  *//p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
	sed -n 's/.*<a \(id\|name\)="\([^"]*\)".*/\2/p' "$1"
}
for doc in README.md CONTRIBUTING.md NEWS.md docs/*.md; do
	grep -o '\](\([^)]*\))' "$doc" | sed 's/^](//; s/)$//' | while read -r link; do
		case $link in http://* | https://* | mailto:*) continue ;; esac
		file=${link%%#*}
		if [ -z "$file" ]; then file=$doc; else file=$(dirname "$doc")/$file; fi
		if [ ! -e "$file" ]; then
			echo "$doc: $link leads nowhere"
			continue
		fi
		case $link in
		*#*) anchors "$file" | grep -qxF -- "${link#*#}" || echo "$doc: $link: no such heading" ;;
		esac
	done
done >>"$tmp/wrong"
# Hints of the program that name a place in docs/.
grep -rhoE 'docs/[a-z-]+\.md(#[a-z0-9-]+)?' user symbolize flamegraph --include='*.[ch]' | sort -u | while read -r link; do
	if [ ! -e "${link%%#*}" ]; then
		echo "a source names ${link%%#*}, which does not exist"
		continue
	fi
	case $link in
	*#*) anchors "${link%%#*}" | grep -qxF -- "${link#*#}" || echo "a source names $link: no such heading" ;;
	esac
done >>"$tmp/wrong"
verdict links

# make targets that the documents name.
grep -hoE '(`|^|sudo )make [a-z][a-z0-9_.-]*' README.md CONTRIBUTING.md docs/*.md | sed 's/.*make //' | sort -u | while read -r t; do
	grep -qE "^$t:" Makefile || echo "the documents say make $t, the Makefile knows no $t"
done >>"$tmp/wrong"
verdict make-targets
exit $status
