/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * One unwinding step, as plain C: from the registers of a frame and the unwind
 * rule at its address to the registers of its caller.
 *
 * The same text runs in the kernel (bpf/unwind.bpf.h) and on the host, where it
 * is compared with libdw instruction by instruction (tests/unwind/oracle.c).
 * Rules and registers are declared for everybody; the step itself only where
 * this is defined before (it may have been included for the types already):
 *
 *   unwind_read(void *dst, __u32 size, __u64 addr)   a macro: 0, or non-zero
 *                                                    if the user memory cannot
 *                                                    be read
 *
 * Only the CFA, the return address and RBP are followed: 99.9 % of the CFA rules
 * of a distribution need no other register (docs/unwinding.md). The others are
 * known where a thread was interrupted (the leaf, and the frame below a signal
 * handler), which is where hand-written assembly and stack realignment use them.
 * RBX is followed where it costs nothing: a frame says where it has saved it, and
 * it is read when a CFA needs it, which is in _dl_runtime_resolve: everything
 * that lazy binding does has that function among its callers.
 *
 * Whoever includes this has defined __u8 .. __u64 (linux/types.h, or vmlinux/).
 *
 * Sources: System V psABI for x86-64, 3.7 (register numbers) and 6.2; DWARF 5,
 * 6.4; Linux arch/x86/include/uapi/asm/sigcontext.h (signal frame).
 */
#ifndef PROFBPF_UNWIND_STEP_H
#define PROFBPF_UNWIND_STEP_H

/* DWARF numbers of the x86-64 registers. */
enum {
	DW_X86_RAX = 0,
	DW_X86_RDX = 1,
	DW_X86_RCX = 2,
	DW_X86_RBX = 3,
	DW_X86_RSI = 4,
	DW_X86_RDI = 5,
	DW_X86_RBP = 6,
	DW_X86_RSP = 7,
	DW_X86_R8 = 8, /* .. R15 = 15 */
	DW_X86_NR = 16,
	DW_X86_RA = 16, /* the column of the return address */
};

/* How the CFA is found. The values are stored in tables; a rule of all zeroes
 * is "no information", so a table that was never filled is harmless. */
enum unwind_cfa {
	UNWIND_NO_INFO = 0,	/* no FDE covers the address */
	UNWIND_UNSUPPORTED = 1, /* an FDE does, but with a rule we cannot express */
	UNWIND_END = 2,		/* return address undefined: outermost frame */
	UNWIND_SP = 3,		/* CFA = RSP + cfa_off */
	UNWIND_BP = 4,		/* CFA = RBP + cfa_off */
	UNWIND_REG = 5,		/* CFA = register `reg` + cfa_off; where registers are known */
	UNWIND_DEREF_SP = 6,	/* CFA = *(RSP + cfa_off) + add */
	UNWIND_DEREF_BP = 7,	/* CFA = *(RBP + cfa_off) + add */
	UNWIND_PLT = 8,	   /* CFA = RSP + 8, and 8 more from byte `add` of the 16-byte stub on */
	UNWIND_SIGNAL = 9, /* registers are in the kernel's signal frame at RSP */
	UNWIND_CFA_NR
};

/* How RBP is found. */
enum unwind_bp {
	UNWIND_BP_SAME = 0,  /* unchanged */
	UNWIND_BP_CFA = 1,   /* saved at CFA + bp_off */
	UNWIND_BP_AT_BP = 2, /* saved at RBP + bp_off (stack realignment) */
	UNWIND_BP_GONE = 3,  /* undefined; a later rule that needs it must fail */
};

/* How the return address is found. */
enum unwind_ra {
	UNWIND_RA_CFA = 0, /* saved at CFA - 8 */
	UNWIND_RA_REG = 1, /* in register `reg`, where that is known (vfork parks it in RDI) */
};

/* Where RBX is: saved at CFA - 8 * bx, or one of these. */
#define UNWIND_BX_LOST 0
#define UNWIND_BX_SAME 255

struct unwind_rule { /* 16 bytes; compared and hashed as bytes: unused fields are 0 */
	__s32 cfa_off;
	__s32 bp_off;
	__s16 add; /* see enum unwind_cfa */
	__u8 cfa;  /* enum unwind_cfa */
	__u8 bp;   /* enum unwind_bp */
	__u8 ra;   /* enum unwind_ra */
	__u8 reg;  /* DWARF register of UNWIND_REG, of UNWIND_RA_REG, or of both */
	__u8 bx;   /* UNWIND_BX_*, or a number of words */
	__u8 unused;
};

