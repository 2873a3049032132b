/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing JSON: nesting and commas are kept right, strings are escaped, NaN and
 * infinities become null. Compact, one line, no trailing newline. A wrong nesting is our bug
 * (assert). */
#ifndef PROFBPF_BASE_JSON_H
#define PROFBPF_BASE_JSON_H

#include <stdint.h>

#include "out.h"

struct json {
	struct out *o; /* borrowed */
	unsigned depth;
	unsigned char need_comma[64];
};

void json_init(struct json *j, struct out *o);
void json_obj(struct json *j); /* { */
void json_obj_end(struct json *j);
void json_arr(struct json *j); /* [ */
void json_arr_end(struct json *j);
void json_key(struct json *j, const char *key);
void json_str(struct json *j, const char *s); /* NULL writes null */
void json_strn(struct json *j, const char *s, size_t len);
void json_u64(struct json *j, uint64_t v);
void json_i64(struct json *j, int64_t v);
void json_num(struct json *j, double v, int decimals); /* fixed decimals, trailing zeros cut */
void json_bool(struct json *j, int v);
void json_null(struct json *j);

/** A key and its value. */
void json_key_u64(struct json *j, const char *key, uint64_t v);
void json_key_num(struct json *j, const char *key, double v, int decimals);
void json_key_text(struct json *j, const char *key, const char *s); /* NULL and "" write null */

#endif
