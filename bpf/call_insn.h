/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Recognising machine code that something returns to, as plain C: the same text
 * runs in the kernel (call_site.bpf.h) and on the host, where it is compared with
 * a disassembler. The architecture is that of the programs that are looked at:
 * __TARGET_ARCH_x86 (64 and 32 bits) or __TARGET_ARCH_arm64.
 *
 * ends_call(end)           non-zero if a near call ends before *end, judged by the 8
 *                          bytes before; x86 cannot be read backwards, so the tail of
 *                          another instruction may look like one
 * begins_trampoline(at)    non-zero if code that returns from a signal handler
 *                          begins at *at, judged by 8 bytes
 * follows_go_start(at)     non-zero if *at is where a goroutine's first function
 *                          returns to: Go's goexit begins with a no-op and a call, and
 *                          the call is what its stacks are made to point at. Judged by
 *                          4 bytes before and 4 after
 *
 * Whoever includes this has defined __u8 .. __u64 (linux/types.h, or vmlinux/).
 */
#ifndef PROFBPF_CALL_INSN_H
#define PROFBPF_CALL_INSN_H

#define CALL_INLINE static inline __attribute__((always_inline))

#if defined(__TARGET_ARCH_x86)

/* Intel SDM 2: CALL rel32 is E8; CALL r/m is FF /2, with 0 to 5 bytes of SIB and displacement
 * (2.1.5). */
CALL_INLINE int ends_call(const __u8 *end)
{
	if (end[-5] == 0xe8)
		return 1;
	for (int len = 2; len <= 7; len++) {
		__u8 modrm = end[1 - len], mod = modrm >> 6, rm = modrm & 7;
		int has_sib = mod != 3 && rm == 4;
		int n = 2 + has_sib;

		if (len == 5 || end[-len] != 0xff || (modrm >> 3 & 7) != 2)
			continue;
		if (mod == 1)
			n += 1;
		else if (mod == 2 || (mod == 0 && rm == 5) ||
			 (mod == 0 && has_sib && (end[2 - len] & 7) == 5))
			n += 4;
		if (n == len)
			return 1;
	}
	return 0;
}

/* A system call's number into %eax or %rax, and the call; debuggers look for just these bytes. */
CALL_INLINE int begins_trampoline(const __u8 *at)
{
	if (at[0] == 0x48 && at[1] == 0xc7 && at[2] == 0xc0) /* mov $15, %rax; syscall */
		return at[3] == 15 && !at[4] && !at[5] && !at[6] && at[7] == 0x0f;
	if (at[0] == 0x58 && at[1] == 0xb8) /* pop %eax; mov $119 (sigreturn), %eax; int $0x80 */
		return at[2] == 119 && !at[3] && !at[4] && !at[5] && at[6] == 0xcd && at[7] == 0x80;
	if (at[0] != 0xb8 || at[2] || at[3] || at[4])
		return 0;
	if (at[1] == 15) /* mov $15 (rt_sigreturn), %eax; syscall */
		return at[5] == 0x0f && at[6] == 0x05;
	return at[1] == 173 && at[5] == 0xcd && at[6] == 0x80; /* of 32 bits: int $0x80 */
}

CALL_INLINE int follows_go_start(const __u8 *at)
{
	return at[-1] == 0x90 && at[0] == 0xe8;
}

#elif defined(__TARGET_ARCH_arm64)

CALL_INLINE __u32 instruction(const __u8 *at)
{
	return at[0] | at[1] << 8 | at[2] << 16 | (__u32)at[3] << 24;
}

/* Arm ARM C4.1: BL; BLR and its authenticating forms. */
CALL_INLINE int ends_call(const __u8 *end)
{
	__u32 insn = instruction(end - 4);

	return insn >> 26 == 0x25 || (insn & 0xfffff000) == 0xd63f0000 ||
	       (insn & 0xfffff800) == 0xd73f0800;
}

/* mov x8, #139 (rt_sigreturn); svc #0. The vDSO has it. */
CALL_INLINE int begins_trampoline(const __u8 *at)
{
	return instruction(at) == 0xd2801168 && instruction(at + 4) == 0xd4000001;
}

/* mov x0, x0; bl. */
CALL_INLINE int follows_go_start(const __u8 *at)
{
	return instruction(at - 4) == 0xaa0003e0 && instruction(at) >> 26 == 0x25;
}

#endif

#endif
