/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the list back, as the picture's script does. */
#include "picture.h"

#include "flamegraph/pack.h"
#include "user/base/cursor.h"
#include "user/base/gz.h"

struct listed {
	char name[64];
	uint32_t depth;
	uint64_t width, missing;
};
struct group {
	struct listed nodes[64];
	size_t nr;
	uint64_t missing;
};

static void unbase64(struct buf *b, const char *s, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	assert_int_equal(len % 4, 0);
	for (size_t i = 0; i < len; i += 4) {
		uint32_t v = 0, pad = 0;

		for (int k = 0; k < 4; k++) {
			const char *d = s[i + k] == '=' ? digits : strchr(digits, s[i + k]);

			pad += s[i + k] == '=';
			assert_non_null(d);
			v = v << 6 | (uint32_t)(d - digits);
		}
		for (uint32_t k = 0; k < 3 - pad; k++)
			buf_addc(b, (char)(v >> (16 - 8 * k)));
	}
}

/* The groups of @text into @groups; returns the quantum. Room in a test: 1 MB raw. */
static uint64_t read_list(const struct buf *text, struct group *groups, size_t nr)
{
	struct buf z = BUF_INIT, raw = BUF_INIT;
	struct cursor c;
	uint64_t quantum, bytes;
	const char *names;
	size_t len;
	int err = -1;

	unbase64(&z, text->data, text->len);
	for (len = 1; err && len < 4096; len++) { /* the raw length is not in the file */
		buf_clear(&raw);
		err = gz_inflate(&raw, z.data, z.len, len);
	}
	assert_int_equal(err, 0);
	cursor_init(&c, raw.data, raw.len);
	quantum = cursor_varint(&c);
	bytes = cursor_varint(&c);
	names = cursor_bytes(&c, bytes);
	for (size_t g = 0; g < nr; g++) {
		uint32_t depth = 0;

		groups[g].nr = cursor_varint(&c);
		groups[g].missing = cursor_varint(&c) * quantum;
		assert_true(groups[g].nr <= ARRAY_LEN(groups[g].nodes));
		for (size_t i = 0; i < groups[g].nr; i++) {
			struct listed *n = &groups[g].nodes[i];
			const char *name = names, *end;

			depth += 1 - (uint32_t)cursor_varint(&c);
			n->depth = depth;
			for (uint64_t k = cursor_varint(&c); k > 0; k--)
				name = (const char *)memchr(name, '\n', bytes) + 1;
			end = memchr(name, '\n', (size_t)(names + bytes - name));
			snprintf(n->name, sizeof(n->name), "%.*s",
				(int)((end ? end : names + bytes) - name), name);
			n->width = cursor_varint(&c) * quantum;
			n->missing = cursor_varint(&c) * quantum;
		}
	}
	assert_int_equal(cursor_err(&c), 0);
	assert_int_equal(cursor_left(&c), 0);
	buf_release(&z);
	buf_release(&raw);
	return quantum;
}

static void test_pack_lists_what_merged_frames_hold(void **state)
{
	struct calltree *t = tree_new();
	struct layout l;
	struct err e = {0};
	struct buf b = BUF_INIT;
	struct pack_stats st;
	struct group g[1];

	(void)state;
	tree_add(t, "main@app;big@app", 900);
	tree_add(t, "main@app;x@libc.so.6;y@[kernel]", 30);
	tree_add(t, "main@app;x@libc.so.6;z@app;y@[kernel]", 20);
	tree_add(t, "main@app;w\n@app", 50);
	assert_int_equal(layout_build(&l, t->nodes, t->nr, t->depth,
				 &(struct layout_options){.min_total = 100, .max_rows = 100}, &e),
		0);

	assert_int_equal(pack_build(&b, t, &l, 10000, &st, &e), 0);

	assert_int_equal(st.listed, 5);
	assert_int_equal(st.unlisted, 0);
	assert_int_equal(read_list(&b, g, 1), 1);
	assert_int_equal(g[0].nr, 5);
	assert_memory_equal(g[0].nodes[0].name, "l", 1);
	assert_string_equal(g[0].nodes[0].name + 2, "x");
	assert_int_equal(g[0].nodes[0].depth, 1);
	assert_int_equal(g[0].nodes[0].width, 50);
	assert_memory_equal(g[0].nodes[1].name, "k", 1);
	assert_string_equal(g[0].nodes[1].name + 2, "y");
	assert_int_equal(g[0].nodes[1].width, 30);
	assert_string_equal(g[0].nodes[2].name + 2, "z");
	assert_int_equal(g[0].nodes[2].depth, 2);
	assert_string_equal(g[0].nodes[3].name + 2, "y");
	assert_int_equal(g[0].nodes[3].depth, 3);
	assert_string_equal(g[0].nodes[4].name + 2, "w\\x0a"); /* cannot break the list of names */
	assert_int_equal(g[0].nodes[4].depth, 1);
	buf_release(&b);
	layout_release(&l);
	calltree_free(t);
}

