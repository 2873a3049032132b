/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind_maps.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLAB_BYTES ((size_t)UNWIND_SLAB_ROWS * sizeof(struct unwind_row))

struct unwind_maps {
	struct unwind_memory memory;
	int slabs_fd; /* borrowed */
	void *slabs[UNWIND_MAX_SLABS];
	uint32_t nr_slabs;
};

/* An array map of one value, or of several that are a multiple of 8 bytes: its values. */
static void *map_values(int fd, size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int new_slab(void *ctx, uint32_t slab, struct unwind_row **rows, struct err *e)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	struct unwind_maps *m = ctx;
	int fd, code = 0;
	void *p;

	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_slab", sizeof(uint32_t),
		(uint32_t)SLAB_BYTES, 1, &opts);
	if (fd < 0)
		return err_sys(e, fd, "cannot make room for unwind tables");
	p = map_values(fd, SLAB_BYTES);
	if (!p)
		code = -errno;
	else
		code = bpf_map_update_elem(m->slabs_fd, &slab, &fd, BPF_ANY);
	if (code) {
		if (p)
			munmap(p, SLAB_BYTES);
		err_sys(e, code, "cannot install the map of unwind tables");
	} else {
		m->slabs[m->nr_slabs++] = p;
		*rows = p;
	}
	close(fd); /* the array of slabs holds it */
	return code;
}

/* The global barrier waits for an RCU grace period, which a program that runs holds up. */
static void settle(void *ctx)
{
	(void)ctx;
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

int unwind_maps_open(
	struct unwind_maps **out, const struct unwind_map_fds *fds, uint64_t budget, struct err *e)
{
	struct unwind_maps *m = calloc(1, sizeof(*m));
	uint64_t slabs = budget / SLAB_BYTES;

	*out = NULL;
	if (!m)
		return err_set(e, -ENOMEM, "out of memory");
	m->slabs_fd = fds->slabs;
	m->memory = (struct unwind_memory){
		.modules = map_values(fds->modules, UNWIND_MODULES * sizeof(*m->memory.modules)),
		.pages = map_values(fds->pages, UNWIND_MAX_PAGES * sizeof(*m->memory.pages)),
		.rules = map_values(fds->rules, UNWIND_MAX_RULES * sizeof(*m->memory.rules)),
		.max_slabs = slabs < 1			? 1
			     : slabs < UNWIND_MAX_SLABS ? (uint32_t)slabs
							: UNWIND_MAX_SLABS,
		.new_slab = new_slab,
		.settle = settle,
		.ctx = m};
	if (!m->memory.modules || !m->memory.pages || !m->memory.rules) {
		err_sys(e, -errno, "cannot map the memory of unwind tables");
		unwind_maps_close(m);
		return e ? e->code : -ENOMEM;
	}
	*out = m;
	return 0;
}

void unwind_maps_close(struct unwind_maps *m)
{
	if (!m)
		return;
	if (m->memory.modules)
		munmap(m->memory.modules, UNWIND_MODULES * sizeof(*m->memory.modules));
	if (m->memory.pages)
		munmap(m->memory.pages, UNWIND_MAX_PAGES * sizeof(*m->memory.pages));
	if (m->memory.rules)
		munmap(m->memory.rules, UNWIND_MAX_RULES * sizeof(*m->memory.rules));
	for (uint32_t i = 0; i < m->nr_slabs; i++)
		munmap(m->slabs[i], SLAB_BYTES);
	free(m);
}

const struct unwind_memory *unwind_maps_memory(const struct unwind_maps *m)
{
	return &m->memory;
}

uint64_t unwind_maps_bytes(const struct unwind_maps *m)
{
	return (uint64_t)m->nr_slabs * SLAB_BYTES;
}
