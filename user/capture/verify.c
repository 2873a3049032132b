/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What must hold between records beyond what the reader needs to be safe:
 *
 *   each string, frame, stack, process and thread is defined once
 *   a thread's or stack's sample times on one CPU do not run backwards
 *   a loss does not end before it begins
 *   a name has text or a reason, and no gap in its inlined depths
 *   per CPU: sampled + not admitted + lost = ticks, when the run was ended
 *
 * The rules of the stream itself (ids, references, order) come first, from
 * stream.c, so that this works on any stream and not only on a reader's.
 */
#include "capture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"
#include "table.h"
#include "user/base/hashmap.h"
#include "user/base/strtab.h"

struct verify {
	struct sink sink;
	struct stream stream;
	uint64_t nr; /* records seen */
	struct strtab *strings;
	int empty_string; /* seen */
	struct hashmap *frames, *stacks, *processes, *threads;
	struct hashmap *depths;	  /* frame -> depths named so far */
	struct hashmap *counters; /* cpu and counter -> index in values */
	uint64_t *values;
	size_t nr_values;
	struct hashmap *last_time; /* cpu and type -> index in times */
	uint64_t *times;
	size_t nr_times;
};

static int once(struct hashmap *m, const void *key, uint32_t id, const char *what, struct err *e)
{
	uint32_t *first;
	int created;

	first = hashmap_slot(m, key, id, &created);
	if (!first)
		return err_set(e, -ENOMEM, "out of memory");
	if (!created)
		return err_set(e, -EBADMSG, "%s: id %u repeats id %u", what, id, *first);
	return 0;
}

/* Number under (a, b) in an array that grows with its map; new ones start at 0. */
static int number_at(struct hashmap *m, uint64_t **array, size_t *nr, uint32_t a, uint32_t b,
	uint64_t **number, struct err *e)
{
	const uint32_t key[2] = {a, b};
	uint64_t *more;
	uint32_t *at;
	int created;

	at = hashmap_slot(m, key, (uint32_t)*nr, &created);
	if (!at)
		return err_set(e, -ENOMEM, "out of memory");
	if (created) {
		more = reallocarray(*array, *nr + 1, sizeof(**array));
		if (!more)
			return err_set(e, -ENOMEM, "out of memory");
		*array = more;
		(*array)[(*nr)++] = 0;
	}
	*number = &(*array)[*at];
	return 0;
}

static int verify_sample(struct verify *v, const struct record_sample *s, struct err *e)
{
	uint64_t *last;
	int ret;

	ret = number_at(v->last_time, &v->times, &v->nr_times, s->cpu, s->type, &last, e);
	if (ret)
		return ret;
	if (s->time_ns < *last)
		return err_set(e, -EBADMSG,
			"sample: time %" PRIu64 " ns on CPU %u comes after %" PRIu64 " ns",
			s->time_ns, s->cpu, *last);
	*last = s->time_ns;
	return 0;
}

static int verify_name(struct verify *v, const struct record_name *n, struct err *e)
{
	uint32_t *depths;

	if (!n->name && !n->reason)
		return err_set(
			e, -EBADMSG, "name: frame %u has neither a name nor a reason", n->frame);
	depths = hashmap_slot(v->depths, &n->frame, 0, NULL);
	if (!depths)
		return err_set(e, -ENOMEM, "out of memory");
	if (n->depth > *depths)
		return err_set(e, -EBADMSG, "name: frame %u has depth %u before depth %u", n->frame,
			n->depth, *depths);
	if (n->depth == *depths)
		++*depths;
	return 0;
}

static int verify_counter(struct verify *v, const struct record_counter *c, struct err *e)
{
	uint64_t *value;
	int ret;

	ret = number_at(v->counters, &v->values, &v->nr_values, c->cpu, c->id, &value, e);
	if (!ret)
		*value = c->value;
	return ret;
}

