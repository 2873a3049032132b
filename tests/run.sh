#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# run.sh SECTION..    runs tests and counts their cases; the last line is exactly
#                     "N passed, N failed, N skipped". Exit 1 if a case failed or none ran.
#
# Sections: layers headers docs unit golden fuzz-replay e2e kernels browser fuzz unwind.
# Environment, set by make: O (build folder), STATIC_O, FUZZ_O (folders of those variants), T (only
# cases of this name; unit/NAME/FILTER goes to cmocka), TIME (seconds per fuzz target), V=1 (name
# every case), RESULTS (a file to which "passed failed skipped" is appended).
#
# A case is skipped by exit status 77, with the reason on its last line. A skip whose name and reason
# are not in tests/skips.txt is a failure: nothing is left out silently.
set -eu
cd "$(dirname "$0")/.."
export LC_ALL=C.UTF-8
O=${O:-build/release}
T=${T:-}
CASE_LIMIT=${CASE_LIMIT:-300} # seconds for one end-to-end case
SHOWN=20                      # lines of a failure
case $O in /*) abs=$O ;; *) abs=$PWD/$O ;; esac
export O=$O PROFBPF=${PROFBPF:-$abs/profbpf} BUILD=$abs WORKLOADS=$abs/tests/workloads
export CC=${CC:-gcc} PYTHONDONTWRITEBYTECODE=1
log=$abs/tests/log
cpus=$(nproc 2>/dev/null || echo 1)
passed=0 failed=0 skipped=0

# Under sudo, what needs no root runs as the calling user, and what is written belongs to that user. The
# tests themselves see root without sudo; those that are about sudo's caller say so themselves.
caller=() owner=
if [ "$(id -u)" = 0 ] && [ -n "${SUDO_UID:-}" ] && setpriv --reuid="$SUDO_UID" --regid="${SUDO_GID:-}" --init-groups test -w . 2>/dev/null; then
	caller=(setpriv "--reuid=$SUDO_UID" "--regid=$SUDO_GID" --init-groups)
	owner=$SUDO_UID:$SUDO_GID
fi
unset SUDO_UID SUDO_GID SUDO_USER SUDO_COMMAND
"${caller[@]}" mkdir -p "$log"
jobs_running=()
finish() {
	[ ${#jobs_running[@]} = 0 ] || kill "${jobs_running[@]}" 2>/dev/null || :
	[ -z "$owner" ] || chown -R "$owner" "$log"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

pass() { # NAME [DETAIL]
	passed=$((passed + ${3:-1}))
	[ -z "${V:-}" ] || echo "ok   $1${2:+: $2}"
}
fail() { # NAME WHY [FILE WITH ITS OUTPUT]
	failed=$((failed + 1))
	echo "FAIL $1: $2"
	[ -z "${3:-}" ] || told "$3"
}
# told FILE: what went wrong, and after it the end of the rest. A log may end in pages of a sanitizer,
# and whoever shows ours may cut it as well: so it is short, and the reason comes first.
told() {
	awk -v most=$SHOWN '
	{ line[NR] = $0 }
	/^FAILED:/ { from = NR; to = 0 }
	/^[A-Za-z_.]*(Error|Exception|Expired|Interrupt)(:|$)|: error: |runtime error: |ERROR: [A-Za-z]*Sanitizer/ && !from { reason[NR] = 1 }
	END {
		for (i = 1; i <= NR; i++)
			if (from ? i >= from : reason[i]) {
				if (n++ < most) print line[i]
				line[i] = ""
			}
		for (i = NR; i && m < most; i--) if (line[i] != "") { rest = line[i] "\n" rest; m++ }
		if (rest != "" && n) print "--"
		printf "%s", rest
	}' "$1" | sed 's/^/     | /'
	echo "     all of it: ${1#"$PWD/"}"
}
# unit_told FILE: of a cmocka program the tests that did not pass. Where an assertion did not hold, leaks are
# what the test had no time to release.
unit_told() {
	awk -v most=$SHOWN '
	function show() { if (name != "") printf "%s\n%s", name, text; name = text = ""; n = 0 }
	/^\[ RUN / { show(); name = $4; next }
	/^\[       OK \]|^\[  SKIPPED \]/ { name = text = ""; n = 0; next }
	/^\[  FAILED  \]/ { failed = 1; show(); next }
	/^\[==========\]|^\[  PASSED  \]|FAILED TEST\(S\)$|^=*$/ { show(); next }
	/ERROR: LeakSanitizer/ && failed { exit }
	name != "" { if (n++ < most) text = text "  " $0 "\n"; next }
	rest++ < most { print }
	END { show() }' "$1" | sed 's/^/     | /'
	echo "     all of it: ${1#"$PWD/"}"
}
skip() { # NAME WHY
	if listed "$1" "$2"; then
		skipped=$((skipped + 1))
		echo "skip $1: $2"
	else
		fail "$1" "skipped ($2), and tests/skips.txt does not allow that"
	fi
}
# skips.txt: a glob for the name, blanks, a glob for the reason.
listed() {
	local name reason
	while read -r name reason; do
		case $name in '' | '#'*) continue ;; esac
		# shellcheck disable=SC2053,SC2254 # they are patterns
		case $1 in $name) case $2 in $reason) return 0 ;; esac ;; esac
	done <tests/skips.txt
	return 1
}

# reported SECTION FILE STATUS: counts "ok NAME", "FAIL NAME: why" and "SKIP NAME: why" lines.
reported() {
	local word rest n=$((passed + failed + skipped)) wrong=$failed
	while read -r word rest; do
		case $word in
		ok) pass "$1/${rest%%:*}" "${rest#*: }" ;;
		FAIL | not) fail "$1/${rest%%:*}" "${rest#*: }" ;;
		SKIP) skip "$1/${rest%%:*}" "${rest#*: }" ;;
		esac
	done <"$2"
	if [ "$failed" != "$wrong" ]; then
		grep -v '^ok ' "$2" | tail -n 60 | sed 's/^/     | /'
		echo "     all of it: ${2#"$PWD/"}"
	fi
	if [ "$3" != 0 ] && [ "$failed" = "$wrong" ]; then
		fail "$1" "exit status $3" "$2"
	elif [ $((passed + failed + skipped)) = "$n" ]; then
		fail "$1" "no case ran" "$2"
	fi
}

# simple NAME COMMAND..: one case, one command.
simple() {
	local name=$1 status=0
	shift
	"$@" >"$log/$name.log" 2>&1 || status=$?
	if [ $status = 0 ]; then pass "$name"; else fail "$name" "exit status $status" "$log/$name.log"; fi
}

section_layers() { simple layers "${caller[@]}" sh tests/layers.sh; }
section_headers() { simple headers "${caller[@]}" sh tests/headers.sh; }
section_docs() {
	local status=0
	"${caller[@]}" sh tests/docs.sh >"$log/docs.log" 2>&1 || status=$?
	reported docs "$log/docs.log" $status
}

# unit_run NAME: one program, its output and status into files. As root if we are: some load programs.
unit_run() {
	local status=0
	timeout 180 env ${filter:+TEST_FILTER="$filter"} "$abs/tests/unit/$1" >"$log/$1.log" 2>&1 || status=$?
	echo $status >"$log/$1.status"
}
section_unit() {
	local name names=() out status ran good skips s bad running=0 filter=''
	case $T in */*) filter=${T#*/} ;; esac
	for name in tests/unit/test_*.c; do
		name=$(basename "$name" .c)
		case ${T%%/*} in '' | "$name" | "${name#test_}") names+=("$name") ;; esac
	done
	for name in "${names[@]}"; do
		if [ $running -ge "$cpus" ]; then
			wait -n
			running=$((running - 1))
		fi
		unit_run "$name" &
		running=$((running + 1))
	done
	wait
	for name in "${names[@]}"; do
		out=$log/$name.log
		status=$(cat "$log/$name.status")
		rm -f "$log/$name.status"
		# A crash leaves a RUN without its OK.
		ran=$(grep -c '^\[ RUN ' "$out" || :)
		good=$(grep -c '^\[       OK ' "$out" || :)
		skips=$(sed -n 's/^\[  SKIPPED \] \([A-Za-z0-9_]*\)$/\1/p' "$out" | sort -u)
		pass "unit/$name" "$good" "$good"
		for s in $skips; do
			# the line before the mark says why
			skip "unit/$name/$s" "$(awk -v s="$s" '$0 ~ "SKIPPED \\] " s "$" { print last; exit } { last = $0 }' "$out")"
			ran=$((ran - 1))
		done
		if [ "$good" -lt "$ran" ] || [ "$status" != 0 ]; then
			bad=$(awk '/^\[ RUN /{ ran[$4] = ++n; name[n] = $4 } /^\[       OK \]|^\[  SKIPPED \]/{ delete ran[$4] }
				END { for (i = 1; i <= n; i++) if (ran[name[i]] == i) printf "%s%s", sep++ ? ", " : "", name[i] }' "$out")
			fail "unit/$name" "$((ran - good)) of $ran failed${bad:+ ($bad)}, exit status $status"
			unit_told "$out"
			failed=$((failed + (ran - good > 1 ? ran - good - 1 : 0)))
		elif [ "$ran" = 0 ] && [ -z "$filter" ]; then
			fail "unit/$name" "no test ran" "$out"
		fi
	done
}

section_golden() {
	local status=0
	T=$T "${caller[@]}" bash tests/golden/run.sh >"$log/golden.log" 2>&1 || status=$?
	reported golden "$log/golden.log" $status
}

corpus() { # TARGET: the folder with its seeds
	local d
	for d in "tests/fuzz/corpus/$1" "tests/fuzz/seeds/$1" "tests/fuzz/$1"; do
		[ -d "$d" ] && echo "$d" && return
	done
	echo "tests/fuzz/corpus/$1"
}
section_fuzz-replay() {
	local t name seeds status
	for t in tests/fuzz/fuzz_*.c; do
		name=$(basename "$t" .c)
		name=${name#fuzz_}
		[ -z "$T" ] || [ "$T" = "$name" ] || continue
		seeds=$(corpus "$name")
		if [ -z "$(find "$seeds" -type f -size +0 2>/dev/null | head -1)" ]; then
			fail "fuzz-replay/$name" "no seed in $seeds"
			continue
		fi
		status=0
		V=1 timeout 120 "${caller[@]}" "$abs/tests/fuzz/replay_$name" "$seeds" >"$log/replay-$name.log" 2>&1 || status=$?
		if [ $status = 0 ]; then
			pass "fuzz-replay/$name"
		else
			fail "fuzz-replay/$name" "exit status $status" "$log/replay-$name.log"
		fi
	done
}
section_fuzz() {
	local status=0
	"${caller[@]}" env FUZZ_O="${FUZZ_O:-build/fuzz}" T="$T" TIME="${TIME:-30}" bash tests/fuzz/run.sh >"$log/fuzz.log" 2>&1 || status=$?
	reported fuzz "$log/fuzz.log" $status
}

# e2e_run FILE: one case, its output, status and seconds into files.
e2e_run() {
	local name status=0 began=$SECONDS
	name=$(basename "$1")
	case $name in *.py) set -- python3 "$1" ;; *) set -- bash "$1" ;; esac
	name=${name%.*}
	timeout -k 5 "$CASE_LIMIT" "$@" >"$log/e2e-$name.log" 2>&1 </dev/null &
	trap 'kill $! 2>/dev/null' TERM
	wait $! || status=$?
	echo "$status $((SECONDS - began))" >"$log/e2e-$name.status"
}
# Most cases wait more than they work, so as many run at a time as there are CPUs. Alone run those that
# change what the others see: sysctls, CPUs. Long ones begin.
E2E_ALONE=" limits hotplug "
E2E_FIRST="outputs scatter command kill9 targets"
section_e2e() {
	local f name out status took queue=() alone=() seen=" "
	for f in $E2E_FIRST tests/e2e/*.sh tests/e2e/*.py; do
		case $f in */*) ;; *) f=tests/e2e/$f.py ;; esac
		name=$(basename "$f")
		case $name in '*'* | lib* | _* | common* | run.sh | support*) continue ;; esac
		name=${name%.*}
		case $T in '' | "$name" | "e2e/$name") ;; *) continue ;; esac
		case $seen in *" $name "*) continue ;; esac
		[ -e "$f" ] || continue
		seen="$seen$name "
		case $E2E_ALONE in *" $name "*) alone+=("$f") ;; *) queue+=("$f") ;; esac
	done
	jobs_running=()
	for f in "${queue[@]}"; do
		while [ ${#jobs_running[@]} -ge "$cpus" ]; do
			wait -n || :
			still_running
		done
		e2e_run "$f" &
		jobs_running+=($!)
	done
	wait
	for f in "${alone[@]}"; do
		e2e_run "$f" &
		jobs_running=($!)
		wait
	done
	jobs_running=()
	for f in "${queue[@]}" "${alone[@]}"; do
		name=$(basename "$f")
		name=${name%.*}
		out=$log/e2e-$name.log
		read -r status took <"$log/e2e-$name.status"
		rm -f "$log/e2e-$name.status"
		[ -n "${V:-}" ] || [ "$took" -lt 20 ] || echo "     e2e/$name took $took s"
		case $status in
		0) pass "e2e/$name" "$took s" ;;
		77) skip "e2e/$name" "$(tail -n 1 "$out")" ;;
		124 | 137) fail "e2e/$name" "still running after $CASE_LIMIT s" "$out" ;;
		*) fail "e2e/$name" "exit status $status" "$out" ;;
		esac
	done
}
still_running() {
	local p left=()
	for p in "${jobs_running[@]}"; do
		! kill -0 "$p" 2>/dev/null || left+=("$p")
	done
	jobs_running=("${left[@]}")
}

