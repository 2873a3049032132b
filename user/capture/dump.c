/* SPDX-License-Identifier: BSD-2-Clause */
/* One line a record: the kind, then each field as name=value, by the table. */
#include "capture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"
#include "user/base/buf.h"
#include "user/base/escape.h"
#include "user/base/out.h"

struct dump {
	struct sink sink;
	struct out *out; /* borrowed */
};

/* "frame.addr" prints as "addr". */
static const char *short_name(const struct field *f)
{
	const char *dot = strrchr(f->name, '.');

	return dot ? dot + 1 : f->name;
}

static int dump_bytes(struct out *o, const struct field *f, const struct record *r, uint64_t len)
{
	struct buf text = BUF_INIT;
	const char *data;
	int ret;

	memcpy(&data, (const char *)r + f->data_offset, sizeof(data));
	escape_text(&text, data, len);
	ret = text.err;
	if (!ret)
		out_write(o, text.data, text.len);
	buf_release(&text);
	return ret;
}

static int dump_put(struct sink *s, const struct record *r, struct err *e)
{
	struct out *o = ((struct dump *)s)->out;
	const struct kind *k = kind_at(r->kind);
	const struct field *f;
	uint64_t v;
	int ret;

	if (!k) {
		out_printf(o, "kind_%u\n", (unsigned)r->kind);
		return 0;
	}
	out_str(o, k->name);
	for (f = k->fields; f < k->fields + k->nr; f++) {
		v = field_get(f, r);
		out_char(o, ' ');
		out_str(o, short_name(f));
		out_char(o, '=');
		if (f->code == CODE_BYTES) {
			ret = dump_bytes(o, f, r, v);
			if (ret)
				return err_set(e, ret, "dump: out of memory");
			continue;
		}
		if (f->code == CODE_SVARINT)
			out_printf(o, "0x%" PRIx64, v);
		else
			out_u64(o, v);
		if (f->text && v)
			out_printf(o, " (%s)", f->text((unsigned)v));
	}
	out_char(o, '\n');
	ret = out_err(o);
	return ret ? err_sys(e, ret, "writing the dump") : 0;
}

struct sink *dump_sink_new(struct out *o)
{
	struct dump *d = malloc(sizeof(*d));

	if (!d)
		return NULL;
	*d = (struct dump){{dump_put}, o};
	return &d->sink;
}
