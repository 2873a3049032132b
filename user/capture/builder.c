/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DESIGN: an id is given out only once its record was put, so that a refused
 * record (full disk, full table) leaves no id that the stream does not know.
 * In the maps, value 0 marks a key whose record was not put yet.
 *
 * Strings live in a strtab; its ids differ from the record ids (it owns an
 * empty string with id 0; an old stream may repeat a string), hence the array
 * from one to the other.
 */
#include "builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stack_trie.h"
#include "stream.h"
#include "user/base/fmt.h"
#include "user/base/hashmap.h"
#include "user/base/strtab.h"

#define DEFAULT_STACKS	(1u << 20)
#define DEFAULT_FRAMES	(1u << 22)
#define DEFAULT_STRINGS (1u << 22)
/* Far above what a recording meets; 48 bytes each. */
#define MAX_PROCESSES (1u << 22)
#define MAX_THREADS   (1u << 22)
#define MAX_MODULES   (1u << 22)

struct process_key {
	uint32_t pid, exec_id;
	uint64_t start_boot_ns;
};
struct thread_key {
	uint32_t process, tid, name;
};

struct builder {
	struct sink *sink; /* borrowed */
	struct builder_limits max;

	struct strtab *strings;
	uint32_t *string_ids; /* strtab id -> record id, 0 = not put yet */
	uint32_t string_ids_cap;
	uint32_t nr_strings;

	struct hashmap *frames;
	struct frame *frame_at; /* by id - 1 */
	uint32_t nr_frames, frame_at_cap;

	struct hashmap *processes, *threads;
	uint32_t nr_processes, nr_threads, nr_modules;

	struct stack_trie trie;
	uint32_t epoch;
	/* The last stack looked up, root first, and its nodes: neighbours share callers. */
	uint32_t *last_frames, *last_nodes;
	uint64_t *last_hashes;
	size_t last_nr, last_cap;
	/* Scratch of builder_stack_paths(): hashes of a batch; of builder_stack_path(): the turned
	 * stack. */
	uint64_t *hashes;
	uint32_t *turned;
	size_t hashes_cap, turned_cap;
};

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory");
}

static int full(struct err *e, const char *what, uint32_t max)
{
	char n[32];

	return err_set(e, -E2BIG, "more than %s distinct %s", fmt_count(n, sizeof(n), max), what);
}

/* Grow an array to hold @need elements. */
static int grow(void *array, size_t *cap, size_t need, size_t size)
{
	size_t want = *cap ? *cap : 64;
	void **p = array, *more;

	if (need <= *cap)
		return 0;
	while (want < need)
		want += want / 2;
	more = reallocarray(*p, want, size);
	if (!more)
		return -ENOMEM;
	*p = more;
	*cap = want;
	return 0;
}

static int grow32(void *array, uint32_t *cap, size_t need, size_t size)
{
	size_t wide = *cap;
	int ret = grow(array, &wide, need, size);

	if (!ret)
		*cap = wide < UINT32_MAX ? (uint32_t)wide : UINT32_MAX;
	return ret;
}

int builder_new(struct builder **out, struct sink *sink, const struct builder_limits *limits)
{
	struct builder *b = calloc(1, sizeof(*b));

	*out = NULL;
	if (!b)
		return -ENOMEM;
	b->sink = sink;
	if (limits)
		b->max = *limits;
	if (!b->max.max_stacks)
		b->max.max_stacks = DEFAULT_STACKS;
	if (!b->max.max_frames)
		b->max.max_frames = DEFAULT_FRAMES;
	if (!b->max.max_strings)
		b->max.max_strings = DEFAULT_STRINGS;
	b->strings = strtab_new();
	b->frames = hashmap_new(sizeof(struct frame));
	b->processes = hashmap_new(sizeof(struct process_key));
	b->threads = hashmap_new(sizeof(struct thread_key));
	if (!b->strings || !b->frames || !b->processes || !b->threads ||
		stack_trie_init(&b->trie)) {
		builder_free(b);
		return -ENOMEM;
	}
	*out = b;
	return 0;
}

void builder_free(struct builder *b)
{
	if (!b)
		return;
	strtab_free(b->strings);
	hashmap_free(b->frames);
	hashmap_free(b->processes);
	hashmap_free(b->threads);
	stack_trie_release(&b->trie);
	free(b->string_ids);
	free(b->frame_at);
	free(b->last_frames);
	free(b->last_nodes);
	free(b->last_hashes);
	free(b->hashes);
	free(b->turned);
	free(b);
}

