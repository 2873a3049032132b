// SPDX-License-Identifier: BSD-2-Clause
#include "truth.h"

static void push(struct truth *t, uint64_t sp, uint64_t ip, uint64_t until)
{
	if (t->nr == TRUTH_MAX) {
		t->missed++;
		return;
	}
	t->at[t->nr++] = (struct truth_entry){.sp = sp, .ip = ip, .until = until};
}

void truth_call(struct truth *t, uint64_t sp, uint64_t ra)
{
	push(t, sp + 8, ra, sp);
}

void truth_signal(struct truth *t, uint64_t sp, uint64_t ra, uint64_t ip, uint64_t old_sp)
{
	/* The trampoline runs with the handler's return address popped. */
	push(t, old_sp, ip, sp + 8);
	push(t, sp + 8, ra, sp);
}

void truth_stack_pointer(struct truth *t, uint64_t sp)
{
	while (t->nr && t->at[t->nr - 1].until < sp)
		t->nr--;
}

unsigned truth_call_length(const uint8_t *code, unsigned len)
{
	static const uint8_t sib_disp32 = 5;
	unsigned i = 0, n, mod, rm;

	/* prefixes: notrack and bnd, operand size, REX */
	while (i < len && (code[i] == 0x3e || code[i] == 0xf2 || code[i] == 0x66 ||
				  code[i] == 0x67 || (code[i] & 0xf0) == 0x40))
		i++;
	if (i + 5 <= len && code[i] == 0xe8)
		return i + 5;
	if (i + 2 > len || code[i] != 0xff || (code[i + 1] >> 3 & 7) != 2)
		return 0;
	mod = code[i + 1] >> 6;
	rm = code[i + 1] & 7;
	n = i + 2;
	if (mod == 3)
		return n;
	if (rm == 4) {
		if (n < len && mod == 0 && (code[n] & 7) == sib_disp32)
			n += 4;
		n++;
	}
	if (mod == 1)
		n += 1;
	else if (mod == 2 || (mod == 0 && rm == 5))
		n += 4;
	return n <= len ? n : 0;
}