section_kernels() {
	local status=0
	# shellcheck disable=SC2086 # T may name several
	bash tests/kernels/run.sh $T >"$log/kernels.log" 2>&1 || status=$?
	reported kernels "$log/kernels.log" $status
}
section_browser() {
	local status=0
	bash tests/browser.sh >"$log/browser.log" 2>&1 || status=$?
	reported browser "$log/browser.log" $status
}

section_unwind() {
	local status=0
	# shellcheck disable=SC2086 # which parts: words
	T=$T bash tests/unwind/run.sh "$abs/tests/unwind" ${UNWIND:-diff oracle} >"$log/unwind.log" 2>&1 || status=$?
	reported unwind "$log/unwind.log" $status
}

[ $# -gt 0 ] || {
	sed -n '4,15s/^# \{0,1\}//p' "$0"
	exit 2
}
for section; do
	began=$SECONDS p=$passed f=$failed s=$skipped
	"section_$section"
	printf '%-12s %4d passed, %d failed, %d skipped  (%d s)\n' "$section:" $((passed - p)) $((failed - f)) $((skipped - s)) $((SECONDS - began))
done
if [ $((passed + failed)) = 0 ]; then
	echo "no test ran"
	failed=1
fi
[ -z "${RESULTS:-}" ] || echo "$passed $failed $skipped" >>"$RESULTS"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