/* ---- strings and frames -------------------------------------------------- */

/* Take strtab id @id into the mapping. */
static int map_string(struct builder *b, int64_t id)
{
	uint32_t old = b->string_ids_cap;

	if (grow32(&b->string_ids, &b->string_ids_cap, (size_t)id + 1, sizeof(*b->string_ids)))
		return -ENOMEM;
	memset(b->string_ids + old, 0, (b->string_ids_cap - old) * sizeof(*b->string_ids));
	return 0;
}

int64_t builder_string(struct builder *b, const char *s, size_t len, struct err *e)
{
	struct record r = {.kind = RECORD_STRING};
	int64_t id;
	int ret;

	if (len > RECORD_STRING_MAX)
		return err_set(e, -E2BIG, "text of more than %u bytes", RECORD_STRING_MAX);
	id = b->nr_strings < b->max.max_strings ? strtab_add(b->strings, s, len, NULL)
						: strtab_find(b->strings, s, len);
	if (id == -ENOENT)
		return full(e, "strings", b->max.max_strings);
	if (id < 0 || map_string(b, id))
		return no_memory(e);
	if (b->string_ids[id])
		return b->string_ids[id];
	if (b->nr_strings >= b->max.max_strings) /* the strtab's own empty string */
		return full(e, "strings", b->max.max_strings);
	r.string.id = b->nr_strings + 1;
	r.string.len = (uint32_t)len;
	r.string.data = s;
	ret = sink_put(b->sink, &r, e);
	if (ret)
		return ret;
	b->string_ids[id] = ++b->nr_strings;
	return b->nr_strings;
}

/* Append to the array that builder_frame_at() reads. */
static int keep_frame(struct builder *b, const struct frame *f)
{
	if (grow32(&b->frame_at, &b->frame_at_cap, (size_t)b->nr_frames + 1, sizeof(*b->frame_at)))
		return -ENOMEM;
	b->frame_at[b->nr_frames++] = *f;
	return 0;
}

int64_t builder_frame(struct builder *b, const struct frame *f, struct err *e)
{
	struct record r = {.kind = RECORD_FRAME};
	uint32_t *id, known;
	int ret;

	if (b->nr_frames >= b->max.max_frames) {
		if (hashmap_get(b->frames, f, &known) && known)
			return known;
		return full(e, "frames", b->max.max_frames);
	}
	id = hashmap_slot(b->frames, f, 0, NULL);
	if (!id)
		return no_memory(e);
	if (*id)
		return *id;
	r.frame.id = b->nr_frames + 1;
	r.frame.frame = *f;
	ret = sink_put(b->sink, &r, e);
	if (ret)
		return ret;
	if (keep_frame(b, f))
		return no_memory(e);
	*id = b->nr_frames;
	return *id;
}

int64_t builder_new_name(struct builder *b, const char *s, size_t len, struct err *e)
{
	struct record string = {.kind = RECORD_STRING}, frame = {.kind = RECORD_FRAME};
	struct record name = {.kind = RECORD_NAME};
	int ret;

	if (len > RECORD_STRING_MAX)
		return err_set(e, -E2BIG, "text of more than %u bytes", RECORD_STRING_MAX);
	if (b->nr_frames >= b->max.max_frames)
		return full(e, "frames", b->max.max_frames);
	if (b->nr_strings >= b->max.max_strings)
		return full(e, "strings", b->max.max_strings);
	string.string.id = b->nr_strings + 1;
	string.string.len = (uint32_t)len;
	string.string.data = s;
	ret = sink_put(b->sink, &string, e);
	if (ret)
		return ret;
	b->nr_strings++;
	frame.frame.id = b->nr_frames + 1;
	frame.frame.frame = (struct frame){.kind = FRAME_NAMED, .addr = b->nr_strings};
	ret = sink_put(b->sink, &frame, e);
	if (ret)
		return ret;
	b->nr_frames++;
	name.name.frame = b->nr_frames;
	name.name.name = b->nr_strings;
	ret = sink_put(b->sink, &name, e);
	if (ret)
		return ret;
	return b->nr_frames;
}

/* ---- stacks -------------------------------------------------------------- */

static int restart(struct builder *b, struct err *e)
{
	struct record r = {.kind = RECORD_RESTART, .restart = {b->epoch + 1}};
	int ret = sink_put(b->sink, &r, e);

	if (ret)
		return ret;
	b->epoch++;
	stack_trie_clear(&b->trie);
	b->last_nr = 0;
	return 0;
}

