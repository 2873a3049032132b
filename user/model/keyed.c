/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DESIGN: samples, siblings and names all come down to sorting integers. A
 * radix sort by bytes does a million in some 20 ms where qsort needs 150, and
 * it skips bytes in which all keys agree, which is most of them for times and
 * ids. Names are sorted eight bytes at a time: the range of names that agree so
 * far is sorted by the next eight, then each run of equals in turn, on a stack
 * of ours because namespaces make long common prefixes.
 */
#include "keyed.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "vec.h"

#define SMALL 32 /* below this insertion wins */

static void insertion_sort(struct keyed *a, size_t nr)
{
	size_t i, j;

	for (i = 1; i < nr; i++) {
		struct keyed k = a[i];

		for (j = i; j && a[j - 1].key > k.key; j--)
			a[j] = a[j - 1];
		a[j] = k;
	}
}

void keyed_sort(struct keyed *a, struct keyed *tmp, size_t nr)
{
	struct keyed *from = a, *to = tmp, *swap;
	uint64_t all_or = 0, all_and = UINT64_MAX, differ;
	int sorted = 1, shift;
	size_t i;

	if (nr <= SMALL) {
		insertion_sort(a, nr);
		return;
	}
	for (i = 0; i < nr; i++) {
		all_or |= a[i].key;
		all_and &= a[i].key;
		sorted &= !i || a[i - 1].key <= a[i].key;
	}
	if (sorted)
		return;
	differ = all_or ^ all_and;
	for (shift = 0; shift < 64; shift += 8) {
		size_t count[256] = {0}, sum = 0, n;

		if (!(differ >> shift & 0xff))
			continue;
		for (i = 0; i < nr; i++)
			count[from[i].key >> shift & 0xff]++;
		for (i = 0; i < 256; i++) {
			n = count[i];
			count[i] = sum;
			sum += n;
		}
		for (i = 0; i < nr; i++)
			to[count[from[i].key >> shift & 0xff]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	if (from != a)
		memcpy(a, from, nr * sizeof(*a));
}

struct range {
	size_t first, nr;
	size_t depth; /* bytes in which all names of the range agree */
};

struct names_sort {
	struct ranked_name *names;
	struct keyed *keys, *tmp;
	VEC(struct range) todo;
	int (*tie)(uint32_t, uint32_t, const void *);
	const void *ctx;
};

static uint64_t eight_bytes(const struct ranked_name *n, size_t depth)
{
	uint64_t v = 0;

	if (depth < n->len)
		memcpy(&v, n->name + depth, n->len - depth < 8 ? n->len - depth : 8);
	return be64toh(v);
}

/* Names equal up to @depth bytes. */
static int name_cmp(const struct names_sort *s, const struct ranked_name *a,
	const struct ranked_name *b, size_t depth)
{
	size_t min = a->len < b->len ? a->len : b->len;
	int c = min > depth ? memcmp(a->name + depth, b->name + depth, min - depth) : 0;

	if (!c && a->len != b->len)
		c = a->len < b->len ? -1 : 1;
	if (!c && s->tie)
		c = s->tie(a->id, b->id, s->ctx);
	if (!c)
		c = a->id < b->id ? -1 : a->id > b->id;
	return c;
}

/* For short ranges, and for names that are equal to the end: heap sort, since
 * those may be many (one name in 100,000 modules) and need comparisons. */
static void sift(
	const struct names_sort *s, struct ranked_name *a, size_t i, size_t nr, size_t depth)
{
	struct ranked_name n = a[i];
	size_t child;

	for (; (child = 2 * i + 1) < nr; i = child) {
		if (child + 1 < nr && name_cmp(s, &a[child], &a[child + 1], depth) < 0)
			child++;
		if (name_cmp(s, &n, &a[child], depth) >= 0)
			break;
		a[i] = a[child];
	}
	a[i] = n;
}

static void compare_sort(const struct names_sort *s, struct ranked_name *a, size_t nr, size_t depth)
{
	size_t i;

	for (i = nr / 2; i--;)
		sift(s, a, i, nr, depth);
	for (i = nr; i-- > 1;) {
		struct ranked_name n = a[0];

		a[0] = a[i];
		a[i] = n;
		sift(s, a, 0, i, depth);
	}
}

/* a[i] becomes the old a[keys[i].id], along the cycles and without a copy of all; uses up the ids.
 */
static void permute(struct ranked_name *a, struct keyed *keys, size_t nr)
{
	size_t i, at, from;

	for (i = 0; i < nr; i++) {
		struct ranked_name first = a[i];

		for (at = i; (from = keys[at].id) != i; at = from) {
			a[at] = a[from];
			keys[at].id = (uint32_t)at;
		}
		a[at] = first;
		keys[at].id = (uint32_t)at;
	}
}

static int names_sort_range(struct names_sort *s, struct range r)
{
	struct ranked_name *a = s->names + r.first;
	size_t i, end;

	if (r.nr <= SMALL) {
		compare_sort(s, a, r.nr, r.depth);
		return 0;
	}
	for (i = 0; i < r.nr; i++)
		s->keys[i] = (struct keyed){eight_bytes(&a[i], r.depth), (uint32_t)i};
	keyed_sort(s->keys, s->tmp, r.nr);
	permute(a, s->keys, r.nr);
	for (i = 0; i < r.nr; i = end) {
		int more = a[i].len > r.depth + 8;

		for (end = i + 1; end < r.nr && s->keys[end].key == s->keys[i].key; end++)
			more |= a[end].len > r.depth + 8;
		if (end - i < 2)
			continue;
		if (!more || end - i <= SMALL) {
			/* Without more bytes to look at they differ at most in trailing NULs. */
			compare_sort(s, a + i, end - i, r.depth);
			continue;
		}
		if (vec_room(&s->todo, 1))
			return -ENOMEM;
		s->todo.data[s->todo.nr++] = (struct range){r.first + i, end - i, r.depth + 8};
	}
	return 0;
}

int names_sort(struct ranked_name *names, size_t nr,
	int (*tie)(uint32_t id_a, uint32_t id_b, const void *ctx), const void *ctx)
{
	struct names_sort s = {.names = names, .tie = tie, .ctx = ctx};
	struct range all = {0, nr, 0};
	int ret = -ENOMEM;

	if (nr > SMALL) {
		s.keys = malloc(nr * sizeof(*s.keys));
		s.tmp = malloc(nr * sizeof(*s.tmp));
		if (!s.keys || !s.tmp)
			goto out;
	}
	ret = names_sort_range(&s, all);
	while (!ret && s.todo.nr)
		ret = names_sort_range(&s, s.todo.data[--s.todo.nr]);
out:
	free(s.keys);
	free(s.tmp);
	free(s.todo.data);
	return ret;
}
