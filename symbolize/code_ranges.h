/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the code of an ELF file is: link-time addresses, sorted, without overlap. */
#ifndef PROFBPF_SYMBOLIZE_CODE_RANGES_H
#define PROFBPF_SYMBOLIZE_CODE_RANGES_H

#include "elf_file.h"

/* No user-space address has more bits; what lies above is damage and left out. */
#define CODE_ADDR_BITS 56
#define CODE_ADDR_MAX  ((1ull << CODE_ADDR_BITS) - 1)

struct code_range {
	uint64_t start, end; /* [start, end), not empty */
};

struct code_ranges {
	struct code_range *at; /* owned */
	size_t nr;
};

/**
 * The executable sections of @f, or its executable segments if it has none
 * (elf_read_sections() was called before). 0 or -ENOMEM; release in both cases.
 */
int code_ranges_find(struct code_ranges *c, const struct elf_file *f, struct err *e);
void code_ranges_release(struct code_ranges *c);
/** The range that holds @addr, or NULL. */
const struct code_range *code_range_at(const struct code_ranges *c, uint64_t addr);

#endif
