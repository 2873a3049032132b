/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Profiles of recordings out of a few lines of text, for tests of the model and
 * of everything right of it. One sample a line:
 *
 *	TIME_MS PROCESS/THREAD STACK VALUE_MS
 *	10 app/worker main;work;spin 10
 *
 * Frames, root first, by their spelling:
 *
 *	name         a function of the module /usr/bin/app
 *	lib!name     a function of the module /usr/lib/lib
 *	[k]name      a kernel function
 *	[j]name      JIT code with a name
 *	lib!+12      a place at offset 0x12 of /usr/lib/lib without a symbol
 *	leaf~caller  one frame: leaf was inlined into caller
 *	[cut]        the depth limit was here; the sample's result is STACK_TRUNCATED
 *	-            (alone) no stack at all
 *
 * \xNN in names is that byte, so that they can hold blanks and worse.
 *
 * Threads get pids from 100 and tids from 1000 in order of appearance; "." for
 * a name is the empty one. Lines that begin with "!" are about the run:
 *
 *	!duration MS      !part (no END)    !lost COUNT FROM_MS TO_MS
 *	!counter CPU ID VALUE               !meta KEY TEXT
 */
#ifndef PROFBPF_TESTS_PROFILE_FIXTURE_H
#define PROFBPF_TESTS_PROFILE_FIXTURE_H

#include <errno.h>

#include "user/base/buf.h"
#include "user/base/escape.h"
#include "user/capture/builder.h"
#include "user/model/profile.h"

#define FIXTURE_MS 1000000u

struct fixture {
	struct builder *b;
	char modules[8][64];
	int64_t module_id[8];
	char procs[8][64];
	char threads[32][128];
	uint64_t duration_ns, samples, last_ns;
	int part, truncated;
};

static inline int64_t fixture_ok(int64_t id, const struct err *e)
{
	if (id < 0)
		print_error("fixture: %s\n", e->msg);
	assert_true(id >= 0);
	return id;
}

static inline uint32_t fixture_string(struct fixture *f, const char *s, size_t len)
{
	struct buf plain = BUF_INIT;
	struct err e = {0};
	int64_t id;

	unescape_folded(&plain, s, len);
	id = builder_string(f->b, buf_str(&plain), plain.len, &e);
	buf_release(&plain);
	return (uint32_t)fixture_ok(id, &e);
}

static inline uint32_t fixture_module(struct fixture *f, const char *path)
{
	struct err e = {0};
	int i;

	for (i = 0; f->modules[i][0]; i++)
		if (!strcmp(f->modules[i], path))
			return (uint32_t)f->module_id[i];
	assert_true(i < 7);
	snprintf(f->modules[i], sizeof(f->modules[i]), "%s", path);
	f->module_id[i] =
		fixture_ok(builder_module(f->b,
				   &(struct record_module){.kind = MODULE_KIND_FILE,
					   .ino = (uint64_t)i + 1,
					   .path = fixture_string(f, path, strlen(path)),
					   .build_id = fixture_string(f, path, strlen(path))},
				   &e),
			&e);
	return (uint32_t)f->module_id[i];
}

static inline void fixture_name(struct fixture *f, uint32_t frame, uint32_t depth, const char *name,
	size_t len, uint32_t flags, uint32_t reason)
{
	struct err e = {0};

	fixture_ok(builder_put(f->b,
			   &(struct record){.kind = RECORD_NAME,
				   .name = {.frame = frame,
					   .depth = depth,
					   .name = len ? fixture_string(f, name, len) : 0,
					   .flags = flags,
					   .reason = reason}},
			   &e),
		&e);
}

/* A distinct address for each spelling, so that equal spellings are one frame. */
static inline uint64_t fixture_addr(const char *s, size_t len)
{
	uint64_t h = 1469598103934665603u;

	while (len--)
		h = (h ^ (unsigned char)*s++) * 1099511628211u;
	return (h & 0xffffff) + 0x1000;
}

