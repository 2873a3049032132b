/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules for PLT sections that have no call frame information: lld writes none
 * for any, and GNU ld none for the indirect-function stubs of static programs,
 * through which those call every string function.
 *
 * Stubs are made by linkers of half a dozen instructions. They are decoded, and
 * where there is anything else the rest of the section gets no rules.
 */
#ifndef PROFBPF_SYMBOLIZE_PLT_STUBS_H
#define PROFBPF_SYMBOLIZE_PLT_STUBS_H

#include <stddef.h>
#include <stdint.h>

#include "symbolize/eh_frame.h"

/** One call of @fn with the rows of all stubs that were understood. 0, what it returned, or
 * -ENOMEM. */
int plt_stubs_scan(const uint8_t *code, size_t len, uint64_t vaddr, eh_fde_fn fn, void *ctx);

#endif
