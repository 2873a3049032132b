/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * genfold N: a folded file of N distinct stacks on stdout, shaped like a large
 * real profile: a tree grown from 3000 C++-like names, 2 to 60 frames deep (13
 * on average), counts with a long tail. The same N gives the same bytes; a
 * million stacks are about 350 MB.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES 3000u
#define DEPTH 60u
#define POOL  4000u

struct stack {
	unsigned depth;
	uint16_t frame[DEPTH]; /* [0] is the root line */
};

static const char *const space[] = {"app", "net::http", "db::btree", "std::__detail",
	"boost::asio::detail", "json", "crypto", "ui::layout"};
static const char *const verb[] = {"parse", "read", "write", "flush", "insert", "find", "hash",
	"compare", "encode", "decode", "alloc", "release", "visit", "merge", "split"};
static const char *const noun[] = {"Node", "Buffer", "Request", "Page", "Cursor", "Index", "Header",
	"Token", "Block", "Entry"};
static const char *const root[] = {"server;_start;__libc_start_main;main",
	"worker;start_thread;thread_main", "io;start_thread;io_loop", "gc;start_thread;gc_loop"};

static char *name[NAMES];
static struct stack pool[POOL];
static uint64_t *seen; /* open addressing, hashes of stacks; 0 = free */
static size_t mask;
static uint64_t seed = 88172645463325252u;

static double draw(void) /* [0, 1) */
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (double)(seed >> 11) / (double)(1ull << 53);
}

static unsigned below(unsigned n)
{
	return (unsigned)(draw() * n);
}

static int is_new(const struct stack *s)
{
	uint64_t h = 1469598103934665603u;
	size_t at;

	for (unsigned i = 0; i < s->depth; i++)
		h = (h ^ s->frame[i]) * 1099511628211u;
	h ^= h >> 32;
	h += !h;
	for (at = h & mask; seen[at]; at = (at + 1) & mask)
		if (seen[at] == h)
			return 0;
	seen[at] = h;
	return 1;
}

int main(int argc, char **argv)
{
	size_t want = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000, have = 0, slots = 1024;
	unsigned pooled = 0;

	while (slots < want * 2)
		slots *= 2;
	mask = slots - 1;
	seen = calloc(slots, sizeof(*seen));
	if (!seen)
		return 1;
	for (unsigned i = 0; i < NAMES; i++) {
		char text[160];

		snprintf(text, sizeof(text), "%s::%s%s_%u%s", space[below(8)], verb[below(15)],
			noun[below(10)], i, below(5) ? "" : "<unsigned long, std::less<int> >");
		name[i] = strdup(text);
		if (!name[i])
			return 1;
	}
	while (have < want) {
		struct stack s = {.depth = 1};
		unsigned more = 1 + below(6);

		/* Mostly a known stack, cut somewhere in its leaf half and continued another way.
		 */
		if (pooled && draw() < 0.9) {
			s = pool[below(pooled)];
			s.depth = s.depth / 2 + below(s.depth - s.depth / 2 + 1);
			s.depth += !s.depth;
		} else {
			s.frame[0] = (uint16_t)below(4);
		}
		if (s.depth + more > DEPTH - 2)
			continue;
		while (more--) {
			double r = draw();

			s.frame[s.depth++] = (uint16_t)(NAMES * r * r * (r < 0.5 ? r : 1));
		}
		if (!is_new(&s))
			continue;
		pool[pooled < POOL ? pooled++ : below(POOL)] = s;
		fputs(root[s.frame[0]], stdout);
		for (unsigned i = 1; i < s.depth; i++) {
			putc_unlocked(';', stdout);
			fputs(name[s.frame[i]], stdout);
		}
		printf(" %u\n", 1 + (unsigned)(2 / (draw() + 1e-4)));
		have++;
	}
	return 0;
}
