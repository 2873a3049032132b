/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "elf_fixture.h"
#include "user/base/clock.h"
#include "user/capture/capture.h"
#include "user/resolve/resolve.h"

#define LOG_DOMAIN "test"
#include "user/base/log.h"

/* ---- a sink that remembers what tests ask about ---- */

struct seen {
	struct sink sink;
	char *strings[4096];
	struct record_name names[256]; /* last one at depth 0, by frame */
	uint32_t nr_names[256];
	struct record_module modules[16];
	uint64_t samples, nr_end;
	struct record_end end;
};

static int seen_put(struct sink *s, const struct record *r, struct err *e)
{
	struct seen *seen = (struct seen *)s;

	(void)e;
	switch (r->kind) {
	case RECORD_STRING:
		assert_true(r->string.id < ARRAY_LEN(seen->strings));
		seen->strings[r->string.id] = strndup(r->string.data, r->string.len);
		break;
	case RECORD_NAME:
		assert_true(r->name.frame < 256);
		seen->names[r->name.frame] = r->name;
		seen->nr_names[r->name.frame]++;
		break;
	case RECORD_MODULE:
		seen->modules[r->module.id] = r->module;
		break;
	case RECORD_SAMPLE:
		seen->samples++;
		break;
	case RECORD_END:
		seen->nr_end++;
		seen->end = r->end;
		break;
	default:
		break;
	}
	return 0;
}

static struct seen *seen_new(void)
{
	struct seen *s = calloc(1, sizeof(*s));

	s->sink.put = seen_put;
	log_set_level(LOG_ERROR);
	return s;
}

static void seen_free(struct seen *s)
{
	for (size_t i = 0; i < ARRAY_LEN(s->strings); i++)
		free(s->strings[i]);
	free(s);
}

/* The name of a frame, or "?reason", or "" when nothing was said. */
static const char *name_of(const struct seen *s, uint32_t frame)
{
	static char text[32];

	if (!s->nr_names[frame])
		return "";
	if (s->names[frame].name)
		return s->strings[s->names[frame].name];
	snprintf(text, sizeof(text), "?%u", s->names[frame].reason);
	return text;
}

/* ---- a stream made by hand ---- */

struct stream {
	struct seen *seen;
	struct sink *tee;
	struct resolve_index *x;
	struct builder *b;
};

static struct stream stream_new(struct sink *to)
{
	struct stream s = {.seen = seen_new()};

	assert_int_equal(resolve_index_new(&s.x), 0);
	s.tee = sink_tee(to ? to : &s.seen->sink, resolve_index_sink(s.x));
	assert_int_equal(builder_new(&s.b, s.tee, NULL), 0);
	return s;
}

static void stream_free(struct stream *s)
{
	builder_free(s->b);
	resolve_index_free(s->x);
	free(s->tee);
	seen_free(s->seen);
}

static uint32_t string(struct stream *s, const char *text)
{
	int64_t id = builder_string(s->b, text, strlen(text), NULL);

	assert_true(id > 0);
	return (uint32_t)id;
}

static uint32_t module(struct stream *s, struct record_module m, const char *path)
{
	int64_t id;

	m.path = string(s, path);
	if (!m.kind)
		m.kind = MODULE_KIND_FILE;
	id = builder_module(s->b, &m, NULL);
	assert_true(id > 0);
	return (uint32_t)id;
}

static uint32_t frame(
	struct stream *s, enum frame_kind kind, uint32_t owner, uint64_t addr, unsigned flags)
{
	struct frame f = {
		.addr = addr, .owner = owner, .kind = (uint8_t)kind, .flags = (uint16_t)flags};
	int64_t id;

	if (kind == FRAME_NONE)
		f.reason = REASON_NO_MAPPING;
	id = builder_frame(s->b, &f, NULL);
	assert_true(id > 0);
	return (uint32_t)id;
}

static uint32_t process(struct stream *s, uint32_t pid, uint64_t start)
{
	struct record_process p = {.pid = pid, .start_boot_ns = start, .name = string(s, "proc")};
	int64_t id = builder_process(s->b, &p, NULL, NULL);

	assert_true(id > 0);
	return (uint32_t)id;
}

