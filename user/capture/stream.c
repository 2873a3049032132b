/* SPDX-License-Identifier: BSD-2-Clause */
#include "stream.h"

#include <errno.h>
#include <inttypes.h>

#include "table.h"

static int out_of_range(const struct field *f, uint64_t v)
{
	return v < f->first || v >= f->limit;
}

int stream_degrade(struct record *r)
{
	const struct kind *k = kind_at(r->kind);
	const struct field *f;
	int replaced = 0;

	for (f = k->fields; f < k->fields + k->nr; f++) {
		if (f->check != CHECK_ENUM || !out_of_range(f, field_get(f, r)))
			continue;
		if (f->unknown == UNKNOWN_DROP)
			return -1;
		field_set(f, r, f->first);
		replaced++;
	}
	return replaced;
}

void stream_drop(struct stream *s, const struct record *r)
{
	s->records++;
	if (r->kind == RECORD_SAMPLE)
		s->samples++;
}

/* An id that refers to a record of kind @ref, which must be there already. */
static int check_ref(const struct stream *s, const char *kind, const char *field, unsigned ref,
	uint64_t id, int required, struct err *e)
{
	if (!id && required)
		return err_set(
			e, -EBADMSG, "%s: %s: no %s given", kind, field, record_kind_name(ref));
	if (id > s->nr[ref])
		return err_set(e, -EBADMSG, "%s: %s: %s %" PRIu64 " is not yet defined", kind,
			field, record_kind_name(ref), id);
	return 0;
}

static int check_field(const struct stream *s, const struct record *r, const struct kind *k,
	const struct field *f, uint64_t v, struct err *e)
{
	uint64_t next = (uint64_t)s->nr[r->kind] + 1;

	switch (f->check) {
	case CHECK_ID:
		if (v != next)
			return err_set(e, -EBADMSG, "%s: id %" PRIu64 " where %" PRIu64 " is next",
				k->name, v, next);
		return 0;
	case CHECK_REF:
		return check_ref(s, k->name, f->name, f->ref, v, f->required, e);
	case CHECK_ENUM:
		if (out_of_range(f, v))
			return err_set(e, -EBADMSG, "%s: %s %" PRIu64 " does not exist", k->name,
				f->name, v);
		return 0;
	default:
		return 0;
	}
}

static int check_fields(
	const struct stream *s, const struct record *r, const struct kind *k, struct err *e)
{
	const struct field *f;
	uint64_t v;
	int ret;

	for (f = k->fields; f < k->fields + k->nr; f++) {
		if (f->check == CHECK_NOTHING)
			continue;
		v = field_get(f, r);
		if (f->check == CHECK_REF && v && v <= s->nr[f->ref])
			continue; /* nearly always */
		ret = check_field(s, r, k, f, v, e);
		if (ret)
			return ret;
	}
	return 0;
}

/* What a frame's numbers refer to depends on its kind. */
static int check_frame(const struct stream *s, const struct frame *f, struct err *e)
{
	switch (f->kind) {
	case FRAME_MODULE:
		return check_ref(s, "frame", "owner", RECORD_MODULE, f->owner, 1, e);
	case FRAME_JIT:
		return check_ref(s, "frame", "owner", RECORD_PROCESS, f->owner, 1, e);
	case FRAME_NAMED:
		return check_ref(s, "frame", "addr", RECORD_STRING, f->addr, 1, e);
	default:
		return 0;
	}
}

/* The rules that are not a property of one field. */
static int check_kind(const struct stream *s, const struct record *r, struct err *e)
{
	switch (r->kind) {
	case RECORD_STRING:
		if (r->string.len > RECORD_STRING_MAX)
			return err_set(e, -EBADMSG, "string: %u bytes, the limit is %u",
				r->string.len, RECORD_STRING_MAX);
		return 0;
	case RECORD_MODULE:
		if (!r->module.id || r->module.id > (uint64_t)s->nr[RECORD_MODULE] + 1)
			return err_set(e, -EBADMSG, "module: id %u, the next is %" PRIu64,
				r->module.id, (uint64_t)s->nr[RECORD_MODULE] + 1);
		return 0;
	case RECORD_FRAME:
		return check_frame(s, &r->frame.frame, e);
	case RECORD_STACK:
		if (r->stack.parent > s->nr[RECORD_STACK])
			return err_set(e, -EBADMSG, "stack: parent %u of stack %u comes after it",
				r->stack.parent, r->stack.id);
		return 0;
	case RECORD_RESTART:
		if (r->restart.epoch != s->epoch + 1)
			return err_set(e, -EBADMSG, "restart: epoch %u after epoch %u",
				r->restart.epoch, s->epoch);
		return 0;
	case RECORD_END:
		if (r->end.samples != s->samples)
			return err_set(e, -EBADMSG,
				"end: says %" PRIu64 " samples, there are %" PRIu64, r->end.samples,
				s->samples);
		return 0;
	default:
		return 0;
	}
}

int stream_take(struct stream *s, const struct record *r, struct err *e)
{
	const struct kind *k = kind_at(r->kind);
	int ret;

	if (!k)
		return err_set(e, -EBADMSG, "record kind %u does not exist", (unsigned)r->kind);
	if (s->ended)
		return err_set(e, -EBADMSG, "%s: comes after the end record", k->name);
	if (!s->records && r->kind != RECORD_RUN)
		return err_set(e, -EBADMSG, "%s: the first record must be a run record", k->name);
	if (s->records && r->kind == RECORD_RUN)
		return err_set(e, -EBADMSG, "run: there is one already");
	ret = check_fields(s, r, k, e);
	if (ret)
		return ret;
	ret = check_kind(s, r, e);
	if (ret)
		return ret;
	s->records++;
	switch (r->kind) {
	case RECORD_STRING:
	case RECORD_PROCESS:
	case RECORD_THREAD:
	case RECORD_FRAME:
	case RECORD_STACK:
		s->nr[r->kind]++;
		break;
	case RECORD_MODULE:
		if (r->module.id > s->nr[RECORD_MODULE])
			s->nr[RECORD_MODULE] = r->module.id;
		break;
	case RECORD_SAMPLE:
		s->samples++;
		break;
	case RECORD_RESTART:
		s->epoch = r->restart.epoch;
		s->nr[RECORD_STACK] = 0;
		break;
	case RECORD_END:
		s->ended = 1;
		break;
	default:
		break;
	}
	return 0;
}
