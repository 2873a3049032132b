/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between the three files that read call frame information (see eh_frame.h);
 * nobody else includes this.
 *
 *   entry bytes --cfi_run--> struct cfi_columns --cfi_rule--> struct unwind_rule
 *
 * DESIGN. Columns are kept as DWARF says them and become a rule only when a row
 * is put. So remember/restore is a copy of a few small structs and cannot forget
 * the CFA, and what a rule cannot express is known in one place.
 */
#ifndef PROFBPF_SYMBOLIZE_CFI_H
#define PROFBPF_SYMBOLIZE_CFI_H

#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind_step.h"
#include "symbolize/eh_frame.h"
#include "user/base/cursor.h"

enum cfi_kind {
	CFI_UNSET = 0, /* no instruction named it: what the psABI says */
	CFI_UNDEFINED,
	CFI_SAME,
	CFI_OFFSET,	    /* saved at CFA + off */
	CFI_VAL_OFFSET,	    /* is CFA + off */
	CFI_REGISTER,	    /* is in register reg; for the CFA: is reg + off */
	CFI_EXPRESSION,	    /* saved at expr */
	CFI_VAL_EXPRESSION, /* is expr */
};

struct cfi_column {
	enum cfi_kind kind;
	uint32_t reg;
	int64_t off;
	const uint8_t *expr; /* borrowed from the section */
	size_t expr_len;
};

/* The columns that are followed. */
struct cfi_columns {
	struct cfi_column cfa, bp, ra, bx, sp;
};

struct cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	uint32_t ra_reg;
	uint8_t fde_enc;   /* DW_EH_PE_* of addresses in its FDEs */
	uint8_t addr_size; /* 4 or 8 */
	uint8_t has_aug_data, is_signal, bad;
	struct cfi_columns initial;
};

/* Rows of one FDE, reused for the next. */
struct cfi_rows {
	uint64_t *vaddrs;
	struct unwind_rule *rules;
	uint8_t *why; /* enum eh_unsupported, or EH_SUPPORTED */
	size_t nr, cap;
};

/**
 * Run the instructions at @c over @cols. With @rows (an FDE) a row is put
 * whenever the location moves, and the last one at the end; all lie in
 * [start, end). Without (a CIE's initial instructions) locations are refused.
 * -EBADMSG for damage, -ENOMEM.
 */
int cfi_run(const struct eh_input *in, const struct cfi_cie *cie, struct cursor *c,
	struct cfi_columns *cols, struct cfi_rows *rows, uint64_t start, uint64_t end);

/** Append a row. 0 or -ENOMEM. */
int cfi_rows_add(
	struct cfi_rows *rows, uint64_t vaddr, struct unwind_rule rule, enum eh_unsupported why);
void cfi_rows_release(struct cfi_rows *rows);

/** The rule that says what @cols say; *why is EH_SUPPORTED, or what could not be said. */
struct unwind_rule cfi_rule(
	const struct cfi_columns *cols, int is_signal, enum eh_unsupported *why);

/** An address as DW_EH_PE_* @enc says. A wrong encoding fails the cursor. */
uint64_t cfi_pointer(const struct eh_input *in, struct cursor *c, uint8_t enc, uint8_t addr_size);
/** Signed LEB128. */
int64_t cfi_sleb(struct cursor *c);

#endif