/* ---- files by hand ---- */

struct hand {
	char module_path[4096];
	char map_path[4096];
	int opened;
	enum frame_reason why;
};

static int hand_open_module(void *ctx, const struct resolve_module *m, enum frame_reason *why)
{
	struct hand *h = ctx;
	int fd = h->module_path[0] ? open(h->module_path, O_RDONLY | O_CLOEXEC) : -1;

	(void)m;
	h->opened++;
	if (fd < 0 && h->why)
		*why = h->why;
	return fd < 0 ? -ENOENT : fd;
}

static int hand_open_map(void *ctx, const struct record_process *p)
{
	struct hand *h = ctx;
	int fd = h->map_path[0] ? open(h->map_path, O_RDONLY | O_CLOEXEC) : -1;

	(void)p;
	return fd < 0 ? -ENOENT : fd;
}

static const struct fix_sym syms[] = {FUNC("one", FIX_TEXT, 0x10),
	FUNC("two", FIX_TEXT + 0x10, 0x10), FUNC("_ZN3Foo3runEi", FIX_TEXT + 0x40, 0x10)};

static char *write_elf(const char *dir, const char *name, const char *instead_of_one)
{
	struct fix_sym s[ARRAY_LEN(syms)];
	char *path = path_in(dir, name);
	struct buf b = BUF_INIT;

	memcpy(s, syms, sizeof(syms));
	if (instead_of_one)
		s[0].name = instead_of_one;
	fix_elf(&b, s, ARRAY_LEN(s));
	write_file(path, b.data, b.len);
	buf_release(&b);
	return path;
}

static struct resolve_stats run(struct stream *s, struct hand *h)
{
	struct resolve_files files = {hand_open_module, hand_open_map, h, 0};
	struct resolve_stats st;
	struct err e = {0};

	if (resolve_frames(s->b, s->x, &files, &st, &e))
		fail_msg("%s", e.msg);
	assert_int_equal(st.kept + st.named + st.unnamed, st.frames);
	return st;
}

static void test_module_frames_get_names(void **state)
{
	struct stream s = stream_new(NULL);
	char *path = write_elf(*state, "x", NULL);
	struct hand h = {0};
	struct resolve_stats st;
	uint32_t m = module(&s, (struct record_module){0}, "/app");
	uint32_t one = frame(&s, FRAME_MODULE, m, 0x1000, 0),
		 two = frame(&s, FRAME_MODULE, m, 0x1010, 0);
	uint32_t ret = frame(&s, FRAME_MODULE, m, 0x1010, FRAME_F_RETURN),
		 gap = frame(&s, FRAME_MODULE, m, 0x1030, 0);
	uint32_t cxx = frame(&s, FRAME_MODULE, m, 0x1048, 0),
		 none = frame(&s, FRAME_NONE, 0, 0x1234, 0);

	strcpy(h.module_path, path);
	st = run(&s, &h);

	assert_string_equal(name_of(s.seen, one), "one");
	assert_string_equal(name_of(s.seen, two), "two");
	assert_string_equal(name_of(s.seen, ret), "one");
	assert_string_equal(name_of(s.seen, gap), "?16"); /* REASON_NO_SYMBOL */
	assert_string_equal(name_of(s.seen, cxx), "Foo::run(int)");
	assert_string_equal(s.seen->strings[s.seen->names[cxx].raw], "_ZN3Foo3runEi");
	assert_string_equal(name_of(s.seen, none), "");
	assert_int_equal(h.opened, 1);
	assert_int_equal(st.frames, 5);
	assert_int_equal(st.named, 4);
	assert_int_equal(st.by_reason[REASON_NO_SYMBOL], 1);
	/* what was learned of the module */
	assert_string_equal(s.seen->strings[s.seen->modules[m].build_id], "\xde\xad\xbe\xef");
	stream_free(&s);
	free(path);
}

