/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The traced process's mappings, and for each mapped ELF file both answers:
 * our unwind table, and libdw's frame at an address. Everything is cached; a
 * step of the oracle comes back to the same few addresses.
 */
#ifndef PROFBPF_TESTS_MODULES_H
#define PROFBPF_TESTS_MODULES_H

#include <linux/types.h>
#include <stdint.h>
#include <sys/types.h>

#include "dw_eval.h"
#include "symbolize/unwind_table.h"

struct modules;

struct modules *modules_new(pid_t pid);
void modules_free(struct modules *m);
/** The mappings may have changed. */
void modules_changed(struct modules *m);

/** Our rule at @addr; the rule UNWIND_NO_INFO where there is none. Never NULL. */
const struct unwind_rule *modules_rule(struct modules *m, uint64_t addr);
/** libdw's frame at @addr, NULL when it has none. Valid until modules_free(). */
const struct dw_frame *modules_frame(struct modules *m, uint64_t addr);
/** "libc.so.6+0x1234", valid until the next call. */
const char *modules_name(struct modules *m, uint64_t addr);

#endif
