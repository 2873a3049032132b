/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * work: what the benchmark measures on. One thread, three leaf functions at
 * 20/50/30 % of its CPU time.
 *
 *	work SECONDS STATE-FILE
 *
 * The function furthest behind its share runs next, for a random 0.2 to 0.6 ms,
 * so the shares hold in every window. The state file is a shared mapping of
 * struct state, for a harness to read at both ends of a window: CPU time per
 * unit of work, with and without a profiler, is the slow-down. That time is the
 * thread's CPU clock, which includes the interrupts it suffers.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
/* gcc drops the frame pointer of a leaf that keeps nothing on its stack, whatever its options say.
 */
#define KEEP_FRAME __asm__ volatile("" : : "r"(__builtin_frame_address(0)))
#define TABLE	   (1u << 12)

/* Read by run.py: keep in step. */
struct state {
	uint64_t pid;
	volatile uint64_t cpu_ns[3], units[3];
};

static const int known[3] = {20, 50, 30};
static uint32_t table[TABLE];
static volatile uint64_t sink;

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

NOINLINE static void work_a(unsigned n) /* arithmetic only */
{
	uint64_t x = n;

	KEEP_FRAME;
	for (unsigned i = 0; i < n * 64; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		x ^= x >> 29;
	}
	sink += x;
}

NOINLINE static void work_b(unsigned n) /* loads from a table that fits the first cache */
{
	uint64_t x = n;

	KEEP_FRAME;
	for (unsigned i = 0; i < n * 32; i++) {
		x = x * 2862933555777941757u + 3037000493u;
		x += table[(x >> 40) & (TABLE - 1)];
	}
	sink += x;
}

NOINLINE static void work_c(unsigned n) /* branches that cannot be foreseen */
{
	uint64_t x = n | 1, sum = 0;

	KEEP_FRAME;
	for (unsigned i = 0; i < n * 16; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		if (x & 4)
			sum += x;
		else
			sum ^= x >> 3;
	}
	sink += sum;
}

static void (*const run[3])(unsigned) = {work_a, work_b, work_c};

/* Some callers in between, as a program has. */
NOINLINE static void dispatch(int f, unsigned n)
{
	run[f](n);
	sink++;
}

NOINLINE static void serve(int f, unsigned n)
{
	dispatch(f, n);
	sink++;
}

NOINLINE static void loop(struct state *st, uint64_t end)
{
	unsigned per_tenth[3]; /* units in 0.1 ms */
	uint64_t seed = 0x9e3779b97f4a7c15;

	for (int f = 0; f < 3; f++) {
		uint64_t from = now(CLOCK_THREAD_CPUTIME_ID), took;
		unsigned n = 4000;

		serve(f, n);
		took = now(CLOCK_THREAD_CPUTIME_ID) - from;
		per_tenth[f] = (unsigned)(n * 1e5 / (double)took) + 1;
	}
	while (now(CLOCK_MONOTONIC) < end) {
		int next = 0;

		for (int f = 1; f < 3; f++)
			if ((double)st->cpu_ns[f] / known[f] <
				(double)st->cpu_ns[next] / known[next])
				next = f;
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		unsigned n = per_tenth[next] * (20 + (unsigned)(seed >> 32) % 41) / 10;
		uint64_t from = now(CLOCK_THREAD_CPUTIME_ID);

		serve(next, n);
		st->cpu_ns[next] += now(CLOCK_THREAD_CPUTIME_ID) - from;
		st->units[next] += n;
	}
}

int main(int argc, char **argv)
{
	struct state *st;
	int fd;

	if (argc != 3) {
		fprintf(stderr, "usage: work SECONDS STATE-FILE\n");
		return 2;
	}
	fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*st))) {
		perror(argv[2]);
		return 2;
	}
	st = mmap(NULL, sizeof(*st), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (st == MAP_FAILED) {
		perror("mmap");
		return 2;
	}
	for (unsigned i = 0; i < TABLE; i++)
		table[i] = i * 2654435761u;
	st->pid = (uint64_t)getpid();
	loop(st, now(CLOCK_MONOTONIC) + (uint64_t)(atof(argv[1]) * 1e9));
	return 0;
}
