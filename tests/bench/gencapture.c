/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gencapture N FILE: a capture of N samples, as a recording of a busy server of
 * 8 threads leaves it: 3000 functions in 6 modules, 20,000 distinct stacks, 13
 * frames on average, hot ones far more often than others. The same N gives the
 * same samples. Written with the program's own builder and writer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/capture/builder.h"
#include "user/capture/capture.h"

#define FUNCS	3000u
#define STACKS	20000u
#define DEPTH	40u
#define MODULES 6u
#define THREADS 8u

static uint64_t seed = 88172645463325252u;
static struct err err;

static double draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (double)(seed >> 11) / (double)(1ull << 53);
}

static unsigned below(unsigned n)
{
	return (unsigned)(draw() * n);
}

static uint32_t id(int64_t got)
{
	if (got < 0) {
		fprintf(stderr, "gencapture: %s\n", err.msg);
		exit(1);
	}
	return (uint32_t)got;
}

struct stack {
	unsigned depth;
	uint32_t frame[DEPTH]; /* leaf first */
};

/* A function and a place in it; the first 8 are the threads' entries. */
static uint32_t frames[FUNCS];
static struct stack stacks[STACKS];

static void make_frames(struct builder *b)
{
	uint32_t modules[MODULES];

	for (unsigned i = 0; i < MODULES; i++) {
		char text[64];
		struct record_module m = {
			.kind = MODULE_KIND_FILE, .ino = 100 + i, .size = 1 << 20};

		snprintf(text, sizeof(text), "/opt/server/lib/libpart%u.so", i);
		m.path = id(builder_string(b, text, strlen(text), &err));
		modules[i] = id(builder_module(b, &m, &err));
	}
	for (unsigned i = 0; i < FUNCS; i++) {
		char text[128];
		struct record r = {.kind = RECORD_NAME};
		struct frame f = {.kind = FRAME_MODULE,
			.owner = modules[i % MODULES],
			.addr = 0x1000 + i * 160u + below(160),
			.flags = FRAME_F_RETURN};

		frames[i] = id(builder_frame(b, &f, &err));
		snprintf(text, sizeof(text),
			"server::part%u::Handler<%u>::process_request_%u(int, char const*)", i % 37,
			i % 5, i);
		r.name.frame = frames[i];
		r.name.name = id(builder_string(b, text, strlen(text), &err));
		id(builder_put(b, &r, &err));
	}
}

static void make_stacks(void)
{
	for (unsigned s = 0; s < STACKS; s++) {
		uint32_t path[DEPTH]; /* root first */
		unsigned depth = 1;

		path[0] = frames[below(THREADS)];
		if (s && draw() < 0.9) { /* grow from a known one */
			const struct stack *old = &stacks[below(s)];

			depth = old->depth / 2 + below(old->depth - old->depth / 2 + 1);
			depth += !depth;
			for (unsigned i = 0; i < depth; i++)
				path[i] = old->frame[old->depth - 1 - i];
		}
		for (unsigned more = 1 + below(6); more && depth < DEPTH; more--) {
			double r = draw();

			path[depth++] = frames[(unsigned)(FUNCS * r * r)];
		}
		stacks[s].depth = depth;
		for (unsigned i = 0; i < depth; i++)
			stacks[s].frame[i] = path[depth - 1 - i];
	}
}

int main(int argc, char **argv)
{
	struct capture_writer *w;
	struct builder *b;
	struct record r = {.kind = RECORD_RUN};
	uint32_t process, threads[THREADS];
	struct record_process p = {.pid = 4242, .start_boot_ns = 1};
	uint64_t time = 0, period = 1002004;
	unsigned long n = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;

	if (!n) {
		fprintf(stderr, "usage: gencapture N FILE\n");
		return 2;
	}
	id(capture_writer_open(&w, argv[2], &err));
	id(builder_new(&b, capture_writer_sink(w), NULL));
	r.run = (struct record_run){.start_mono_ns = 1000000000,
		.start_real_ns = 1700000000000000000,
		.period_ns = period,
		.cpus = THREADS,
		.value_types = 1u << VALUE_CPU};
	id(builder_put(b, &r, &err));
	id(builder_meta(b, "event", "cpu-clock", 0, &err));
	p.name = id(builder_string(b, "server", 6, &err));
	process = id(builder_process(b, &p, NULL, &err));
	for (unsigned i = 0; i < THREADS; i++) {
		char text[32];

		snprintf(text, sizeof(text), "worker-%u", i);
		threads[i] = id(builder_thread(b, process, 4242 + i, text, strlen(text), &err));
	}
	make_frames(b);
	make_stacks();
	for (unsigned long i = 0; i < n; i++) {
		double hot = draw();
		const struct stack *s = &stacks[(unsigned)(STACKS * hot * hot * hot)];
		unsigned cpu = below(THREADS);
		uint64_t value = (uint64_t)((0.75 + 0.5 * draw()) * (double)period);

		time += (uint64_t)(draw() * 2 * (double)period) / THREADS;
		r = (struct record){.kind = RECORD_SAMPLE};
		r.sample = (struct record_sample){.time_ns = time,
			.value = value,
			.thread = threads[cpu],
			.cpu = cpu,
			.type = VALUE_CPU,
			.result = STACK_FP_END};
		r.sample.stack = id(builder_stack_path(b, s->frame, s->depth, &err));
		id(builder_put(b, &r, &err));
	}
	r = (struct record){.kind = RECORD_END};
	r.end = (struct record_end){.duration_ns = time, .samples = n, .reason = END_DURATION};
	id(builder_put(b, &r, &err));
	id(capture_writer_finish(w, &err));
	builder_free(b);
	return 0;
}
