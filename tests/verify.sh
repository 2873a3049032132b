#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# verify.sh OBJECT    load every program of the object, print the instructions that the verifier
#                     walked for each (its limit is 1,000,000) and unload them again
set -eu
bpftool=${BPFTOOL:-bpftool}
[ "$(id -u)" = 0 ] || {
	echo "loading BPF programs needs root: sudo make verify" >&2
	exit 1
}
pins=/sys/fs/bpf/profbpf-verify-$$ # no dot: bpffs refuses them
log=$(mktemp)
trap 'rm -rf "$pins" "$log"' EXIT
mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf
"$bpftool" -d prog loadall "$1" "$pins" >"$log" 2>&1 || {
	tail -n 60 "$log"
	exit 1
}
awk '
	/^libbpf: prog .*: -- BEGIN PROG LOAD LOG --/ { name = $3; gsub(/[\047:]/, "", name) }
	/^processed [0-9]+ insns/ { printf "%-24s %7d instructions walked, %d states\n", name, $2, $(NF - 4) }
' "$log"