static void test_missing_files_give_their_reason(void **state)
{
	struct stream s = stream_new(NULL);
	struct hand h = {.why = REASON_FILE_CHANGED};
	uint32_t m = module(&s, (struct record_module){0}, "/app");
	uint32_t gone = module(&s,
		(struct record_module){.flags = MODULE_F_NO_FILE, .reason = REASON_EXITED},
		"/gone");
	uint32_t f = frame(&s, FRAME_MODULE, m, 0x1000, 0),
		 g = frame(&s, FRAME_MODULE, gone, 0x1000, 0);

	(void)state;
	run(&s, &h);

	assert_int_equal(s.seen->names[f].reason, REASON_FILE_CHANGED);
	assert_int_equal(s.seen->modules[m].flags, MODULE_F_NO_FILE);
	assert_int_equal(s.seen->modules[m].reason, REASON_FILE_CHANGED);
	assert_int_equal(s.seen->names[g].reason, REASON_EXITED);
	stream_free(&s);
}

static void test_what_is_no_elf_file_is_unreadable(void **state)
{
	struct stream s = stream_new(NULL);
	struct hand h = {0};
	char *path = path_in(*state, "x");
	uint32_t f =
		frame(&s, FRAME_MODULE, module(&s, (struct record_module){0}, "/app"), 0x1000, 0);

	write_file(path, "text", 4);
	strcpy(h.module_path, path);
	assert_int_equal(run(&s, &h).modules_failed, 1);
	assert_int_equal(s.seen->names[f].reason, REASON_FILE_UNREADABLE);
	stream_free(&s);
	free(path);
}

static void test_jit_frames_ask_the_map_of_their_process(void **state)
{
	struct stream s = stream_new(NULL);
	struct hand h = {0};
	char *path = path_in(*state, "perf-7.map");
	uint32_t p = process(&s, 7, 1);
	uint32_t in = frame(&s, FRAME_JIT, p, 0x7000, 0), out = frame(&s, FRAME_JIT, p, 0x9000, 0);

	write_file(path, "7000 10 jitted;code\n", 20);
	strcpy(h.map_path, path);
	assert_int_equal(run(&s, &h).perf_maps_read, 1);
	assert_string_equal(name_of(s.seen, in), "jitted;code");
	assert_int_equal(s.seen->names[out].reason, REASON_NOT_IN_PERF_MAP);
	stream_free(&s);
	free(path);
}

static void test_jit_frames_without_a_map_say_so(void **state)
{
	struct stream s = stream_new(NULL);
	struct hand h = {0};
	uint32_t f = frame(&s, FRAME_JIT, process(&s, 7, 1), 0x7000, 0);

	(void)state;
	run(&s, &h);
	assert_int_equal(s.seen->names[f].reason, REASON_NO_PERF_MAP);
	stream_free(&s);
}

/* An address of this very kernel, from its own table. */
static uint64_t kernel_address(char *name, size_t size)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512], type, word[256];
	uint64_t addr, found = 0;

	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx %c %255s", &addr, &type, word) == 3 &&
			!strcmp(word, "vfs_read")) {
			snprintf(name, size, "%s", word);
			found = addr;
		}
	if (f)
		fclose(f);
	return found;
}

static void test_kernel_frames_ask_kallsyms(void **state)
{
	struct stream s = stream_new(NULL);
	struct hand h = {0};
	char want[256] = "";
	uint64_t addr = kernel_address(want, sizeof(want));
	uint32_t f = frame(&s, FRAME_KERNEL, 0, addr ? addr + 4 : 0xffffffff81000000, 0);

	(void)state;
	run(&s, &h);
	if (addr)
		assert_string_equal(name_of(s.seen, f), want);
	else
		assert_int_equal(s.seen->names[f].reason, REASON_KALLSYMS_HIDDEN);
	stream_free(&s);
}

