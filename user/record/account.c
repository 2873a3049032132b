/* SPDX-License-Identifier: BSD-2-Clause */
#include "account.h"

#include <stdlib.h>

#include "bpf/limits.h"

/* Indexed by enum counter_id and enum loss_cause. */
struct cpu_account {
	uint64_t counter[COUNTER_ID_MAX];
	uint64_t lost[LOSS_CAUSE_MAX];
};

struct account {
	struct cpu_account cpu[MAX_CPUS]; /* as last put; untouched pages cost nothing */
	struct account_totals totals;
	uint64_t last_ns;
};

struct account *account_new(void)
{
	return calloc(1, sizeof(struct account));
}

void account_free(struct account *a)
{
	free(a);
}

const struct account_totals *account_totals(const struct account *a)
{
	return &a->totals;
}

static int read_cpu(struct sampler *s, const struct procs *p, uint32_t cpu, struct cpu_account *now)
{
	struct wire_counters c;
	uint64_t throttled = 0, received, table_full;
	int ret = sampler_counters(s, cpu, &c, &throttled);

	if (ret)
		return ret;
	procs_cpu_counts(p, cpu, &received, &table_full);
	*now = (struct cpu_account){
		.counter = {[COUNTER_TICKS] = c.ticks,
			[COUNTER_SAMPLED] = c.sampled,
			[COUNTER_IDLE] = c.idle,
			[COUNTER_NOT_ADMITTED] = c.not_admitted,
			[COUNTER_LOST_RING] = c.lost_ring,
			[COUNTER_LOST_SCRATCH] = c.lost_scratch,
			[COUNTER_THROTTLED] = throttled,
			[COUNTER_VALUE_CAPPED_NS] = c.capped_ns,
			[COUNTER_RECEIVED] = received,
			[COUNTER_BEFORE_EXEC] = c.before_exec},
		.lost = {[LOSS_RING_FULL] = c.lost_ring,
			[LOSS_SCRATCH_BUSY] = c.lost_scratch,
			[LOSS_TABLE_FULL] = table_full},
	};
	return 0;
}

static void add_totals(struct account_totals *t, const struct cpu_account *c)
{
	unsigned cause;

	t->ticks += c->counter[COUNTER_TICKS];
	t->sampled += c->counter[COUNTER_SAMPLED];
	t->idle += c->counter[COUNTER_IDLE];
	t->not_admitted += c->counter[COUNTER_NOT_ADMITTED];
	t->before_exec += c->counter[COUNTER_BEFORE_EXEC];
	t->throttled += c->counter[COUNTER_THROTTLED];
	t->capped_ns += c->counter[COUNTER_VALUE_CAPPED_NS];
	for (cause = 0; cause < LOSS_CAUSE_MAX; cause++)
		t->lost += c->lost[cause];
}

static int put_cpu(struct account *a, uint32_t cpu, const struct cpu_account *now,
	struct builder *b, uint64_t now_ns, struct err *e)
{
	struct cpu_account *before = &a->cpu[cpu];
	unsigned i;
	int ret;

	for (i = 1; i < COUNTER_ID_MAX; i++) {
		struct record r = {.kind = RECORD_COUNTER,
			.counter = {.cpu = cpu, .id = i, .value = now->counter[i]}};

		if (now->counter[i] == before->counter[i])
			continue;
		ret = builder_put(b, &r, e);
		if (ret)
			return ret;
	}
	for (i = 1; i < LOSS_CAUSE_MAX; i++) {
		struct record r = {.kind = RECORD_LOSS,
			.loss = {.cpu = cpu,
				.cause = i,
				.count = now->lost[i] - before->lost[i],
				.from_ns = a->last_ns,
				.to_ns = now_ns}};

		if (!r.loss.count)
			continue;
		ret = builder_put(b, &r, e);
		if (ret)
			return ret;
	}
	*before = *now;
	return 0;
}

int account_put(struct account *a, struct sampler *s, const struct procs *p, struct builder *b,
	uint64_t now_ns, struct err *e)
{
	struct account_totals totals = {0};
	uint32_t cpu, nr = sampler_nr_cpus(s);
	struct cpu_account now;
	int ret;

	for (cpu = 0; cpu < nr && cpu < MAX_CPUS; cpu++) {
		if (read_cpu(s, p, cpu, &now))
			continue; /* not one of the sampled CPUs */
		ret = put_cpu(a, cpu, &now, b, now_ns, e);
		if (ret)
			return ret;
		add_totals(&totals, &now);
	}
	a->totals = totals;
	a->last_ns = now_ns;
	return 0;
}
