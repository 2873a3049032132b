/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Real recordings of children of a test: what the children do, and what the wire
 * records say of it. Skipped with the reason where recording is not permitted.
 *
 * On a busy machine a child may get no CPU for a second, and an exec may take as
 * long. So nothing here lasts a fixed time: record() goes on until it has seen
 * what the test wants (.wanted), and a start returns when the child has begun.
 *
 * T_RECORDING(name): children and samplers end with the test, also if it failed,
 * so that they do not take the CPU from the next one.
 */
#ifndef PROFBPF_TESTS_SAMPLER_SUPPORT_H
#define PROFBPF_TESTS_SAMPLER_SUPPORT_H

#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/types.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "user/base/clock.h"
#include "user/record/features.h"
#include "user/record/sampler.h"

#define T_RECORDING(name) cmocka_unit_test_teardown(name, end_all)

/* Only a machine that stands still needs so long: then the test fails. */
#define WANTED_WITHIN_NS 60000000000u

static struct {
	pid_t children[8];
	struct sampler *samplers[8];
	unsigned nr_children, nr_samplers;
} owned;

/* Ends what this test has begun. */
static inline int end_all(void **state)
{
	while (owned.nr_children) {
		pid_t p = owned.children[--owned.nr_children];

		kill(p, SIGKILL);
		waitpid(p, NULL, 0);
	}
	while (owned.nr_samplers)
		sampler_free(owned.samplers[--owned.nr_samplers]);
	return 0;
}

/* ---- what children do ----------------------------------------------------- */

static volatile unsigned long work;

__attribute__((noinline, unused)) static void leaf_function(void)
{
	/* Asking for the frame makes one: gcc leaves it out of functions that call none. */
	work += (uintptr_t)__builtin_frame_address(0) & 1;
	for (int i = 0; i < 1000; i++)
		work++;
}

__attribute__((noinline, unused)) static void outer_function(void)
{
	for (;;)
		leaf_function();
}

static inline void do_chain(void)
{
	outer_function();
}

/* Wait for the other end of a pipe to be closed, by hand or by an exec. */
static inline void wait_closed(int fd)
{
	char c;

	while (read(fd, &c, 1) < 0 && errno == EINTR)
		;
	close(fd);
}

static inline pid_t own_child(pid_t p)
{
	assert_true(p > 0);
	assert_true(owned.nr_children < ARRAY_LEN(owned.children));
	owned.children[owned.nr_children++] = p;
	return p;
}

/* A child that is in @what when this returns. */
static inline pid_t start(void (*what)(void))
{
	int begun[2];
	pid_t p;

	assert_int_equal(pipe2(begun, O_CLOEXEC), 0);
	p = fork();
	if (!p) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(begun[0]);
		close(begun[1]);
		what();
		_exit(0);
	}
	close(begun[1]);
	wait_closed(begun[0]);
	return own_child(p);
}

/*
 * A child that has executed @path, a copy of dd that goes on for ever, when this
 * returns. With @until_exec it is admitted there as such, before it may.
 */
static inline pid_t start_dd(const char *path, struct sampler *until_exec)
{
	int gate[2], executed[2];
	struct err e = {0};
	pid_t p;

	assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
	assert_int_equal(pipe2(executed, O_CLOEXEC), 0);
	p = fork();
	if (!p) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(gate[1]);
		wait_closed(gate[0]);
		execl(path, path, "if=/dev/zero", "of=/dev/null", "bs=1", "status=none",
			(char *)NULL);
		_exit(1);
	}
	own_child(p);
	if (until_exec)
		assert_int_equal(sampler_admit(until_exec, p, 1, &e), 0);
	close(gate[0]);
	close(gate[1]);
	close(executed[1]);
	wait_closed(executed[0]);
	return p;
}

/* ---- what is seen ----------------------------------------------------------- */

