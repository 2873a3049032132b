// SPDX-License-Identifier: BSD-2-Clause
/*
 * The machine of call frame instructions, DWARF 5 section 6.4.2 and table 7.29.
 *
 * Everything is bounded: rows by the bytes of the entry (each costs at least
 * one), the remember stack by REMEMBER_MAX.
 */
#include "cfi.h"

#include <errno.h>
#include <stdlib.h>

enum {
	CFA_ADVANCE_LOC = 0x40, /* the high two bits; the low six are the operand */
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE_LOC1 = 0x02,
	CFA_ADVANCE_LOC2 = 0x03,
	CFA_ADVANCE_LOC4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_GNU_WINDOW_SAVE = 0x2d, /* aarch64: return address signing */
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

#define REMEMBER_MAX 32 /* compilers nest one or two */

struct machine {
	const struct cfi_cie *cie;
	struct cursor *c;
	struct cfi_columns *cols;
	struct cfi_columns saved[REMEMBER_MAX];
	unsigned depth;
};

int64_t cfi_sleb(struct cursor *c)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t b;

	do {
		b = cursor_u8(c);
		v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80 && shift < 64);
	if (b & 0x80)
		cursor_fail(c); /* more than ten bytes */
	if (b & 0x40 && shift < 64)
		v |= ~UINT64_C(0) << shift;
	return (int64_t)v;
}

int cfi_rows_add(
	struct cfi_rows *rows, uint64_t vaddr, struct unwind_rule rule, enum eh_unsupported why)
{
	if (rows->nr == rows->cap) {
		size_t cap = rows->cap ? rows->cap * 2 : 256;
		uint64_t *v = reallocarray(rows->vaddrs, cap, sizeof(*v));
		struct unwind_rule *r;
		uint8_t *w;

		if (!v)
			return -ENOMEM;
		rows->vaddrs = v;
		r = reallocarray(rows->rules, cap, sizeof(*r));
		if (!r)
			return -ENOMEM;
		rows->rules = r;
		w = reallocarray(rows->why, cap, sizeof(*w));
		if (!w)
			return -ENOMEM;
		rows->why = w;
		rows->cap = cap;
	}
	rows->vaddrs[rows->nr] = vaddr;
	rows->rules[rows->nr] = rule;
	rows->why[rows->nr] = (uint8_t)why;
	rows->nr++;
	return 0;
}

void cfi_rows_release(struct cfi_rows *rows)
{
	free(rows->vaddrs);
	free(rows->rules);
	free(rows->why);
	*rows = (struct cfi_rows){0};
}

static uint32_t register_number(uint64_t v)
{
	return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

/* NULL for the registers that are not followed. */
static struct cfi_column *column_of(
	const struct cfi_cie *cie, struct cfi_columns *cols, uint64_t reg)
{
	if (reg == cie->ra_reg)
		return &cols->ra;
	switch (reg) {
	case DW_X86_RBP:
		return &cols->bp;
	case DW_X86_RBX:
		return &cols->bx;
	case DW_X86_RSP:
		return &cols->sp;
	default:
		return NULL;
	}
}

static void set_column(struct machine *m, uint64_t reg, struct cfi_column v)
{
	struct cfi_column *col = column_of(m->cie, m->cols, reg);

	if (col)
		*col = v;
}

static void restore_column(struct machine *m, uint64_t reg)
{
	struct cfi_columns initial = m->cie->initial;
	const struct cfi_column *col = column_of(m->cie, &initial, reg);

	if (col)
		set_column(m, reg, *col);
}

/* Offsets wrap like the machine's; what does not fit a rule is refused there. */
static int64_t factored(const struct machine *m, int64_t v)
{
	return (int64_t)((uint64_t)v * (uint64_t)m->cie->data_align);
}

static struct cfi_column offset_column(enum cfi_kind kind, int64_t off)
{
	return (struct cfi_column){.kind = kind, .off = off};
}

static struct cfi_column expression_column(struct machine *m, enum cfi_kind kind)
{
	uint64_t n = cursor_varint(m->c);
	struct cfi_column col = {.kind = kind};

	if (n > cursor_left(m->c)) {
		cursor_fail(m->c);
		return col;
	}
	col.expr_len = n;
	col.expr = cursor_bytes(m->c, n);
	return col;
}

/*
 * Instructions that define the CFA. An expression leaves the halves of the last
 * register and offset rule in place: DWARF (6.4.2.2) calls it invalid to change
 * one of them then, but libgcc goes on from there, and hand-written code
 * (libgcrypt's) that was tested with libgcc relies on it.
 */
static int run_cfa(struct machine *m, uint8_t op)
{
	struct cfi_column *cfa = &m->cols->cfa, expr;

	switch (op) {
	case CFA_DEF_CFA_EXPRESSION:
		expr = expression_column(m, CFI_VAL_EXPRESSION);
		cfa->kind = expr.kind;
		cfa->expr = expr.expr;
		cfa->expr_len = expr.expr_len;
		return 0;
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_SF:
		cfa->reg = register_number(cursor_varint(m->c));
		break;
	case CFA_DEF_CFA_REGISTER:
		if (cfa->kind == CFI_UNSET)
			return -EBADMSG;
		cfa->reg = register_number(cursor_varint(m->c));
		cfa->kind = CFI_REGISTER;
		return 0;
	default:
		if (cfa->kind == CFI_UNSET)
			return -EBADMSG;
	}
	cfa->kind = CFI_REGISTER;
	if (op == CFA_DEF_CFA || op == CFA_DEF_CFA_OFFSET)
		cfa->off = (int64_t)cursor_varint(m->c);
	else
		cfa->off = factored(m, cfi_sleb(m->c));
	return 0;
}

/* Instructions that define a register's column, or save and restore them all. */
static int run_column(struct machine *m, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case CFA_REMEMBER_STATE:
		if (m->depth == REMEMBER_MAX)
			return -EBADMSG;
		m->saved[m->depth++] = *m->cols;
		return 0;
	case CFA_RESTORE_STATE:
		if (!m->depth)
			return -EBADMSG;
		*m->cols = m->saved[--m->depth]; /* the CFA with the registers, as all producers
						    mean it */
		return 0;
	default:
		break;
	}
	reg = cursor_varint(m->c);
	switch (op) {
	case CFA_OFFSET_EXTENDED:
		set_column(m, reg,
			offset_column(CFI_OFFSET, factored(m, (int64_t)cursor_varint(m->c))));
		break;
	case CFA_OFFSET_EXTENDED_SF:
		set_column(m, reg, offset_column(CFI_OFFSET, factored(m, cfi_sleb(m->c))));
		break;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		set_column(m, reg,
			offset_column(CFI_OFFSET, factored(m, (int64_t)(0 - cursor_varint(m->c)))));
		break;
	case CFA_VAL_OFFSET:
		set_column(m, reg,
			offset_column(CFI_VAL_OFFSET, factored(m, (int64_t)cursor_varint(m->c))));
		break;
	case CFA_VAL_OFFSET_SF:
		set_column(m, reg, offset_column(CFI_VAL_OFFSET, factored(m, cfi_sleb(m->c))));
		break;
	case CFA_EXPRESSION:
		set_column(m, reg, expression_column(m, CFI_EXPRESSION));
		break;
	case CFA_VAL_EXPRESSION:
		set_column(m, reg, expression_column(m, CFI_VAL_EXPRESSION));
		break;
	case CFA_RESTORE_EXTENDED:
		restore_column(m, reg);
		break;
	case CFA_UNDEFINED:
		set_column(m, reg, offset_column(CFI_UNDEFINED, 0));
		break;
	case CFA_SAME_VALUE:
		set_column(m, reg, offset_column(CFI_SAME, 0));
		break;
	case CFA_REGISTER:
		set_column(m, reg,
			(struct cfi_column){
				.kind = CFI_REGISTER, .reg = register_number(cursor_varint(m->c))});
		break;
	default:
		return -EBADMSG;
	}
	return 0;
}