static void test_frames_of_another_boot_keep_their_addresses(void **state)
{
	struct stream s = stream_new(NULL);
	struct hand h = {.opened = 0};
	struct resolve_files files = {hand_open_module, hand_open_map, &h, 1};
	uint32_t k = frame(&s, FRAME_KERNEL, 0, 0xffffffff81000000, 0);
	uint32_t v = frame(&s, FRAME_MODULE,
		module(&s, (struct record_module){.kind = MODULE_KIND_VDSO}, "[vdso]"), 0x500, 0);

	(void)state;
	assert_int_equal(resolve_frames(s.b, s.x, &files, NULL, NULL), 0);
	assert_int_equal(s.seen->names[k].reason, REASON_NOT_RESOLVED_YET);
	assert_int_equal(s.seen->names[v].reason, REASON_NOT_RESOLVED_YET);
	stream_free(&s);
}

static void test_full_dictionary_is_a_reason_and_no_failure(void **state)
{
	struct builder_limits limits = {.max_strings = 2};
	struct stream s = stream_new(NULL);
	char *path = write_elf(*state, "x", NULL);
	struct hand h = {0};
	uint32_t m, one, two, cxx;

	builder_free(s.b);
	assert_int_equal(builder_new(&s.b, s.tee, &limits), 0);
	m = module(&s, (struct record_module){0}, "/app");
	one = frame(&s, FRAME_MODULE, m, 0x1000, 0);
	two = frame(&s, FRAME_MODULE, m, 0x1010, 0);
	cxx = frame(&s, FRAME_MODULE, m, 0x1040, 0);
	strcpy(h.module_path, path);
	run(&s, &h);
	/* the second string went to the build ID */
	assert_int_equal(s.seen->names[one].reason, REASON_FRAME_TABLE_FULL);
	assert_int_equal(s.seen->names[two].reason, REASON_FRAME_TABLE_FULL);
	assert_int_equal(s.seen->names[cxx].reason, REASON_FRAME_TABLE_FULL);
	stream_free(&s);
	free(path);
}

/* ---- captures ---- */

struct kept { /* what write_part() put */
	uint32_t module, one, gap, gone, kernel;
};

/* A recording that was killed: no names, no END. */
static struct kept write_part(const char *path, const char *elf, int with_build_id)
{
	struct capture_writer *w;
	struct record r = {.kind = RECORD_RUN};
	struct stream s;
	struct kept k;
	struct stat st = {0};
	struct err e = {0};
	int64_t thread, stack;

	assert_int_equal(capture_writer_open(&w, path, &e), 0);
	s = stream_new(capture_writer_sink(w));
	r.run = (struct record_run){.start_mono_ns = clock_mono_ns(),
		.start_real_ns = clock_real_ns(),
		.period_ns = 10101010,
		.cpus = 2,
		.value_types = 1 << VALUE_CPU};
	assert_int_equal(builder_put(s.b, &r, &e), 0);
	stat(elf, &st);
	k.module = module(&s,
		(struct record_module){.ino = st.st_ino,
			.size = (uint64_t)st.st_size,
			.ctime_ns = (uint64_t)st.st_ctim.tv_sec * 1000000000u +
				    (uint64_t)st.st_ctim.tv_nsec,
			.build_id = with_build_id ? (uint32_t)builder_string(
							    s.b, "\xde\xad\xbe\xef", 4, NULL)
						  : 0},
		elf);
	k.one = frame(&s, FRAME_MODULE, k.module, 0x1000, 0);
	k.gap = frame(&s, FRAME_MODULE, k.module, 0x1030, 0);
	k.gone = frame(&s, FRAME_MODULE,
		module(&s, (struct record_module){.ino = 1, .size = 1}, "/nonexistent/lib"), 0x1000,
		0);
	k.kernel = frame(&s, FRAME_KERNEL, 0, 0xffffffff81000010, 0);
	thread = builder_thread(s.b, process(&s, 7, 1), 7, "thread", 6, &e);
	stack = builder_stack(s.b, 0, k.one, &e);
	assert_true(thread > 0 && stack > 0);
	for (uint64_t i = 1; i <= 5; i++) {
		struct record smp = {.kind = RECORD_SAMPLE};

		smp.sample = (struct record_sample){.time_ns = i * 1000,
			.value = 10,
			.thread = (uint32_t)thread,
			.stack = (uint32_t)stack,
			.type = VALUE_CPU};
		assert_int_equal(builder_put(s.b, &smp, &e), 0);
	}
	assert_int_equal(capture_writer_leave_part(w, &e), 0);
	stream_free(&s);
	return k;
}

