/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What libdw says about a frame, executed: the independent half of the tests of
 * the unwinder. Nothing here is shared with symbolize/ or bpf/unwind_step.h.
 */
#ifndef PROFBPF_TESTS_DW_EVAL_H
#define PROFBPF_TESTS_DW_EVAL_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

#define DW_REGS 17 /* by DWARF number; 16 is the return address, or RIP of the frame itself */
#define DW_RBX	3
#define DW_RBP	6
#define DW_RSP	7
#define DW_RIP	16

struct dw_regs {
	uint64_t r[DW_REGS];
	uint32_t known; /* bit per register */
};

enum dw_kind {
	DW_SAME,
	DW_UNDEFINED,
	DW_OPS
};

struct dw_rule {
	enum dw_kind kind;
	Dwarf_Op mem[3]; /* what ops points to for simple rules */
	Dwarf_Op *ops;	 /* valid as long as the Dwarf_Frame and its Dwarf_CFI */
	size_t nops;
};

struct dw_frame {
	struct dw_rule cfa, reg[DW_REGS];
	uint32_t mask; /* registers asked for */
	int signal;
};

/* 0, or non-zero when the memory cannot be read. */
typedef int (*dw_read_fn)(void *ctx, uint64_t addr, uint64_t *value);

enum dw_error {
	DW_OK = 0,
	DW_NO_RULE,
	DW_FAULT,
	DW_UNKNOWN_REGISTER,
	DW_UNKNOWN_OP
};

/** Ask libdw for the CFA and the registers in @mask. @out must not be moved. */
enum dw_error dw_frame_compile(Dwarf_Frame *frame, uint32_t mask, struct dw_frame *out);
/**
 * The caller's registers from those at @in. Where a register cannot be had its
 * bit in out->known is clear; RIP's is when this is the outermost frame.
 */
enum dw_error dw_frame_apply(const struct dw_frame *f, const struct dw_regs *in, uint64_t *cfa,
	struct dw_regs *out, dw_read_fn read, void *ctx);

#endif
