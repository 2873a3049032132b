/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel lists as mapped must be what /proc says, under the ids that
 * samples have afterwards. Skipped where recording is not permitted.
 */
#include "support.h"

#include <errno.h>
#include <linux/types.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "symbolize/proc_maps.h"
#include "user/base/clock.h"
#include "user/record/features.h"
#include "user/record/sampler.h"

static volatile unsigned long work;

static pid_t start_busy_child(void)
{
	pid_t p = fork();

	if (!p) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			work++;
	}
	assert_true(p > 0);
	return p;
}

static struct sampler *new_sampler(enum admit_mode mode)
{
	struct sampler_options o = {.freq = 999, .mode = mode};
	struct err e = {0};
	struct sampler *s;

	if (features_require(&e)) {
		print_message("recording is not permitted here: %s\n", e.msg);
		skip();
	}
	if (sampler_new(&s, &o, &e))
		fail_msg("%s", e.msg);
	return s;
}

struct list {
	struct wire_module at[4096];
	size_t nr;
	pid_t only;
	int stop_after;
};

static int see(void *ctx, const struct wire_module *m)
{
	struct list *l = ctx;

	assert_int_equal(m->h.kind, WIRE_MODULE);
	assert_int_equal(m->h.len, sizeof(*m));
	assert_true(m->id >= MODULE_FIRST_FILE && m->id < MODULE_FIRST_FILE + MAX_MODULES);
	if (l->stop_after && !--l->stop_after)
		return 77;
	if ((!l->only || (pid_t)m->pid == l->only) && l->nr < ARRAY_LEN(l->at))
		l->at[l->nr++] = *m;
	return 0;
}

static const struct wire_module *find(const struct list *l, uint64_t start)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->at[i].start == start)
			return &l->at[i];
	return NULL;
}

/* Each executable mapping of a file in @pid is in @l with its inode, and nothing else. */
static void compare(const struct list *l, pid_t pid)
{
	struct proc_maps maps;
	struct err e = {0};
	size_t nr = 0;

	assert_int_equal(proc_maps_read(&maps, pid, &e), 0);
	for (size_t i = 0; i < maps.nr; i++) {
		const struct proc_map *m = &maps.at[i];
		const struct wire_module *found = find(l, m->start);

		if (!(m->perm & PROC_MAP_X) || !m->ino) {
			assert_null(found);
			continue;
		}
		assert_non_null(found);
		assert_int_equal(found->end, m->end);
		assert_int_equal(found->key.ino, m->ino);
		nr++;
	}
	assert_true(nr >= 3); /* we, libc, ld.so */
	assert_int_equal(l->nr, nr);
	proc_maps_release(&maps);
}

static void test_mappings_of_a_process_are_listed(void **state)
{
	struct sampler *s = new_sampler(ADMIT_PIDS);
	struct list *l = calloc(1, sizeof(*l));
	pid_t p = start_busy_child();

	assert_non_null(l);
	assert_int_equal(sampler_mapped_files(s, p, see, l), 0);
	for (size_t i = 0; i < l->nr; i++)
		assert_int_equal(l->at[i].pid, p);
	compare(l, p);
	free(l);
	sampler_free(s);
	kill(p, SIGKILL);
	waitpid(p, NULL, 0);
}

static void test_mappings_of_all_processes_are_listed(void **state)
{
	struct sampler *s = new_sampler(ADMIT_ALL);
	struct list *l = calloc(1, sizeof(*l));
	pid_t p = start_busy_child();

	assert_non_null(l);
	l->only = p;
	assert_int_equal(sampler_mapped_files(s, 0, see, l), 0);
	compare(l, p);
	l->nr = 0;
	l->only = getpid();
	assert_int_equal(sampler_mapped_files(s, 0, see, l), 0);
	compare(l, getpid());
	free(l);
	sampler_free(s);
	kill(p, SIGKILL);
	waitpid(p, NULL, 0);
}

static void test_listing_can_be_stopped_and_tasks_may_be_gone(void **state)
{
	struct sampler *s = new_sampler(ADMIT_ALL);
	struct list *l = calloc(1, sizeof(*l));
	pid_t p = start_busy_child();

	assert_non_null(l);
	l->stop_after = 2;
	assert_int_equal(sampler_mapped_files(s, 0, see, l), 77);
	kill(p, SIGKILL);
	waitpid(p, NULL, 0);
	l->nr = 0;
	l->stop_after = 0;
	sampler_mapped_files(s, p, see, l); /* an error, or nothing */
	assert_int_equal(l->nr, 0);
	free(l);
	sampler_free(s);
}

static void test_a_kernel_without_the_iterator_is_no_error(void **state)
{
	struct list l = {0};
	struct sampler *s;

	setenv("PROFBPF_DISABLE", "preload", 1);
	s = new_sampler(ADMIT_ALL);
	unsetenv("PROFBPF_DISABLE");
	assert_int_equal(sampler_mapped_files(s, 0, see, &l), -EOPNOTSUPP);
	sampler_free(s);
}

/* ---- ids ---- */

struct sampled {
	const struct list *list;
	pid_t pid;
	unsigned frames, modules;
};

static int take(void *ctx, const struct wire_header *h)
{
	const struct wire_sample *w = (const void *)h;
	struct sampled *seen = ctx;

	if (h->kind == WIRE_MODULE &&
		((const struct wire_module *)(const void *)h)->pid == (uint32_t)seen->pid)
		seen->modules++;
	for (unsigned i = 0; h->kind == WIRE_SAMPLE && i < w->nr_kernel + w->nr_user; i++) {
		const struct frame *f = &w->frames[i];
		int known = 0;

		if (f->kind != FRAME_MODULE || f->owner == MODULE_VDSO)
			continue;
		for (size_t k = 0; k < seen->list->nr; k++)
			known |= seen->list->at[k].id == f->owner;
		assert_true(known);
		seen->frames++;
	}
	return 0;
}

static void test_samples_have_the_ids_that_were_listed(void **state)
{
	struct sampler *s = new_sampler(ADMIT_PIDS);
	struct list *l = calloc(1, sizeof(*l));
	pid_t p = start_busy_child();
	struct sampled seen = {.list = l, .pid = p};
	struct err e = {0};
	uint64_t end;

	assert_non_null(l);
	assert_int_equal(sampler_admit(s, p, 0, &e), 0);
	assert_int_equal(sampler_mapped_files(s, p, see, l), 0);
	assert_int_equal(sampler_start(s, &e), 0);
	for (end = clock_mono_ns() + 10000000000u; seen.frames < 50 && clock_mono_ns() < end;)
		sampler_consume(s, 50, take, &seen, &e);
	assert_true(seen.frames >= 50);
	assert_int_equal(seen.modules, 0);
	free(l);
	sampler_free(s);
	kill(p, SIGKILL);
	waitpid(p, NULL, 0);
}

RUN_TESTS(T(test_mappings_of_a_process_are_listed), T(test_mappings_of_all_processes_are_listed),
	T(test_listing_can_be_stopped_and_tasks_may_be_gone),
	T(test_a_kernel_without_the_iterator_is_no_error),
	T(test_samples_have_the_ids_that_were_listed))