static inline uint32_t fixture_frame(struct fixture *f, const char *s, size_t len, uint32_t process)
{
	struct frame fr = {.kind = FRAME_MODULE, .addr = fixture_addr(s, len)};
	const char *bang = memchr(s, '!', len), *name = s, *in, *end = s + len;
	uint32_t id, depth = 0, before = builder_frame_count(f->b);
	struct err e = {0};
	char path[64];

	if (len == 5 && !memcmp(s, "[cut]", 5)) {
		fr = (struct frame){.kind = FRAME_NONE, .reason = REASON_TRUNCATED};
		f->truncated = 1;
		return (uint32_t)fixture_ok(builder_frame(f->b, &fr, &e), &e);
	}
	if (len > 3 && !memcmp(s, "[k]", 3)) {
		fr.kind = FRAME_KERNEL;
		name = s + 3;
	} else if (len > 3 && !memcmp(s, "[j]", 3)) {
		fr.kind = FRAME_JIT;
		fr.owner = process;
		name = s + 3;
	} else if (bang) {
		snprintf(path, sizeof(path), "/usr/lib/%.*s", (int)(bang - s), s);
		fr.owner = fixture_module(f, path);
		name = bang + 1;
		if (*name == '+')
			fr.addr = strtoull(name + 1, NULL, 16);
	} else {
		fr.owner = fixture_module(f, "/usr/bin/app");
	}
	id = (uint32_t)fixture_ok(builder_frame(f->b, &fr, &e), &e);
	if (id <= before)
		return id;
	if (*name == '+') {
		fixture_name(f, id, 0, "", 0, 0, REASON_NO_SYMBOL);
		return id;
	}
	for (; name < end; name = in ? in + 1 : end, depth++) {
		in = memchr(name, '~', (size_t)(end - name));
		fixture_name(f, id, depth, name, (size_t)((in ? in : end) - name),
			in ? NAME_F_INLINED : 0, 0);
	}
	return id;
}

static inline uint32_t fixture_thread(
	struct fixture *f, const char *task, size_t len, uint32_t *process)
{
	const char *slash = memchr(task, '/', len);
	size_t plen = slash ? (size_t)(slash - task) : len;
	const char *name = slash ? slash + 1 : task;
	size_t nlen = slash ? len - plen - 1 : len;
	struct buf plain = BUF_INIT;
	struct err e = {0};
	uint32_t p, t;
	int64_t id;

	for (p = 0; f->procs[p][0]; p++)
		if (strlen(f->procs[p]) == plen && !memcmp(f->procs[p], task, plen))
			break;
	for (t = 0; f->threads[t][0]; t++)
		if (strlen(f->threads[t]) == len && !memcmp(f->threads[t], task, len))
			break;
	assert_true(p < 7 && t < 31);
	snprintf(f->procs[p], sizeof(f->procs[p]), "%.*s", (int)plen, task);
	snprintf(f->threads[t], sizeof(f->threads[t]), "%.*s", (int)len, task);
	if (nlen == 1 && *name == '.')
		nlen = 0;
	*process = (uint32_t)fixture_ok(builder_process(f->b,
						&(struct record_process){.pid = 100 + p,
							.start_boot_ns = 1 + p,
							.name = fixture_string(f, task, plen)},
						NULL, &e),
		&e);
	unescape_folded(&plain, name, nlen);
	id = builder_thread(f->b, *process, 1000 + t, buf_str(&plain), plain.len, &e);
	buf_release(&plain);
	return (uint32_t)fixture_ok(id, &e);
}

