/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DESIGN: the frames to be named are sorted by (kind, owner, address). Each run
 * of one owner is one file, which is opened, asked and closed again: memory is
 * that of the largest module, not of all. Sorting by address also makes frames
 * of one function neighbours.
 */
#include "resolve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index.h"
#include "symbolize/symbolize.h"
#include "user/base/clock.h"
#include "user/base/escape.h"

#define LOG_DOMAIN "resolve"
#include "user/base/log.h"

struct item { /* a frame to be named */
	uint64_t addr;
	uint32_t owner;
	uint32_t id;
	uint8_t kind;
	uint8_t is_return;
};

struct naming {
	struct builder *b;
	struct resolve_index *x;
	const struct resolve_files *files;
	struct resolve_stats *st;
	struct err *e;
};

static int by_place(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int collect(struct naming *n, struct item **out, size_t *nr)
{
	uint32_t count = builder_frame_count(n->b);
	struct item *items = malloc((count ? count : 1) * sizeof(*items));

	*out = items;
	*nr = 0;
	if (!items)
		return err_set(n->e, -ENOMEM, "out of memory for naming %u frames", count);
	for (uint32_t id = 1; id <= count; id++) {
		const struct frame *f = builder_frame_at(n->b, id);

		if (f->kind != FRAME_MODULE && f->kind != FRAME_KERNEL && f->kind != FRAME_JIT)
			continue;
		n->st->frames++;
		if (index_frame(n->x, id) == INDEX_NAMED) {
			n->st->kept++;
			continue;
		}
		items[(*nr)++] = (struct item){.addr = f->addr,
			.owner = f->owner,
			.id = id,
			.kind = f->kind,
			.is_return = !!(f->flags & FRAME_F_RETURN)};
	}
	qsort(items, *nr, sizeof(*items), by_place);
	return 0;
}

/* ---- records ---- */

static int put_reason(struct naming *n, const struct item *it, enum frame_reason reason)
{
	unsigned had = index_frame(n->x, it->id);
	struct record r = {.kind = RECORD_NAME};

	/* What was found when the files were at hand is better than what is left of them now. */
	if (had != REASON_NONE && had != REASON_NOT_RESOLVED_YET)
		reason = (enum frame_reason)had;
	n->st->unnamed++;
	n->st->by_reason[reason]++;
	r.name.frame = it->id;
	r.name.reason = reason;
	return builder_put(n->b, &r, n->e);
}

static int put_reasons(struct naming *n, const struct item *it, size_t nr, enum frame_reason reason)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = put_reason(n, &it[i], reason);
	return err;
}

/* String id of @s, 0 for NULL; -E2BIG when the dictionary is full or the bound reached. */
static int64_t text(struct naming *n, const char *s)
{
	size_t len;

	if (!s)
		return 0;
	len = strlen(s);
	if (n->st->name_bytes > RESOLVE_MAX_NAME_BYTES)
		return -E2BIG;
	n->st->name_bytes += len;
	return builder_string(n->b, s, len, n->e);
}

/* A symbol in a kernel module gets it appended, as kallsyms has it: "func [module]". */
static int64_t shown_text(struct naming *n, const struct symbol *s, const char *kernel_module)
{
	char both[SYMBOL_NAME_MAX + 128];
	size_t len = strlen(s->name), mod_len;

	if (!kernel_module || kernel_module[0] != '[')
		return text(n, s->name);
	mod_len = strnlen(kernel_module, 100);
	memcpy(both, s->name, len);
	both[len] = ' ';
	memcpy(both + len + 1, kernel_module, mod_len);
	both[len + 1 + mod_len] = '\0';
	return text(n, both);
}

static int put_symbol(struct naming *n, const struct item *it, const struct symbol *s,
	uint32_t depth, const char *kernel_module)
{
	struct record r = {.kind = RECORD_NAME};
	int64_t name = shown_text(n, s, kernel_module), raw, file;

	if (name < 0)
		return (int)name;
	raw = text(n, s->raw);
	if (raw < 0)
		return (int)raw;
	file = text(n, s->file);
	if (file < 0)
		return (int)file;
	r.name = (struct record_name){.frame = it->id,
		.depth = depth,
		.name = (uint32_t)name,
		.raw = (uint32_t)raw,
		.file = (uint32_t)file,
		.line = s->line,
		.flags = s->inlined ? NAME_F_INLINED : 0};
	return builder_put(n->b, &r, n->e);
}

