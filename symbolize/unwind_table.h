/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An ELF file's unwind table: for every byte of its executable segments, the
 * rule that unwinds a frame there.
 *
 * Keyed by FILE OFFSET, so a table serves every process that maps the file, at
 * whatever address, and is valid before the first sample of a process is taken.
 *
 *   file offset 0x0123abcd --.
 *     >> 16 = page 0x0123 ---+--> pages[page - first_page] .. [+ 1]
 *     & 0xffff = 0xabcd -----'        |            |
 *                                     v            v
 *                     rows:  ... | 0000 r7 | ab90 r3 | abe0 r0 | 0000 r5 ...
 *                                            ^ last row with low <= 0xabcd
 *                                              |
 *     struct unwind_rules (shared by all): at[3] = CFA = RSP + 16, RBP at CFA - 16
 *
 * A page is self-contained: when a rule reaches into it, its first row says so
 * (low = 0). So rows may be cut between any two pages, which is how the loader
 * lays them into slabs. A page without rows has no unwind information.
 *
 * Bytes that no FDE covers have UNWIND_NO_INFO, filler between functions too,
 * where nothing runs: the first frame of a fiber (makecontext, coroutines)
 * returns to the start of a function, and the byte before that is looked up. A
 * rule there would invent a caller. One kind of gap keeps the rule before it:
 * fewer than 16 bytes between two FDEs that meet between 16-byte boundaries.
 * glibc ends the FDE of clone() and clone3() before the system call and begins
 * the child's after it; that is one function.
 */
#ifndef PROFBPF_SYMBOLIZE_UNWIND_TABLE_H
#define PROFBPF_SYMBOLIZE_UNWIND_TABLE_H

#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind_step.h"
#include "symbolize/eh_frame.h"
#include "symbolize/elf_cfi.h"
#include "symbolize/elf_file.h"
#include "user/base/err.h"

/* Rows of one table, 64 MB: ClickHouse, the largest table that users of other
 * profilers report, has 2.8 million. */
#define UNWIND_MAX_ROWS (1u << 24)

/* ---- the rule dictionary ---- */

struct unwind_rules;

/** NULL without memory. Ids 0, 1, 2 are UNWIND_NO_INFO, UNWIND_UNSUPPORTED, UNWIND_END. */
struct unwind_rules *unwind_rules_new(void);
void unwind_rules_free(struct unwind_rules *r);
/**
 * The id of @rule, a new one if it is not there yet; ids never change and are
 * given in ascending order, so what was uploaded stays valid. When all
 * UNWIND_MAX_RULES are taken the id is UNWIND_UNSUPPORTED's and counted. 0 or -ENOMEM.
 */
int unwind_rules_id(struct unwind_rules *r, const struct unwind_rule *rule, uint16_t *id);
/** @id may come from anywhere: beyond the end it is UNWIND_NO_INFO's. */
const struct unwind_rule *unwind_rules_at(const struct unwind_rules *r, uint16_t id);
/** All of them, for uploading; valid until the dictionary is freed. */
const struct unwind_rule *unwind_rules_array(const struct unwind_rules *r, uint32_t *nr);
/** Rules that found no place. */
uint64_t unwind_rules_refused(const struct unwind_rules *r);
size_t unwind_rules_bytes(const struct unwind_rules *r); /* memory held */

/* ---- tables ---- */

struct unwind_table_stats {
	struct eh_stats cfi;	      /* .eh_frame and .debug_frame together */
	enum elf_cfi_source eh_frame; /* where it was found */
	int debug_frame;	      /* one was read as well */
	uint32_t outside;   /* FDEs not in an executable segment, or beyond 4 GiB of file */
	uint32_t overlaps;  /* FDEs cut or dropped because another one of the section covers their
			       bytes */
	uint32_t gaps;	    /* ranges between FDEs that got UNWIND_NO_INFO */
	uint32_t entry_end; /* e_entry had no FDE and got UNWIND_END */
	uint64_t refused;   /* rows that are UNWIND_UNSUPPORTED because the dictionary is full */
	uint64_t covered;   /* bytes of file with a rule */
};

/* Fields are for reading. */
struct unwind_table {
	struct unwind_row *rows;
	uint32_t *pages; /* nr_pages + 1: index of a page's first row */
	uint32_t nr_rows;
	uint32_t first_page, nr_pages; /* pages before and after have no information */
	struct unwind_table_stats stats;
};

/**
 * Build the table of @f, adding its rules to @rules. A file without call frame
 * information gives an empty table. -EOPNOTSUPP for another machine, -E2BIG over
 * UNWIND_MAX_ROWS or ELF_CFI_MAX_BYTES, -EBADMSG, -ENOMEM; with a sentence.
 *
 * Where FDEs overlap, .eh_frame wins over .debug_frame and over what PLT stubs are
 * decoded to; within a section the one
 * that starts later wins, as with a binary search in .eh_frame_hdr, and of two
 * that start at the same byte the first in the section.
 */
int unwind_table_build(struct unwind_table **out, const struct elf_file *f,
	struct unwind_rules *rules, struct err *e);
void unwind_table_free(struct unwind_table *t);
/**
 * Rule id at @file_offset: UNWIND_NO_INFO where nothing is known. For an address
 * that was reached by return, ask for the byte before. When that has no
 * information and the address itself has, the address is the start of a function
 * that nobody called: the stack ends there.
 */
uint16_t unwind_table_find(const struct unwind_table *t, uint64_t file_offset);
size_t unwind_table_bytes(const struct unwind_table *t); /* memory held */
/** Asserts the invariants drawn above; for tests. */
void unwind_table_check(const struct unwind_table *t);

#endif
