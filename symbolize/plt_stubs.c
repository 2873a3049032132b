// SPDX-License-Identifier: BSD-2-Clause
/*
 * A stub is entered by a call, with the return address at RSP, and ends with a
 * jump. Only pushes change that:
 *
 *   .plt.got, .plt.sec, .iplt   [endbr64] jmp *slot
 *   .plt, lazy                  jmp *slot; push $n; jmp plt0      (push ends at 11)
 *   .plt, lazy, IBT             endbr64; push $n; [bnd] jmp plt0  (at 9)
 *   plt0                        push link_map; jmp *resolver      (entered with one
 *                                                                  word pushed)
 *
 * Sources: psABI 5.2; binutils bfd/elfxx-x86.c; lld ELF/Arch/X86_64.cpp.
 */
#include "plt_stubs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/unwind_step.h"
#include "symbolize/cfi.h"

#define STUB_BYTES 16

enum insn {
	BAD,
	NOP,
	ENDBR,
	PUSH,
	PUSH_MEMORY,
	JUMP
};

/* The instruction at @p; its length in *n. */
static enum insn decode(const uint8_t *p, size_t left, unsigned *n)
{
	static const struct {
		uint8_t bytes[4], len, total;
		enum insn insn;
	} known[] = {
		{{0xff, 0x25}, 2, 6, JUMP},		 /* jmp *x(%rip) */
		{{0xf2, 0xff, 0x25}, 3, 7, JUMP},	 /* bnd jmp *x(%rip) */
		{{0xe9}, 1, 5, JUMP},			 /* jmp x */
		{{0xf2, 0xe9}, 2, 6, JUMP},		 /* bnd jmp x */
		{{0x68}, 1, 5, PUSH},			 /* push $x */
		{{0xff, 0x35}, 2, 6, PUSH_MEMORY},	 /* push x(%rip) */
		{{0xf3, 0x0f, 0x1e, 0xfa}, 4, 4, ENDBR}, /* endbr64 */
		{{0x90}, 1, 1, NOP},			 /* nop, and in five lengths: */
		{{0x66, 0x90}, 2, 2, NOP}, {{0x0f, 0x1f, 0x00}, 3, 3, NOP},
		{{0x0f, 0x1f, 0x40, 0x00}, 4, 4, NOP}, {{0x0f, 0x1f, 0x44, 0x00}, 4, 5, NOP},
		{{0x66, 0x0f, 0x1f, 0x44}, 4, 6, NOP}, {{0xcc}, 1, 1, NOP}, /* int3, filler */
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].total <= left && memcmp(p, known[i].bytes, known[i].len) == 0) {
			*n = known[i].total;
			return known[i].insn;
		}
	}
	return BAD;
}

/* One stub: its rows, or the usual rule that does for all lazy ones. */
static int put_stub(
	struct cfi_rows *rows, uint64_t vaddr, const unsigned *push_end, unsigned pushes, int plt0)
{
	struct unwind_rule r = {.cfa = UNWIND_SP, .cfa_off = plt0 ? 16 : 8, .bx = UNWIND_BX_SAME};
	int err;

	if (pushes == 1 && !plt0 && vaddr % STUB_BYTES == 0 && push_end[0] < STUB_BYTES) {
		r.cfa = UNWIND_PLT;
		r.cfa_off = 0;
		r.add = (int16_t)push_end[0];
		return cfi_rows_add(rows, vaddr, r, EH_SUPPORTED);
	}
	err = cfi_rows_add(rows, vaddr, r, EH_SUPPORTED);
	for (unsigned i = 0; !err && i < pushes; i++) {
		r.cfa_off += 8;
		err = cfi_rows_add(rows, vaddr + push_end[i], r, EH_SUPPORTED);
	}
	return err;
}

int plt_stubs_scan(const uint8_t *code, size_t len, uint64_t vaddr, eh_fde_fn fn, void *ctx)
{
	struct cfi_rows rows = {0};
	size_t stub = 0, at = 0;
	int err = 0, plt0 = 0;
	unsigned push_end[2], pushes = 0, n;

	while (!err && at < len) {
		enum insn insn = decode(code + at, len - at, &n);
		int ends = insn == JUMP;

		if (insn == BAD || ((insn == PUSH || insn == PUSH_MEMORY) && pushes == 2))
			break;
		plt0 |= insn == PUSH_MEMORY && !stub; /* the first one only */
		at += n;
		if (insn == PUSH || insn == PUSH_MEMORY)
			push_end[pushes++] = (unsigned)(at - stub);
		/* After the jump through the slot a lazy stub goes on with a push;
		 * what fills it up belongs to it. */
		while (ends && at < len && decode(code + at, len - at, &n) == NOP &&
			(at - stub) % STUB_BYTES)
			at += n;
		if (!ends || (at < len && decode(code + at, len - at, &n) == PUSH && !pushes))
			continue;
		err = put_stub(&rows, vaddr + stub, push_end, pushes, plt0);
		stub = at;
		pushes = 0;
		plt0 = 0;
	}
	if (!err && rows.nr)
		err = fn(ctx, vaddr, vaddr + stub, rows.vaddrs, rows.rules, rows.nr);
	cfi_rows_release(&rows);
	return err;
}
