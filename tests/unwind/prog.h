/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the programs that the oracle steps have in common. Stepping goes from
 * MARK to MARK; between them is only what the program is about. Work is small:
 * an instruction costs the oracle some 20 us.
 */
#ifndef PROFBPF_TESTS_PROG_H
#define PROFBPF_TESTS_PROG_H

#define MARK	 __asm__ volatile("int3")
#define NOINLINE __attribute__((noinline, noclone_))
#define OPAQUE(x)                                                                                  \
	__asm__ volatile("" : "+r"(x) : : "memory") /* the compiler knows nothing of x any more */
#define KEEP_FRAME __asm__ volatile("" : : : "memory") /* behind a call: it is no tail call */

#if defined(__clang__)
#define noclone_ noinline
#else
#define noclone_ noclone
#endif

#endif
