/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/types.h>
#include <sys/auxv.h>

#include "cfi_build.h"
#include "elf_build.h"
#include "symbolize/unwind_table.h"
#include "user/base/gz.h"

#define OFF   0x1000u	/* of the text in the file */
#define TEXT  0x401000u /* its link-time address */
#define KIB64 0x10000u

struct fixture {
	struct cfi_build eh, debug;
	struct elf_build elf;
	struct buf file;
	struct unwind_rules *rules;
	struct unwind_table *t;
	struct err e;
};

static struct fixture begin(uint64_t text_size)
{
	struct fixture f = {.eh = {.vaddr = ELF_EH_VADDR}, .debug = {.debug_frame = 1}};

	f.elf = (struct elf_build){.text_offset = OFF, .text_vaddr = TEXT, .text_size = text_size};
	f.rules = unwind_rules_new();
	assert_non_null(f.rules);
	cfi_usual_cie(&f.eh);
	cfi_usual_cie(&f.debug);
	return f;
}

/* A function at file offset @start with CFA = RSP + @cfa throughout. */
static void function(struct cfi_build *c, uint64_t start, uint64_t size, uint8_t cfa)
{
	cfi_fde(c, TEXT - OFF + start, size, CODE(DEF_CFA_OFF(cfa)));
}

static int try_build(struct fixture *f)
{
	struct elf_file *elf;
	int err;

	if (!f->elf.eh_frame && f->eh.last_cie != (size_t)-1)
		f->elf.eh_frame = &f->eh.b;
	elf_build(&f->file, &f->elf);
	err = elf_open_mem(&elf, f->file.data, f->file.len, "test.so", &f->e);
	if (!err)
		err = unwind_table_build(&f->t, elf, f->rules, &f->e);
	if (!err) {
		unwind_table_check(f->t);
		elf_close(elf);
	} else {
		assert_null(f->t);
		elf_close(elf);
	}
	return err;
}

static void build(struct fixture *f)
{
	if (try_build(f))
		fail_msg("%s", f->e.msg);
}

static void end(struct fixture *f)
{
	unwind_table_free(f->t);
	unwind_rules_free(f->rules);
	buf_release(&f->eh.b);
	buf_release(&f->debug.b);
	buf_release(&f->file);
}

/* The CFA's distance from RSP at @offset; -1 no information, -2 unsupported, -3 end. */
static int rule_at(const struct fixture *f, uint64_t offset)
{
	const struct unwind_rule *r = unwind_rules_at(f->rules, unwind_table_find(f->t, offset));

	switch (r->cfa) {
	case UNWIND_SP:
		return r->cfa_off;
	case UNWIND_NO_INFO:
		return -1;
	case UNWIND_UNSUPPORTED:
		return -2;
	case UNWIND_END:
		return -3;
	default:
		fail_msg("rule %u", r->cfa);
		return -4;
	}
}

static void test_rows_are_found_by_file_offset(void **state)
{
	struct fixture f = begin(0x1000);

	cfi_fde(&f.eh, TEXT + 0x10, 0x30,
		CODE(ADVANCE(1), DEF_CFA_OFF(16), ADVANCE(4), DEF_CFA_OFF(48), ADVANCE(0x10),
			DEF_CFA_OFF(8)));
	build(&f);
	assert_int_equal(rule_at(&f, OFF + 0x0f), -1);
	assert_int_equal(rule_at(&f, OFF + 0x10), 8);
	assert_int_equal(rule_at(&f, OFF + 0x11), 16);
	assert_int_equal(rule_at(&f, OFF + 0x14), 16);
	assert_int_equal(rule_at(&f, OFF + 0x15), 48);
	assert_int_equal(rule_at(&f, OFF + 0x24), 48);
	assert_int_equal(rule_at(&f, OFF + 0x25), 8);
	assert_int_equal(rule_at(&f, OFF + 0x3f), 8);
	assert_int_equal(rule_at(&f, OFF + 0x40), -1);
	assert_int_equal(rule_at(&f, 0), -1);
	assert_int_equal(rule_at(&f, UINT64_MAX), -1);
	assert_int_equal(f.t->stats.covered, 0x30);
	end(&f);
}

