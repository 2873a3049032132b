/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/types.h>
#include <sys/mman.h>

#include "cfi_build.h"
#include "elf_build.h"
#include "symbolize/unwind_file.h"
#include "unwind_heap.h"
#include "user/base/clock.h"
#define LOG_DOMAIN "test"
#include "user/base/log.h"
#include "user/record/features.h"
#include "user/record/sampler.h"
#include "user/record/unwind_loader.h"
#include "user/record/unwind_maps.h"

#define FIRST 16u /* module ids of tests */

/* Code of these is there on any host that runs the tests; the rest where it is installed. */
static const char *const elf_files[] = {
	"/proc/self/exe",
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib64/ld-linux-x86-64.so.2",
	"/bin/bash",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	"/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
	"/usr/bin/node",
};

struct fixture {
	struct heap heap;
	struct unwind_loader *l;
	struct err e;
};

static struct fixture *begin(uint32_t max_slabs)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	heap_begin(&f->heap, max_slabs);
	assert_int_equal(unwind_loader_new(&f->l, &f->heap.memory, &f->e), 0);
	return f;
}

static void end(struct fixture *f)
{
	unwind_loader_free(f->l);
	heap_end(&f->heap);
	free(f);
}

static void work(struct unwind_loader *l)
{
	while (unwind_loader_wait_ms(l) >= 0) {
		usleep((useconds_t)unwind_loader_wait_ms(l) * 1000);
		unwind_loader_work(l, 10000000);
	}
}

static void add_path(struct unwind_loader *l, uint32_t id, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	unwind_loader_add(l, id, fd, path);
	close(fd); /* the loader has its own */
}

static void add_bytes(struct unwind_loader *l, uint32_t id, const void *data, size_t len)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	unwind_loader_add(l, id, fd, "test.so");
	close(fd);
}

/* A file with @nr functions of 64 KiB, and a row for each of their bytes. */
static void add_large(struct unwind_loader *l, uint32_t id, uint32_t nr)
{
	struct cfi_build cfi = {.vaddr = ELF_EH_VADDR};
	struct elf_build elf = {
		.text_offset = 0x1000, .text_vaddr = 0x401000, .text_size = (uint64_t)nr << 16};
	struct buf code = BUF_INIT, file = BUF_INIT;

	for (uint32_t i = 0; i < 65535; i++) {
		buf_add(&code, CODE(ADVANCE(1)));
		buf_add(&code, CODE(DEF_CFA_OFF((uint8_t)(8 + 8 * (i & 7)))));
	}
	cfi_usual_cie(&cfi);
	for (uint32_t i = 0; i < nr; i++)
		cfi_fde(&cfi, elf.text_vaddr + ((uint64_t)i << 16), 1u << 16,
			(const uint8_t *)code.data, code.len);
	elf.eh_frame = &cfi.b;
	elf_build(&file, &elf);
	add_bytes(l, id, file.data, file.len);
	buf_release(&code);
	buf_release(&file);
	buf_release(&cfi.b);
}

/* Against a table made anew. */
static void compare_file(const struct walk_tables *w, uint32_t id, const char *path)
{
	struct unwind_rules *rules = unwind_rules_new();
	int fd = open(path, O_RDONLY | O_CLOEXEC), keeps_fp;
	struct unwind_table *t;
	struct err e = {0};

	assert_non_null(rules);
	if (unwind_file_build(&t, &keeps_fp, fd, path, rules, &e))
		fail_msg("%s", e.msg);
	assert_true(t->nr_rows > 0);
	walk_tables_compare_rules(w, id, t, rules);
	print_message("  %s: %u rows in %u pages\n", path, t->nr_rows, t->nr_pages);
	unwind_table_free(t);
	unwind_rules_free(rules);
	close(fd);
}

/* ---- what becomes of files ---- */

static void test_every_row_of_real_files_is_found(void **state)
{
	struct fixture *f = begin(8);
	struct walk_tables w;
	struct unwind_loader_stats st;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < ARRAY_LEN(elf_files); i++)
		if (!access(elf_files[i], R_OK))
			add_path(f->l, FIRST + i, elf_files[i]);
	assert_int_equal(unwind_loader_wait_ms(f->l), 0);
	assert_int_equal(unwind_loader_outcome(f->l, FIRST), UNWIND_WAITING);
	work(f->l);
	w = heap_walk(&f->heap);
	for (uint32_t i = 0; i < ARRAY_LEN(elf_files); i++) {
		if (access(elf_files[i], R_OK))
			continue;
		assert_int_equal(unwind_loader_outcome(f->l, FIRST + i), UNWIND_LOADED);
		compare_file(&w, FIRST + i, elf_files[i]);
		nr++;
	}
	unwind_loader_stats(f->l, &st);
	assert_int_equal(st.files[UNWIND_LOADED], nr);
	assert_true(st.rows > 1000 && st.rules > 100 && st.build_ns > 0 && st.kernel_bytes > 0);
	end(f);
}

