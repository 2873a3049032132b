/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sink: the waist of the program. One stream of typed records.
 *
 *   rings (live) --.                       .--> writer (file)
 *   reader (file) --+--> builder --> SINK -+--> model/profile
 *   importers -----'                       '--> tee of both, dump, verify
 *
 * An implementation embeds struct sink first and sets put. put may keep
 * nothing it is handed beyond the call. Returning an error stops the producer,
 * which passes it up.
 */
#ifndef PROFBPF_CAPTURE_SINK_H
#define PROFBPF_CAPTURE_SINK_H

#include "records.h"
#include "user/base/err.h"

struct sink {
	/** Take one record. 0 or a negative errno with a sentence in @e. */
	int (*put)(struct sink *s, const struct record *r, struct err *e);
};

static inline int sink_put(struct sink *s, const struct record *r, struct err *e)
{
	return s->put(s, r, e);
}

/** A sink that hands each record to @a and then to @b (both borrowed). Free with free(). NULL on
 * ENOMEM. */
struct sink *sink_tee(struct sink *a, struct sink *b);

#endif
