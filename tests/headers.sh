#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Every header compiles alone: whoever includes it need not know what it needs. The BPF programs'
# own headers (*.bpf.h) are left to their compiler; the contract headers (bpf/*.h) want the kernel's
# fixed-width types first, as frame.h says.
set -eu
cd "$(dirname "$0")/.."
bad=0
n=0
for h in user/*/*.h symbolize/*.h flamegraph/*.h bpf/*.h; do
	case $h in *.bpf.h | *_table.h | '*'* | */'*'*) continue ;; esac
	first=
	case $h in bpf/*) first='#include <linux/types.h>' ;; esac
	n=$((n + 1))
	printf '%s\n#include "%s"\n' "$first" "$h" |
		"${CC:-gcc}" -fsyntax-only -x c -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -I. - || {
		echo "$h does not compile alone"
		bad=1
	}
done
[ $bad = 0 ] && echo "headers: ok ($n)"
exit $bad