static struct seen *read_back(const char *path)
{
	struct seen *seen = seen_new();
	struct sink *verify = verify_sink_new(), *tee = sink_tee(verify, &seen->sink);
	struct capture_info info;
	struct err e = {0};

	if (capture_read(path, tee, &info, &e) || verify_sink_finish(verify, &e))
		fail_msg("%s", e.msg);
	assert_int_equal(info.complete, 1);
	free(tee);
	verify_sink_free(verify);
	return seen;
}

static void test_part_is_completed_and_named(void **state)
{
	char *elf = write_elf(*state, "app", NULL), *path = path_in(*state, "a.prof"),
	     *part = path_in(*state, "a.prof.part");
	struct kept k = write_part(path, elf, 1);
	struct resolve_result r;
	struct err e = {0};
	struct seen *seen;

	if (resolve_capture(part, NULL, &r, &e))
		fail_msg("%s", e.msg);
	assert_string_equal(r.path, path);
	assert_int_equal(r.was_part, 1);
	assert_int_equal(r.was_complete, 0);
	assert_int_equal(access(part, F_OK), -1);
	seen = read_back(path);
	assert_string_equal(name_of(seen, k.one), "one");
	assert_int_equal(seen->names[k.gap].reason, REASON_NO_SYMBOL);
	assert_int_equal(seen->names[k.gone].reason, REASON_FILE_GONE);
	/* host and kernel are not stored here, so nothing proves it is this boot */
	assert_int_equal(seen->names[k.kernel].reason, REASON_NOT_RESOLVED_YET);
	assert_int_equal(seen->samples, 5);
	assert_int_equal(seen->end.samples, 5);
	assert_int_equal(seen->end.reason, END_RESOLVED_PART);
	assert_int_equal(seen->end.duration_ns, 5000);
	seen_free(seen);
	free(elf);
	free(path);
	free(part);
}

static void test_a_second_time_adds_nothing_and_keeps_all(void **state)
{
	char *elf = write_elf(*state, "app", NULL), *path = path_in(*state, "a.prof"),
	     *part = path_in(*state, "a.prof.part");
	struct kept k = write_part(path, elf, 1);
	struct resolve_result r;
	struct stat before, after;
	struct err e = {0};
	struct seen *seen;

	assert_int_equal(resolve_capture(part, NULL, &r, &e), 0);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(stat(path, &before), 0);
	unlink(elf);
	assert_int_equal(resolve_capture(path, NULL, &r, &e), 0);
	assert_int_equal(stat(path, &after), 0);

	assert_int_equal(r.was_part, 0);
	assert_int_equal(r.was_complete, 1);
	assert_int_equal(r.stats.kept, 1);
	assert_int_equal(after.st_mode, before.st_mode);
	seen = read_back(path);
	assert_string_equal(name_of(seen, k.one), "one");
	/* the file is gone now, but it was read once */
	assert_int_equal(seen->names[k.gap].reason, REASON_NO_SYMBOL);
	for (uint32_t f = 1; f <= 4; f++)
		assert_int_equal(seen->nr_names[f], 1);
	assert_int_equal(seen->nr_end, 1);
	assert_int_equal(seen->end.duration_ns, 5000);
	seen_free(seen);
	free(elf);
	free(path);
	free(part);
}

/* Replaced under the same path, by another build or by a file of unknown build. */
static void test_replaced_file_is_never_used(void **state)
{
	for (int with_id = 0; with_id < 2; with_id++) {
		char *elf = write_elf(*state, "app", NULL), *path = path_in(*state, "a.prof"),
		     *part = path_in(*state, "a.prof.part");
		struct kept k = write_part(path, elf, with_id);
		struct resolve_result r;
		struct err e = {0};
		struct seen *seen;
		char *data;
		size_t len;

		unlink(elf);
		free(write_elf(*state, "app", "xxx"));
		if (with_id) { /* same size, other build */
			char *id;

			data = read_file(elf, &len);
			id = memmem(data, len, "\xde\xad\xbe\xef", 4);
			assert_non_null(id);
			id[0] = 'x';
			write_file(elf, data, len);
			free(data);
		}
		assert_int_equal(resolve_capture(part, NULL, &r, &e), 0);
		seen = read_back(path);
		assert_int_equal(seen->names[k.one].reason, REASON_FILE_CHANGED);
		seen_free(seen);
		unlink(path);
		free(elf);
		free(path);
		free(part);
	}
}

