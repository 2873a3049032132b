/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload.h"

#include <errno.h>
#include <string.h>

#include "stop.h"
#include "user/base/clock.h"

#define LOG_DOMAIN "record"
#include "user/base/log.h"

/* Of processes that were named, all tables should be there; a whole system has many that
 * never run. */
#define NAMED_NS 3000000000u
#define MANY_NS	 700000000u

/* Of making tables between two looks at the clock and at signals. */
#define TURN_NS 50000000u

struct run {
	struct sampler *sampler;
	struct procs *procs;
	struct unwind_loader *loader;
	struct preload_stats *stats;
	uint64_t begin_ns, end_ns;
};

/* 0 to go on. */
static int is_over(const struct run *r)
{
	if (stop_signal())
		return -ECANCELED;
	return clock_mono_ns() >= r->end_ns ? -ETIME : 0;
}

static int take_file(void *ctx, const struct wire_module *m)
{
	struct run *r = ctx;

	procs_preload(r->procs, m);
	return is_over(r);
}

static int list(struct run *r, pid_t id)
{
	return sampler_mapped_files(r->sampler, id, take_file, r);
}

static int list_process(void *ctx, pid_t pid)
{
	struct run *r = ctx;
	int ret = list(r, pid);

	r->stats->processes++;
	/* It may have ended since. */
	return ret == -ESRCH || ret == -ENOENT ? 0 : ret;
}

static int list_target(struct run *r, const struct target *t)
{
	int ret = 0;

	switch (t->mode) {
	case ADMIT_ALL:
		return list(r, 0);
	case ADMIT_CGROUP:
		return cgroup_processes(&t->cgroup, list_process, r);
	case ADMIT_PIDS:
	case ADMIT_TIDS:
		break;
	}
	for (size_t i = 0; i < t->nr && !ret; i++)
		if (!t->tasks[i].kernel_thread)
			ret = list_process(r, t->tasks[i].id);
	return ret;
}

int preload(const struct target *t, struct sampler *s, struct procs *p, struct unwind_loader *l,
	struct preload_stats *stats)
{
	int is_named = t->mode == ADMIT_PIDS || t->mode == ADMIT_TIDS;
	struct run r = {
		.sampler = s, .procs = p, .loader = l, .stats = stats, .begin_ns = clock_mono_ns()};
	int ret;

	*stats = (struct preload_stats){0};
	r.end_ns = r.begin_ns + (is_named ? NAMED_NS : MANY_NS);
	ret = list_target(&r, t);
	while (!ret && l && unwind_loader_wait_ms(l) == 0) {
		unwind_loader_work(l, TURN_NS);
		ret = is_over(&r);
	}
	stats->cut = ret == -ETIME;
	stats->wall_ns = clock_mono_ns() - r.begin_ns;
	log_info("preloading took %.0f ms", (double)stats->wall_ns / 1e6);
	if (ret == -ETIME)
		log_info("time for preloading files was up: the rest follows as it is sampled");
	else if (ret && ret != -ECANCELED && ret != -EOPNOTSUPP)
		log_info("mapped files could not be listed: %s", strerrordesc_np(-ret));
	return ret == -ECANCELED || ret == -EOPNOTSUPP ? ret : 0;
}
