#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Boots Debian's own kernels under qemu's software emulation, with an initrd of busybox, the static
# profbpf and the static workload, and records there.
#
#	run.sh [CASE..]     cases: 6.1 6.1-preempt 6.12 6.12-preempt
#
# One line a case: "ok NAME", "FAIL NAME: why" or "SKIP NAME: why", what the guest printed after a
# failure, and at the end "N passed, N failed, N skipped". Needs apt-get, qemu-system-x86_64,
# busybox (static) and cpio. Environment: STATIC_O, the folder of `make STATIC=1`; KERNELS_CACHE,
# where kernels are kept between runs.
set -eu
cd "$(dirname "$0")/../.."
static=${STATIC_O:-build/static}
cache=${KERNELS_CACHE:-build/kernels}
limit=${KERNELS_LIMIT:-240} # seconds for one guest
passed=0 failed=0 skipped=0
tmp=$(mktemp -d)
guest=
cleanup() {
	[ -z "$guest" ] || kill "$guest" 2>/dev/null || :
	rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

ok() {
	echo "ok $1${2:+: $2}"
	passed=$((passed + 1))
}
bad() {
	echo "FAIL $1: $2"
	failed=$((failed + 1))
}
skip() {
	echo "SKIP $1: $2"
	skipped=$((skipped + 1))
}

# The newest package of a version, "6.1" or "6.12", as this system's package lists have it.
package_of() {
	apt-cache search --names-only "^linux-image-${1/./\\.}\\.[0-9].*-amd64\$" 2>/dev/null |
		sed 's/ .*//' | grep -vE -- '-(cloud|rt)-|unsigned' | sort -V | tail -1
}

# kernel VERSION: its vmlinuz in the cache; prints the path, or why there is none.
kernel() {
	local have package
	have=$(find "$cache" -name "vmlinuz-$1.*" 2>/dev/null | sort -V | tail -1)
	if [ -n "$have" ]; then
		echo "$have"
		return 0
	fi
	command -v apt-get >/dev/null || {
		echo "no apt-get here to fetch Debian's kernels with"
		return 1
	}
	package=$(package_of "$1")
	if [ -z "$package" ]; then
		apt-get update >/dev/null 2>&1 || :
		package=$(package_of "$1")
	fi
	[ -n "$package" ] || {
		echo "no package of Linux $1 in this system's package lists"
		return 1
	}
	mkdir -p "$cache" "$tmp/deb"
	chmod 755 "$tmp"
	chmod 777 "$tmp/deb"
	(cd "$tmp/deb" && { apt-get -q download "$package" || { apt-get -q update && apt-get -q download "$package"; }; }) >"$tmp/apt.log" 2>&1 || {
		echo "cannot download $package: $(tail -1 "$tmp/apt.log")"
		return 1
	}
	dpkg-deb --fsys-tarfile "$tmp"/deb/*.deb | tar -x -C "$cache" --strip-components=2 --wildcards './boot/vmlinuz-*'
	rm -f "$tmp"/deb/*.deb
	find "$cache" -name "vmlinuz-$1.*" | sort -V | tail -1
}

initrd() {
	local root=$tmp/root
	mkdir -p "$root"/{bin,proc,sys,dev,tmp,etc,root}
	cp "$(command -v busybox)" "$root/bin/busybox"
	cp "$static/profbpf" "$static/tests/workloads/shares" "$root/bin/"
	cp tests/kernels/init "$root/init"
	chmod 755 "$root/init"
	printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n' >"$root/etc/passwd"
	printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
	(cd "$root" && find . | cpio -o -H newc --quiet) | gzip -1 >"$tmp/initrd.gz"
}

# boot VMLINUZ APPEND LOG: 0 when the guest said that it is done.
boot() {
	timeout "$limit" qemu-system-x86_64 -cpu max -accel tcg,thread=multi -smp 2 -m 1024 -nographic \
		-no-reboot -nic none -kernel "$1" -initrd "$tmp/initrd.gz" \
		-append "console=ttyS0 quiet loglevel=3 panic=-1 tsc=reliable $2" </dev/null >"$3" 2>&1 &
	guest=$!
	wait "$guest" || :
	guest=
	sed -i -E 's/\x1b(\[[0-9;?]*[A-Za-z]|c)//g; s/\r$//' "$3" # the firmware clears the screen
	grep -q '^@@done$' "$3"
}

# A guest that died before its first process ran says nothing about us: qemu's threads now and then run into
# the kernel while it patches its own code ("Oops: int3" in sched_clock_cpu, seen once in some 30 boots). It is booted
# again, and said; once init has run nothing is tried twice.
boot_anew() { # NAME VMLINUZ APPEND LOG
	local try
	for try in 1 2 3; do
		boot "$2" "$3" "$4" && return 0
		! grep -q '^@@begin' "$4" || return 1
		echo "$1: the guest did not come to its first process, attempt $try of 3: $(grep -m1 -oE 'Oops: .*|Kernel panic.*|BUG: .*' "$4" || echo 'no word from it')"
	done
	return 1
}

# section LOG NAME: what the guest printed between the marks.
section() {
	sed -n "/^@@begin $2\$/,/^@@end $2/p" "$1" | sed '1d;$d'
}
status() {
	sed -n "s/^@@end $2 //p" "$1"
}

# check LOG CASE: prints what is wrong, nothing when all is well.
check() {
	local log=$1 what
	for what in version doctor record report fold info verify command user; do
		case $(status "$log" "$what") in
		0) ;;
		'') echo "$what: no result" ;;
		*) echo "$what: exit status $(status "$log" "$what")" ;;
		esac
	done
	section "$log" report | awk -F, -v sigmas=4 '
		function known(f) { return f == "parse_record" ? 20 : f == "hash_block" ? 50 : f == "compress_block" ? 30 : -1 }
		NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
		known($col["name"]) > 0 { self[$col["name"]] = $col["self_pct"]; err[$col["name"]] = $col["err_pct"]; sum += $col["self_pct"]; n++ }
		END {
			if (n != 3) { printf "report: %d of 3 functions\n", n; exit }
			# The emulated machine spends much in its kernel: the three beside each other. They must be most of it all the same.
			if (sum < 40) printf "report: only %.1f %% in the three functions\n", sum
			for (f in self) {
				got = 100 * self[f] / sum
				e = 100 * err[f] / sum
				if (e <= 0) { printf "report: no error stated for %s\n", f; continue }
				off = got - known(f); if (off < 0) off = -off
				# err_pct is 1.96 sigma; half a point for what one step of the program is worth
				if (off > sigmas * e / 1.96 + 0.5)
					printf "report: %s is %.1f %% of the three, known %d, error stated %.2f\n", f, got, known(f), e
			}
		}'
	section "$log" fold | grep -q 'step;digest;hash_block [0-9]' || echo "fold: no whole stack to hash_block"
	# 6.1 has no bpf_rdonly_cast: there the other variant of the mapping walk runs.
	case $2 in 6.1 | 6.1-*) what=0 ;; *) what=1 ;; esac
	section "$log" info | grep -q "sampler.rdonly_cast = $what\$" || echo "info: not the variant of the walk that this kernel needs"
	section "$log" info | grep -q 'sampler.walk_selftest = 1$' || echo "info: the mapping walk failed its self-test"
	# The unwinder ran, with this variant: frame pointers alone prove no stack whole.
	section "$log" info | awk '
		/^Stacks/ { on = 1; next }
		on && !NF { exit }
		on { gsub(",", "", $1); all += $1; if ($2 == "complete" && NF == 2) whole = $1 }
		END { if (!all || whole < 0.95 * all) printf "info: %d of %d stacks are complete\n", whole, all }'
	section "$log" doctor | grep -q 'A recording is possible' || echo "doctor: says that no recording is possible"
}

run_case() {
	local name=$1 version append vmlinuz log wrong
	version=${name%-preempt}
	append=
	[ "$name" = "$version" ] || append=preempt=full
	vmlinuz=$(kernel "$version") || {
		skip "$name" "$vmlinuz"
		return
	}
	log=$tmp/$name.log
	if ! boot_anew "$name" "$vmlinuz" "$append" "$log"; then
		bad "$name" "the guest did not finish within $limit s"
		tail -n 60 "$log"
		return
	fi
	wrong=$(check "$log" "$name")
	if [ -n "$append" ] && ! section "$log" preempt | grep -q '(full)'; then
		wrong="preempt=full is not in force: $(section "$log" preempt)${wrong:+
$wrong}"
	fi
	if [ -n "$wrong" ]; then
		bad "$name" "$(printf '%s' "$wrong" | head -1)"
		printf '%s\n' "$wrong" | sed 's/^/    /'
		sed 's/^/    | /' "$log"
	else
		ok "$name" "Linux $(section "$log" kernel), $(section "$log" info | sed -n 's/^ *\([0-9,]*\)  samples of.*/\1 samples/p')"
	fi
	[ -z "${KERNELS_KEEP:-}" ] || cp "$log" "$KERNELS_KEEP/"
}

for tool in qemu-system-x86_64 cpio busybox; do
	command -v "$tool" >/dev/null || missing="${missing:+$missing, }$tool"
done
[ $# -gt 0 ] || set -- 6.1 6.1-preempt 6.12 6.12-preempt
if [ -n "${missing:-}" ]; then
	for c; do skip "$c" "missing: $missing"; done
elif [ "$(uname -m)" != x86_64 ]; then
	for c; do skip "$c" "the kernels are for x86_64"; done
else
	initrd
	for c; do run_case "$c"; done
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
