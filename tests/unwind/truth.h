/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The true call stack of a process that is stepped: each call instruction that
 * was executed pushed a return address at a known place, and it is in force
 * until the stack pointer has passed that place. Needs no unwind information,
 * so it also tells when that itself is wrong.
 *
 * Right as long as code does not switch stacks by itself (makecontext) and an
 * alternate signal stack lies below the main one.
 */
#ifndef PROFBPF_TESTS_TRUTH_H
#define PROFBPF_TESTS_TRUTH_H

#include <stdint.h>

#define TRUTH_MAX 4096

struct truth_entry {
	uint64_t sp;	/* of the caller, once returned to */
	uint64_t ip;	/* where execution goes on */
	uint64_t until; /* gone when the stack pointer is above this */
};

struct truth {
	struct truth_entry at[TRUTH_MAX]; /* outermost first */
	unsigned nr;
	unsigned missed; /* entries that found no place */
};

/** A call was executed: it pushed @ra to @sp. */
void truth_call(struct truth *t, uint64_t sp, uint64_t ra);
/** A handler begins at @sp, where the address of the trampoline @ra lies; interrupted was (@ip,
 * @old_sp). */
void truth_signal(struct truth *t, uint64_t sp, uint64_t ra, uint64_t ip, uint64_t old_sp);
/** The stack pointer is now @sp. */
void truth_stack_pointer(struct truth *t, uint64_t sp);

/** The length of the call instruction at @code (of @len bytes), 0 when it is none. */
unsigned truth_call_length(const uint8_t *code, unsigned len);

#endif
