/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* x86-64 part of vmlinux.h; included by it, inside its attribute region. */

typedef struct {
	void *vdso; /* start of the vDSO's code mapping in this process */
} mm_context_t;
