/* SPDX-License-Identifier: BSD-2-Clause */
#include "json.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "escape.h"

/* need_comma[depth]: what is open at this depth, and what may come next. */
enum {
	COMMA = 1,     /* something was written before */
	AFTER_KEY = 2, /* a value must follow */
	IN_OBJ = 4,
};

void json_init(struct json *j, struct out *o)
{
	*j = (struct json){.o = o};
}

static void before_value(struct json *j)
{
	unsigned char *st = &j->need_comma[j->depth];

	if (*st & IN_OBJ) {
		assert(*st & AFTER_KEY);
		*st = IN_OBJ | COMMA;
		return;
	}
	assert(j->depth || !*st); /* one value at the top */
	if (*st & COMMA)
		out_char(j->o, ',');
	*st = COMMA;
}

static void open_with(struct json *j, char c, unsigned char state)
{
	before_value(j);
	assert(j->depth + 1 < sizeof(j->need_comma));
	j->need_comma[++j->depth] = state;
	out_char(j->o, c);
}

static void close_with(struct json *j, char c, unsigned char state)
{
	assert(j->depth && (j->need_comma[j->depth] & ~COMMA) == state);
	j->depth--;
	out_char(j->o, c);
}

void json_obj(struct json *j)
{
	open_with(j, '{', IN_OBJ);
}

void json_obj_end(struct json *j)
{
	close_with(j, '}', IN_OBJ);
}

void json_arr(struct json *j)
{
	open_with(j, '[', 0);
}

void json_arr_end(struct json *j)
{
	close_with(j, ']', 0);
}

static void put_str(struct json *j, const char *s, size_t len)
{
	struct buf b = BUF_INIT;

	buf_addc(&b, '"');
	escape_json(&b, s, len);
	buf_addc(&b, '"');
	if (b.err)
		out_fail(j->o, b.err);
	else
		out_write(j->o, b.data, b.len);
	buf_release(&b);
}

void json_key(struct json *j, const char *key)
{
	unsigned char *st = &j->need_comma[j->depth];

	assert((*st & IN_OBJ) && !(*st & AFTER_KEY));
	if (*st & COMMA)
		out_char(j->o, ',');
	*st = IN_OBJ | AFTER_KEY;
	put_str(j, key, strlen(key));
	out_char(j->o, ':');
}

void json_str(struct json *j, const char *s)
{
	if (s)
		json_strn(j, s, strlen(s));
	else
		json_null(j);
}

void json_strn(struct json *j, const char *s, size_t len)
{
	before_value(j);
	put_str(j, s, len);
}

void json_u64(struct json *j, uint64_t v)
{
	before_value(j);
	out_u64(j->o, v);
}

void json_i64(struct json *j, int64_t v)
{
	before_value(j);
	if (v < 0)
		out_char(j->o, '-');
	out_u64(j->o, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void json_num(struct json *j, double v, int decimals)
{
	char tmp[512], *p, *q, *point = NULL;

	if (!isfinite(v)) {
		json_null(j);
		return;
	}
	before_value(j);
	assert(decimals >= 0 && decimals <= 20);
	snprintf(tmp, sizeof(tmp), "%.*f", decimals, v);
	/* The locale's decimal point may be another character, even several bytes. */
	for (p = q = tmp; *p; p++) {
		if ((*p >= '0' && *p <= '9') || *p == '-') {
			*q++ = *p;
		} else if (!point) {
			point = q;
			*q++ = '.';
		}
	}
	while (point && q > point && (q[-1] == '0' || q[-1] == '.'))
		q--;
	*q = '\0';
	out_str(j->o, strcmp(tmp, "-0") ? tmp : "0");
}

void json_bool(struct json *j, int v)
{
	before_value(j);
	out_str(j->o, v ? "true" : "false");
}

void json_null(struct json *j)
{
	before_value(j);
	out_str(j->o, "null");
}

void json_key_u64(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	json_u64(j, v);
}

void json_key_num(struct json *j, const char *key, double v, int decimals)
{
	json_key(j, key);
	json_num(j, v, decimals);
}

void json_key_text(struct json *j, const char *key, const char *s)
{
	json_key(j, key);
	json_str(j, s && *s ? s : NULL);
}