static int put_stack(struct builder *b, uint32_t id, uint32_t parent, uint32_t frame, struct err *e)
{
	struct record r = {.kind = RECORD_STACK, .stack = {id, parent, frame}};

	return sink_put(b->sink, &r, e);
}

int64_t builder_stack(struct builder *b, uint32_t parent, uint32_t frame, struct err *e)
{
	uint64_t hash;
	uint32_t id;
	int ret;

	if (parent > b->trie.nr || !frame || frame > b->nr_frames)
		return err_set(
			e, -EINVAL, "stack: parent %u or frame %u does not exist", parent, frame);
	if (stack_trie_reserve(&b->trie, 1))
		return no_memory(e);
	hash = stack_trie_hash(&b->trie, stack_trie_hash_of(&b->trie, parent), frame);
	/* A full trie still answers for what it holds: only a new node is one too many. */
	id = stack_trie_find(&b->trie, parent, frame, hash);
	if (id)
		return id;
	if (b->trie.nr >= b->max.max_stacks)
		return full(e, "stacks", b->max.max_stacks);
	ret = put_stack(b, b->trie.nr + 1, parent, frame, e);
	if (ret)
		return ret;
	return stack_trie_add(&b->trie, parent, frame, hash);
}

/* How many frames from the root two stacks share. */
static size_t shared_prefix(const uint32_t *a, size_t nr_a, const uint32_t *b, size_t nr_b)
{
	size_t nr = nr_a < nr_b ? nr_a : nr_b, i;

	for (i = 0; i < nr && a[i] == b[i]; i++)
		;
	return i;
}

/* First pass: the hashes of all paths, and their slots on their way into the cache. */
static int hash_paths(struct builder *b, const struct builder_path *paths, size_t nr, struct err *e)
{
	const uint64_t *before_hashes = b->last_hashes;
	const uint32_t *before = b->last_frames;
	size_t nr_before = b->last_nr, shared, i, j;
	uint64_t *out = b->hashes, hash;

	for (i = 0; i < nr; i++) {
		const uint32_t *frames = paths[i].frames;

		shared = shared_prefix(frames, paths[i].nr, before, nr_before);
		hash = STACK_TRIE_ROOT_HASH;
		if (shared) {
			memcpy(out, before_hashes, shared * sizeof(*out));
			hash = out[shared - 1];
		}
		for (j = shared; j < paths[i].nr; j++) {
			if (!frames[j] || frames[j] > b->nr_frames)
				return err_set(
					e, -EINVAL, "stack: frame %u does not exist", frames[j]);
			hash = stack_trie_hash(&b->trie, hash, frames[j]);
			stack_trie_fetch_slot(&b->trie, hash);
			out[j] = hash;
		}
		before = frames;
		before_hashes = out;
		nr_before = paths[i].nr;
		out += paths[i].nr;
	}
	return 0;
}

/* Third pass, one path: find or add its nodes, and remember it as the last one. */
static int add_path(
	struct builder *b, struct builder_path *p, const uint64_t *hashes, struct err *e)
{
	size_t i = shared_prefix(p->frames, p->nr, b->last_frames, b->last_nr);
	uint32_t node = i ? b->last_nodes[i - 1] : 0, parent;
	int ret;

	for (; i < p->nr; i++) {
		parent = node;
		node = stack_trie_find(&b->trie, parent, p->frames[i], hashes[i]);
		if (!node) {
			node = stack_trie_add(&b->trie, parent, p->frames[i], hashes[i]);
			ret = put_stack(b, node, parent, p->frames[i], e);
			if (ret) {
				stack_trie_undo(&b->trie, hashes[i]);
				b->last_nr = 0;
				return ret;
			}
		}
		b->last_frames[i] = p->frames[i];
		b->last_nodes[i] = node;
		b->last_hashes[i] = hashes[i];
	}
	b->last_nr = p->nr;
	p->stack = node;
	return 0;
}

static int reserve_last(struct builder *b, size_t nr)
{
	size_t cap = b->last_cap, c;

	c = cap;
	if (grow(&b->last_frames, &c, nr, sizeof(uint32_t)))
		return -ENOMEM;
	c = cap;
	if (grow(&b->last_nodes, &c, nr, sizeof(uint32_t)))
		return -ENOMEM;
	c = cap;
	if (grow(&b->last_hashes, &c, nr, sizeof(uint64_t)))
		return -ENOMEM;
	b->last_cap = c;
	return 0;
}