static void test_equal_neighbours_are_one_row(void **state)
{
	struct fixture f = begin(0x1000);

	for (uint64_t i = 0; i < 16; i++)
		function(&f.eh, OFF + i * 0x20, 0x20, 8);
	build(&f);
	assert_int_equal(f.t->nr_rows, 2); /* and the end */
	end(&f);
}

static void test_gaps_have_no_information(void **state)
{
	struct fixture f = begin(0x1000);

	function(&f.eh, OFF + 0x00, 0x0c, 8);  /* filler up to the next */
	function(&f.eh, OFF + 0x10, 0x08, 16); /* too much, or it begins aligned */
	function(&f.eh, OFF + 0x38, 0x18, 24);
	function(&f.eh, OFF + 0x58, 0x0f, 32); /* clone() */
	function(&f.eh, OFF + 0x71, 0x0f, 40);
	build(&f);
	assert_int_equal(rule_at(&f, OFF + 0x0b), 8);
	assert_int_equal(rule_at(&f, OFF + 0x0c), -1);
	assert_int_equal(rule_at(&f, OFF + 0x0f), -1);
	assert_int_equal(rule_at(&f, OFF + 0x10), 16);
	assert_int_equal(rule_at(&f, OFF + 0x18), -1);
	assert_int_equal(rule_at(&f, OFF + 0x37), -1);
	assert_int_equal(rule_at(&f, OFF + 0x38), 24);
	assert_int_equal(rule_at(&f, OFF + 0x50), -1);
	assert_int_equal(rule_at(&f, OFF + 0x58), 32);
	assert_int_equal(rule_at(&f, OFF + 0x70), 32);
	assert_int_equal(rule_at(&f, OFF + 0x71), 40);
	assert_int_equal(rule_at(&f, OFF + 0x80), -1);
	assert_int_equal(f.t->stats.gaps, 4); /* three, and the end */
	end(&f);
}

static void test_a_function_over_many_pages_is_in_each(void **state)
{
	struct fixture f = begin(4 * KIB64);

	function(&f.eh, OFF + 0x100, 3 * KIB64, 16);
	build(&f);
	assert_int_equal(f.t->nr_pages, 4);
	for (uint64_t page = 1; page < 4; page++) {
		assert_int_equal(f.t->pages[page + 1] - f.t->pages[page], page == 3 ? 2 : 1);
		assert_int_equal(f.t->rows[f.t->pages[page]].low, 0);
		assert_int_equal(rule_at(&f, page * KIB64), 16);
		assert_int_equal(rule_at(&f, page * KIB64 - 1), 16);
	}
	assert_int_equal(rule_at(&f, OFF + 0x0ff), -1);
	assert_int_equal(rule_at(&f, OFF + 0x100 + 3 * KIB64 - 1), 16);
	assert_int_equal(rule_at(&f, OFF + 0x100 + 3 * KIB64), -1);
	end(&f);
}

static void test_functions_at_page_boundaries(void **state)
{
	struct fixture f = begin(5 * KIB64);

	function(&f.eh, KIB64 - 0x10, 0x10, 16);   /* ends with page 0 */
	function(&f.eh, 2 * KIB64, KIB64, 24);	   /* is page 2 */
	function(&f.eh, 3 * KIB64, 2 * KIB64, 32); /* is the last two */
	build(&f);
	assert_int_equal(rule_at(&f, KIB64 - 1), 16);
	assert_int_equal(rule_at(&f, KIB64), -1);
	assert_int_equal(f.t->pages[2] - f.t->pages[1], 0); /* nothing in page 1 */
	assert_int_equal(rule_at(&f, 2 * KIB64 - 1), -1);
	assert_int_equal(rule_at(&f, 2 * KIB64), 24);
	assert_int_equal(rule_at(&f, 3 * KIB64 - 1), 24);
	assert_int_equal(rule_at(&f, 3 * KIB64), 32);
	assert_int_equal(rule_at(&f, 4 * KIB64), 32);
	assert_int_equal(rule_at(&f, 5 * KIB64 - 1), 32);
	assert_int_equal(rule_at(&f, 5 * KIB64), -1);
	assert_int_equal(f.t->nr_pages, 5);
	end(&f);
}

