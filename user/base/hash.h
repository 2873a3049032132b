/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hash function behind hashmap and strtab; nobody else includes this
 * (hash_bytes() in hashmap.h is the public face). 16 bytes a step through one
 * 64x64->128 multiplication, tails by overlapping loads. Both secrets are
 * random per process, so input cannot choose a zero factor or a collision.
 * Inline, because a call costs as much as hashing a short name.
 */
#ifndef PROFBPF_BASE_HASH_H
#define PROFBPF_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct hash_seed {
	uint64_t a, b;
};

/** The process's seed, drawn at the first call. Thread-safe. */
const struct hash_seed *hash_seed(void);

static inline uint64_t hash_mul(uint64_t x, uint64_t y)
{
	unsigned __int128 m = (unsigned __int128)x * y;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t hash_load8(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t hash_load4(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t hash_with(const struct hash_seed *seed, const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t h = seed->a ^ len, x = 0, y = 0;
	size_t left = len;

	for (; left > 16; left -= 16, p += 16)
		h = hash_mul(hash_load8(p) ^ seed->b, hash_load8(p + 8) ^ h);
	if (left >= 8) {
		x = hash_load8(p);
		y = hash_load8(p + left - 8);
	} else if (left >= 4) {
		x = hash_load4(p);
		y = hash_load4(p + left - 4);
	} else if (left) {
		x = (uint64_t)p[0] << 16 | (uint64_t)p[left >> 1] << 8 | p[left - 1];
	}
	h = hash_mul(x ^ seed->b, y ^ h);
	/* One more round: tables index by the low bits, the first product leaves them uneven. */
	return hash_mul(h ^ seed->a, 0x9e3779b97f4a7c15u);
}

/** 32 bits for a slot, never 0: 0 marks a free one. */
static inline uint32_t hash_tag(uint64_t h)
{
	uint32_t tag = (uint32_t)(h >> 16);

	return tag ? tag : 1;
}

#endif
