/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shares: a program whose profile is known before it is measured.
 *
 *	shares [SECONDS [TRUTH-FILE]]    default 10; ends early, and says the same, on SIGTERM or
 *SIGINT
 *
 * Four threads run three functions. Where the CPU time goes is decided by two
 * feedback loops, so it holds in any window of a second or more, on any number
 * of CPUs and beside other programs:
 *
 *	thread     share   parse_record  hash_block  compress_block
 *	ingest      20 %       20
 *	worker-1    30 %                    30
 *	worker-2    30 %                    20            10
 *	writer      20 %                                  20
 *	                       20           50            30
 *
 *  - within a thread, the function furthest behind its share by the thread's own
 *    CPU clock runs next;
 *  - a thread ahead of the others sleeps.
 *
 * Steps have a random length (0.2 to 0.6 ms), so that no sampling frequency
 * falls in step with them. The three functions are leaves: the shares are self
 * time. At the end, or when it is stopped, the program states what its clocks
 * say, one line each: "function NAME KNOWN% MEASURED%", "thread ...".
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))
/* gcc drops the frame pointer of a leaf that keeps nothing on its stack, whatever its options say.
 */
#define KEEP_FRAME __asm__ volatile("" : : "r"(__builtin_frame_address(0)))
#define BUSY	   1.4	     /* CPUs used when there are enough */
#define AHEAD_NS   8000000.0 /* by how much a thread may lead, in ns of the whole program */

enum {
	PARSE,
	HASH,
	COMPRESS,
	FUNCS
};
enum {
	THREADS = 4
};

struct worker {
	const char *name;
	int known[FUNCS]; /* per cent of the whole program */
	int share;	  /* their sum */
	uint64_t seed;
	_Atomic uint64_t cpu[FUNCS]; /* ns by the thread's CPU clock */
	pthread_t thread;
};