static void test_the_vdso_has_a_table(void **state)
{
	struct fixture *f = begin(1);

	unwind_loader_add_vdso(f->l);
	assert_int_equal(unwind_loader_outcome(f->l, MODULE_VDSO), UNWIND_LOADED);
	assert_int_equal(f->heap.memory.modules[MODULE_VDSO].state, WIRE_UNWIND_READY);
	end(f);
}

static void test_what_is_no_elf_file_fails_with_a_reason(void **state)
{
	struct fixture *f = begin(1);
	struct unwind_loader_stats st;

	add_bytes(f->l, FIRST, "", 0);
	add_bytes(f->l, FIRST + 1, "#!/bin/sh\n", 10);
	add_bytes(f->l, FIRST + 2, ELFMAG "\2\1\1", 7);
	unwind_loader_add(f->l, FIRST + 3, -1, "lost.so");
	work(f->l);
	for (uint32_t id = FIRST; id < FIRST + 4; id++) {
		assert_int_equal(unwind_loader_outcome(f->l, id), UNWIND_FAILED);
		assert_int_equal(f->heap.memory.modules[id].state, WIRE_UNWIND_NONE);
		assert_contains(unwind_loader_why(f->l, id), ".so: ");
	}
	unwind_loader_stats(f->l, &st);
	assert_int_equal(st.files[UNWIND_FAILED], 4);
	/* out of range is nobody's */
	unwind_loader_add(f->l, UNWIND_MODULES, 0, "x");
	assert_int_equal(unwind_loader_outcome(f->l, UNWIND_MODULES), UNWIND_UNKNOWN);
	end(f);
}

static void test_a_file_without_call_frame_information_is_empty(void **state)
{
	struct elf_build elf = {.text_offset = 0x1000, .text_vaddr = 0x401000, .text_size = 4096};
	struct fixture *f = begin(1);
	struct buf file = BUF_INIT;

	elf_build(&file, &elf);
	add_bytes(f->l, FIRST, file.data, file.len);
	work(f->l);
	assert_int_equal(unwind_loader_outcome(f->l, FIRST), UNWIND_EMPTY);
	assert_int_equal(f->heap.memory.modules[FIRST].state, WIRE_UNWIND_NONE);
	buf_release(&file);
	end(f);
}

static void test_a_go_program_keeps_frame_pointers(void **state)
{
	static const char *const sections[] = {".gopclntab", ".go.buildinfo", NULL};
	static const char note[] = "\4\0\0\0\4\0\0\0\4\0\0\0Go\0\0abcd";
	struct buf note_buf = BUF_INIT;

	buf_add(&note_buf, note, sizeof(note) - 1);

	for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
		struct fixture *f = begin(1);
		struct buf file = BUF_INIT;
		struct cfi_build cfi = {.vaddr = ELF_EH_VADDR};
		struct elf_build elf = {.text_offset = 0x1000,
			.text_vaddr = 0x401000,
			.text_size = 4096,
			.eh_frame = &cfi.b,
			.section = sections[i],
			.note = sections[i] ? NULL : &note_buf,
			.no_sections = !sections[i]};

		cfi_usual_cie(&cfi);
		cfi_fde(&cfi, 0x401000, 4096, CODE(NOP));
		elf_build(&file, &elf);
		add_bytes(f->l, FIRST, file.data, file.len);
		work(f->l);
		assert_int_equal(unwind_loader_outcome(f->l, FIRST), UNWIND_KEEPS_FP);
		assert_int_equal(f->heap.memory.modules[FIRST].state, WIRE_UNWIND_FP);
		buf_release(&file);
		buf_release(&cfi.b);
		end(f);
	}
	buf_release(&note_buf);
}

