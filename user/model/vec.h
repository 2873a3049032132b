/* SPDX-License-Identifier: BSD-2-Clause */
/* Growing arrays of the model: data, how many, room for how many. */
#ifndef PROFBPF_MODEL_VEC_H
#define PROFBPF_MODEL_VEC_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *data;                                                                        \
		size_t nr, cap;                                                                    \
	}

static inline int vec_grow(void **data, size_t *cap, size_t need, size_t size)
{
	size_t want = *cap + *cap / 2 + 16;
	void *p;

	if (want < need)
		want = need;
	p = reallocarray(*data, want, size);
	if (!p)
		return -1;
	*data = p;
	*cap = want;
	return 0;
}

/** Make room for @more elements beyond nr. 0, or -1 without memory (the array unchanged). */
#define vec_room(v, more)                                                                          \
	((v)->nr + (more) <= (v)->cap ? 0                                                          \
				      : vec_grow((void **)&(v)->data, &(v)->cap, (v)->nr + (more), \
						sizeof(*(v)->data)))

#endif