static void test_pack_counts_what_it_leaves_out(void **state)
{
	struct calltree *t = tree_new();
	struct layout l;
	struct err e = {0};
	struct buf b = BUF_INIT;
	struct pack_stats st;
	struct group g[1];
	char stack[64];

	(void)state;
	tree_add(t, "main;big", 100000);
	tree_add(t, "main;mid", 300);
	for (int i = 0; i < 40; i++) {
		snprintf(stack, sizeof(stack), "main;mid;tiny_%d", i);
		tree_add(t, stack, 1);
	}
	for (int i = 0; i < 7; i++) {
		snprintf(stack, sizeof(stack), "main;tiny_%d", i);
		tree_add(t, stack, 1);
	}
	/* min_total 10,000: nodes narrower than 1/64 of it are not listed. */
	assert_int_equal(layout_build(&l, t->nodes, t->nr, t->depth,
				 &(struct layout_options){.min_total = 10000, .max_rows = 100}, &e),
		0);

	assert_int_equal(pack_build(&b, t, &l, 10000, &st, &e), 0);

	read_list(&b, g, 1);
	assert_int_equal(st.listed, 1);
	assert_int_equal(st.unlisted, 47);
	assert_int_equal(g[0].missing, 7);
	assert_int_equal(g[0].nodes[0].width, 340);
	assert_int_equal(g[0].nodes[0].missing, 40);
	buf_release(&b);
	layout_release(&l);
	calltree_free(t);
}

static void test_pack_keeps_to_its_size(void **state)
{
	struct calltree *t = tree_new();
	struct layout l;
	struct err e = {0};
	uint64_t seed = 3, left = 0;
	char stack[128];

	(void)state;
	for (int i = 0; i < 3000; i++) {
		snprintf(stack, sizeof(stack), "main;%llx%llx",
			(unsigned long long)test_random(&seed),
			(unsigned long long)test_random(&seed));
		tree_add(t, stack, 1 + test_random(&seed) % 1000);
	}
	assert_int_equal(layout_build(&l, t->nodes, t->nr, t->depth,
				 &(struct layout_options){
					 .max_frames = 10, .max_rows = 100, .max_listed = 100000},
				 &e),
		0);

	for (size_t max = 200000; max; max /= 4) {
		struct buf b = BUF_INIT;
		struct pack_stats st;

		assert_int_equal(pack_build(&b, t, &l, max, &st, &e), 0);
		assert_true(b.len <= max);
		assert_true(st.unlisted >= left); /* less room, more left out */
		left = st.unlisted;
		buf_release(&b);
	}
	assert_true(left > 0);
	layout_release(&l);
	calltree_free(t);
}

static void test_pack_of_a_whole_picture_is_empty(void **state)
{
	struct calltree *t = tree_new();
	struct layout l;
	struct err e = {0};
	struct buf b = BUF_INIT;
	struct pack_stats st;

	(void)state;
	tree_add(t, "main;a", 1);
	assert_int_equal(layout_build(&l, t->nodes, t->nr, t->depth,
				 &(struct layout_options){.max_rows = 100}, &e),
		0);

	assert_int_equal(pack_build(&b, t, &l, 1000, &st, &e), 0);

	assert_int_equal(b.len, 0);
	layout_release(&l);
	calltree_free(t);
}

RUN_TESTS(T(test_pack_lists_what_merged_frames_hold), T(test_pack_counts_what_it_leaves_out),
	T(test_pack_keeps_to_its_size), T(test_pack_of_a_whole_picture_is_empty))