static void test_damaged_files_do_no_harm(void **state)
{
	size_t len;
	char *libc = read_file("/lib/x86_64-linux-gnu/libc.so.6", &len), *copy = malloc(len);
	struct fixture *f = begin(8);
	uint64_t seed = 3;
	uint32_t id = FIRST;

	assert_non_null(copy);
	for (int round = 0; round < 60; round++, id++) {
		size_t cut = test_random(&seed) % len;

		memcpy(copy, libc, len);
		/* .eh_frame is near the end of the read-only segments: damage all places alike */
		for (int i = 0; i < 2000; i++)
			copy[test_random(&seed) % len] = (char)test_random(&seed);
		for (int i = 0; i < round % 4; i++)
			copy[test_random(&seed) % 1024] = (char)test_random(&seed);
		add_bytes(f->l, id, copy, round % 3 ? len : cut);
		work(f->l);
	}
	for (uint32_t i = FIRST; i < id; i++)
		assert_int_equal(unwind_loader_outcome(f->l, i) == UNWIND_LOADED,
			f->heap.memory.modules[i].state == WIRE_UNWIND_READY);
	free(libc);
	free(copy);
	end(f);
}

static void test_code_at_the_end_of_a_huge_sparse_file_is_refused(void **state)
{
	struct cfi_build cfi = {.vaddr = ELF_EH_VADDR};
	struct elf_build elf = {.text_offset = 0x1000,
		.text_vaddr = 0x401000,
		.text_size = 4096,
		.eh_frame = &cfi.b};
	struct fixture *f = begin(1);
	struct buf file = BUF_INIT;
	Elf64_Phdr ph;
	int fd;

	cfi_usual_cie(&cfi);
	cfi_fde(&cfi, 0x401000, 16, CODE(NOP));
	cfi_fde(&cfi, 0x401000 + 0x8f000000, 16, CODE(NOP));
	elf_build(&file, &elf);
	memcpy(&ph, file.data + sizeof(Elf64_Ehdr), sizeof(ph));
	ph.p_filesz = ph.p_memsz = 0x8f001000;
	memcpy(file.data + sizeof(Elf64_Ehdr), &ph, sizeof(ph));
	fd = memfd_create("test", MFD_CLOEXEC);
	assert_int_equal(write(fd, file.data, file.len), file.len);
	assert_int_equal(ftruncate(fd, 0x100000000), 0);
	unwind_loader_add(f->l, FIRST, fd, "sparse.so");
	work(f->l);
	assert_int_equal(unwind_loader_outcome(f->l, FIRST), UNWIND_FAILED);
	assert_contains(unwind_loader_why(f->l, FIRST), "sparse.so: its code is spread over");
	close(fd);
	buf_release(&file);
	buf_release(&cfi.b);
	end(f);
}

/* ---- the budget ---- */

static void test_a_table_in_use_stays_and_another_comes_when_it_is_not(void **state)
{
	struct fixture *f = begin(1);
	struct unwind_loader_stats st;
	struct wire_unwind_module *m = f->heap.memory.modules;

	log_set_level(LOG_ERROR); /* not the warning */
	add_large(f->l, FIRST, 12);
	work(f->l);
	assert_int_equal(unwind_loader_outcome(f->l, FIRST), UNWIND_LOADED);
	add_large(f->l, FIRST + 1, 10);
	work(f->l);
	assert_int_equal(unwind_loader_outcome(f->l, FIRST + 1), UNWIND_NO_ROOM);
	assert_contains(unwind_loader_why(f->l, FIRST + 1), "in use");
	assert_false(unwind_loader_misses(f->l, FIRST + 1, clock_mono_ns()));

	m[FIRST].used_ns = clock_mono_ns() - 5000000000u;
	add_large(f->l, FIRST + 2, 10);
	unwind_loader_work(f->l, 0);
	assert_int_equal(unwind_loader_outcome(f->l, FIRST + 2), UNWIND_WAITING);
	assert_true(unwind_loader_wait_ms(f->l) >= 0);
	assert_int_equal(m[FIRST].state, WIRE_UNWIND_NONE);
	work(f->l);
	assert_int_equal(unwind_loader_outcome(f->l, FIRST + 2), UNWIND_LOADED);
	assert_int_equal(unwind_loader_outcome(f->l, FIRST), UNWIND_NO_ROOM);
	unwind_loader_stats(f->l, &st);
	assert_int_equal(st.evicted, 1);
	assert_int_equal(st.files[UNWIND_NO_ROOM], 2);
	end(f);
}