static int put_symbols(
	struct naming *n, const struct item *it, const struct symbols *s, const char *kernel_module)
{
	int err = 0;

	if (!s->nr)
		return put_reason(n, it, s->reason);
	for (uint32_t i = 0; i < s->nr && !err; i++)
		err = put_symbol(n, it, &s->at[i], i, kernel_module);
	/* A full dictionary is no reason to lose the capture. */
	if (err == -E2BIG) {
		if (n->e)
			*n->e = (struct err){0};
		return put_reason(n, it, REASON_FRAME_TABLE_FULL);
	}
	if (!err)
		n->st->named++;
	return err;
}

/* Put the module again if @m or @why say something new. */
static int put_module(struct naming *n, const struct resolve_module *known, const struct module *m,
	enum frame_reason why)
{
	struct record r = {.kind = RECORD_MODULE, .module = *known->record};
	uint8_t id[BUILD_ID_MAX];
	size_t len = m ? module_build_id(m, id) : 0;
	int changed = 0;

	if (len && !r.module.build_id) {
		int64_t text_id = builder_string(n->b, (const char *)id, len, n->e);

		if (text_id < 0 && text_id != -E2BIG)
			return (int)text_id;
		if (text_id > 0) {
			r.module.build_id = (uint32_t)text_id;
			changed = 1;
		}
	}
	/* Why it could not be opened at first sight stays known. */
	if (!m && !(r.module.flags & MODULE_F_NO_FILE)) {
		r.module.flags |= MODULE_F_NO_FILE;
		r.module.reason = why;
		changed = 1;
	} else if (m && (r.module.flags & MODULE_F_NO_FILE)) {
		r.module.flags &= ~(uint32_t)MODULE_F_NO_FILE;
		r.module.reason = REASON_NONE;
		changed = 1;
	}
	return changed ? builder_put(n->b, &r, n->e) : 0;
}

/* ---- one owner at a time ---- */

static int open_one(struct naming *n, const struct resolve_module *known, struct module **m,
	enum frame_reason *why, struct err *e)
{
	char name[ESCAPE_BRIEF_BUF];
	int fd;

	*m = NULL;
	*why = REASON_FILE_GONE;
	if (known->record->kind == MODULE_KIND_VDSO) {
		*why = n->files->other_boot ? REASON_NOT_RESOLVED_YET : REASON_FILE_UNREADABLE;
		return n->files->other_boot ? err_set(e, -ESTALE, "[vdso]: of another kernel")
					    : vdso_open(m, e);
	}
	if (known->record->kind != MODULE_KIND_FILE)
		return err_set(e, -ENOENT, "module %u is no file", known->record->id);
	fd = n->files->open_module(n->files->ctx, known, why);
	if (fd < 0) {
		if (known->record->flags & MODULE_F_NO_FILE)
			*why = (enum frame_reason)known->record->reason;
		if (*why == REASON_NONE || *why >= REASON_MAX)
			*why = REASON_FILE_GONE;
		return err_sys(e, fd, "module %u (%s): no file to read names from",
			known->record->id, escape_brief(name, sizeof(name), known->path));
	}
	return module_open(m, fd, known->path, why, e);
}

static int name_module(struct naming *n, const struct item *it, size_t nr)
{
	enum frame_reason why;
	struct resolve_stats before;
	struct resolve_module known;
	struct symbols out;
	struct module *m;
	struct err said = {0};
	int err;

	if (!index_module(n->x, it->owner, &known))
		return put_reasons(n, it, nr, REASON_FILE_GONE);
	err = open_one(n, &known, &m, &why, &said);
	if (err) {
		if (said.code == -ENOMEM) {
			if (n->e)
				*n->e = said;
			return err;
		}
		log_debug("%s", said.msg);
		n->st->modules_failed++;
		err = put_module(n, &known, NULL, why);
		return err ? err : put_reasons(n, it, nr, why);
	}
	n->st->modules_read++;
	before = *n->st;
	err = put_module(n, &known, m, REASON_NONE);
	for (size_t i = 0; i < nr && !err; i++) {
		module_symbols(m, it[i].addr, it[i].is_return, &out);
		err = put_symbols(n, &it[i], &out, NULL);
	}
	/* Somebody wrote to the file while we read: take all of it back. */
	if (!err && module_changed(m)) {
		char name[ESCAPE_BRIEF_BUF];

		log_warn("%s was written to while its symbols were read; its names are not used",
			escape_brief(name, sizeof(name), known.path));
		*n->st = before;
		err = put_reasons(n, it, nr, REASON_FILE_CHANGED);
	}
	module_close(m);
	return err;
}

