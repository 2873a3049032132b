/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>
#include <fcntl.h>

#include "elf_fixture.h"
#include "symbolize/build_id.h"
#include "symbolize/elf_file.h"
#include "symbolize/symbolize.h"

static const struct fix_sym one[] = {FUNC("f", FIX_TEXT, 0x10)};

static int open_of(struct buf *b, struct elf_file **f, struct err *e)
{
	memset(e, 0, sizeof(*e));
	return elf_open_mem(f, b->data, b->len, "x", e);
}

static void test_fixture_is_read(void **state)
{
	struct buf b = BUF_INIT;
	struct elf_file *f;
	struct err e;

	(void)state;
	fix_elf(&b, one, 1);
	assert_int_equal(open_of(&b, &f, &e), 0);
	assert_int_equal(elf_read_sections(f, &e), 0);

	assert_int_equal(f->nr_loads, 2);
	assert_int_equal(f->nr_sections, FIX_NR_SECS);
	assert_int_equal(f->machine, EM_X86_64);

	elf_close(f);
	buf_release(&b);
}

static void test_other_files_are_refused_with_a_sentence(void **state)
{
	static const struct {
		const char *data;
		size_t len;
		int code;
		const char *part;
	} cases[] = {
		{"", 0, -EBADMSG, "not an ELF file"},
		{"#!/bin/sh\necho this is a text and long enough to be a header\n", 60, -EBADMSG,
			"not an ELF file"},
		{"\177ELF\2\2\1\0"
		 "0123456789012345678901234567890123456789012345678901234567",
			64, -EOPNOTSUPP, "big-endian"},
		{"\177ELF\7\1\1\0"
		 "0123456789012345678901234567890123456789012345678901234567",
			64, -EBADMSG, "class 7"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct elf_file *f;
		struct err e = {0};

		assert_int_equal(elf_open_mem(&f, cases[i].data, cases[i].len, "some/file", &e),
			cases[i].code);
		assert_null(f);
		assert_contains(e.msg, "some/file: ");
		assert_contains(e.msg, cases[i].part);
	}
}

static void test_name_in_a_sentence_is_escaped(void **state)
{
	struct elf_file *f;
	struct err e = {0};

	(void)state;
	assert_int_equal(elf_open_mem(&f, "", 0, "a\nb\033[31m", &e), -EBADMSG);
	assert_null(strchr(e.msg, '\n'));
	assert_null(strchr(e.msg, '\033'));
}

static void test_every_prefix_is_refused_or_read_without_harm(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	fix_elf(&b, one, 1);
	for (size_t len = 0; len < b.len; len += len < 512 ? 1 : 37) {
		struct module *m;
		struct symbols out;
		struct err e = {0};

		if (module_open_mem(&m, b.data, len, "x", NULL, &e)) {
			assert_true(e.code < 0 && e.msg[0]);
			continue;
		}
		module_symbols(m, 0x1000, 0, &out);
		module_close(m);
	}
	buf_release(&b);
}

static void test_tables_beyond_the_end_are_refused(void **state)
{
	struct buf b = BUF_INIT;
	struct elf_file *f;
	struct err e;
	Elf64_Ehdr *eh;

	(void)state;
	fix_elf(&b, one, 1);
	eh = (Elf64_Ehdr *)b.data;
	eh->e_phoff = b.len - 8;
	assert_int_equal(open_of(&b, &f, &e), -EBADMSG);
	eh->e_phoff = UINT64_MAX - 8;
	assert_int_equal(open_of(&b, &f, &e), -EBADMSG);
	eh->e_phoff = sizeof(*eh);
	eh->e_shoff = UINT64_MAX - 8;
	assert_int_equal(open_of(&b, &f, &e), 0);
	assert_int_equal(elf_read_sections(f, &e), -EBADMSG);
	elf_close(f);
	buf_release(&b);
}

static void test_offset_outside_of_segment_bytes_has_no_address(void **state)
{
	struct buf b = BUF_INIT;
	struct elf_file *f;
	struct err e;
	uint64_t v;

	(void)state;
	fix_elf(&b, one, 1);
	assert_int_equal(open_of(&b, &f, &e), 0);

	assert_int_equal(elf_vaddr(f, 0xfff, &v), 0);
	assert_int_equal(elf_vaddr(f, 0x1000, &v), 1);
	assert_int_equal(v, FIX_TEXT);
	assert_int_equal(elf_vaddr(f, 0x1fff, &v), 1);
	assert_int_equal(v, FIX_TEXT + 0xfff);
	assert_int_equal(elf_vaddr(f, 0x2000, &v), 1);
	assert_int_equal(v, FIX_DATA);
	/* memsz is larger than filesz, but what is behind the bytes is no file content */
	assert_int_equal(elf_vaddr(f, 0x3000, &v), 0);
	assert_int_equal(elf_vaddr(f, UINT64_MAX, &v), 0);

	elf_close(f);
	buf_release(&b);
}

static void test_of_two_segments_on_one_offset_the_executable_one_counts(void **state)
{
	struct buf b = BUF_INIT;
	struct elf_file *f;
	struct err e;
	Elf64_Phdr *ph;
	uint64_t v;

	(void)state;
	fix_elf(&b, one, 1);
	ph = (Elf64_Phdr *)(b.data + sizeof(Elf64_Ehdr));
	ph[1] = ph[0];
	ph[0].p_flags = PF_R;
	ph[0].p_vaddr = 0x900000;
	assert_int_equal(open_of(&b, &f, &e), 0);

	assert_int_equal(elf_vaddr(f, 0x1010, &v), 1);
	assert_int_equal(v, FIX_TEXT + 0x10);

	elf_close(f);
	buf_release(&b);
}

static void test_build_id_is_found_in_segment_and_in_section(void **state)
{
	struct buf b = BUF_INIT;
	struct elf_file *f;
	struct err e;
	uint8_t id[BUILD_ID_MAX];

	(void)state;
	fix_elf(&b, one, 1);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(open_of(&b, &f, &e), 0);
		assert_int_equal(build_id_read(f, id), 4);
		assert_memory_equal(id, "\xde\xad\xbe\xef", 4);
		elf_close(f);
		((Elf64_Phdr *)(b.data + sizeof(Elf64_Ehdr)))[2].p_type = PT_NULL;
	}
	buf_release(&b);
}