/* A row of a table: from this byte of a 64 KiB page of the file on, this rule. */
struct unwind_row {
	__u16 low;  /* low 16 bits of the file offset */
	__u16 rule; /* index into the rule dictionary */
};

#define UNWIND_PAGE_SHIFT 16
/* Rules of one dictionary, shared by all modules. All 2,631 ELF files of a full
 * Debian installation need 6,288. The first three ids are always the rules that
 * have no parameters: UNWIND_NO_INFO, UNWIND_UNSUPPORTED, UNWIND_END. */
#define UNWIND_MAX_RULES 16384

/*
 * Zeroed, with ip, sp, bp and reg[] of the interrupted thread and is_leaf = 1, it
 * is the beginning of a walk. In a system call is_return is 1 too: ip is behind
 * the instruction, and where that ends a function (rt_sigreturn, exit) behind it.
 */
struct unwind_regs {
	__u64 ip, sp, bp;
	__u64 bx_at;	      /* where RBX is saved; 0 = it is still in reg[] */
	__u32 is_return;      /* ip was reached by return: its rule is that of ip - 1 */
	__u32 is_leaf;	      /* the thread was interrupted here: reg[] is known */
	__u32 bp_gone;	      /* bp holds nothing */
	__u32 bx_gone;	      /* RBX is not known */
	__u64 reg[DW_X86_NR]; /* by DWARF number, when is_leaf; RSP and RBP are above */
};

/* How a step ended. Registers are changed by UNWIND_GO_ON only. */
enum unwind_stop {
	UNWIND_GO_ON = 0,
	UNWIND_STOP_END,  /* outermost frame reached, by its CFI */
	UNWIND_STOP_ZERO, /* the return address is 0: outermost frame of a hand-made stack */
	UNWIND_STOP_NO_INFO,
	UNWIND_STOP_UNSUPPORTED,
	UNWIND_STOP_FAULT,    /* stack memory could not be read */
	UNWIND_STOP_NOT_LEAF, /* the rule needs a register that is not known here */
	UNWIND_STOP_STUCK,    /* the CFA does not move towards the root */
	UNWIND_STOP_NR
};

/*
 * Offset of the general registers in the kernel's rt_sigframe, seen from RSP at
 * the trampoline (its return address is popped): struct ucontext is at 0, its
 * uc_mcontext at 40. RSP as saved there and not RSP plus a constant, because the
 * handler may run on a stack of its own (sigaltstack).
 */
#define UNWIND_SIGFRAME_GREGS 40
enum {
	SIG_R8 = 0, /* .. R15 = 7 */
	SIG_RDI = 8,
	SIG_RSI,
	SIG_RBP,
	SIG_RBX,
	SIG_RDX,
	SIG_RAX,
	SIG_RCX,
	SIG_RSP,
	SIG_RIP,
	SIG_NR
};

#endif /* PROFBPF_UNWIND_STEP_H */

#if defined(unwind_read) && !defined(PROFBPF_UNWIND_STEP_CODE)
#define PROFBPF_UNWIND_STEP_CODE

static inline __attribute__((always_inline)) enum unwind_stop unwind_signal(struct unwind_regs *r)
{
	__u64 g[SIG_NR];

	if (unwind_read(g, sizeof(g), r->sp + UNWIND_SIGFRAME_GREGS))
		return UNWIND_STOP_FAULT;
	for (int i = 0; i < 8; i++)
		r->reg[DW_X86_R8 + i] = g[SIG_R8 + i];
	r->reg[DW_X86_RDI] = g[SIG_RDI];
	r->reg[DW_X86_RSI] = g[SIG_RSI];
	r->reg[DW_X86_RBX] = g[SIG_RBX];
	r->reg[DW_X86_RDX] = g[SIG_RDX];
	r->reg[DW_X86_RAX] = g[SIG_RAX];
	r->reg[DW_X86_RCX] = g[SIG_RCX];
	r->bp = g[SIG_RBP];
	r->sp = g[SIG_RSP];
	r->ip = g[SIG_RIP];
	r->is_return = 0; /* interrupted, not called: its own rule, not that of ip - 1 */
	r->is_leaf = 1;
	r->bp_gone = 0;
	r->bx_at = 0;
	r->bx_gone = 0;
	return UNWIND_GO_ON;
}