static const char *const func_name[FUNCS] = {"parse_record", "hash_block", "compress_block"};
static struct worker workers[THREADS] = {
	{.name = "ingest", .known = {20, 0, 0}, .seed = 0x9e3779b97f4a7c15},
	{.name = "worker-1", .known = {0, 30, 0}, .seed = 0xbf58476d1ce4e5b9},
	{.name = "worker-2", .known = {0, 20, 10}, .seed = 0x94d049bb133111eb},
	{.name = "writer", .known = {0, 0, 20}, .seed = 0xd6e8feb86659fd93},
};
static atomic_int stop;
static uint64_t start_ns;
static unsigned repeats[FUNCS]; /* of each function in 0.1 ms */
static volatile uint64_t sink;

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t draw(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

/* ---- the three functions; each calls nothing */

NOINLINE static void parse_record(unsigned n)
{
	static const char text[] =
		"id=17;name=example;price=12.50;count=3;id=18;name=other;price=7.25\n";
	uint64_t sum = 0;

	KEEP_FRAME;
	for (unsigned i = 0; i < n * 16; i++) {
		uint64_t number = 0;

		for (const char *p = text; *p; p++) {
			if (*p >= '0' && *p <= '9')
				number = number * 10 + (uint64_t)(*p - '0');
			else if (*p == ';' || *p == '\n')
				sum += number, number = i;
		}
	}
	sink += sum;
}

NOINLINE static void hash_block(unsigned n)
{
	uint64_t x = n;

	KEEP_FRAME;
	for (unsigned i = 0; i < n * 1024; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		x ^= x >> 29;
	}
	sink += x;
}

NOINLINE static void compress_block(unsigned n)
{
	static _Thread_local uint8_t window[4096];
	uint32_t at = n;

	KEEP_FRAME;
	for (unsigned i = 0; i < n * 512; i++) {
		at = at * 1103515245u + 12345u;
		window[at >> 20] = (uint8_t)(window[(at >> 19) & 4095] + (at >> 24));
	}
	sink += window[at & 4095];
}

/* ---- who calls them */

NOINLINE static void read_lines(unsigned n)
{
	parse_record(n);
	sink++;
}

NOINLINE static void digest(unsigned n)
{
	hash_block(n);
	sink++;
}

NOINLINE static void write_out(unsigned n)
{
	compress_block(n);
	sink++;
}

static void (*const entry[FUNCS])(unsigned) = {read_lines, digest, write_out};

static void calibrate(void)
{
	for (int f = 0; f < FUNCS; f++) {
		unsigned n = 1;
		uint64_t took;

		for (;; n *= 2) {
			uint64_t from = now(CLOCK_THREAD_CPUTIME_ID);

			entry[f](n);
			took = now(CLOCK_THREAD_CPUTIME_ID) - from;
			if (took > 2000000)
				break;
		}
		repeats[f] = (unsigned)((double)n * 1e5 / (double)took) + 1;
	}
}

static double used(const struct worker *w)
{
	uint64_t sum = 0;

	for (int f = 0; f < FUNCS; f++)
		sum += atomic_load_explicit(&w->cpu[f], memory_order_relaxed);
	return (double)sum;
}

/* Ahead of the clock, or of the thread that is furthest behind? Both in ns of the whole program. */
static int ahead(const struct worker *w)
{
	double mine = used(w) * 100 / w->share;

	if (mine > BUSY * (double)(now(CLOCK_MONOTONIC) - start_ns))
		return 1;
	for (int i = 0; i < THREADS; i++)
		if (mine > used(&workers[i]) * 100 / workers[i].share + AHEAD_NS)
			return 1;
	return 0;
}

NOINLINE static void step(struct worker *w)
{
	int next = -1;
	double behind = 0;

	for (int f = 0; f < FUNCS; f++) {
		double at;

		if (!w->known[f])
			continue;
		at = (double)w->cpu[f] / w->known[f];
		if (next < 0 || at < behind)
			next = f, behind = at;
	}
	unsigned tenths = 20 + (unsigned)(draw(&w->seed) >> 32) % 41; /* of 0.1 ms, times 10 */
	unsigned n = repeats[next] * tenths / 10;
	uint64_t from = now(CLOCK_THREAD_CPUTIME_ID);

	entry[next](n ? n : 1);
	atomic_fetch_add_explicit(
		&w->cpu[next], now(CLOCK_THREAD_CPUTIME_ID) - from, memory_order_relaxed);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	prctl(PR_SET_NAME, w->name);
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		if (ahead(w)) {
			/* Long enough that going to sleep costs next to nothing. */
			long ns = 2000000 + (long)((draw(&w->seed) >> 32) % 4000000);

			nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
		} else {
			step(w);
		}
	}
	return NULL;
}

static void state(FILE *out)
{
	double all = 0;

	for (int i = 0; i < THREADS; i++)
		all += used(&workers[i]);
	for (int f = 0; f < FUNCS; f++) {
		double sum = 0;
		int known = 0;

		for (int i = 0; i < THREADS; i++) {
			sum += (double)workers[i].cpu[f];
			known += workers[i].known[f];
		}
		fprintf(out, "function %s %d %.2f\n", func_name[f], known, 100 * sum / all);
	}
	for (int i = 0; i < THREADS; i++)
		fprintf(out, "thread %s %d %.2f\n", workers[i].name, workers[i].share,
			100 * used(&workers[i]) / all);
	fprintf(out, "cpu_s %.3f\nwall_s %.3f\n", all / 1e9,
		(double)(now(CLOCK_MONOTONIC) - start_ns) / 1e9);
	fflush(out);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 10;
	struct timespec limit = {
		(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
	FILE *truth = argc > 2 ? fopen(argv[2], "w") : stdout;
	sigset_t signals;

	if (!truth) {
		perror(argv[2]);
		return 2;
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	calibrate();
	start_ns = now(CLOCK_MONOTONIC);
	for (int i = 0; i < THREADS; i++) {
		for (int f = 0; f < FUNCS; f++)
			workers[i].share += workers[i].known[f];
	}
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) {
			fprintf(stderr, "shares: cannot start a thread\n");
			return 2;
		}
	}
	sigtimedwait(&signals, NULL, &limit);
	atomic_store(&stop, 1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	state(truth);
	return 0;
}
