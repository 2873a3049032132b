#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# deps.sh SET..      what the sets need and this system lacks; installs it where apt-get is and we
#                    are root, otherwise prints what to install and exits 1
# deps.sh --need TOOL..   complain, with the package's name, about tools that are not there
# deps.sh --versions      the tools and libraries found
#
# Sets: build (make), test (make test), slow (make test-all), bench (make bench), lint (checks of
# the source).
set -eu

# set, what shows that it is there (a command, or a header or archive after =), then the packages:
# Debian, Fedora, Arch, Alpine; "-" = comes with another one there
table='
build gcc gcc gcc gcc gcc
build =stdlib.h libc6-dev glibc-devel glibc musl-dev
build make make make make make
build clang clang clang clang clang
build bpftool bpftool bpftool bpf bpftool
build =bpf/libbpf.h libbpf-dev libbpf-devel libbpf libbpf-dev
build =libelf.h libelf-dev elfutils-libelf-devel libelf elfutils-dev
build =elfutils/libdw.h libdw-dev elfutils-devel elfutils elfutils-dev
build =zlib.h zlib1g-dev zlib-devel zlib zlib-dev
build =libiberty/demangle.h libiberty-dev binutils-devel binutils binutils-dev
build =linux/perf_event.h linux-libc-dev kernel-headers linux-api-headers linux-headers
test bash bash bash bash bash
test g++ g++ gcc-c++ gcc g++
test python3 python3 python3 python python3
test objcopy binutils binutils binutils binutils
test setpriv util-linux util-linux util-linux setpriv
test unshare util-linux util-linux util-linux util-linux-misc
test mandoc mandoc mandoc mandoc mandoc
test =cmocka.h libcmocka-dev libcmocka-devel cmocka cmocka-dev
slow qemu-system-x86_64 qemu-system-x86 qemu-system-x86-core qemu-system-x86 qemu-system-x86_64
slow busybox busybox-static busybox busybox busybox-static
slow cpio cpio cpio cpio cpio
slow chromium chromium chromium chromium chromium
slow node nodejs nodejs nodejs nodejs
slow =liblzma.a liblzma-dev xz-static xz xz-static
slow =libbz2.a libbz2-dev bzip2-static bzip2 bzip2-static
slow =libclang_rt.fuzzer libclang-rt-dev compiler-rt compiler-rt compiler-rt
bench python3 python3 python3 python python3
bench perf linux-perf perf perf perf
lint shellcheck shellcheck ShellCheck shellcheck shellcheck
lint clang-format clang-format clang-tools-extra clang clang-extra-tools
lint clang-tidy clang-tidy clang-tools-extra clang clang-extra-tools
lint cppcheck cppcheck cppcheck cppcheck cppcheck
'
PATH=$PATH:/usr/sbin:/sbin

have() {
	case $1 in
	=libclang_rt.fuzzer) ls /usr/lib*/llvm*/lib/clang/*/lib/*/libclang_rt.fuzzer-*.a /usr/lib*/clang/*/lib/*/libclang_rt.fuzzer*.a >/dev/null 2>&1 ;;
	=*.a) [ -n "$(find /usr/lib /usr/lib64 -maxdepth 2 -name "${1#=}" 2>/dev/null | head -1)" ] ;;
	=*) [ -e "/usr/include/${1#=}" ] || [ -e "/usr/local/include/${1#=}" ] ||
		ls /usr/include/*-linux-*/"${1#=}" >/dev/null 2>&1 ;;
	busybox) # in an initrd only a static one runs
		command -v busybox >/dev/null && ! ldd "$(command -v busybox)" >/dev/null 2>&1 ;;
	*) command -v "$1" >/dev/null ;;
	esac
}

# missing COLUMN SET..: packages not there, each once
missing() {
	column=$1
	shift
	printf '%s\n' "$table" | while read -r set what packages; do
		[ -n "$set" ] || continue
		case " $* " in *" $set "*) ;; *) continue ;; esac
		have "$what" || printf '%s\n' "$packages" | cut -d' ' -f"$column"
	done | sort -u | tr '\n' ' ' | sed 's/ $//'
}

case ${1:-} in
--need)
	shift
	bad=0
	for tool; do
		have "$tool" && continue
		package=$(printf '%s\n' "$table" | awk -v t="$tool" '$2 == t { print $3; exit }')
		echo "$tool is missing; on Debian: apt-get install ${package:-$tool}" >&2
		bad=1
	done
	exit $bad
	;;
--versions)
	for tool in gcc clang bpftool make g++ python3 qemu-system-x86_64 busybox chromium node perf shellcheck clang-format clang-tidy; do
		if have "$tool"; then
			# some print two lines, some to stderr, busybox knows no --version
			case $tool in
			busybox) v=$(busybox | head -1) ;;
			*) v=$("$tool" --version 2>&1 | grep -m1 '[0-9]\.[0-9]' || :) ;;
			esac
			printf '%-20s %s\n' "$tool" "$v"
		else
			printf '%-20s missing\n' "$tool"
		fi
	done
	if command -v dpkg-query >/dev/null; then
		dpkg-query -W -f '${Package} ${Version}\n' libbpf-dev libdw-dev libelf-dev zlib1g-dev libiberty-dev libcmocka-dev 2>/dev/null |
			awk '{ printf "%-20s %s\n", $1, $2 }'
	fi
	exit 0
	;;
'')
	sed -n '3,12s/^# \{0,1\}//p' "$0"
	exit 2
	;;
esac

need=$(missing 1 "$@")
[ -n "$need" ] || exit 0
echo "missing packages: $need"
if ! command -v apt-get >/dev/null; then
	echo "install what this system calls them, then run make again:"
	echo "  Fedora:  dnf install $(missing 2 "$@")"
	echo "  Arch:    pacman -S $(missing 3 "$@")"
	echo "  Alpine:  apk add $(missing 4 "$@")"
	exit 1
fi
if [ "$(id -u)" != 0 ]; then
	echo "install them with: sudo apt-get install $need"
	exit 1
fi
echo "installing them with apt-get ..."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # a list of words
install() { apt-get install -y -q --no-install-recommends $need >"$log" 2>&1; }
# The package lists may be absent or older than the archive: fetch them when they do not do.
install || {
	apt-get update -q >"$log" 2>&1 || :
	install
} || {
	tail -n 20 "$log"
	echo "apt-get could not install: $need"
	exit 1
}
left=$(missing 1 "$@")
[ -z "$left" ] || {
	echo "installed, but still not found: $left"
	exit 1
}
