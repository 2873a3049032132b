#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# run.sh TOOLS [diff|oracle|all]..   the unwinder against independent answers. TOOLS is the folder
#                                    with diff_libdw, oracle and tables.
#
#   diff     every row of a fixed sample of ELF files against libdw
#   all      every row of every ELF file under /usr/bin and /usr/lib
#   oracle   programs of many compilers and options, stepped (needs ptrace)
#
# Prints "ok NAME: figures" or "FAIL NAME: figures" a case; exit 1 if one failed.
# Environment: STEPS (most steps of a program), T (only cases of this name), V=1 (what the tools print).
set -u
cd "$(dirname "$0")/../.." || exit 2
tools=${1:?usage: run.sh TOOLS [diff|oracle|all]..}
shift
programs=$tools/programs
failed=0 steps=0
only=${T:-}

note() { # NAME STATUS OUTPUT-FILE LINE
	local word=ok
	[ "$2" = 0 ] || word=FAIL failed=1
	echo "$word $1: $4"
	if [ "$2" != 0 ] || [ -n "${V:-}" ]; then sed 's/^/     | /' "$3" | head -n 60; fi
}

# ---- tables ----

# Names that are likely there, of different languages and linkers; those that are not are left out.
sample() {
	local f
	for f in /usr/lib/x86_64-linux-gnu/{libc.so.6,ld-linux-x86-64.so.2,libm.so.6,libstdc++.so.6,libgcc_s.so.1,libcrypto.so.3,libgcrypt.so.20,libpython3.*.so.1.0,libelf.so.1,libx265.so.*,libavcodec.so.*} \
		/usr/bin/{bash,python3,openssl,git,gdb,perf,busybox,node,rustc,go,vim.basic} /usr/lib/go-*/bin/go /usr/lib/jvm/*/lib/server/libjvm.so \
		/usr/lib/gcc/x86_64-linux-gnu/*/{cc1,lto1} "$tools"/*; do
		[ -f "$f" ] && readlink -f "$f"
	done | sort -u
}
run_diff() { # NAME; file names on standard input
	local out=$tools/$1.log status=0
	"$tools/diff_libdw" >"$out" || status=$?
	note "$1" $status "$out" "$(grep -E '^[0-9]+ files' "$out"), $(awk '/DIFFERENT$/ { print $1 " different" } /unsupported: / { u += $1 } END { print u " unsupported" }' "$out" | paste -sd' ')"
	[ -n "${V:-}" ] || grep '%' "$out" | sed 's/^/     | /'
}

# ---- stepping ----

compile() { # OUTPUT COMPILER SOURCE OPTIONS..
	local out=$1 cc=$2 src=$3
	shift 3
	command -v "$cc" >/dev/null || return 77
	"$cc" -std=gnu17 -D_GNU_SOURCE -g -Wno-deprecated -o "$programs/$out" "tests/unwind/prog_$src.c" "$@" -lpthread
}

step() { # NAME OPTIONS-OF-ORACLE PROGRAM ARGUMENTS..
	local name=$1 options=$2 out=$tools/oracle-$1.log status=0 line
	shift 2
	case $name in *"$only"*) ;; *) return ;; esac
	# shellcheck disable=SC2086 # several options
	"$tools/oracle" -n "${STEPS:-60000}" $options "$@" >"$out" 2>&1 </dev/null || status=$?
	line=$(grep -E '^(ok|FAIL) ' "$out" | tail -n 1)
	steps=$((steps + $(echo "$line" | sed -n 's/^[a-zA-Z]* \([0-9]*\) steps.*/\1/p')))
	note "$name" $status "$out" "${line#* }"
}

# case_ NAME "OPTIONS OF ORACLE" COMPILER SOURCE COMPILER-OPTIONS..
case_() {
	local name=$1 options=$2 status=0
	case $name in *"$only"*) ;; *) return ;; esac
	shift 2
	compile "$name" "$1" "$2" "${@:3}" >"$programs/$name.log" 2>&1 || status=$?
	if [ $status = 77 ]; then
		echo "SKIP $name: no $1"
	elif [ $status != 0 ]; then
		note "$name" 1 "$programs/$name.log" "does not compile"
	else
		step "$name" "$options" "$programs/$name"
	fi
}