static inline void fixture_sample(struct fixture *f, const char *line)
{
	char task[128], value[32];
	const char *stack, *end, *at, *semicolon;
	struct record r = {.kind = RECORD_SAMPLE};
	uint32_t process;
	int64_t node = 0;
	struct err e = {0};
	double ms;
	int n = 0;

	if (sscanf(line, "%lf %127s %n", &ms, task, &n) != 2 || !n)
		fail_msg("fixture: %s", line);
	stack = line + n;
	end = strrchr(stack, ' ');
	assert_non_null(end);
	snprintf(value, sizeof(value), "%s", end + 1);
	r.sample.time_ns = (uint64_t)(ms * FIXTURE_MS + 0.5);
	r.sample.value = (uint64_t)(strtod(value, NULL) * FIXTURE_MS + 0.5);
	r.sample.thread = fixture_thread(f, task, strlen(task), &process);
	r.sample.type = VALUE_CPU;
	f->truncated = 0;
	for (at = stack; *stack != '-' && at < end; at = semicolon + 1) {
		semicolon = memchr(at, ';', (size_t)(end - at));
		semicolon = semicolon ? semicolon : end;
		node = fixture_ok(
			builder_stack(f->b, (uint32_t)node,
				fixture_frame(f, at, (size_t)(semicolon - at), process), &e),
			&e);
	}
	r.sample.stack = (uint32_t)node;
	r.sample.result = f->truncated ? STACK_TRUNCATED : STACK_COMPLETE;
	f->samples++;
	if (r.sample.time_ns > f->last_ns)
		f->last_ns = r.sample.time_ns;
	fixture_ok(builder_put(f->b, &r, &e), &e);
}

static inline void fixture_about(struct fixture *f, const char *line)
{
	struct record r = {0};
	struct err e = {0};
	char key[64], text[256];
	unsigned a, b;
	double from, to;

	if (sscanf(line, "!duration %lf", &to) == 1) {
		f->duration_ns = (uint64_t)(to * FIXTURE_MS);
	} else if (!strcmp(line, "!part")) {
		f->part = 1;
	} else if (sscanf(line, "!lost %u %lf %lf", &a, &from, &to) == 3) {
		r.kind = RECORD_LOSS;
		r.loss = (struct record_loss){.cause = LOSS_RING_FULL,
			.count = a,
			.from_ns = (uint64_t)(from * FIXTURE_MS),
			.to_ns = (uint64_t)(to * FIXTURE_MS)};
		fixture_ok(builder_put(f->b, &r, &e), &e);
	} else if (sscanf(line, "!counter %u %u %lf", &a, &b, &to) == 3) {
		r.kind = RECORD_COUNTER;
		r.counter = (struct record_counter){.cpu = a, .id = b, .value = (uint64_t)to};
		fixture_ok(builder_put(f->b, &r, &e), &e);
	} else if (sscanf(line, "!meta %63s %255[^\n]", key, text) == 2) {
		fixture_ok(builder_meta(f->b, key, text, 0, &e), &e);
	} else {
		fail_msg("fixture: %s", line);
	}
}

/* The records of @text into @sink. */
static inline void fixture_records(struct sink *sink, const char *text)
{
	struct fixture f = {0};
	struct err e = {0};
	const char *end;
	char line[4096];

	assert_int_equal(builder_new(&f.b, sink, NULL), 0);
	fixture_ok(builder_put(f.b,
			   &(struct record){.kind = RECORD_RUN,
				   .run = {.start_mono_ns = 1,
					   .start_real_ns = 1700000000000000000u,
					   .period_ns = 10000000,
					   .cpus = 2,
					   .value_types = 1u << VALUE_CPU}},
			   &e),
		&e);
	for (; *text; text = *end ? end + 1 : end) {
		end = strchrnul(text, '\n');
		snprintf(line, sizeof(line), "%.*s", (int)(end - text), text);
		if (line[0] == '!')
			fixture_about(&f, line);
		else if (line[0])
			fixture_sample(&f, line);
	}
	if (!f.part)
		fixture_ok(builder_put(f.b,
				   &(struct record){.kind = RECORD_END,
					   .end = {.duration_ns = f.duration_ns
									  ? f.duration_ns
									  : f.last_ns + FIXTURE_MS,
						   .samples = f.samples,
						   .reason = END_DURATION}},
				   &e),
			&e);
	builder_free(f.b);
}

/* A finished profile of @text, to be freed. */
static inline struct profile *profile_from_text(const char *text)
{
	struct profile *p;
	struct err e = {0};

	assert_int_equal(profile_new(&p), 0);
	fixture_records(profile_sink(p), text);
	fixture_ok(profile_finish(p, &e), &e);
	return p;
}

#endif