int builder_stack_paths(struct builder *b, struct builder_path *paths, size_t nr, struct err *e)
{
	size_t total = 0, longest = 0, i;
	const uint64_t *hashes;
	int ret;

	for (i = 0; i < nr; i++) {
		total += paths[i].nr;
		if (paths[i].nr > longest)
			longest = paths[i].nr;
	}
	if (total > b->max.max_stacks)
		return full(e, "stacks", b->max.max_stacks);
	if (b->trie.nr + total > b->max.max_stacks) {
		ret = restart(b, e);
		if (ret)
			return ret;
	}
	if (stack_trie_reserve(&b->trie, total) || reserve_last(b, longest) ||
		grow(&b->hashes, &b->hashes_cap, total, sizeof(*b->hashes)))
		return no_memory(e);
	ret = hash_paths(b, paths, nr, e);
	for (i = 0; !ret && i < total; i++) /* second pass */
		stack_trie_fetch_node(&b->trie, b->hashes[i]);
	for (i = 0, hashes = b->hashes; !ret && i < nr; hashes += paths[i++].nr)
		ret = add_path(b, &paths[i], hashes, e);
	return ret;
}

int64_t builder_stack_path(struct builder *b, const uint32_t *frames, size_t nr, struct err *e)
{
	struct builder_path p = {.nr = nr};
	size_t i;
	int ret;

	if (grow(&b->turned, &b->turned_cap, nr, sizeof(*b->turned)))
		return no_memory(e);
	for (i = 0; i < nr; i++)
		b->turned[i] = frames[nr - 1 - i];
	p.frames = b->turned;
	ret = builder_stack_paths(b, &p, 1, e);
	if (ret)
		return ret;
	return p.stack;
}

/* ---- processes, threads, modules, facts ---------------------------------- */

int64_t builder_process(
	struct builder *b, const struct record_process *p, int *is_new, struct err *e)
{
	struct process_key key = {p->pid, p->exec_id, p->start_boot_ns};
	struct record r = {.kind = RECORD_PROCESS, .process = *p};
	uint32_t *id;
	int ret;

	if (is_new)
		*is_new = 0;
	id = hashmap_slot(b->processes, &key, 0, NULL);
	if (!id)
		return no_memory(e);
	if (*id)
		return *id;
	if (b->nr_processes >= MAX_PROCESSES)
		return full(e, "processes", MAX_PROCESSES);
	r.process.id = b->nr_processes + 1;
	ret = sink_put(b->sink, &r, e);
	if (ret)
		return ret;
	*id = ++b->nr_processes;
	if (is_new)
		*is_new = 1;
	return *id;
}

int64_t builder_thread(struct builder *b, uint32_t process, uint32_t tid, const char *name,
	size_t len, struct err *e)
{
	struct record r = {.kind = RECORD_THREAD};
	struct thread_key key = {process, tid, 0};
	int64_t text = builder_string(b, name, len, e);
	uint32_t *id;
	int ret;

	if (text < 0)
		return text;
	key.name = (uint32_t)text;
	id = hashmap_slot(b->threads, &key, 0, NULL);
	if (!id)
		return no_memory(e);
	if (*id)
		return *id;
	if (b->nr_threads >= MAX_THREADS)
		return full(e, "threads", MAX_THREADS);
	r.thread = (struct record_thread){b->nr_threads + 1, process, tid, key.name};
	ret = sink_put(b->sink, &r, e);
	if (ret)
		return ret;
	*id = ++b->nr_threads;
	return *id;
}

int64_t builder_module(struct builder *b, const struct record_module *m, struct err *e)
{
	struct record r = {.kind = RECORD_MODULE, .module = *m};
	int ret;

	if (b->nr_modules >= MAX_MODULES)
		return full(e, "modules", MAX_MODULES);
	r.module.id = b->nr_modules + 1;
	ret = sink_put(b->sink, &r, e);
	if (ret)
		return ret;
	return ++b->nr_modules;
}

int builder_meta(struct builder *b, const char *key, const char *text, uint64_t num, struct err *e)
{
	struct record r = {.kind = RECORD_META};
	int64_t id = builder_string(b, key, strlen(key), e);

	if (id < 0)
		return (int)id;
	r.meta.key = (uint32_t)id;
	r.meta.num = num;
	if (text) {
		id = builder_string(b, text, strlen(text), e);
		if (id < 0)
			return (int)id;
		r.meta.text = (uint32_t)id;
	}
	return sink_put(b->sink, &r, e);
}