static void test_a_table_that_was_dropped_comes_back_when_missed(void **state)
{
	struct fixture *f = begin(1);
	struct wire_unwind_module *m = f->heap.memory.modules;
	int fd = open("/lib/x86_64-linux-gnu/libc.so.6", O_RDONLY | O_CLOEXEC);
	struct walk_tables w;

	log_set_level(LOG_ERROR);
	assert_true(fd >= 0);
	unwind_loader_add(f->l, FIRST, fd, "libc");
	work(f->l);
	m[FIRST].used_ns = 1;
	add_large(f->l, FIRST + 1, 15);
	work(f->l);
	assert_int_equal(unwind_loader_outcome(f->l, FIRST + 1), UNWIND_LOADED);
	if (unwind_loader_outcome(f->l, FIRST) == UNWIND_LOADED) { /* both fit */
		m[FIRST].used_ns = 1;
		add_large(f->l, FIRST + 2, 1);
		work(f->l);
	}
	assert_int_equal(unwind_loader_outcome(f->l, FIRST), UNWIND_NO_ROOM);
	m[FIRST + 1].used_ns = 1;
	assert_false(unwind_loader_misses(f->l, FIRST, 0));
	usleep(2100000);
	assert_true(unwind_loader_misses(f->l, FIRST, clock_mono_ns()));
	unwind_loader_again(f->l, FIRST, fd);
	work(f->l);
	assert_int_equal(unwind_loader_outcome(f->l, FIRST), UNWIND_LOADED);
	w = heap_walk(&f->heap);
	compare_file(&w, FIRST, "/lib/x86_64-linux-gnu/libc.so.6");
	/* again, but not at once */
	assert_false(unwind_loader_misses(f->l, FIRST, clock_mono_ns()));
	close(fd);
	end(f);
}

/* ---- in the maps ---- */

static const void *map_value(int fd, size_t bytes)
{
	const void *p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		fail_msg("mmap: %s", strerror(errno));
	return p;
}

/* What a program in the kernel would find, through descriptors of our own. */
static struct walk_tables read_maps(const struct unwind_map_fds *fds, struct unwind_row **slabs)
{
	struct walk_tables w = {
		.modules = map_value(fds->modules, UNWIND_MODULES * sizeof(*w.modules)),
		.pages = map_value(fds->pages, UNWIND_MAX_PAGES * sizeof(*w.pages)),
		.rules = map_value(fds->rules, UNWIND_MAX_RULES * sizeof(*w.rules)),
		.slabs = slabs};

	for (uint32_t i = 0, id; i < UNWIND_MAX_SLABS; i++) {
		int fd;

		if (bpf_map_lookup_elem(fds->slabs, &i, &id))
			break;
		fd = bpf_map_get_fd_by_id(id);
		assert_true(fd >= 0);
		slabs[i] = (void *)map_value(fd, UNWIND_SLAB_ROWS * sizeof(struct unwind_row));
		close(fd);
	}
	return w;
}

static void test_what_is_in_the_maps_is_what_was_built(void **state)
{
	struct sampler_options o = {.freq = 99};
	static struct unwind_row *slabs[UNWIND_MAX_SLABS];
	struct unwind_map_fds fds;
	struct unwind_loader *l;
	struct unwind_maps *maps;
	struct sampler *s;
	struct err e = {0};
	struct walk_tables w;

	if (features_require(&e)) {
		print_message("recording is not permitted here: %s\n", e.msg);
		skip();
	}
	assert_int_equal(sampler_new(&s, &o, &e), 0);
	sampler_unwind_maps(s, &fds);
	assert_int_equal(unwind_maps_open(&maps, &fds, 64 << 20, &e), 0);
	assert_int_equal(unwind_loader_new(&l, unwind_maps_memory(maps), &e), 0);
	unwind_loader_add_vdso(l);
	for (uint32_t i = 0; i < ARRAY_LEN(elf_files); i++)
		if (!access(elf_files[i], R_OK))
			add_path(l, FIRST + i, elf_files[i]);
	work(l);
	w = read_maps(&fds, slabs);
	for (uint32_t i = 0; i < ARRAY_LEN(elf_files); i++)
		if (!access(elf_files[i], R_OK))
			compare_file(&w, FIRST + i, elf_files[i]);
	assert_int_equal(w.modules[MODULE_VDSO].state, WIRE_UNWIND_READY);
	assert_int_equal(w.modules[MODULE_NONE].state, WIRE_UNWIND_NONE);
	unwind_loader_free(l);
	unwind_maps_close(maps);
	sampler_free(s);
}

RUN_TESTS(T(test_every_row_of_real_files_is_found), T(test_the_vdso_has_a_table),
	T(test_what_is_no_elf_file_fails_with_a_reason),
	T(test_a_file_without_call_frame_information_is_empty),
	T(test_a_go_program_keeps_frame_pointers), T(test_damaged_files_do_no_harm),
	T(test_code_at_the_end_of_a_huge_sparse_file_is_refused),
	T(test_a_table_in_use_stays_and_another_comes_when_it_is_not),
	T(test_a_table_that_was_dropped_comes_back_when_missed),
	T(test_what_is_in_the_maps_is_what_was_built))
