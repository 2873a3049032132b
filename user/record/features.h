/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What this kernel and these permissions allow: probed, never guessed from a
 * version number. `profbpf doctor` prints the list; the sampler asks before it
 * loads, so that a failure names its cause.
 */
#ifndef PROFBPF_RECORD_FEATURES_H
#define PROFBPF_RECORD_FEATURES_H

#include "user/base/err.h"

enum feature_state {
	FEATURE_OK,
	FEATURE_DEGRADED,
	FEATURE_MISSING
};

struct feature {
	const char *name; /* "BTF of the running kernel" */
	enum feature_state state;
	char detail[256];  /* what was found, with values */
	char follows[256]; /* what it means for a recording; "" when OK */
};

/** Probe all into a malloced array of *nr. Needs no privileges. 0 or -ENOMEM. */
int features_probe(struct feature **list, unsigned *nr);
/** Why a recording cannot start, as a sentence and a hint in @e; 0 when nothing stands in the way.
 */
int features_require(struct err *e);

#endif