# The section headers' place and number are at 40 and 60 of the ELF header.
without_sections() {
	strip -s -o "$programs/$2" "$programs/$1"
	printf '\0\0\0\0\0\0\0\0' | dd of="$programs/$2" bs=1 seek=40 conv=notrunc status=none
	printf '\0\0\0\0' | dd of="$programs/$2" bs=1 seek=60 conv=notrunc status=none
}

run_oracle() {
	local cc o
	mkdir -p "$programs"
	for cc in gcc clang; do
		for o in 0 1 2 3 s; do case_ calls-$cc-O$o "" $cc calls -O$o; done
		case_ calls-$cc-fp "" $cc calls -O2 -fno-omit-frame-pointer
		case_ calls-$cc-cet "" $cc calls -O2 -fcf-protection=full -Wl,-z,ibtplt
		case_ calls-$cc-nopie "" $cc calls -O2 -no-pie -fno-pie
		for o in 0 2 3; do case_ realign-$cc-O$o "" $cc realign -mavx2 -O$o; done
		for o in 0 2; do case_ signals-$cc-O$o "-i 151" $cc signals -O$o; done
		case_ context-$cc "-t" $cc context -O2
		case_ unwind-$cc "" $cc unwind -O1 -fexceptions
		case_ static-$cc "" $cc libc -O2 -static -DSTATIC
	done
	case_ calls-gcc-lto "" gcc calls -O2 -flto
	case_ calls-gcc-clash "" gcc calls -O2 -fstack-clash-protection -fstack-protector-all
	case_ calls-gcc-static-pie "" gcc calls -O2 -static-pie
	case_ calls-gcc-debug-frame "" gcc calls -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables
	case_ calls-gcc-debug-frame-z "" gcc calls -O2 -fno-asynchronous-unwind-tables -gz=zlib
	case_ realign-gcc-stackrealign "" gcc realign -mavx2 -O2 -mstackrealign
	case_ signals-static "-i 151" gcc signals -O2 -static
	case_ libc-gcc-lazy "" gcc libc -O2 -Wl,-z,lazy
	case_ libc-gcc-now "" gcc libc -O2 -Wl,-z,now
	case_ libc-gcc-cet "" gcc libc -O2 -fcf-protection=full -Wl,-z,ibtplt,-z,lazy
	case_ libc-clang "" clang libc -O2
	case_ libc-gold "" gcc libc -O2 -fuse-ld=gold
	case_ libc-lld "" clang libc -O2 -fuse-ld=lld -Wl,-z,lazy
	case_ libc-lld-cet "" clang libc -O2 -fuse-ld=lld -Wl,-z,lazy -fcf-protection=full -Wl,-z,force-ibt
	case_ stripped "" gcc calls -O2 -s
	if [ -z "$only" ] || [ -z "${only##*sections*}" ]; then
		compile no-sections.full gcc calls -O2 && without_sections no-sections.full no-sections &&
			step no-sections "" "$programs/no-sections"
		compile no-sections-static.full gcc calls -O2 -static && without_sections no-sections-static.full no-sections-static &&
			step no-sections-static -l "$programs/no-sections-static"
	fi
	step start-true -a /bin/true
	step start-bash -a /bin/bash -c 'echo x | read y'
	step start-python -a python3 -c 'print(1)'
	echo "ok steps: $steps in all"
}

for what in "${@:-diff}"; do
	case $what in
	diff) sample | run_diff diff-sample ;;
	all) find /usr/bin /usr/lib -type f | run_diff diff-all ;;
	oracle) run_oracle ;;
	*)
		echo "run.sh: what is $what?" >&2
		exit 2
		;;
	esac
done
exit $failed