static int verify_kind(struct verify *v, const struct record *r, struct err *e)
{
	uint64_t key[2] = {0};
	int64_t id;
	int is_new;

	switch (r->kind) {
	case RECORD_STRING:
		id = strtab_add(v->strings, r->string.data, r->string.len, &is_new);
		if (id < 0)
			return err_set(e, (int)id, "out of memory");
		/* The table has the empty string (0) from the start; it may come once. */
		if (id ? !is_new : v->empty_string++)
			return err_set(
				e, -EBADMSG, "string: id %u repeats an earlier one", r->string.id);
		return 0;
	case RECORD_FRAME:
		return once(v->frames, &r->frame.frame, r->frame.id, "frame", e);
	case RECORD_STACK:
		key[0] = (uint64_t)r->stack.parent << 32 | r->stack.frame;
		return once(v->stacks, key, r->stack.id, "stack", e);
	case RECORD_PROCESS:
		key[0] = (uint64_t)r->process.pid << 32 | r->process.exec_id;
		key[1] = r->process.start_boot_ns;
		return once(v->processes, key, r->process.id, "process", e);
	case RECORD_THREAD:
		key[0] = (uint64_t)r->thread.process << 32 | r->thread.tid;
		key[1] = r->thread.name;
		return once(v->threads, key, r->thread.id, "thread", e);
	case RECORD_SAMPLE:
		return verify_sample(v, &r->sample, e);
	case RECORD_NAME:
		return verify_name(v, &r->name, e);
	case RECORD_COUNTER:
		return verify_counter(v, &r->counter, e);
	case RECORD_LOSS:
		if (r->loss.to_ns < r->loss.from_ns)
			return err_set(e, -EBADMSG, "loss: ends before it begins");
		return 0;
	case RECORD_RESTART:
		hashmap_clear(v->stacks);
		return 0;
	default:
		return 0;
	}
}

static int verify_put(struct sink *s, const struct record *r, struct err *e)
{
	struct verify *v = (struct verify *)s;
	struct err own = {0};
	int ret;

	e = e ? e : &own;
	ret = stream_take(&v->stream, r, e);
	if (!ret)
		ret = verify_kind(v, r, e);
	if (ret)
		err_prefix(e, "record %" PRIu64, v->nr);
	v->nr++;
	return ret;
}

struct sink *verify_sink_new(void)
{
	struct verify *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->sink.put = verify_put;
	v->strings = strtab_new();
	v->frames = hashmap_new(sizeof(struct frame));
	v->stacks = hashmap_new(sizeof(uint64_t));
	v->processes = hashmap_new(2 * sizeof(uint64_t));
	v->threads = hashmap_new(2 * sizeof(uint64_t));
	v->depths = hashmap_new(sizeof(uint32_t));
	v->counters = hashmap_new(2 * sizeof(uint32_t));
	v->last_time = hashmap_new(2 * sizeof(uint32_t));
	if (!v->strings || !v->frames || !v->stacks || !v->processes || !v->threads || !v->depths ||
		!v->counters || !v->last_time) {
		verify_sink_free(&v->sink);
		return NULL;
	}
	return &v->sink;
}

void verify_sink_free(struct sink *s)
{
	struct verify *v = (struct verify *)s;

	if (!v)
		return;
	strtab_free(v->strings);
	hashmap_free(v->frames);
	hashmap_free(v->stacks);
	hashmap_free(v->processes);
	hashmap_free(v->threads);
	hashmap_free(v->depths);
	hashmap_free(v->counters);
	hashmap_free(v->last_time);
	free(v->values);
	free(v->times);
	free(v);
}

static uint64_t counter_of(const struct verify *v, uint32_t cpu, uint32_t id)
{
	const uint32_t key[2] = {cpu, id};
	uint32_t at;

	return hashmap_get(v->counters, key, &at) ? v->values[at] : 0;
}

/* Where each tick of a CPU went. */
static int verify_ticks(const struct verify *v, uint32_t cpu, struct err *e)
{
	static const uint8_t parts[] = {COUNTER_SAMPLED, COUNTER_IDLE, COUNTER_NOT_ADMITTED,
		COUNTER_BEFORE_EXEC, COUNTER_LOST_RING, COUNTER_LOST_SCRATCH};
	uint64_t ticks = counter_of(v, cpu, COUNTER_TICKS), sum = 0;
	size_t i;

	for (i = 0; i < sizeof(parts); i++)
		sum += counter_of(v, cpu, parts[i]);
	if (sum != ticks)
		return err_set(e, -EBADMSG,
			"counters of CPU %u: %" PRIu64 " ticks, but their parts add up to %" PRIu64,
			cpu, ticks, sum);
	return 0;
}

int verify_sink_finish(struct sink *s, struct err *e)
{
	struct verify *v = (struct verify *)s;
	const void *key;
	uint32_t id[2];
	size_t it = 0;
	int ret;

	if (!v->stream.records)
		return err_set(e, -EBADMSG, "there is no record at all");
	/* An interrupted run read its counters while they were counting. */
	if (!v->stream.ended)
		return 0;
	while (hashmap_next(v->counters, &it, &key, NULL)) {
		memcpy(id, key, sizeof(id));
		if (id[1] != COUNTER_TICKS)
			continue;
		ret = verify_ticks(v, id[0], e);
		if (ret)
			return ret;
	}
	return 0;
}
