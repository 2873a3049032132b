/* SPDX-License-Identifier: BSD-2-Clause */
/* The vDSO's ELF image, as mapped into our own process. */
#ifndef PROFBPF_SYMBOLIZE_VDSO_H
#define PROFBPF_SYMBOLIZE_VDSO_H

#include <stddef.h>

#include "user/base/err.h"

/** Its bytes, for as long as we live. -ENOENT with a sentence when there is none. */
int vdso_find(const void **image, size_t *len, struct err *e);

#endif
