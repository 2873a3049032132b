/* SPDX-License-Identifier: BSD-2-Clause */
#include "sink.h"

#include <stdlib.h>

struct tee {
	struct sink sink;
	struct sink *a, *b;
};

static int tee_put(struct sink *s, const struct record *r, struct err *e)
{
	struct tee *t = (struct tee *)s;
	int ret = sink_put(t->a, r, e);

	return ret ? ret : sink_put(t->b, r, e);
}

struct sink *sink_tee(struct sink *a, struct sink *b)
{
	struct tee *t = malloc(sizeof(*t));

	if (!t)
		return NULL;
	*t = (struct tee){{tee_put}, a, b};
	return &t->sink;
}
