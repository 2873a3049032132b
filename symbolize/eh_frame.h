/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call frame information (.eh_frame, .debug_frame) to unwind rules.
 *
 * A scan is linear, so a missing or damaged .eh_frame_hdr does not matter. Each
 * FDE is run on its own: one that cannot be run costs its function and is
 * counted. Rules that struct unwind_rule cannot express become
 * UNWIND_UNSUPPORTED (or UNWIND_BP_GONE, when only RBP is concerned) and are
 * counted by kind; nothing is approximated.
 *
 * Three files: cfi_run.c runs the instructions of an entry, cfi_rule.c turns
 * what they leave into rules, eh_frame.c reads the entries.
 *
 * Sources: DWARF 5 section 6.4; LSB Core 5.0, 10.6 (.eh_frame, pointer
 * encodings, augmentations).
 */
#ifndef PROFBPF_SYMBOLIZE_EH_FRAME_H
#define PROFBPF_SYMBOLIZE_EH_FRAME_H

#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

struct unwind_rule;

struct eh_input {
	const uint8_t *data; /* the section's bytes; borrowed */
	size_t len;
	uint64_t vaddr;	     /* link-time address of data[0] */
	uint64_t text_vaddr; /* base of DW_EH_PE_textrel, 0 = not known */
	uint64_t data_vaddr; /* base of DW_EH_PE_datarel, 0 = not known */
	int debug_frame;     /* .debug_frame's variant of the format */
	int unsized;	     /* len may be too long: the first terminator ends it. Linkers leave
			      * terminators in the middle, so a known size is better. */
};

/* Why rows are not expressed; one count per row. */
enum eh_unsupported {
	EH_CFA_EXPRESSION, /* CFA by an expression of unknown shape */
	EH_CFA_NONE,	   /* no CFA rule at all */
	EH_CFA_REGISTER,   /* CFA by a register outside 0..15 */
	EH_OFFSET,	   /* an offset that a rule has no room for */
	EH_SP_OTHER,	   /* RSP of the caller is not the CFA */
	EH_RA_OTHER,	   /* return address neither at CFA - 8 nor in a register */
	EH_SIGNAL_OTHER,   /* a signal frame that is not the kernel's */
	EH_BP_OTHER,	   /* RBP by expression, register or value: RBP is lost, the rest holds */
	EH_UNSUPPORTED_NR,
	EH_SUPPORTED = EH_UNSUPPORTED_NR,
};

struct eh_stats {
	uint64_t cies, fdes;
	uint64_t bad_cies, bad_fdes; /* damaged; an FDE of a bad CIE is bad too */
	uint64_t empty_fdes;	     /* of no length or at address 0: dropped by the linker */
	uint64_t rows;		     /* before merging */
	uint64_t unsupported[EH_UNSUPPORTED_NR];
	int truncated; /* a length ran past the end: the rest was not read */
};

/**
 * Called for each FDE with its rows in ascending order, within [start, end).
 * rules[i] holds from vaddrs[i] to vaddrs[i + 1] (or @end); vaddrs[0] == start. An
 * FDE whose instructions are damaged has one row, UNWIND_UNSUPPORTED: there is
 * CFI, so nobody should guess. Non-zero stops the scan.
 */
typedef int (*eh_fde_fn)(void *ctx, uint64_t start, uint64_t end, const uint64_t *vaddrs,
	const struct unwind_rule *rules, size_t nr);

/** 0, what @fn returned, or -ENOMEM. Damage is counted in @st (reset first), not an error. */
int eh_frame_scan(const struct eh_input *in, eh_fde_fn fn, void *ctx, struct eh_stats *st);

/** Add @more to @sum. */
void eh_stats_add(struct eh_stats *sum, const struct eh_stats *more);
/** "CFA by an expression of unknown shape", ...; never NULL. */
const char *eh_unsupported_text(unsigned kind);

#endif
