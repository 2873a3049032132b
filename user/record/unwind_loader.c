/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DESIGN: the queue holds a descriptor of its own per file. A table that has to wait
 * for memory stays in the queue as built, and holds up those behind it: they want
 * the same memory.
 */
#include "unwind_loader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/unwind_file.h"
#include "user/base/clock.h"
#include "user/base/fmt.h"

#define LOG_DOMAIN "unwind"
#include "user/base/log.h"

/* Files that wait, each with a descriptor; beyond that they are built at once. */
#define QUEUE_MAX 512

/* A table that found no room, or lost it, is made again after this time; then twice this... */
#define AGAIN_NS    2000000000u
#define AGAIN_SHIFT 5 /* ...up to a minute */

struct file {
	uint8_t outcome; /* enum unwind_outcome */
	uint8_t shift;	 /* of AGAIN_NS */
	char *name;	 /* owned */
	char *why;	 /* owned, or NULL */
	uint64_t again_ns;
};

struct job {
	uint32_t id;
	int fd;
	struct unwind_table *table; /* built, waits for memory */
};

struct unwind_loader {
	struct unwind_store *store;
	struct unwind_rules *rules;
	uint32_t max_slabs;
	struct file files[UNWIND_MODULES]; /* mostly untouched: zero pages */
	struct job queue[QUEUE_MAX];	   /* a ring */
	uint32_t head, queued;
	uint64_t try_at_ns; /* for the head, which waits for memory; 0 = it does not */
	int warned;	    /* of the budget */
	struct unwind_loader_stats stats;
};

int unwind_loader_new(struct unwind_loader **out, const struct unwind_memory *m, struct err *e)
{
	struct unwind_loader *l = calloc(1, sizeof(*l));

	*out = NULL;
	if (!l)
		return err_set(e, -ENOMEM, "out of memory");
	l->max_slabs = m->max_slabs;
	l->rules = unwind_rules_new();
	if (!l->rules || unwind_store_new(&l->store, m)) {
		unwind_loader_free(l);
		return err_set(e, -ENOMEM, "out of memory");
	}
	*out = l;
	return 0;
}

static void job_release(struct job *j)
{
	if (j->fd >= 0)
		close(j->fd);
	unwind_table_free(j->table);
	*j = (struct job){.fd = -1};
}

void unwind_loader_free(struct unwind_loader *l)
{
	if (!l)
		return;
	for (; l->queued; l->queued--, l->head = (l->head + 1) % QUEUE_MAX)
		job_release(&l->queue[l->head]);
	for (uint32_t i = 0; i < UNWIND_MODULES; i++)
		if (l->files[i].outcome) {
			free(l->files[i].why);
			free(l->files[i].name);
		}
	unwind_store_free(l->store);
	unwind_rules_free(l->rules);
	free(l);
}

/* ---- outcomes ---- */

static void set_outcome(
	struct unwind_loader *l, uint32_t id, enum unwind_outcome outcome, const char *why)
{
	struct file *f = &l->files[id];

	free(f->why);
	f->why = why ? strdup(why) : NULL;
	f->outcome = (uint8_t)outcome;
	if (why)
		log_info("no unwind table: %s", why);
}

static void warn_of_budget(struct unwind_loader *l)
{
	char text[32];

	if (l->warned)
		return;
	l->warned = 1;
	log_warn("unwind tables need more than %s: stacks through files without a table may be cut "
		 "(--unwind-memory)",
		fmt_bytes(text, sizeof(text),
			(uint64_t)l->max_slabs * UNWIND_SLAB_ROWS * sizeof(struct unwind_row)));
}

/* ---- building ---- */

static void count_table(struct unwind_loader *l, const struct unwind_table *t)
{
	for (int i = 0; i < EH_UNSUPPORTED_NR; i++)
		l->stats.unsupported_rows += t->stats.cfi.unsupported[i];
	l->stats.refused_rows += t->stats.refused;
}

/* Make the table of a job. Without one the outcome says why. */
static void build(struct unwind_loader *l, struct job *j)
{
	uint64_t begin = clock_process_cpu_ns(), took;
	struct err e = {0};
	int keeps_fp = 0, ret;

	if (j->id == MODULE_VDSO)
		ret = unwind_vdso_build(&j->table, l->rules, &e);
	else
		ret = unwind_file_build(
			&j->table, &keeps_fp, j->fd, l->files[j->id].name, l->rules, &e);
	took = clock_process_cpu_ns() - begin;
	l->stats.build_ns += took;
	if (took > l->stats.build_max_ns)
		l->stats.build_max_ns = took;
	if (ret) {
		set_outcome(l, j->id, UNWIND_FAILED, e.msg);
	} else if (keeps_fp) {
		unwind_store_set_fp(l->store, j->id);
		set_outcome(l, j->id, UNWIND_KEEPS_FP, NULL);
	} else {
		count_table(l, j->table);
		if (!j->table->nr_rows) {
			set_outcome(l, j->id, UNWIND_EMPTY, NULL);
			unwind_table_free(j->table);
			j->table = NULL;
		}
	}
}

/* Build, and put where the walk finds it. -EAGAIN when it must wait for memory, else 0. */
static int work_off(struct unwind_loader *l, struct job *j)
{
	struct err e = {0};
	int ret;

	if (!j->table)
		build(l, j);
	if (!j->table)
		return 0;
	/* The time of now: what is dropped rests from here on, not from before the building. */
	ret = unwind_store_put(l->store, j->id, j->table, l->rules, clock_mono_ns(), &e);
	switch (ret) {
	case 0:
		set_outcome(l, j->id, UNWIND_LOADED, NULL);
		break;
	case -EAGAIN:
		warn_of_budget(l);
		return ret;
	case -ENOSPC:
		warn_of_budget(l);
		err_prefix(&e, "%s", l->files[j->id].name);
		set_outcome(l, j->id, UNWIND_NO_ROOM, e.msg);
		break;
	default:
		err_prefix(&e, "%s", l->files[j->id].name);
		set_outcome(l, j->id, UNWIND_FAILED, e.msg);
		break;
	}
	return 0;
}

