// SPDX-License-Identifier: BSD-2-Clause
#include "modules.h"

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "symbolize/proc_maps.h"
#include "user/base/hashmap.h"

#define MODULES_MAX 64

struct module {
	char *path;
	uint64_t ino;
	struct elf_file *file;
	struct unwind_table *table;
	uint8_t *image; /* of the vDSO */
	Elf *elf;
	Dwarf *dw;
	Dwarf_CFI *eh, *debug;
	struct hashmap *at;	  /* link-time address -> index in frames */
	struct dw_frame **frames; /* NULL where libdw has none */
	uint32_t nr_frames, cap_frames;
};

struct modules {
	pid_t pid;
	int fresh;
	struct proc_maps maps;
	const struct proc_map *last;
	struct module *last_module;
	struct module at[MODULES_MAX];
	unsigned nr;
	struct unwind_rules *rules;
	char name[256];
};

struct modules *modules_new(pid_t pid)
{
	struct modules *m = calloc(1, sizeof(*m));

	elf_version(EV_CURRENT);
	m->pid = pid;
	m->rules = unwind_rules_new();
	return m;
}

void modules_free(struct modules *m)
{
	for (unsigned i = 0; i < m->nr; i++) {
		struct module *mod = &m->at[i];

		/* The Dwarf_Frames themselves go with the process: a dw_frame does
		 * not know the one it was made of. */
		for (uint32_t k = 0; k < mod->nr_frames; k++)
			free(mod->frames[k]);
		free(mod->frames);
		hashmap_free(mod->at);
		if (mod->eh)
			dwarf_cfi_end(mod->eh);
		if (mod->dw)
			dwarf_end(mod->dw);
		if (mod->elf)
			elf_end(mod->elf);
		unwind_table_free(mod->table);
		elf_close(mod->file);
		free(mod->image);
		free(mod->path);
	}
	proc_maps_release(&m->maps);
	unwind_rules_free(m->rules);
	free(m);
}

void modules_changed(struct modules *m)
{
	m->fresh = 0;
	m->last = NULL;
}

static int read_image(struct modules *m, struct module *mod, const struct proc_map *map)
{
	size_t len = map->end - map->start;
	struct iovec to, from = {.iov_base = (void *)(uintptr_t)map->start, .iov_len = len};

	mod->image = malloc(len);
	to = (struct iovec){.iov_base = mod->image, .iov_len = len};
	if (process_vm_readv(m->pid, &to, 1, &from, 1, 0) != (ssize_t)len)
		return -1;
	mod->elf = elf_memory((char *)mod->image, len);
	return elf_open_mem(&mod->file, mod->image, len, "[vdso]", NULL);
}

static void open_module(struct modules *m, struct module *mod, const struct proc_map *map)
{
	struct err e = {0};
	int fd;

	mod->path = strdup(map->path);
	mod->ino = map->ino;
	mod->at = hashmap_new(sizeof(uint64_t));
	if (!map->ino) {
		if (read_image(m, mod, map))
			return;
	} else {
		fd = open(map->path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || elf_open(&mod->file, fd, map->path, NULL))
			return;
		mod->elf = elf_begin(open(map->path, O_RDONLY | O_CLOEXEC), ELF_C_READ_MMAP, NULL);
	}
	if (unwind_table_build(&mod->table, mod->file, m->rules, &e))
		fprintf(stderr, "oracle: %s\n", e.msg);
	mod->eh = dwarf_getcfi_elf(mod->elf);
	mod->dw = dwarf_begin_elf(mod->elf, DWARF_C_READ, NULL);
	if (mod->dw)
		mod->debug = dwarf_getcfi(mod->dw);
}

/* The module that is executable at @addr, and the byte of its file. */
static struct module *find(struct modules *m, uint64_t addr, uint64_t *offset)
{
	const struct proc_map *map = m->last;

	if (!map || addr < map->start || addr >= map->end) {
		for (int tries = 0; tries < 2; tries++) {
			if (!m->fresh) {
				proc_maps_release(&m->maps);
				if (proc_maps_read(&m->maps, m->pid, NULL))
					return NULL;
				m->fresh = 1;
			}
			map = proc_maps_find(&m->maps, addr);
			if (map)
				break;
			m->fresh = 0;
		}
		if (!map || !(map->perm & PROC_MAP_X) ||
			(!map->ino && strcmp(map->path, "[vdso]") != 0))
			return NULL;
		m->last = map;
		m->last_module = NULL;
		for (unsigned i = 0; i < m->nr && !m->last_module; i++)
			if (m->at[i].ino == map->ino && strcmp(m->at[i].path, map->path) == 0)
				m->last_module = &m->at[i];
		if (!m->last_module && m->nr < MODULES_MAX) {
			m->last_module = &m->at[m->nr++];
			open_module(m, m->last_module, map);
		}
	}
	*offset = addr - map->start + map->offset;
	return m->last_module;
}

const struct unwind_rule *modules_rule(struct modules *m, uint64_t addr)
{
	static const struct unwind_rule none;
	uint64_t offset;
	struct module *mod = find(m, addr, &offset);

	return mod && mod->table ? unwind_rules_at(m->rules, unwind_table_find(mod->table, offset))
				 : &none;
}

static struct dw_frame *ask_libdw(struct module *mod, uint64_t vaddr)
{
	struct dw_frame *f;
	Dwarf_Frame *dw;

	if ((!mod->eh || dwarf_cfi_addrframe(mod->eh, vaddr, &dw)) &&
		(!mod->debug || dwarf_cfi_addrframe(mod->debug, vaddr, &dw)))
		return NULL;
	f = calloc(1, sizeof(*f));
	if (dw_frame_compile(dw, (1u << DW_REGS) - 1, f)) {
		free(f);
		return NULL;
	}
	return f; /* dw stays: f points into it */
}

const struct dw_frame *modules_frame(struct modules *m, uint64_t addr)
{
	uint64_t offset, vaddr = 0;
	struct module *mod = find(m, addr, &offset);
	uint32_t *slot;
	int created;

	if (!mod || !mod->file || !elf_vaddr(mod->file, offset, &vaddr))
		return NULL;
	slot = hashmap_slot(mod->at, &vaddr, mod->nr_frames, &created);
	if (created) {
		if (mod->nr_frames == mod->cap_frames) {
			mod->cap_frames = mod->cap_frames ? mod->cap_frames * 2 : 1024;
			mod->frames =
				reallocarray(mod->frames, mod->cap_frames, sizeof(*mod->frames));
		}
		mod->frames[mod->nr_frames++] = ask_libdw(mod, vaddr);
	}
	return mod->frames[*slot];
}

const char *modules_name(struct modules *m, uint64_t addr)
{
	uint64_t offset;
	struct module *mod = find(m, addr, &offset);
	const char *base;

	if (!mod) {
		snprintf(m->name, sizeof(m->name), "%#" PRIx64, addr);
		return m->name;
	}
	base = strrchr(mod->path, '/');
	snprintf(m->name, sizeof(m->name), "%s+%#" PRIx64, base ? base + 1 : mod->path, offset);
	return m->name;
}