static void test_pages_before_the_text_take_no_space(void **state)
{
	struct fixture f = begin(0x1000);

	f.elf.text_offset = 10 * KIB64;
	cfi_fde(&f.eh, TEXT, 0x20, CODE(NOP));
	build(&f);
	assert_int_equal(f.t->first_page, 10);
	assert_int_equal(f.t->nr_pages, 1);
	assert_int_equal(rule_at(&f, 10 * KIB64), 8);
	assert_int_equal(rule_at(&f, 9 * KIB64), -1);
	assert_int_equal(rule_at(&f, 11 * KIB64), -1);
	end(&f);
}

static void test_unsorted_fdes(void **state)
{
	struct fixture f = begin(0x1000);

	function(&f.eh, OFF + 0x200, 0x100, 24);
	function(&f.eh, OFF + 0x100, 0x100, 16);
	function(&f.eh, OFF + 0x300, 0x100, 32);
	build(&f);
	assert_int_equal(rule_at(&f, OFF + 0x100), 16);
	assert_int_equal(rule_at(&f, OFF + 0x200), 24);
	assert_int_equal(rule_at(&f, OFF + 0x300), 32);
	assert_int_equal(f.t->stats.overlaps, 0);
	end(&f);
}

static void test_of_overlapping_fdes_the_later_start_wins(void **state)
{
	struct fixture f = begin(0x1000);

	function(&f.eh, OFF + 0x100, 0x300, 16);
	function(&f.eh, OFF + 0x200, 0x100,
		24); /* inside: what is behind it is nobody's, as for libgcc */
	function(&f.eh, OFF + 0x200, 0x200, 32); /* same start, later in the section */
	build(&f);
	assert_int_equal(rule_at(&f, OFF + 0x1ff), 16);
	assert_int_equal(rule_at(&f, OFF + 0x200), 24);
	assert_int_equal(rule_at(&f, OFF + 0x2ff), 24);
	assert_int_equal(rule_at(&f, OFF + 0x300), -1);
	assert_int_equal(f.t->stats.overlaps, 2);
	end(&f);
}

static void test_debug_frame_fills_what_eh_frame_leaves(void **state)
{
	struct fixture f = begin(0x1000);

	function(&f.eh, OFF + 0x100, 0x80, 16);
	function(&f.eh, OFF + 0x200, 0x80, 24);
	cfi_fde(&f.debug, TEXT + 0x080, 0x200,
		CODE(DEF_CFA_OFF(40), ADVANCE1(0xc0), DEF_CFA_OFF(48)));
	cfi_fde(&f.debug, TEXT + 0x210, 0x10, CODE(DEF_CFA_OFF(56)));
	cfi_fde(&f.debug, TEXT + 0x300, 0x10, CODE(DEF_CFA_OFF(64)));
	f.elf.debug_frame = &f.debug.b;
	build(&f);
	assert_int_equal(rule_at(&f, OFF + 0x080), 40);
	assert_int_equal(rule_at(&f, OFF + 0x0ff), 40);
	assert_int_equal(rule_at(&f, OFF + 0x100), 16);
	assert_int_equal(rule_at(&f, OFF + 0x180), 48); /* the row that began under the other FDE */
	assert_int_equal(rule_at(&f, OFF + 0x1ff), 48);
	assert_int_equal(rule_at(&f, OFF + 0x200), 24);
	assert_int_equal(rule_at(&f, OFF + 0x210), 24);
	assert_int_equal(rule_at(&f, OFF + 0x300), 64);
	assert_int_equal(f.t->stats.debug_frame, 1);
	end(&f);
}

