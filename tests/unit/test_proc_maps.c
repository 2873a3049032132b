/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "symbolize/proc_maps.h"

static struct proc_map parsed(const char *line)
{
	struct proc_map m;

	if (!proc_map_parse(line, strlen(line), &m))
		fail_msg("not parsed: %s", line);
	return m;
}

static void test_fields_go_by_position(void **state)
{
	struct proc_map m = parsed(
		"7f12a000-7f12b000 r-xp 00001000 fd:0a 1234567                    /usr/lib/x.so");

	(void)state;
	assert_int_equal(m.start, 0x7f12a000);
	assert_int_equal(m.end, 0x7f12b000);
	assert_int_equal(m.perm, PROC_MAP_R | PROC_MAP_X);
	assert_int_equal(m.offset, 0x1000);
	assert_int_equal(m.major, 0xfd);
	assert_int_equal(m.minor, 0x0a);
	assert_int_equal(m.ino, 1234567);
	assert_bytes(m.path, m.path_len, "/usr/lib/x.so", 13);
}

static void test_path_is_the_rest_of_the_line(void **state)
{
	static const char *const paths[] = {"/a b  c", "/x (deleted)", "/semi;colon", "/<tag>&\"q",
		"/ lead", "/trail ", "[vdso]", "/tab\tx", "/\xff\xfe-bad-utf8", "/火焰🔥", "//anon",
		"/%s%n", "/new\\012line", "anon_inode:[io_uring]", ""};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		char line[256];
		struct proc_map m;

		snprintf(line, sizeof(line),
			"1000-2000 rw-s 00000000 00:01 7                          %s", paths[i]);
		m = parsed(line);
		assert_bytes(m.path, m.path_len, paths[i], strlen(paths[i]));
		assert_int_equal(m.perm, PROC_MAP_R | PROC_MAP_W | PROC_MAP_SHARED);
	}
}

static void test_other_lines_are_refused(void **state)
{
	static const char *const lines[] = {"", "hello", "1000-2000", "1000-2000 r-xp",
		"1000-2000 r-xp 0", "2000-1000 r-xp 0 0:0 0 /x", "1000-1000 r-xp 0 0:0 0 /x",
		"1000-2000 r-qp 0 0:0 0 /x", "1000-2000 r-xq 0 0:0 0 /x",
		"1000-2000 r-xp 0 00 0 /x", "1000-2000 r-xp 0 0:0 zz /x",
		"1000-2000 r-xp 0 100000000:0 1 /x", "1000-2000 r-xp 0 0:0 99999999999999999999 /x",
		"10000000000000000-2 r-xp 0 0:0 0 /x", "1000_2000 r-xp 0 0:0 0 /x"};
	struct proc_map m;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		assert_int_equal(proc_map_parse(lines[i], strlen(lines[i]), &m), 0);
}

static void test_find_is_half_open(void **state)
{
	static const char text[] = "1000-2000 r--p 0 0:0 0 \n3000-4000 r-xp 0 8:1 5 /a\n4000-5000 "
				   "r--p 0 8:1 6 /b\nnonsense\n";
	struct proc_maps m;
	struct err e = {0};

	(void)state;
	assert_int_equal(proc_maps_read_mem(&m, text, sizeof(text) - 1, &e), 0);
	assert_int_equal(m.nr, 3);
	assert_int_equal(m.bad, 1);
	assert_null(proc_maps_find(&m, 0xfff));
	assert_int_equal(proc_maps_find(&m, 0x1fff)->start, 0x1000);
	assert_null(proc_maps_find(&m, 0x2000));
	assert_string_equal(proc_maps_find(&m, 0x3fff)->path, "/a");
	assert_string_equal(proc_maps_find(&m, 0x4000)->path, "/b");
	assert_null(proc_maps_find(&m, 0x5000));
	proc_maps_release(&m);
}

static void test_own_maps_hold_our_own_code(void **state)
{
	const struct proc_map *m;
	struct proc_maps maps;
	char exe[4096];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	struct err e = {0};

	(void)state;
	exe[len] = '\0';
	assert_int_equal(proc_maps_read(&maps, 0, &e), 0);
	m = proc_maps_find(&maps, (uintptr_t)test_own_maps_hold_our_own_code);
	assert_non_null(m);
	assert_true(m->perm & PROC_MAP_X);
	assert_string_equal(m->path, exe);
	assert_int_equal(maps.bad, 0);
	proc_maps_release(&maps);
	assert_int_equal(proc_maps_read(&maps, 0x7ffffffe, &e), -ESRCH);
}

static void test_paths_are_told_apart_by_trying(void **state)
{
	static const struct {
		const char *text;
		struct {
			const char *path;
			int deleted;
		} want[5];
	} cases[] = {
		{"/a", {{"/a", 0}}},
		{"/a (deleted)", {{"/a", 1}, {"/a (deleted)", 0}}},
		{"/a\\012b", {{"/a\nb", 0}, {"/a\\012b", 0}}},
		{"/a\\012b (deleted)", {{"/a\nb", 1}, {"/a\nb (deleted)", 0}, {"/a\\012b", 1},
					       {"/a\\012b (deleted)", 0}}},
		{" (deleted)", {{" (deleted)", 0}}},
	};
	struct buf path = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct proc_map m = {
			.path = cases[i].text, .path_len = (uint32_t)strlen(cases[i].text)};
		unsigned k = 0;
		int deleted;

		for (; proc_map_paths(&m, k, &path, &deleted); k++) {
			assert_non_null(cases[i].want[k].path);
			assert_string_equal(buf_str(&path), cases[i].want[k].path);
			assert_int_equal(deleted, cases[i].want[k].deleted);
		}
		assert_null(cases[i].want[k].path);
	}
	buf_release(&path);
}

/* What the running kernel prints for odd names is read back as the names they are. */
static void test_odd_names_from_the_kernel(void **state)
{
	static const char *const names[] = {"a b  c", "x (deleted)", "new\nline", "semi;colon",
		" lead", "trail ", "[vdso]", "tab\tx", "\xff\xfe", "火焰🔥", "back\\012slash",
		"%s%n"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char *file = path_in(*state, names[i]);
		struct buf path = BUF_INIT;
		const struct proc_map *m;
		struct proc_maps maps;
		int fd, deleted, found = 0;
		void *p;

		write_file(file, "x", 1);
		fd = open(file, O_RDONLY | O_CLOEXEC);
		p = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
		close(fd);
		assert_true(p != MAP_FAILED);
		assert_int_equal(proc_maps_read(&maps, 0, NULL), 0);
		m = proc_maps_find(&maps, (uintptr_t)p);
		assert_non_null(m);
		for (unsigned k = 0; proc_map_paths(m, k, &path, &deleted); k++)
			found |= strcmp(buf_str(&path), file) == 0 && !deleted;
		assert_true(found);
		proc_maps_release(&maps);
		munmap(p, 1);
		buf_release(&path);
		free(file);
	}
}

RUN_TESTS(T(test_fields_go_by_position), T(test_path_is_the_rest_of_the_line),
	T(test_other_lines_are_refused), T(test_find_is_half_open),
	T(test_own_maps_hold_our_own_code), T(test_paths_are_told_apart_by_trying),
	T_TMPDIR(test_odd_names_from_the_kernel))
