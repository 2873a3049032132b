#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# run.sh [--update]    golden cases: a folder with `cmd` (run by bash in this folder; $PROFBPF is the
#                      program, $CASE_TMP an empty folder of the case) and `expected.txt`: what it
#                      prints, then its standard error and exit status if there are any.
#
# Prints "ok NAME" or "FAIL NAME: why" with the difference. --update (or UPDATE=1) rewrites expected.txt
# instead. T=NAME or T=golden/NAME runs the cases of that name (a pattern). To add a case: a folder
# with `cmd`, then --update, and read what came out before it is committed.
set -eu
cd "$(dirname "$0")"
PROFBPF=${PROFBPF:-../../build/release/profbpf}
case $PROFBPF in /* | ./* | ../*) ;; *) PROFBPF=../../$PROFBPF ;; esac
if [ ! -x "$PROFBPF" ]; then
	echo "FAIL run.sh: no program at $PROFBPF: make first"
	exit 1
fi
PROFBPF=$(realpath "$PROFBPF")
export PROFBPF LC_ALL=C.UTF-8 TERM=dumb
unset COLUMNS NO_COLOR PROFBPF_LOG SUDO_UID SUDO_GID
update=${UPDATE:-}
[ "${1:-}" != --update ] || update=1
only=${T:-*}
only=${only#golden/}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
status=0

for dir in */; do
	name=${dir%/}
	[ -e "$name/cmd" ] || continue
	# shellcheck disable=SC2254 # a pattern
	case $name in $only) ;; *) continue ;; esac
	mkdir "$tmp/case"
	rc=0
	CASE_TMP=$tmp/case bash "$name/cmd" >"$tmp/out" 2>"$tmp/err" </dev/null || rc=$?
	{
		sed "s|$tmp/case|TMP|g" "$tmp/out"
		if [ -s "$tmp/err" ]; then
			echo '--- standard error'
			sed "s|$tmp/case|TMP|g" "$tmp/err"
		fi
		[ $rc = 0 ] || echo "--- exit status $rc"
	} >"$tmp/got"
	rm -rf "$tmp/case"
	if [ -n "$update" ]; then
		cmp -s "$tmp/got" "$name/expected.txt" || cp "$tmp/got" "$name/expected.txt"
		echo "ok $name"
	elif [ ! -e "$name/expected.txt" ]; then
		echo "FAIL $name: no expected.txt (make update-golden)"
		status=1
	elif diff -u --label expected --label got "$name/expected.txt" "$tmp/got" >"$tmp/diff"; then
		echo "ok $name"
	else
		echo "FAIL $name: the output changed"
		cat "$tmp/diff"
		status=1
	fi
done
exit $status