static void test_debug_frame_alone_also_compressed(void **state)
{
	for (int compressed = 0; compressed < 2; compressed++) {
		struct fixture f = begin(0x1000);
		struct buf zipped = BUF_INIT;
		Elf64_Chdr ch = {.ch_type = ELFCOMPRESS_ZLIB, .ch_addralign = 8};

		f.eh.last_cie = (size_t)-1; /* none */
		function(&f.debug, OFF + 0x100, 0x80, 16);
		f.elf.debug_frame = &f.debug.b;
		if (compressed) {
			ch.ch_size = f.debug.b.len;
			buf_add(&zipped, &ch, sizeof(ch));
			assert_int_equal(gz_deflate(&zipped, f.debug.b.data, f.debug.b.len, 9), 0);
			f.elf.debug_frame = &zipped;
			f.elf.debug_flags = SHF_COMPRESSED;
		}
		build(&f);
		assert_int_equal(rule_at(&f, OFF + 0x100), 16);
		assert_int_equal(f.t->stats.eh_frame, ELF_CFI_NONE);
		end(&f);
		buf_release(&zipped);
	}
}

static void test_damaged_compression_is_an_error_with_a_sentence(void **state)
{
	struct fixture f = begin(0x1000);
	struct buf bad = BUF_INIT;
	Elf64_Chdr ch = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = 1000};

	buf_add(&bad, &ch, sizeof(ch));
	buf_adds(&bad, "not zlib");
	f.elf.debug_frame = &bad;
	f.elf.debug_flags = SHF_COMPRESSED;
	assert_int_equal(try_build(&f), -EBADMSG);
	assert_contains(f.e.msg, "test.so");
	end(&f);
	buf_release(&bad);
}

static void test_without_section_headers(void **state)
{
	/* with the header's table, and without: then the terminator ends the section */
	for (int hdr = 1; hdr <= 2; hdr++) {
		struct fixture f = begin(0x1000);

		function(&f.eh, OFF + 0x100, 0x80, 16);
		if (hdr == 2)
			buf_add_u32le(&f.eh.b, 0); /* one in the middle does no harm then */
		function(&f.eh, OFF + 0x200, 0x80, 24);
		buf_add_u32le(&f.eh.b, 0);
		f.elf.no_sections = 1;
		f.elf.hdr = hdr;
		f.elf.eh_tail = 100;
		build(&f);
		assert_int_equal(f.t->stats.eh_frame, ELF_CFI_HEADER);
		assert_int_equal(rule_at(&f, OFF + 0x100), 16);
		assert_int_equal(rule_at(&f, OFF + 0x200), 24);
		assert_int_equal(f.t->stats.cfi.truncated, 0);
		assert_int_equal(f.t->stats.cfi.fdes, 2);
		end(&f);
	}
}

static void test_without_section_headers_and_without_a_header(void **state)
{
	struct fixture f = begin(0x1000);

	function(&f.eh, OFF + 0x100, 0x80, 16);
	buf_add_u32le(&f.eh.b, 0);
	f.elf.no_sections = 1;
	f.elf.eh_tail = 100;
	build(&f);
	assert_int_equal(f.t->stats.eh_frame, ELF_CFI_SEARCH);
	assert_int_equal(rule_at(&f, OFF + 0x100), 16);
	assert_int_equal(f.t->stats.cfi.truncated, 0);
	end(&f);
}

static void test_no_unwind_information_is_an_empty_table(void **state)
{
	struct fixture f = begin(0x1000);

	f.eh.last_cie = (size_t)-1;
	build(&f);
	assert_int_equal(f.t->nr_rows, 0);
	assert_int_equal(rule_at(&f, OFF), -1);
	assert_int_equal(unwind_table_bytes(f.t), sizeof(*f.t));
	end(&f);
}