/* One instruction; *next is where the location is after it. */
static int run_one(struct machine *m, const struct eh_input *in, uint8_t op, uint64_t *next)
{
	const uint64_t align = m->cie->code_align;
	uint8_t low = op & 0x3f;

	switch (op & 0xc0) {
	case CFA_ADVANCE_LOC:
		*next += low * align;
		return 0;
	case CFA_OFFSET:
		set_column(m, low,
			offset_column(CFI_OFFSET, factored(m, (int64_t)cursor_varint(m->c))));
		return 0;
	case CFA_RESTORE:
		restore_column(m, low);
		return 0;
	default:
		break;
	}
	switch (op) {
	case CFA_NOP:
	case CFA_GNU_WINDOW_SAVE: /* changes no address */
		return 0;
	case CFA_SET_LOC:
		*next = cfi_pointer(in, m->c, m->cie->fde_enc, m->cie->addr_size);
		return 0;
	case CFA_ADVANCE_LOC1:
		*next += cursor_u8(m->c) * align;
		return 0;
	case CFA_ADVANCE_LOC2:
		*next += cursor_u16(m->c) * align;
		return 0;
	case CFA_ADVANCE_LOC4:
		*next += cursor_u32(m->c) * align;
		return 0;
	case CFA_GNU_ARGS_SIZE: /* for exception handling only */
		cursor_varint(m->c);
		return 0;
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_SF:
	case CFA_DEF_CFA_REGISTER:
	case CFA_DEF_CFA_OFFSET:
	case CFA_DEF_CFA_OFFSET_SF:
	case CFA_DEF_CFA_EXPRESSION:
		return run_cfa(m, op);
	default:
		return run_column(m, op);
	}
}

static int put_row(struct machine *m, struct cfi_rows *rows, uint64_t vaddr)
{
	enum eh_unsupported why;
	struct unwind_rule rule = cfi_rule(m->cols, m->cie->is_signal, &why);

	return cfi_rows_add(rows, vaddr, rule, why);
}

int cfi_run(const struct eh_input *in, const struct cfi_cie *cie, struct cursor *c,
	struct cfi_columns *cols, struct cfi_rows *rows, uint64_t start, uint64_t end)
{
	struct machine m; /* not initialised whole: saved[] is 6 KiB */
	uint64_t loc = start;
	int err;

	m.cie = cie;
	m.c = c;
	m.cols = cols;
	m.depth = 0;
	while (cursor_left(c)) {
		uint64_t next = loc;

		err = run_one(&m, in, cursor_u8(c), &next);
		if (err)
			return err;
		if (cursor_err(c))
			return -EBADMSG;
		if (next == loc)
			continue;
		if (!rows || next < loc)
			return -EBADMSG; /* no location in a CIE; 6.4.2.1: only forwards */
		err = put_row(&m, rows, loc);
		if (err)
			return err;
		loc = next;
		if (loc >= end)
			return 0; /* nothing from here on belongs to the function */
	}
	return rows ? put_row(&m, rows, loc) : 0;
}
