/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call frame information. Input that begins like an ELF file is one and goes
 * through unwind_table_build(); anything else is a byte of flags (1 .debug_frame,
 * 2 unsized) and a section. Seeds: the sections and files that
 * tests/unit/test_eh_frame.c and test_unwind_table.c write, and small real ones.
 */
#include <assert.h>
#include <linux/types.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/unwind_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	uint64_t rows;
};

static int on_fde(void *ctx, uint64_t start, uint64_t end, const uint64_t *vaddrs,
	const struct unwind_rule *rules, size_t nr)
{
	struct seen *s = ctx;

	assert(start < end && nr > 0 && vaddrs[0] == start);
	for (size_t i = 0; i < nr; i++) {
		assert(vaddrs[i] < end && (!i || vaddrs[i] > vaddrs[i - 1]));
		assert(rules[i].cfa != UNWIND_NO_INFO && rules[i].cfa < UNWIND_CFA_NR);
		assert(rules[i].bp <= UNWIND_BP_GONE && rules[i].ra <= UNWIND_RA_REG);
		assert(rules[i].reg < DW_X86_NR);
	}
	s->rows += nr;
	return 0;
}

static void scan(const uint8_t *data, size_t size)
{
	struct eh_input in = {.vaddr = 0x10000};
	struct seen seen = {0};
	struct eh_stats st;

	if (!size)
		return;
	in.debug_frame = *data & 1;
	in.unsized = !!(*data & 2);
	in.data = data + 1;
	in.len = size - 1;
	assert(eh_frame_scan(&in, on_fde, &seen, &st) == 0);
	assert(seen.rows <= size); /* each costs at least a byte */
	assert(st.bad_fdes + st.empty_fdes <= st.fdes);
}

static void build(const uint8_t *data, size_t size)
{
	struct unwind_rules *rules = unwind_rules_new();
	struct unwind_table *t = NULL;
	struct elf_file *f;
	struct err e = {0};

	if (elf_open_mem(&f, data, size, "fuzz", &e) == 0) {
		if (unwind_table_build(&t, f, rules, &e) == 0) {
			unwind_table_check(t);
			for (uint64_t at = 0; at < size + 64; at += 7)
				unwind_rules_at(rules, unwind_table_find(t, at));
			for (uint32_t i = 0; i < t->nr_pages && i < 64; i++)
				unwind_table_find(
					t, (uint64_t)(t->first_page + i) << UNWIND_PAGE_SHIFT);
		} else {
			assert(e.code && e.msg[0]);
		}
		elf_close(f);
	}
	unwind_table_free(t);
	unwind_rules_free(rules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 4 && memcmp(data,
				"\x7f"
				"ELF",
				4) == 0)
		build(data, size);
	else
		scan(data, size);
	return 0;
}
