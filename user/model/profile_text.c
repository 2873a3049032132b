/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Profiles out of a line of text, for tests of everything right of the model.
 * It drives the same sink as a file does.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"
#include "user/capture/builder.h"

static int add_line(struct builder *b, const char *line, size_t len, int64_t thread,
	uint64_t *samples, struct err *e)
{
	const char *count = memrchr(line, ' ', len), *at, *semicolon, *end = line + len;
	int64_t node = 0, string, frame;
	uint64_t value = 0;
	size_t n;

	if (!count || count + 1 == end)
		return err_set(e, -EBADMSG, "no count behind a blank");
	for (at = count + 1; at < end; at++) {
		if (*at < '0' || *at > '9')
			return err_set(e, -EBADMSG, "the count is not a number");
		if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
			__builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
			return err_set(e, -EBADMSG, "the count is too large");
	}
	for (at = line; at <= count; at += n + 1) {
		semicolon = memchr(at, ';', (size_t)(count - at));
		n = (size_t)((semicolon ? semicolon : count) - at);
		string = builder_string(b, at, n, e);
		if (string < 0)
			return (int)string;
		frame = builder_frame(
			b, &(struct frame){.kind = FRAME_NAMED, .addr = (uint64_t)string}, e);
		if (frame < 0)
			return (int)frame;
		node = builder_stack(b, (uint32_t)node, (uint32_t)frame, e);
		if (node < 0)
			return (int)node;
	}
	(*samples)++;
	return builder_put(b,
		&(struct record){.kind = RECORD_SAMPLE,
			.sample = {.value = value,
				.thread = (uint32_t)thread,
				.stack = (uint32_t)node,
				.type = VALUE_COUNT,
				.result = STACK_IMPORTED}},
		e);
}

static int add_text(struct builder *b, const char *text, struct err *e)
{
	uint64_t samples = 0;
	const char *end;
	int64_t process, thread;
	int line = 1, ret;

	ret = builder_put(b,
		&(struct record){.kind = RECORD_RUN, .run = {.value_types = 1u << VALUE_COUNT}}, e);
	if (ret)
		return ret;
	process = builder_process(b, &(struct record_process){0}, NULL, e);
	thread = process < 0 ? process : builder_thread(b, (uint32_t)process, 0, "", 0, e);
	if (thread < 0)
		return (int)thread;
	for (; *text; text = *end ? end + 1 : end, line++) {
		end = strchrnul(text, '\n');
		if (end == text)
			continue;
		ret = add_line(b, text, (size_t)(end - text), thread, &samples, e);
		if (ret) {
			err_prefix(e, "line %d", line);
			return ret;
		}
	}
	return builder_put(b,
		&(struct record){
			.kind = RECORD_END, .end = {.samples = samples, .reason = END_IMPORT}},
		e);
}

int profile_from_folded(struct profile **out, const char *text, struct err *e)
{
	struct builder *b = NULL;
	struct profile *p;
	int ret;

	*out = NULL;
	if (profile_new(&p) || builder_new(&b, profile_sink(p), NULL)) {
		ret = err_set(e, -ENOMEM, "out of memory");
		goto out;
	}
	ret = add_text(b, text, e);
	if (!ret)
		ret = profile_finish(p, e);
	if (ret)
		goto out;
	*out = p;
	p = NULL;
out:
	builder_free(b);
	profile_free(p);
	return ret;
}