struct seen {
	uint64_t samples, modules, execs, exits;
	uint64_t value_ns;
	uint64_t kinds[FRAME_KIND_MAX], results[STACK_RESULT_MAX], vdso, wrong_pid, disorder;
	uint64_t leaf_in,
		leaf_and_caller;     /* leaf in leaf_function; and called from outer_function */
	uint64_t leaf_at, caller_at; /* file offsets of those */
	uint64_t time_ns[MAX_CPUS];  /* last, per CPU */
	uint32_t only_pid;	     /* 0 = any */
	uint32_t own_module;	     /* module of leaf_function */
	int stop_after;
	/* record() goes on until there are so many, and fails if they do not come */
	struct {
		uint64_t samples, wrong_pid, modules, execs, exits, before_exec, lost_ring;
	} wanted;
};

static inline int in_function(const struct frame *f, uint64_t at)
{
	return f->kind == FRAME_MODULE && f->addr >= at && f->addr < at + 200;
}

static inline void see_sample(struct seen *s, const struct wire_sample *w)
{
	const struct frame *user = w->frames + w->nr_kernel;
	unsigned nr = w->nr_kernel + w->nr_user;

	assert_int_equal(w->h.len, sizeof(*w) + nr * sizeof(struct frame));
	assert_true(w->result < STACK_RESULT_MAX);
	assert_true(w->h.cpu < MAX_CPUS);
	s->samples++;
	s->value_ns += w->value;
	s->results[w->result]++;
	if (s->only_pid && w->process.pid != s->only_pid)
		s->wrong_pid++;
	if (w->time_ns <= s->time_ns[w->h.cpu])
		s->disorder++;
	s->time_ns[w->h.cpu] = w->time_ns;
	for (unsigned i = 0; i < nr; i++) {
		const struct frame *f = &w->frames[i];

		assert_true(f->kind < FRAME_KIND_MAX);
		s->kinds[f->kind]++;
		s->vdso += f->kind == FRAME_MODULE && f->owner == MODULE_VDSO;
		assert_int_equal(f->kind == FRAME_KERNEL, i < w->nr_kernel);
		/* In a system call the user's innermost address is behind the instruction. */
		if (i < w->nr_kernel || !i)
			assert_int_equal(!!(f->flags & FRAME_F_RETURN), i != 0);
		assert_true(f->kind == FRAME_NONE ? f->reason != 0 : f->reason == 0);
		if (f->kind == FRAME_MODULE && f->owner != MODULE_VDSO)
			assert_true(f->owner >= MODULE_FIRST_FILE);
	}
	if (s->leaf_at && w->nr_user >= 2 && in_function(&user[0], s->leaf_at)) {
		s->leaf_in++;
		s->own_module = user[0].owner;
		s->leaf_and_caller +=
			in_function(&user[1], s->caller_at) && user[1].owner == user[0].owner;
	}
}

static inline int see(void *ctx, const struct wire_header *h)
{
	struct seen *s = ctx;

	switch (h->kind) {
	case WIRE_SAMPLE:
		see_sample(s, (const void *)h);
		break;
	case WIRE_MODULE:
		s->modules++;
		break;
	case WIRE_EXEC:
		s->execs++;
		break;
	case WIRE_EXIT:
		s->exits++;
		break;
	default:
		fail_msg("record of unknown kind %u", h->kind);
	}
	if (s->stop_after && !--s->stop_after)
		return 77;
	return 0;
}

/* Sum over the CPUs. While it runs, a tick may be in one counter and not yet in the next. */
static inline struct wire_counters totals_now(struct sampler *s)
{
	struct wire_counters sum = {0}, c;

	for (uint32_t cpu = 0; cpu < sampler_nr_cpus(s); cpu++) {
		if (sampler_counters(s, cpu, &c, NULL))
			continue;
		sum.ticks += c.ticks;
		sum.sampled += c.sampled;
		sum.not_admitted += c.not_admitted;
		sum.before_exec += c.before_exec;
		sum.lost_ring += c.lost_ring;
		sum.lost_scratch += c.lost_scratch;
		sum.value_ns += c.value_ns;
		sum.capped_ns += c.capped_ns;
		sum.lost_events += c.lost_events;
		sum.walk_failed += c.walk_failed;
	}
	return sum;
}