static int name_jit(struct naming *n, const struct item *it, size_t nr)
{
	const struct record_process *p = index_process(n->x, it->owner);
	char name[32] = "perf map";
	struct symbols out;
	struct perf_map *map;
	struct err said = {0};
	int fd, err;

	fd = p ? n->files->open_perf_map(n->files->ctx, p) : -ENOENT;
	if (p)
		snprintf(name, sizeof(name), "perf map of %u", p->pid);
	err = fd < 0 ? fd : perf_map_open(&map, fd, name, &said);
	if (err) {
		if (fd >= 0) {
			log_warn("%s", said.msg);
			n->st->perf_maps_failed++;
		}
		return put_reasons(n, it, nr, REASON_NO_PERF_MAP);
	}
	n->st->perf_maps_read++;
	for (size_t i = 0; i < nr && !err; i++) {
		perf_map_symbols(map, it[i].addr, it[i].is_return, &out);
		err = put_symbols(n, &it[i], &out, NULL);
	}
	perf_map_close(map);
	return err;
}

static int name_kernel(struct naming *n, const struct item *it, size_t nr)
{
	const char *module;
	struct kallsyms *k;
	struct symbols out;
	struct err said = {0};
	int err = kallsyms_open(&k, NULL, &said);

	if (err) {
		log_warn("kernel functions have no names: %s", said.msg);
		return put_reasons(n, it, nr, REASON_KERNEL_UNKNOWN);
	}
	if (kallsyms_hidden(k)) {
		n->st->kallsyms_hidden = 1;
		log_warn("kernel functions have no names: their addresses are hidden from this "
			 "user (kernel.kptr_restrict, or no CAP_SYSLOG); as root, `profbpf "
			 "resolve FILE` adds them");
	}
	for (size_t i = 0; i < nr && !err; i++) {
		kallsyms_symbols(k, it[i].addr, it[i].is_return, &out, &module);
		err = put_symbols(n, &it[i], &out, module);
	}
	kallsyms_close(k);
	return err;
}

static int name_owner(struct naming *n, const struct item *it, size_t nr)
{
	switch ((enum frame_kind)it->kind) {
	case FRAME_MODULE:
		return name_module(n, it, nr);
	case FRAME_JIT:
		return name_jit(n, it, nr);
	case FRAME_KERNEL:
		/* Addresses of another boot mean nothing now. */
		if (n->files->other_boot)
			return put_reasons(n, it, nr, REASON_NOT_RESOLVED_YET);
		return name_kernel(n, it, nr);
	default:
		return 0;
	}
}

int resolve_frames(struct builder *b, struct resolve_index *x, const struct resolve_files *files,
	struct resolve_stats *st, struct err *e)
{
	uint64_t start = clock_mono_ns();
	struct resolve_stats own;
	struct naming n = {.b = b, .x = x, .files = files, .st = st ? st : &own, .e = e};
	struct item *items;
	size_t nr, end;
	int err;

	*n.st = (struct resolve_stats){0};
	index_freeze(x);
	err = collect(&n, &items, &nr);
	for (size_t i = 0; i < nr && !err; i = end) {
		for (end = i + 1; end < nr && items[end].kind == items[i].kind &&
				  items[end].owner == items[i].owner;)
			end++;
		err = name_owner(&n, &items[i], end - i);
	}
	free(items);
	n.st->ns = clock_mono_ns() - start;
	log_debug("%llu frames: %llu named, %llu had names, %llu without; %u modules read",
		(unsigned long long)n.st->frames, (unsigned long long)n.st->named,
		(unsigned long long)n.st->kept, (unsigned long long)n.st->unnamed,
		n.st->modules_read);
	return err;
}