void unwind_loader_add_vdso(struct unwind_loader *l)
{
	struct job j = {.id = MODULE_VDSO, .fd = -1};

	if (!l)
		return;
	l->files[j.id].name = strdup("[vdso]");
	if (l->files[j.id].name && work_off(l, &j))
		set_outcome(l, j.id, UNWIND_NO_ROOM, NULL);
	job_release(&j);
}

static void enqueue(struct unwind_loader *l, uint32_t id, int fd)
{
	struct job j = {.id = id, .fd = -1};
	const char *why = NULL;
	char text[ERR_MSG_MAX];

	if (l->queued == QUEUE_MAX)
		unwind_loader_work(l, 0);
	if (l->queued == QUEUE_MAX) { /* all of them wait for memory */
		set_outcome(l, id, UNWIND_NO_ROOM, NULL);
		return;
	}
	if (fd >= 0)
		j.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		why = "no descriptor was left to hold it";
	else if (j.fd < 0)
		why = strerrordesc_np(errno);
	if (why) {
		snprintf(text, sizeof(text), "%s: %s", l->files[id].name, why);
		set_outcome(l, id, UNWIND_FAILED, text);
		job_release(&j);
		return;
	}
	l->queue[(l->head + l->queued++) % QUEUE_MAX] = j;
	set_outcome(l, id, UNWIND_WAITING, NULL);
}

void unwind_loader_add(struct unwind_loader *l, uint32_t id, int fd, const char *name)
{
	struct file *f;

	if (!l || id >= UNWIND_MODULES || l->files[id].outcome != UNWIND_UNKNOWN)
		return;
	f = &l->files[id];
	f->name = strdup(name);
	if (!f->name)
		return;
	f->again_ns = clock_mono_ns() + AGAIN_NS;
	enqueue(l, id, fd);
}

int unwind_loader_misses(const struct unwind_loader *l, uint32_t id, uint64_t now_ns)
{
	return l && id < UNWIND_MODULES && unwind_loader_outcome(l, id) == UNWIND_NO_ROOM &&
	       now_ns >= l->files[id].again_ns;
}

void unwind_loader_again(struct unwind_loader *l, uint32_t id, int fd)
{
	uint64_t now = clock_mono_ns();
	struct file *f;

	if (!unwind_loader_misses(l, id, now))
		return;
	f = &l->files[id];
	if (f->shift < AGAIN_SHIFT)
		f->shift++;
	f->again_ns = now + ((uint64_t)AGAIN_NS << f->shift);
	enqueue(l, id, fd);
}

void unwind_loader_ask(struct unwind_loader *l, uint32_t id)
{
	if (l && id < UNWIND_MODULES)
		unwind_store_ask(l->store, id);
}

void unwind_loader_work(struct unwind_loader *l, uint64_t budget_ns)
{
	uint64_t now = clock_mono_ns(), end = now + budget_ns;

	while (l && l->queued && now >= l->try_at_ns) {
		struct job *j = &l->queue[l->head];

		if (work_off(l, j)) {
			l->try_at_ns = clock_mono_ns() + UNWIND_GRACE_NS;
			return;
		}
		l->try_at_ns = 0;
		job_release(j);
		l->head = (l->head + 1) % QUEUE_MAX;
		l->queued--;
		now = clock_mono_ns();
		if (now >= end)
			return;
	}
}

int unwind_loader_wait_ms(const struct unwind_loader *l)
{
	uint64_t now;

	if (!l || !l->queued)
		return -1;
	now = clock_mono_ns();
	return l->try_at_ns > now ? (int)((l->try_at_ns - now) / 1000000 + 1) : 0;
}

/* ---- questions ---- */

enum unwind_outcome unwind_loader_outcome(const struct unwind_loader *l, uint32_t id)
{
	enum unwind_outcome o;

	if (!l || id >= UNWIND_MODULES)
		return UNWIND_UNKNOWN;
	o = (enum unwind_outcome)l->files[id].outcome;
	return o == UNWIND_LOADED && unwind_store_state(l->store, id) == WIRE_UNWIND_NONE
		       ? UNWIND_NO_ROOM
		       : o;
}

const char *unwind_loader_why(const struct unwind_loader *l, uint32_t id)
{
	return l && id < UNWIND_MODULES ? l->files[id].why : NULL;
}

void unwind_loader_stats(const struct unwind_loader *l, struct unwind_loader_stats *s)
{
	struct unwind_store_stats st;
	uint32_t nr;

	*s = (struct unwind_loader_stats){0};
	if (!l)
		return;
	unwind_store_stats(l->store, &st);
	unwind_rules_array(l->rules, &nr);
	*s = l->stats;
	s->rules = nr;
	s->evicted = st.evicted;
	s->rows = st.rows;
	s->kernel_bytes = (uint64_t)st.slabs * UNWIND_SLAB_ROWS * sizeof(struct unwind_row);
	s->user_bytes = st.bytes + unwind_rules_bytes(l->rules);
	for (uint32_t id = 0; id < UNWIND_MODULES; id++)
		s->files[unwind_loader_outcome(l, id)]++;
}
