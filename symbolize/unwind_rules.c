// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rule dictionary (see unwind_table.h). A fixed array, because its copy in
 * the kernel is one, and a hash map from a rule's bytes to its index. Runs of
 * rows use few rules: a small cache in front spares four hash look-ups in five.
 */
#include "unwind_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/hashmap.h"

#define CACHE_SLOTS 1024

struct unwind_rules {
	struct unwind_rule at[UNWIND_MAX_RULES];
	uint16_t cache[CACHE_SLOTS]; /* an id to compare with first; 0 = a rule like any other */
	struct hashmap *ids;
	uint32_t nr;
	uint64_t refused;
};

_Static_assert(sizeof(struct unwind_rule) == 16, "hashed as bytes: no padding");

static unsigned cache_slot(const struct unwind_rule *rule)
{
	uint64_t w[2];

	memcpy(w, rule, sizeof(w));
	return (unsigned)((w[0] * 0x9e3779b97f4a7c15u ^ w[1] * 0xbf58476d1ce4e5b9u) >> 54) %
	       CACHE_SLOTS;
}

struct unwind_rules *unwind_rules_new(void)
{
	static const uint8_t fixed[] = {UNWIND_NO_INFO, UNWIND_UNSUPPORTED, UNWIND_END};
	struct unwind_rules *r = calloc(1, sizeof(*r));

	if (r)
		r->ids = hashmap_new(sizeof(struct unwind_rule));
	if (!r || !r->ids)
		goto fail;
	for (size_t i = 0; i < sizeof(fixed); i++) {
		struct unwind_rule rule = {.cfa = fixed[i]};
		uint16_t id;

		if (unwind_rules_id(r, &rule, &id))
			goto fail;
	}
	return r;
fail:
	unwind_rules_free(r);
	return NULL;
}

void unwind_rules_free(struct unwind_rules *r)
{
	if (!r)
		return;
	hashmap_free(r->ids);
	free(r);
}

int unwind_rules_id(struct unwind_rules *r, const struct unwind_rule *rule, uint16_t *id)
{
	uint16_t *cached = &r->cache[cache_slot(rule)];
	uint32_t *slot, known;
	int created;

	if (*cached < r->nr && memcmp(&r->at[*cached], rule, sizeof(*rule)) == 0) {
		*id = *cached;
		return 0;
	}
	if (r->nr == UNWIND_MAX_RULES) {
		if (!hashmap_get(r->ids, rule, &known)) {
			known = UNWIND_UNSUPPORTED;
			r->refused++;
		}
		*id = (uint16_t)known;
		return 0;
	}
	slot = hashmap_slot(r->ids, rule, r->nr, &created);
	if (!slot)
		return -ENOMEM;
	if (created)
		r->at[r->nr++] = *rule;
	*id = *cached = (uint16_t)*slot;
	return 0;
}

const struct unwind_rule *unwind_rules_at(const struct unwind_rules *r, uint16_t id)
{
	return &r->at[id < r->nr ? id : UNWIND_NO_INFO];
}

const struct unwind_rule *unwind_rules_array(const struct unwind_rules *r, uint32_t *nr)
{
	*nr = r->nr;
	return r->at;
}

uint64_t unwind_rules_refused(const struct unwind_rules *r)
{
	return r->refused;
}

size_t unwind_rules_bytes(const struct unwind_rules *r)
{
	return sizeof(*r) + hashmap_bytes(r->ids);
}
