/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One ELF module: file + symbols + the names somebody asked for.
 *
 * file offset --elf_vaddr--> link-time address --symtab--> symbol --> name
 *
 * Names are read and demangled at the first question and kept, because a hot
 * function is asked for at many offsets. (Source lines and inlined functions
 * will join in module_symbols.)
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_id.h"
#include "elf_file.h"
#include "name.h"
#include "symbolize.h"
#include "symtab.h"
#include "user/base/arena.h"
#include "user/base/hashmap.h"

#define LOG_DOMAIN "symbolize"
#include "user/base/log.h"

/* Bytes of names kept for one module. A hostile symbol table can hold millions
 * of names of 4 KB; real recordings ask for some thousand of 50 bytes. */
#define NAMES_MAX (64u << 20)

struct name { /* in the arena; both may be the same */
	const char *shown, *raw;
};

struct module {
	struct elf_file *f;
	struct symtab *t;
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_len;
	struct hashmap *index; /* symbol -> index in names */
	struct name *names;
	uint32_t nr_names, cap_names;
	struct arena text;
};

static int finish_open(
	struct module **out, struct elf_file *f, enum frame_reason *why, struct err *e)
{
	struct module *m = calloc(1, sizeof(*m));
	int err;

	if (!m) {
		elf_close(f);
		return err_set(e, -ENOMEM, "out of memory");
	}
	m->f = f;
	m->build_id_len = build_id_read(f, m->build_id);
	m->index = hashmap_new(sizeof(uint32_t));
	if (!m->index) {
		err = err_set(e, -ENOMEM, "%s: out of memory", f->name);
		goto fail;
	}
	err = symtab_read(&m->t, f, e);
	if (err)
		goto fail;
	log_debug("%s: %zu function symbols, %zu bytes", f->name, symtab_count(m->t),
		module_bytes(m));
	*out = m;
	return 0;
fail:
	if (why && err != -ENOMEM)
		*why = elf_changed(f) ? REASON_FILE_CHANGED : REASON_FILE_UNREADABLE;
	module_close(m);
	return err;
}

int module_open(struct module **m, int fd, const char *name, enum frame_reason *why, struct err *e)
{
	struct elf_file *f;
	int err;

	*m = NULL;
	if (why)
		*why = REASON_FILE_UNREADABLE;
	err = elf_open(&f, fd, name, e);
	if (err)
		return err;
	return finish_open(m, f, why, e);
}

int module_open_mem(struct module **m, const void *data, size_t len, const char *name,
	enum frame_reason *why, struct err *e)
{
	struct elf_file *f;
	int err;

	*m = NULL;
	if (why)
		*why = REASON_FILE_UNREADABLE;
	err = elf_open_mem(&f, data, len, name, e);
	if (err)
		return err;
	return finish_open(m, f, why, e);
}

void module_close(struct module *m)
{
	if (!m)
		return;
	symtab_free(m->t);
	elf_close(m->f);
	hashmap_free(m->index);
	free(m->names);
	arena_release(&m->text);
	free(m);
}

size_t module_build_id(const struct module *m, uint8_t id[BUILD_ID_MAX])
{
	memcpy(id, m->build_id, m->build_id_len);
	return m->build_id_len;
}

uint64_t module_vaddr(const struct module *m, uint64_t offset, int *ok)
{
	uint64_t vaddr = 0;
	int found = elf_vaddr(m->f, offset, &vaddr);

	if (ok)
		*ok = found;
	return vaddr;
}

size_t module_nr_symbols(const struct module *m)
{
	return symtab_count(m->t);
}

size_t module_bytes(const struct module *m)
{
	return sizeof(*m) + (m->f->mem ? (size_t)m->f->size : 0) + symtab_bytes(m->t) +
	       hashmap_bytes(m->index) + m->cap_names * sizeof(*m->names) + m->text.total;
}

int module_changed(const struct module *m)
{
	return elf_changed(m->f);
}

static int read_name(struct module *m, int64_t sym, struct name *n)
{
	char raw[SYMBOL_NAME_MAX + 1], shown[SYMBOL_NAME_MAX + 1];
	int cut;
	int64_t len = symtab_name(m->t, sym, raw, sizeof(raw), &cut);

	if (len <= 0)
		return -ENOENT;
	if (cut)
		name_ellipsis(raw, (size_t)len);
	if (!name_shown(raw, shown, sizeof(shown)))
		memcpy(shown, raw, strlen(raw) + 1);
	n->shown = arena_strdup(&m->text, shown, strlen(shown));
	n->raw = strcmp(raw, shown) == 0 ? NULL : arena_strdup(&m->text, raw, strlen(raw));
	return n->shown ? 0 : -ENOMEM;
}

static const struct name *name_of(struct module *m, int64_t sym)
{
	uint32_t key = (uint32_t)sym, at;

	if (hashmap_get(m->index, &key, &at))
		return &m->names[at];
	if (m->text.total >= NAMES_MAX)
		return NULL;
	if (m->nr_names == m->cap_names) {
		uint32_t cap = m->cap_names ? m->cap_names * 2 : 64;
		struct name *grown = realloc(m->names, cap * sizeof(*grown));

		if (!grown)
			return NULL;
		m->names = grown;
		m->cap_names = cap;
	}
	m->names[m->nr_names] = (struct name){0};
	/* An unreadable name is kept as well: NULL, not tried again. */
	if (read_name(m, sym, &m->names[m->nr_names]) == -ENOMEM)
		return NULL;
	if (hashmap_set(m->index, &key, m->nr_names))
		return NULL;
	return &m->names[m->nr_names++];
}

void module_symbols(struct module *m, uint64_t offset, int is_return, struct symbols *out)
{
	const struct name *n;
	uint64_t vaddr;
	int64_t sym;

	out->nr = 0;
	out->reason = REASON_NO_SYMBOL;
	/* A call may be the last instruction of its function: the byte before
	 * the return address is inside it. */
	if (is_return) {
		if (!offset)
			return;
		offset--;
	}
	if (!elf_vaddr(m->f, offset, &vaddr))
		return;
	sym = symtab_find(m->t, vaddr);
	if (sym < 0)
		return;
	n = name_of(m, sym);
	if (!n) {
		out->reason = REASON_FRAME_TABLE_FULL;
		return;
	}
	if (!n->shown)
		return;
	out->at[0] = (struct symbol){.name = n->shown, .raw = n->raw};
	out->nr = 1;
	out->reason = REASON_NONE;
}
