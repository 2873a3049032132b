/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The function symbols of one ELF file, for looking up addresses.
 *
 * Taken from .symtab and .dynsym alike:
 *
 *   class 1   FUNC, IFUNC with a size
 *   class 2   NOTYPE with a size (assembler that forgot .type); only where no
 *             class 1 symbol covers its start
 *   class 3   any of them with size 0; only where no sized symbol covers its
 *             start, and then up to the next symbol or the section's end
 *
 * all of them only inside executable sections. An address in a gap between
 * sized symbols belongs to nobody: a stripped neighbour must not get our name.
 *
 * Aliases (same start) have one winner, in this order: class, FUNC before
 * IFUNC before NOTYPE, global before weak before local, larger size, fewer
 * leading underscores, shorter, bytewise. Nested symbols: the innermost wins,
 * the outer one covers the rest.
 *
 * Memory is 20 bytes a symbol kept; names stay in the file until asked for.
 */
#ifndef PROFBPF_SYMBOLIZE_SYMTAB_H
#define PROFBPF_SYMBOLIZE_SYMTAB_H

#include "elf_file.h"

/* Entries looked at and symbols kept in one file. The largest debug builds in
 * use have 2-4 million functions; 8 Mi are 160 MiB here. */
#define SYMTAB_MAX_SCANNED (1u << 24)
#define SYMTAB_MAX	   (1u << 23)
/* Bytes of names read to choose among aliases; 300,000 aliases of 60 bytes are
 * 18 MB. Beyond it the first one in the file stands. */
#define SYMTAB_MAX_COMPARED (256u << 20)

struct symtab;

/**
 * Read the symbols of @f (borrowed; must outlive the table). A file without
 * symbols gives an empty table. -EBADMSG, -E2BIG or -ENOMEM with a sentence.
 */
int symtab_read(struct symtab **t, struct elf_file *f, struct err *e);
void symtab_free(struct symtab *t);
size_t symtab_count(const struct symtab *t);
size_t symtab_bytes(const struct symtab *t);

/** The symbol that covers link-time address @vaddr, or -1. */
int64_t symtab_find(const struct symtab *t, uint64_t vaddr);
/** Its start and size. @i must come from symtab_find. */
void symtab_range(const struct symtab *t, int64_t i, uint64_t *start, uint64_t *size);
/** Its name as in the file, as elf_string() gives it. */
int64_t symtab_name(const struct symtab *t, int64_t i, char *buf, size_t size, int *cut);
/** Walks every invariant (tests, fuzzing): sorted, chains go back, ends inside code. 1 if whole. */
int symtab_check(const struct symtab *t);

#endif