static void test_strings_end_inside_their_table(void **state)
{
	static const struct fix_sym syms[] = {FUNC("abcdef", FIX_TEXT, 0x10)};
	struct buf b = BUF_INIT;
	struct elf_file *f;
	struct elf_section sec;
	struct err e;
	char text[64];
	int cut;

	(void)state;
	fix_elf(&b, syms, 1);
	assert_int_equal(open_of(&b, &f, &e), 0);
	assert_int_equal(elf_read_sections(f, &e), 0);
	sec = f->sections[FIX_SEC_STRTAB];

	assert_int_equal(elf_string(f, &sec, 1, text, sizeof(text), &cut), 6);
	assert_string_equal(text, "abcdef");
	assert_int_equal(cut, 0);
	assert_int_equal(elf_string(f, &sec, 3, text, 3, &cut), 2);
	assert_string_equal(text, "cd");
	assert_int_equal(cut, 1);
	assert_int_equal(elf_string(f, &sec, sec.size, text, sizeof(text), &cut), -EBADMSG);
	assert_int_equal(elf_string(f, &sec, UINT64_MAX, text, sizeof(text), &cut), -EBADMSG);
	sec.size -= 1; /* the last NUL is outside now */
	assert_int_equal(elf_string(f, &sec, 1, text, sizeof(text), &cut), -EBADMSG);
	sec.offset = UINT64_MAX - 2;
	assert_int_equal(elf_string(f, &sec, 1, text, sizeof(text), &cut), -EBADMSG);

	elf_close(f);
	buf_release(&b);
}

static void test_file_that_shrinks_is_an_error_and_no_crash(void **state)
{
	char *path = path_in(*state, "x");
	struct buf b = BUF_INIT;
	struct elf_file *f;
	struct err e = {0};
	char byte;

	fix_elf(&b, one, 1);
	write_file(path, b.data, b.len);
	assert_int_equal(elf_open(&f, open(path, O_RDONLY | O_CLOEXEC), path, &e), 0);
	assert_int_equal(elf_changed(f), 0);
	assert_int_equal(truncate(path, 100), 0);

	assert_int_equal(elf_read(f, 0x1000, &byte, 1, &e), -EBADMSG);
	assert_contains(e.msg, "shorter");
	assert_int_equal(elf_read_sections(f, &e), -EBADMSG);
	assert_int_equal(elf_changed(f), 1);

	elf_close(f);
	buf_release(&b);
	free(path);
}

static void test_removing_the_name_is_no_change(void **state)
{
	char *path = path_in(*state, "x");
	struct buf b = BUF_INIT;
	struct elf_file *f;
	struct err e = {0};

	fix_elf(&b, one, 1);
	write_file(path, b.data, b.len);
	assert_int_equal(elf_open(&f, open(path, O_RDONLY | O_CLOEXEC), path, &e), 0);
	assert_int_equal(unlink(path), 0);

	assert_int_equal(elf_changed(f), 0);

	elf_close(f);
	buf_release(&b);
	free(path);
}

RUN_TESTS(T(test_fixture_is_read), T(test_other_files_are_refused_with_a_sentence),
	T(test_name_in_a_sentence_is_escaped), T(test_every_prefix_is_refused_or_read_without_harm),
	T(test_tables_beyond_the_end_are_refused),
	T(test_offset_outside_of_segment_bytes_has_no_address),
	T(test_of_two_segments_on_one_offset_the_executable_one_counts),
	T(test_build_id_is_found_in_segment_and_in_section), T(test_strings_end_inside_their_table),
	T_TMPDIR(test_file_that_shrinks_is_an_error_and_no_crash),
	T_TMPDIR(test_removing_the_name_is_no_change))
