/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* aarch64 registers as a program's context has them: UAPI (asm/ptrace.h), no relocation. */

typedef struct {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
} bpf_user_pt_regs_t;

/* The parameters must not have the name of a member, regs. */

/* The registers are those of user code (EL0). */
#define REGS_USER_MODE(r) (((r)->pstate & 0xf) == 0)

#define REGS_IP(r) ((r)->pc)
#define REGS_SP(r) ((r)->sp)
/* No tables for this architecture yet: nothing asks for them. */
#define REGS_DWARF(to, r)	((void)(to))
#define REGS_IN_SYSCALL(r)	0
/* AArch32 (pstate bit 4) has its frame records elsewhere: none followed. */
#define REGS_FP(r)    (REGS_32BIT(r) ? 0 : (r)->regs[29])
#define REGS_32BIT(r) ((r)->pstate >> 4 & 1)