int builder_put(struct builder *b, const struct record *r, struct err *e)
{
	switch (r->kind) {
	case RECORD_RUN:
	case RECORD_META:
	case RECORD_SAMPLE:
	case RECORD_NAME:
	case RECORD_COUNTER:
	case RECORD_LOSS:
	case RECORD_END:
		break;
	case RECORD_MODULE:
		if (r->module.id && r->module.id <= b->nr_modules)
			break;
		/* fall through */
	default:
		return err_set(e, -EINVAL, "%s records have a builder function of their own",
			record_kind_name(r->kind) ? record_kind_name(r->kind) : "unknown");
	}
	return sink_put(b->sink, r, e);
}

/* ---- continuing a stream ------------------------------------------------- */

static int replay_string(struct builder *b, const struct record_string *s)
{
	int64_t id = strtab_add(b->strings, s->data, s->len, NULL);

	if (id < 0 || map_string(b, id))
		return -ENOMEM;
	b->nr_strings++;
	if (!b->string_ids[id])
		b->string_ids[id] = b->nr_strings;
	return 0;
}

static int replay_stack(struct builder *b, const struct record_stack *s)
{
	uint64_t hash =
		stack_trie_hash(&b->trie, stack_trie_hash_of(&b->trie, s->parent), s->frame);

	if (stack_trie_reserve(&b->trie, 1))
		return -ENOMEM;
	if (stack_trie_find(&b->trie, s->parent, s->frame, hash))
		stack_trie_add_repeated(&b->trie, s->parent, s->frame);
	else
		stack_trie_add(&b->trie, s->parent, s->frame, hash);
	return 0;
}

static int replay_frame(struct builder *b, const struct frame *f)
{
	uint32_t *id = hashmap_slot(b->frames, f, b->nr_frames + 1, NULL);

	return id ? keep_frame(b, f) : -ENOMEM;
}

static int replay_process(struct builder *b, const struct record_process *p)
{
	struct process_key key = {p->pid, p->exec_id, p->start_boot_ns};

	b->nr_processes++;
	return hashmap_slot(b->processes, &key, b->nr_processes, NULL) ? 0 : -ENOMEM;
}

static int replay_thread(struct builder *b, const struct record_thread *t)
{
	struct thread_key key = {t->process, t->tid, t->name};

	b->nr_threads++;
	return hashmap_slot(b->threads, &key, b->nr_threads, NULL) ? 0 : -ENOMEM;
}

int builder_replay(struct builder *b, const struct record *r, struct err *e)
{
	int ret = 0;

	switch (r->kind) {
	case RECORD_STRING:
		ret = replay_string(b, &r->string);
		break;
	case RECORD_FRAME:
		ret = replay_frame(b, &r->frame.frame);
		break;
	case RECORD_STACK:
		if (r->stack.parent > b->trie.nr)
			return err_set(e, -EBADMSG, "stack: parent %u is not yet defined",
				r->stack.parent);
		ret = replay_stack(b, &r->stack);
		break;
	case RECORD_PROCESS:
		ret = replay_process(b, &r->process);
		break;
	case RECORD_THREAD:
		ret = replay_thread(b, &r->thread);
		break;
	case RECORD_MODULE:
		if (r->module.id > b->nr_modules)
			b->nr_modules = r->module.id;
		break;
	case RECORD_RESTART:
		b->epoch = r->restart.epoch;
		stack_trie_clear(&b->trie);
		b->last_nr = 0;
		break;
	default:
		break;
	}
	if (ret)
		return no_memory(e);
	return sink_put(b->sink, r, e);
}

/* ---- queries ------------------------------------------------------------- */

uint32_t builder_frame_count(const struct builder *b)
{
	return b->nr_frames;
}

const struct frame *builder_frame_at(const struct builder *b, uint32_t id)
{
	return &b->frame_at[id - 1];
}

uint32_t builder_restarts(const struct builder *b)
{
	return b->epoch;
}

size_t builder_bytes(const struct builder *b)
{
	return sizeof(*b) + strtab_bytes(b->strings) + b->string_ids_cap * sizeof(*b->string_ids) +
	       hashmap_bytes(b->frames) + b->frame_at_cap * sizeof(*b->frame_at) +
	       hashmap_bytes(b->processes) + hashmap_bytes(b->threads) +
	       stack_trie_bytes(&b->trie) +
	       (4 * b->last_cap + 2 * b->hashes_cap + b->turned_cap) * sizeof(uint32_t);
}