static void test_fdes_outside_the_text_are_left_out_or_cut(void **state)
{
	struct fixture f = begin(0x1000);

	cfi_fde(&f.eh, TEXT - 0x100, 0x80, CODE(NOP));
	cfi_fde(&f.eh, TEXT + 0xff0, 0x100,
		CODE(ADVANCE(8), DEF_CFA_OFF(16), ADVANCE(16), DEF_CFA_OFF(24)));
	cfi_fde(&f.eh, TEXT + 0x1000, 0x100, CODE(NOP));
	cfi_fde(&f.eh, ELF_EH_VADDR, 0x10, CODE(NOP)); /* not executable */
	build(&f);
	assert_int_equal(f.t->stats.outside, 3);
	assert_int_equal(rule_at(&f, OFF + 0xff0), 8);
	assert_int_equal(rule_at(&f, OFF + 0xfff), 16);
	assert_int_equal(rule_at(&f, OFF + 0x1000), -1);
	end(&f);
}

static void test_entry_point_without_fde_is_the_end(void **state)
{
	struct fixture f = begin(0x1000);

	f.elf.entry = TEXT + 0x120;
	function(&f.eh, OFF + 0x100, 0x20, 16);
	function(&f.eh, OFF + 0x150, 0x20, 24);
	build(&f);
	assert_int_equal(rule_at(&f, OFF + 0x11f), 16);
	assert_int_equal(rule_at(&f, OFF + 0x120), -3);
	assert_int_equal(rule_at(&f, OFF + 0x14f), -3);
	assert_int_equal(rule_at(&f, OFF + 0x150), 24);
	assert_int_equal(f.t->stats.entry_end, 1);
	end(&f);

	/* 64 bytes at most; and what an FDE says holds */
	f = begin(0x1000);
	f.elf.entry = TEXT + 0x200;
	function(&f.eh, OFF + 0x100, 0x20, 16);
	build(&f);
	assert_int_equal(rule_at(&f, OFF + 0x23f), -3);
	assert_int_equal(rule_at(&f, OFF + 0x240), -1);
	end(&f);

	f = begin(0x1000);
	f.elf.entry = TEXT + 0x110;
	function(&f.eh, OFF + 0x100, 0x20, 16);
	build(&f);
	assert_int_equal(rule_at(&f, OFF + 0x110), 16);
	end(&f);
}

static void test_hostile_sizes(void **state)
{
	static const uint64_t claims[] = {UINT64_MAX, 1ull << 62, 1ull << 32, 0x100000};

	/* a section that says it is larger than the file is as good as none */
	for (size_t i = 0; i < ARRAY_LEN(claims); i++) {
		struct fixture f = begin(0x1000);

		function(&f.eh, OFF, 0x20, 16);
		f.elf.eh_claim = claims[i];
		build(&f);
		assert_int_equal(f.t->stats.eh_frame, ELF_CFI_NONE);
		end(&f);
	}
}

static void test_other_machines_are_refused(void **state)
{
	struct fixture f = begin(0x1000);

	f.elf.machine = EM_AARCH64;
	assert_int_equal(try_build(&f), -EOPNOTSUPP);
	assert_contains(f.e.msg, "test.so");
	end(&f);
}

static void test_rules_are_shared_and_keep_their_ids(void **state)
{
	struct unwind_rules *r = unwind_rules_new();
	struct unwind_rule a = {.cfa = UNWIND_SP, .cfa_off = 8},
			   b = {.cfa = UNWIND_SP, .cfa_off = 16};
	uint16_t ida, idb, again;
	uint32_t nr;

	assert_int_equal(unwind_rules_at(r, 0)->cfa, UNWIND_NO_INFO);
	assert_int_equal(unwind_rules_at(r, 1)->cfa, UNWIND_UNSUPPORTED);
	assert_int_equal(unwind_rules_at(r, 2)->cfa, UNWIND_END);
	assert_int_equal(unwind_rules_id(r, &a, &ida), 0);
	assert_int_equal(unwind_rules_id(r, &b, &idb), 0);
	assert_int_equal(unwind_rules_id(r, &a, &again), 0);
	assert_int_equal(ida, 3);
	assert_int_equal(idb, 4);
	assert_int_equal(again, ida);
	unwind_rules_array(r, &nr);
	assert_int_equal(nr, 5);
	assert_int_equal(unwind_rules_at(r, 5)->cfa, UNWIND_NO_INFO);
	assert_int_equal(unwind_rules_at(r, UINT16_MAX)->cfa, UNWIND_NO_INFO);
	unwind_rules_free(r);
	unwind_rules_free(NULL);
}

