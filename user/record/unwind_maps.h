/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of unwind tables: the BPF maps (bpf/maps.bpf.h), mapped for writing.
 * Slabs, 4 MiB of kernel memory each, are made when the store asks for them.
 */
#ifndef PROFBPF_RECORD_UNWIND_MAPS_H
#define PROFBPF_RECORD_UNWIND_MAPS_H

#include "unwind_store.h"

/* Descriptors of the loaded maps; borrowed. */
struct unwind_map_fds {
	int modules, pages, rules, slabs;
};

struct unwind_maps;

/** Map them. @budget bytes of rows, at least one slab. 0, or negative errno with a sentence. */
int unwind_maps_open(
	struct unwind_maps **m, const struct unwind_map_fds *fds, uint64_t budget, struct err *e);
/** The kernel's side lives on as long as the programs. */
void unwind_maps_close(struct unwind_maps *m);
/** Valid until closed. */
const struct unwind_memory *unwind_maps_memory(const struct unwind_maps *m);
/** Kernel memory of the slabs. The other maps are counted with the sampler's. */
uint64_t unwind_maps_bytes(const struct unwind_maps *m);

#endif
