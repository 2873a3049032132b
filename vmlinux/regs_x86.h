/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* x86-64 registers as a program's context has them: UAPI (asm/ptrace.h), no relocation. */

typedef struct {
	__u64 r15, r14, r13, r12;
	__u64 bp, bx;
	__u64 r11, r10, r9, r8;
	__u64 ax, cx, dx, si, di;
	__u64 orig_ax;
	__u64 ip;
	__u64 cs;
	__u64 flags;
	__u64 sp;
	__u64 ss;
} bpf_user_pt_regs_t;

/* The registers are those of user code. */
#define REGS_USER_MODE(regs) (((regs)->cs & 3) == 3)

#define REGS_IP(regs) ((regs)->ip)
#define REGS_SP(regs) ((regs)->sp)
#define REGS_FP(regs) ((regs)->bp)

/* Into an array by DWARF number (psABI 3.7); RBP and RSP are kept elsewhere. */
#define REGS_DWARF(to, regs)                                                                       \
	({                                                                                         \
		(to)[0] = (regs)->ax;                                                              \
		(to)[1] = (regs)->dx;                                                              \
		(to)[2] = (regs)->cx;                                                              \
		(to)[3] = (regs)->bx;                                                              \
		(to)[4] = (regs)->si;                                                              \
		(to)[5] = (regs)->di;                                                              \
		(to)[8] = (regs)->r8;                                                              \
		(to)[9] = (regs)->r9;                                                              \
		(to)[10] = (regs)->r10;                                                            \
		(to)[11] = (regs)->r11;                                                            \
		(to)[12] = (regs)->r12;                                                            \
		(to)[13] = (regs)->r13;                                                            \
		(to)[14] = (regs)->r14;                                                            \
		(to)[15] = (regs)->r15;                                                            \
	})

/* What saved them was a system call and not an exception (arch/x86/entry: those store -1). */
#define REGS_IN_SYSCALL(regs) ((__s64)(regs)->orig_ax != -1)

/* Code of a 32-bit program: __USER32_CS of arch/x86/include/asm/segment.h. */
#define REGS_32BIT(regs) ((regs)->cs == 0x23)