static void test_a_full_dictionary_is_counted_as_unsupported(void **state)
{
	struct fixture f = begin(0x1000);
	struct unwind_rule rule = {.cfa = UNWIND_BP};
	uint16_t id;
	uint32_t nr;

	do {
		rule.cfa_off++;
		assert_int_equal(unwind_rules_id(f.rules, &rule, &id), 0);
	} while (id != UNWIND_UNSUPPORTED);
	unwind_rules_array(f.rules, &nr);
	assert_int_equal(nr, UNWIND_MAX_RULES);
	assert_int_equal(unwind_rules_refused(f.rules), 1);
	rule.cfa_off = 1;
	assert_int_equal(unwind_rules_id(f.rules, &rule, &id), 0);
	assert_int_equal(id, 3); /* known ones are still found */

	function(&f.eh, OFF, 0x20, 16);
	build(&f);
	assert_int_equal(rule_at(&f, OFF), -2);
	assert_int_equal(f.t->stats.refused, 1);
	end(&f);
}

/* ---- against a table with an entry per byte ---- */

#define MODEL_BYTES (3 * KIB64)
#define MODEL_FDES  400

struct model_fde {
	uint32_t start, size;
	uint8_t cfa[3]; /* at start, start + 1/3, start + 2/3 */
};

static int model_rule(const struct model_fde *fde, size_t nr, uint32_t at)
{
	const struct model_fde *best = NULL;

	for (size_t i = 0; i < nr; i++)
		if (fde[i].start <= at && (!best || fde[i].start > best->start))
			best = &fde[i];
	if (!best || at - best->start >= best->size)
		return -1;
	return best->cfa[best->size >= 3 ? (at - best->start) / (best->size / 3) > 2
						   ? 2
						   : (at - best->start) / (best->size / 3)
					 : 0];
}

static void model_add(struct cfi_build *c, struct model_fde *fde, uint64_t *rnd, uint32_t align)
{
	uint32_t third;

	fde->start = (uint32_t)(test_random(rnd) % MODEL_BYTES) / align * align;
	fde->size = 1 + (uint32_t)(test_random(rnd) % (test_random(rnd) % 8 ? 700 : 2 * KIB64));
	if (fde->start + fde->size > MODEL_BYTES)
		fde->size = MODEL_BYTES - fde->start;
	for (int i = 0; i < 3; i++)
		fde->cfa[i] = (uint8_t)(8 + 8 * (test_random(rnd) % 8));
	third = fde->size / 3;
	if (third)
		cfi_fde(c, TEXT + fde->start, fde->size,
			CODE(DEF_CFA_OFF(fde->cfa[0]), ADVANCE4(third), DEF_CFA_OFF(fde->cfa[1]),
				ADVANCE4(third), DEF_CFA_OFF(fde->cfa[2])));
	else
		cfi_fde(c, TEXT + fde->start, fde->size, CODE(DEF_CFA_OFF(fde->cfa[0])));
}