/* The same after it was stopped: every tick ended in exactly one counter. */
static inline struct wire_counters totals(struct sampler *s)
{
	struct wire_counters c;

	for (uint32_t cpu = 0; cpu < sampler_nr_cpus(s); cpu++)
		if (!sampler_counters(s, cpu, &c, NULL))
			assert_int_equal(c.sampled + c.idle + c.not_admitted + c.before_exec +
						 c.lost_ring + c.lost_scratch,
				c.ticks);
	return totals_now(s);
}

/* ---- recording -------------------------------------------------------------- */

static inline void need_recording(void)
{
	struct err e = {0};

	if (!features_require(&e))
		return;
	print_message("recording is not permitted here: %s\n", e.msg);
	skip();
}

static inline struct sampler *new_sampler(const struct sampler_options *o)
{
	struct err e = {0};
	struct sampler *s;

	need_recording();
	if (sampler_new(&s, o, &e))
		fail_msg("sampler_new: %s", e.msg);
	assert_true(owned.nr_samplers < ARRAY_LEN(owned.samplers));
	owned.samplers[owned.nr_samplers++] = s;
	return s;
}

/* Of one process. */
static inline struct sampler *sampler_of(pid_t pid, uint64_t freq, struct seen *seen)
{
	struct sampler_options o = {.freq = freq, .mode = ADMIT_PIDS};
	struct sampler *s = new_sampler(&o);
	struct err e = {0};

	assert_int_equal(sampler_admit(s, pid, 0, &e), 0);
	seen->only_pid = (uint32_t)pid;
	return s;
}

static inline int all_seen(struct sampler *s, const struct seen *seen)
{
	struct wire_counters c = totals_now(s);

	return seen->samples >= seen->wanted.samples && seen->wrong_pid >= seen->wanted.wrong_pid &&
	       seen->modules >= seen->wanted.modules && seen->execs >= seen->wanted.execs &&
	       seen->exits >= seen->wanted.exits && c.before_exec >= seen->wanted.before_exec &&
	       c.lost_ring >= seen->wanted.lost_ring;
}

static inline void record_begin(struct sampler *s)
{
	struct err e = {0};

	if (sampler_start(s, &e))
		fail_msg("sampler_start: %s", e.msg);
}

/* For @seconds at least, reading every 50 ms unless @lazy. */
static inline void record_on(struct sampler *s, struct seen *seen, double seconds, int lazy)
{
	uint64_t from = clock_mono_ns(), now;
	struct err e = {0};

	do {
		if (lazy)
			usleep(50000);
		else
			assert_true(sampler_consume(s, 50, see, seen, &e) >= 0);
		assert_int_equal(sampler_tick(s, &e), 0);
		now = clock_mono_ns();
	} while ((double)(now - from) < seconds * 1e9 ||
		 (!all_seen(s, seen) && now - from < WANTED_WITHIN_NS));
}

static inline void record_end(struct sampler *s, struct seen *seen)
{
	struct wire_counters c;
	struct err e = {0};

	sampler_stop(s);
	assert_true(sampler_consume(s, 0, see, seen, &e) >= 0);
	c = totals_now(s);
	if (!all_seen(s, seen))
		fail_msg("no more than %llu samples (%llu of others), %llu modules, %llu execs, "
			 "%llu exits; of %llu ticks %llu before exec, %llu lost",
			(unsigned long long)seen->samples, (unsigned long long)seen->wrong_pid,
			(unsigned long long)seen->modules, (unsigned long long)seen->execs,
			(unsigned long long)seen->exits, (unsigned long long)c.ticks,
			(unsigned long long)c.before_exec, (unsigned long long)c.lost_ring);
}

static inline void record(struct sampler *s, struct seen *seen, double seconds, int lazy)
{
	record_begin(s);
	record_on(s, seen, seconds, lazy);
	record_end(s, seen);
}

/* In a child, because it is about what the child may do. Exit status 0 = as expected. */
static inline void in_child(int (*check)(void))
{
	pid_t p = fork();
	int status;

	if (!p)
		_exit(check());
	assert_true(p > 0);
	assert_int_equal(waitpid(p, &status, 0), p);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

#endif