/* The register a CFA is made of. */
static inline __attribute__((always_inline)) enum unwind_stop unwind_register(
	const struct unwind_regs *r, __u32 reg, __u64 *value)
{
	*value = r->reg[reg & (DW_X86_NR - 1)];
	if (r->is_leaf)
		return UNWIND_GO_ON;
	if (reg != DW_X86_RBX || r->bx_gone)
		return UNWIND_STOP_NOT_LEAF;
	if (r->bx_at && unwind_read(value, sizeof(*value), r->bx_at))
		return UNWIND_STOP_FAULT;
	return UNWIND_GO_ON;
}

static inline __attribute__((always_inline)) enum unwind_stop unwind_step(
	const struct unwind_rule *rule, struct unwind_regs *r)
{
	__s64 cfa_off = rule->cfa_off, bp_off = rule->bp_off, add = rule->add;
	__u64 cfa, ra, bp = r->bp, pair[2];
	__u32 bp_gone = r->bp_gone;
	enum unwind_stop stop;

	switch (rule->cfa) {
	case UNWIND_NO_INFO:
		return UNWIND_STOP_NO_INFO;
	case UNWIND_END:
		return UNWIND_STOP_END;
	case UNWIND_SIGNAL:
		return unwind_signal(r);
	case UNWIND_SP:
		cfa = r->sp + cfa_off;
		break;
	case UNWIND_BP:
		if (bp_gone)
			return UNWIND_STOP_NOT_LEAF;
		cfa = bp + cfa_off;
		break;
	case UNWIND_REG:
		stop = unwind_register(r, rule->reg, &cfa);
		if (stop)
			return stop;
		cfa += cfa_off;
		break;
	case UNWIND_DEREF_SP:
		if (unwind_read(&cfa, sizeof(cfa), r->sp + cfa_off))
			return UNWIND_STOP_FAULT;
		cfa += add;
		break;
	case UNWIND_DEREF_BP:
		if (bp_gone)
			return UNWIND_STOP_NOT_LEAF;
		if (unwind_read(&cfa, sizeof(cfa), bp + cfa_off))
			return UNWIND_STOP_FAULT;
		cfa += add;
		break;
	case UNWIND_PLT:
		/* A stub pushes 8 bytes before it jumps on; the byte at which the
		 * push has happened differs between linkers. */
		cfa = r->sp + 8 + ((__s64)(r->ip & 15) >= add ? 8 : 0);
		break;
	default:
		return UNWIND_STOP_UNSUPPORTED;
	}
	/* Stacks grow down: a caller's frame lies above. Where the return address
	 * is in a register nothing need be on the stack, and that only once. */
	if (cfa < r->sp || (cfa == r->sp && rule->ra != UNWIND_RA_REG))
		return UNWIND_STOP_STUCK;

	if (rule->ra == UNWIND_RA_REG) {
		if (!r->is_leaf)
			return UNWIND_STOP_NOT_LEAF;
		ra = r->reg[rule->reg & (DW_X86_NR - 1)];
	} else if (rule->bp == UNWIND_BP_CFA && bp_off == -16) {
		/* What "push %rbp" leaves, two rows in three: one read for both. */
		if (unwind_read(pair, sizeof(pair), cfa - 16))
			return UNWIND_STOP_FAULT;
		bp = pair[0];
		ra = pair[1];
		bp_gone = 0;
		goto done;
	} else if (unwind_read(&ra, sizeof(ra), cfa - 8)) {
		return UNWIND_STOP_FAULT;
	}
	if (rule->bp == UNWIND_BP_CFA) {
		if (unwind_read(&bp, sizeof(bp), cfa + bp_off))
			return UNWIND_STOP_FAULT;
		bp_gone = 0;
	} else if (rule->bp == UNWIND_BP_AT_BP) {
		if (bp_gone)
			return UNWIND_STOP_NOT_LEAF;
		if (unwind_read(&bp, sizeof(bp), bp + bp_off))
			return UNWIND_STOP_FAULT;
	} else if (rule->bp == UNWIND_BP_GONE) {
		bp_gone = 1;
	}
done:
	if (!ra)
		return UNWIND_STOP_ZERO;
	r->ip = ra;
	r->sp = cfa;
	r->bp = bp;
	r->bp_gone = bp_gone;
	r->is_return = 1;
	r->is_leaf = 0;
	if (rule->bx == UNWIND_BX_LOST) {
		r->bx_gone = 1;
	} else if (rule->bx != UNWIND_BX_SAME) {
		r->bx_at = cfa - 8 * (__u64)rule->bx;
		r->bx_gone = 0;
	}
	return UNWIND_GO_ON;
}

#endif /* unwind_read */