static void test_every_byte_equals_a_simple_model(void **state)
{
	static struct model_fde eh[MODEL_FDES], debug[MODEL_FDES];
	static int want[MODEL_BYTES];
	uint64_t rnd = 42;

	for (int round = 0; round < 8; round++) {
		struct fixture f = begin(MODEL_BYTES);
		size_t nr_eh = test_random(&rnd) % MODEL_FDES,
		       nr_debug = test_random(&rnd) % MODEL_FDES;

		for (size_t i = 0; i < nr_eh; i++)
			model_add(&f.eh, &eh[i], &rnd, round & 1 ? 16 : 1);
		for (size_t i = 0; i < nr_debug; i++)
			model_add(&f.debug, &debug[i], &rnd, round & 1 ? 16 : 1);
		f.elf.debug_frame = &f.debug.b;
		build(&f);
		for (uint32_t at = 0; at < MODEL_BYTES; at++) {
			want[at] = model_rule(eh, nr_eh, at);
			if (want[at] == -1)
				want[at] = model_rule(debug, nr_debug, at);
		}
		for (uint32_t at = 1; at < MODEL_BYTES; at++) {
			uint32_t next = at;

			if (want[at] != -1 || want[at - 1] == -1)
				continue;
			while (next < MODEL_BYTES && want[next] == -1)
				next++;
			/* OFF is a multiple of 16 */
			if (at % 16 && next < MODEL_BYTES && next % 16 && next - at < 16)
				for (; at < next; at++)
					want[at] = want[at - 1];
		}
		for (uint32_t at = 0; at < MODEL_BYTES; at++)
			if (rule_at(&f, OFF + at) != want[at])
				fail_msg("round %d, byte %#x: %d instead of %d", round, at,
					rule_at(&f, OFF + at), want[at]);
		end(&f);
	}
}

/* ---- real ones ---- */

static void test_our_own_executable(void **state)
{
	struct unwind_rules *rules = unwind_rules_new();
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct unwind_table *t;
	struct elf_file *elf;
	struct err e = {0};
	Elf64_Ehdr eh;

	assert_int_equal(elf_open(&elf, fd, "self", &e), 0);
	assert_int_equal(elf_read(elf, 0, &eh, sizeof(eh), &e), 0);
	assert_int_equal(unwind_table_build(&t, elf, rules, &e), 0);
	unwind_table_check(t);
	assert_int_equal(t->stats.eh_frame, ELF_CFI_SECTION);
	assert_true(t->nr_rows > 100);
	assert_int_equal(t->stats.cfi.bad_fdes, 0);
	/* crt1's _start, in the first executable segment */
	for (uint32_t i = 0; i < elf->nr_loads; i++) {
		const struct elf_segment *s = &elf->loads[i];

		if (eh.e_entry >= s->vaddr && eh.e_entry - s->vaddr < s->filesz)
			assert_int_equal(unwind_table_find(t, eh.e_entry - s->vaddr + s->offset),
				UNWIND_END);
	}
	unwind_table_free(t);
	unwind_rules_free(rules);
	elf_close(elf);
}

static void test_the_vdso(void **state)
{
	const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	struct unwind_rules *rules = unwind_rules_new();
	struct unwind_table *t;
	struct elf_file *elf;
	struct err e = {0};

	if (!image) {
		print_message("skip: no vDSO here\n");
		skip();
	}
	/* two pages are the smallest; sections lie behind them and are not needed */
	assert_int_equal(elf_open_mem(&elf, image, 4096, "[vdso]", &e), 0);
	assert_int_equal(unwind_table_build(&t, elf, rules, &e), 0);
	unwind_table_check(t);
	assert_true(t->nr_rows > 10);
	unwind_table_free(t);
	unwind_rules_free(rules);
	elf_close(elf);
}

RUN_TESTS(T(test_rows_are_found_by_file_offset), T(test_equal_neighbours_are_one_row),
	T(test_gaps_have_no_information), T(test_a_function_over_many_pages_is_in_each),
	T(test_functions_at_page_boundaries), T(test_pages_before_the_text_take_no_space),
	T(test_unsorted_fdes), T(test_of_overlapping_fdes_the_later_start_wins),
	T(test_debug_frame_fills_what_eh_frame_leaves), T(test_debug_frame_alone_also_compressed),
	T(test_damaged_compression_is_an_error_with_a_sentence), T(test_without_section_headers),
	T(test_without_section_headers_and_without_a_header),
	T(test_no_unwind_information_is_an_empty_table),
	T(test_fdes_outside_the_text_are_left_out_or_cut),
	T(test_entry_point_without_fde_is_the_end), T(test_hostile_sizes),
	T(test_other_machines_are_refused), T(test_rules_are_shared_and_keep_their_ids),
	T(test_a_full_dictionary_is_counted_as_unsupported),
	T(test_every_byte_equals_a_simple_model), T(test_our_own_executable), T(test_the_vdso))
