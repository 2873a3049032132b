#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The newcomer's first minute: records a bundled program whose shares are known, shows what was
# measured beside what is true, and leaves capture, folded stacks and picture in profbpf-demo/.
# `make demo` has built everything and set O, the build folder.
set -eu
cd "$(dirname "$0")/.."
bin=${O:-build/release}/profbpf
work=${O:-build/release}/tests/workloads/shares
dir=profbpf-demo

if [ "$(id -u)" != 0 ]; then
	echo "recording needs root (it loads BPF programs into the kernel): sudo make demo" >&2
	exit 1
fi
# Under sudo only the recording runs as root: the program and the files belong to the calling user.
as_caller() {
	if [ -n "${SUDO_UID:-}" ]; then
		setpriv --reuid="$SUDO_UID" --regid="${SUDO_GID:-$SUDO_UID}" --init-groups "$@"
	else
		"$@"
	fi
}
load=
# shellcheck disable=SC2317 # called by the trap
stop_load() {
	[ -z "$load" ] || kill "$load" 2>/dev/null || :
	load=
}
trap stop_load EXIT
trap 'exit 130' INT TERM HUP

step() { printf '\n$ profbpf %s\n' "$*"; }

as_caller mkdir -p "$dir"
# The shell that setpriv replaces is this one's child, so $! is the program itself.
if [ -n "${SUDO_UID:-}" ]; then
	setpriv --reuid="$SUDO_UID" --regid="${SUDO_GID:-$SUDO_UID}" --init-groups "$work" 120 "$dir/truth.txt" &
else
	"$work" 120 "$dir/truth.txt" &
fi
load=$!
echo "started $work (pid $load): 4 threads, 3 functions with known shares; warming up"
sleep 1

step "-p $load -d 3 -F 499 -o $dir/demo.prof"
"$bin" -p "$load" -d 3 -F 499 -o "$dir/demo.prof"
pid=$load
kill "$load"
wait "$load" || :
load=

# What the program knows of itself, and what the capture says: one row each.
echo
# shellcheck disable=SC2016 # expanded by the inner shell
as_caller sh -c '
	"$1" report "$2/demo.prof" --csv --limit 0 >"$2/functions.csv" &&
	"$1" report "$2/demo.prof" --csv --limit 0 --by thread >"$2/threads.csv" &&
	"$1" fold "$2/demo.prof" >"$2/demo.folded" &&
	"$1" flame "$2/demo.prof" -o "$2/demo.svg"
' sh "$bin" "$dir"
status=0
awk -F, '
	function unquote(s) { gsub(/"/, "", s); return s }
	FILENAME ~ /truth/ {
		split($0, w, " ")
		if (w[1] == "function" || w[1] == "thread") { kind[++n] = w[1]; name[n] = w[2]; known[n] = w[3]; clock[n] = w[4] }
		next
	}
	FNR == 1 { delete col; for (i = 1; i <= NF; i++) col[unquote($i)] = i; table = FILENAME ~ /threads/ ? "thread" : "function"; next }
	{ got[table, unquote($col["name"])] = $col["self_pct"]; err[table, unquote($col["name"])] = $col["err_pct"] }
	END {
		printf "%-10s %-16s %8s   %s\n", "", "", "known", "measured"
		for (i = 1; i <= n; i++) {
			key = kind[i] SUBSEP name[i]
			if (!(key in got)) { printf "%-10s %-16s %6d %%   missing\n", kind[i], name[i], known[i]; bad = 1; continue }
			off = got[key] - known[i]; if (off < 0) off = -off
			# err is 1.96 sigma; 4 sigma and half a point for what one step of the program is worth
			ok = off <= 4 / 1.96 * err[key] + 0.5
			printf "%-10s %-16s %6d %%   %5.1f %% +- %.1f   %s\n", kind[i], name[i], known[i], got[key], err[key], ok ? "ok" : "OFF"
			if (!ok) bad = 1
		}
		exit bad
	}' "$dir/truth.txt" "$dir/functions.csv" "$dir/threads.csv" || status=1
rm -f "$dir/functions.csv" "$dir/threads.csv"

cat <<END

in $dir/: demo.prof (the capture), demo.folded (one line a stack), demo.svg (open it in a browser)
next:
  $bin report $dir/demo.prof --by thread
  $bin report $dir/demo.prof --thread 'worker*' --from 1s --to 2s
  $bin flame $dir/demo.prof --inverted -o $dir/inverted.svg
  $bin info $dir/demo.prof
  sudo $bin -p PID -d 10          any program of yours (here it was pid $pid)
  sudo make install
END
[ $status = 0 ] || echo "the shares above are off by more than chance: please report this, with $dir/demo.prof" >&2
exit $status