static void test_unchanged_file_without_build_id_is_used(void **state)
{
	char *elf = write_elf(*state, "app", NULL), *path = path_in(*state, "a.prof"),
	     *part = path_in(*state, "a.prof.part");
	struct kept k = write_part(path, elf, 0);
	struct resolve_result r;
	struct err e = {0};
	struct seen *seen;

	assert_int_equal(resolve_capture(part, NULL, &r, &e), 0);
	seen = read_back(path);
	assert_string_equal(name_of(seen, k.one), "one");
	seen_free(seen);
	free(elf);
	free(path);
	free(part);
}

static void test_older_capture_becomes_file_old(void **state)
{
	char *elf = write_elf(*state, "app", NULL), *path = path_in(*state, "a.prof"),
	     *part = path_in(*state, "a.prof.part"), *old = path_in(*state, "a.prof.old"), *text;
	struct resolve_result r;
	struct err e = {0};

	write_part(path, elf, 1);
	write_file(path, "older", 5);
	assert_int_equal(resolve_capture(part, NULL, &r, &e), 0);
	text = read_file(old, NULL);
	assert_string_equal(text, "older");
	free(text);
	free(elf);
	free(path);
	free(part);
	free(old);
}

static void test_recording_in_progress_is_left_alone(void **state)
{
	char *elf = write_elf(*state, "app", NULL), *path = path_in(*state, "a.prof"),
	     *part = path_in(*state, "a.prof.part");
	struct resolve_result r;
	struct err e = {0};
	int fd;

	write_part(path, elf, 1);
	fd = open(part, O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(resolve_capture(part, NULL, &r, &e), -EBUSY);
	assert_contains(e.msg, "still being written");
	assert_int_equal(access(part, F_OK), 0);
	close(fd);
	free(elf);
	free(path);
	free(part);
}

static void test_what_is_no_capture_is_left_alone(void **state)
{
	char *path = path_in(*state, "x"), *temp = path_in(*state, "x.resolve.part"), *text;
	struct resolve_result r;
	struct err e = {0};

	write_file(path, "some text that is no capture", 28);
	assert_true(resolve_capture(path, NULL, &r, &e) < 0);
	assert_true(e.msg[0]);
	text = read_file(path, NULL);
	assert_string_equal(text, "some text that is no capture");
	assert_int_equal(access(temp, F_OK), -1);
	assert_int_equal(resolve_capture(*state, NULL, &r, &e), -EINVAL);
	assert_int_equal(resolve_capture("/nonexistent/x", NULL, &r, &e), -ENOENT);
	free(text);
	free(path);
	free(temp);
}

RUN_TESTS(T_TMPDIR(test_module_frames_get_names), T(test_missing_files_give_their_reason),
	T_TMPDIR(test_what_is_no_elf_file_is_unreadable),
	T_TMPDIR(test_jit_frames_ask_the_map_of_their_process),
	T(test_jit_frames_without_a_map_say_so), T(test_kernel_frames_ask_kallsyms),
	T(test_frames_of_another_boot_keep_their_addresses),
	T_TMPDIR(test_full_dictionary_is_a_reason_and_no_failure),
	T_TMPDIR(test_part_is_completed_and_named),
	T_TMPDIR(test_a_second_time_adds_nothing_and_keeps_all),
	T_TMPDIR(test_replaced_file_is_never_used),
	T_TMPDIR(test_unchanged_file_without_build_id_is_used),
	T_TMPDIR(test_older_capture_becomes_file_old),
	T_TMPDIR(test_recording_in_progress_is_left_alone),
	T_TMPDIR(test_what_is_no_capture_is_left_alone))
