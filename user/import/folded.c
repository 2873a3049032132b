/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines -> frames of each line -> batch of stacks -> builder -> sink
 *
 * DESIGN: a million stacks of 13 frames are 13 million names and as many trie
 * look-ups, each a cache miss if taken one by one. Hence: a line takes over the
 * frames it shares with the line before (sorted input shares nearly all);
 * names are looked up by their raw bytes; and stacks go to the builder in
 * batches, which it looks up side by side.
 */
#include "folded.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "line_source.h"
#include "name_table.h"
#include "user/base/buf.h"
#include "user/base/escape.h"
#include "user/base/fmt.h"
#include "user/capture/builder.h"

_Static_assert(LINES_PAD >= NAME_PAD, "names are read beyond the end of lines");

/* A batch: enough look-ups in flight to hide memory, few enough to stay in the nearest cache. */
#define BATCH_LINES  64
#define BATCH_FRAMES 1024

/*
 * Stack nodes held at once: at most 0.8 GiB. More restart the trie, and then the
 * profile holds stacks twice and its trie is no call tree as it is.
 */
#define MAX_STACKS (1u << 25)

struct importer {
	struct builder *builder;
	struct name_table names;
	struct folded_stats *st;
	struct err *e;
	uint32_t thread;
	uint64_t samples;

	/* Frame ids of the line before, then those of the batch's lines. */
	uint32_t *ids;
	size_t nr_ids, cap_ids;
	struct pending {
		size_t at, nr; /* its ids */
		uint64_t count;
	} batch[BATCH_LINES];
	size_t nr_batch;

	/* The line before: its bytes, where its frames end in it, where its ids begin. */
	const char *line;
	size_t line_len;
	uint32_t *ends;
	size_t nr_ends, cap_ends;
	size_t line_ids;

	struct buf plain; /* a name without its escapes */
};

static int no_memory(struct importer *im)
{
	return err_set(im->e, -ENOMEM, "out of memory");
}

/* ---- bad lines ----------------------------------------------------------- */

static void bad_line(struct importer *im, const char *line, size_t len, const char *reason)
{
	struct folded_stats *st = im->st;
	struct buf b = BUF_INIT;

	st->bad++;
	if (st->first_bad_line)
		return;
	st->first_bad_line = st->lines;
	st->first_bad_reason = reason;
	escape_text(&b, line, len < FOLDED_EXCERPT_MAX ? len : FOLDED_EXCERPT_MAX);
	if (!b.err && b.len + sizeof("..") <= sizeof(st->first_bad_text)) {
		memcpy(st->first_bad_text, buf_str(&b), b.len + 1);
		if (len > FOLDED_EXCERPT_MAX)
			memcpy(st->first_bad_text + b.len, "..", sizeof(".."));
	}
	buf_release(&b);
}

/* ---- the batch ----------------------------------------------------------- */

static int put_sample(struct importer *im, uint32_t stack, uint64_t count)
{
	struct record r = {.kind = RECORD_SAMPLE};

	/* The sum must stay within what everybody right of here can add up. */
	if (count > FOLDED_TOTAL_MAX - im->st->total) {
		count = FOLDED_TOTAL_MAX - im->st->total;
		im->st->saturated++;
	}
	im->st->total += count;
	im->samples++;
	r.sample = (struct record_sample){.type = VALUE_COUNT,
		.value = count,
		.thread = im->thread,
		.stack = stack,
		.result = STACK_IMPORTED};
	return builder_put(im->builder, &r, im->e);
}

/* Put the collected lines; the last one's ids stay for the next to share. */
static int flush(struct importer *im)
{
	size_t i, keep = im->nr_ids - im->line_ids;
	struct builder_path paths[BATCH_LINES];
	int ret;

	for (i = 0; i < im->nr_batch; i++)
		paths[i] = (struct builder_path){im->ids + im->batch[i].at, im->batch[i].nr, 0};
	ret = builder_stack_paths(im->builder, paths, im->nr_batch, im->e);
	for (i = 0; !ret && i < im->nr_batch; i++)
		ret = put_sample(im, paths[i].stack, im->batch[i].count);
	im->nr_batch = 0;
	if (keep)
		memmove(im->ids, im->ids + im->line_ids, keep * sizeof(*im->ids));
	im->line_ids = 0;
	im->nr_ids = keep;
	return ret;
}

/* ---- names --------------------------------------------------------------- */

/*
 * A name that escapes stand for, and that has none of its own when it is written
 * plainly: the frame of that spelling, or a new one which that spelling finds, too.
 */
static int64_t plain_name(struct importer *im, const char *s, size_t len)
{
	struct name_key k;
	int64_t frame;

	name_table_scan(&im->names, s, len, &k);
	frame = name_table_find(&im->names, &k);
	if (frame)
		return frame;
	frame = builder_new_name(im->builder, s, len, im->e);
	if (frame > 0 && name_table_add(&im->names, &k, (uint32_t)frame))
		return no_memory(im);
	return frame;
}

/* One that is never written plainly: the builder's dictionaries know these. */
static int64_t odd_name(struct importer *im, const char *s, size_t len)
{
	struct frame f = {.kind = FRAME_NAMED};
	struct record r = {.kind = RECORD_NAME};
	int64_t string = builder_string(im->builder, s, len, im->e), frame;
	uint32_t before;
	int ret;

	if (string < 0)
		return string;
	f.addr = (uint64_t)string;
	before = builder_frame_count(im->builder);
	frame = builder_frame(im->builder, &f, im->e);
	if (frame < 0)
		return frame;
	if (frame > before) { /* two spellings may be one name */
		r.name.frame = (uint32_t)frame;
		r.name.name = (uint32_t)string;
		ret = builder_put(im->builder, &r, im->e);
		if (ret)
			return ret;
	}
	return frame;
}

/*
 * First sight of a name: undo its escapes, make it a frame with a name. Two
 * spellings may be one name, but only if one of them has a backslash; without,
 * a name that our table does not know is new to everybody, and the bytes of
 * millions need not be in a dictionary of the builder as well.
 */
static int64_t new_name(struct importer *im, const struct name_key *k)
{
	int64_t frame;
	size_t len;

	if (!memchr(k->s, '\\', k->len)) {
		frame = builder_new_name(im->builder, k->s, k->len, im->e);
	} else {
		buf_clear(&im->plain);
		unescape_folded(&im->plain, k->s, k->len);
		len = im->plain.len;
		buf_add(&im->plain, name_mask + NAME_PAD, NAME_PAD); /* to be read, no part of it */
		if (im->plain.err)
			return no_memory(im);
		if (memchr(im->plain.data, '\\', len) || memchr(im->plain.data, ';', len))
			frame = odd_name(im, im->plain.data, len);
		else
			frame = plain_name(im, im->plain.data, len);
	}
	if (frame < 0)
		return frame;
	if (name_table_add(&im->names, k, (uint32_t)frame))
		return no_memory(im);
	return frame;
}

/* ---- one line ------------------------------------------------------------ */

static int is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The count [s, end). NULL, or why it is none. */
static const char *parse_count(const char *s, const char *end, uint64_t *count)
{
	uint64_t v = 0;

	if (*s == '-' && end - s > 1 && is_digit(s[1]))
		return "negative count";
	if (!is_digit(*s))
		return "no count at the end";
	for (; s < end; s++) {
		if (!is_digit(*s))
			return "count is not a whole decimal number";
		if (__builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, (uint64_t)(*s - '0'), &v) || v > FOLDED_TOTAL_MAX)
			return "count is too large";
	}
	*count = v;
	return NULL;
}

static int room_for_frames(struct importer *im, size_t more)
{
	size_t cap;
	uint32_t *p;

	if (im->nr_ids + more > im->cap_ids) {
		cap = (im->nr_ids + more) * 3 / 2 + BATCH_FRAMES;
		p = reallocarray(im->ids, cap, sizeof(*p));
		if (!p)
			return -ENOMEM;
		im->ids = p;
		im->cap_ids = cap;
	}
	if (im->nr_ends + more > im->cap_ends) {
		cap = (im->nr_ends + more) * 3 / 2 + BATCH_FRAMES;
		p = reallocarray(im->ends, cap, sizeof(*p));
		if (!p)
			return -ENOMEM;
		im->ends = p;
		im->cap_ends = cap;
	}
	return 0;
}

/* Bytes that @s shares with the line before. */
static size_t common_bytes(const struct importer *im, const char *s, size_t len)
{
	size_t max = len < im->line_len ? len : im->line_len, i = 0;
	uint64_t x, y;

	for (; i + 8 <= max; i += 8) {
		memcpy(&x, s + i, 8);
		memcpy(&y, im->line + i, 8);
		if (x != y)
			break;
	}
	while (i < max && s[i] == im->line[i])
		i++;
	return i;
}

/* Whole frames in the first @bytes of the line before: those whose ';' is among them. */
static size_t frames_within(const struct importer *im, size_t bytes)
{
	size_t i;

	for (i = 0; i + 1 < im->nr_ends && im->ends[i] < bytes; i++)
		;
	return i;
}

/*
 * Frames of the stack [s, s + len) to the end of ids; the line becomes "the
 * line before". NULL reason and 0: done; a reason: a bad line; else errno.
 */
static int parse_stack(struct importer *im, const char *s, size_t len, const char **reason)
{
	size_t shared = frames_within(im, common_bytes(im, s, len)), start = im->nr_ids;
	struct name_key k;
	int64_t id;
	size_t at;

	im->nr_ends = shared;
	if (room_for_frames(im, shared))
		return no_memory(im);
	if (shared)
		memcpy(im->ids + start, im->ids + im->line_ids, shared * sizeof(*im->ids));
	im->nr_ids += shared;
	at = shared ? im->ends[shared - 1] + 1 : 0;
	for (;;) {
		name_table_scan(&im->names, s + at, len - at, &k);
		id = name_table_find(&im->names, &k);
		if (!id) {
			if (k.len > FOLDED_NAME_MAX) {
				*reason = "a name is longer than 16 MiB";
				goto bad;
			}
			id = new_name(im, &k);
			if (id < 0)
				return (int)id;
		}
		if (im->nr_ends == FOLDED_DEPTH_MAX) {
			*reason = "more than 8,000,000 frames";
			goto bad;
		}
		if ((im->nr_ids == im->cap_ids || im->nr_ends == im->cap_ends) &&
			room_for_frames(im, 1))
			return no_memory(im);
		at += k.len;
		im->ids[im->nr_ids++] = (uint32_t)id;
		im->ends[im->nr_ends++] = (uint32_t)at;
		if (at == len)
			break;
		at++; /* the ';' */
	}
	im->line = s;
	im->line_len = len;
	im->line_ids = start;
	return 0;

bad:
	/* Half a line is nothing to share with. */
	im->nr_ids = start;
	im->line_len = im->nr_ends = 0;
	im->line_ids = start;
	return 0;
}

static int import_line(struct importer *im, const char *line, size_t len)
{
	const char *end = line + len, *count, *reason;
	uint64_t value = 0;
	int ret;

	im->st->lines++;
	while (end > line && (is_blank(end[-1]) || end[-1] == '\r'))
		end--;
	if (end == line || *line == '#')
		return 0;
	for (count = end; count > line && !is_blank(count[-1]);)
		count--;
	reason = parse_count(count, end, &value);
	while (count > line && is_blank(count[-1]))
		count--;
	if (!reason && count == line)
		reason = "a number without a stack";
	if (reason) {
		bad_line(im, line, len, reason);
		return 0;
	}
	ret = parse_stack(im, line, (size_t)(count - line), &reason);
	if (ret)
		return ret;
	if (reason) {
		bad_line(im, line, len, reason);
		return 0;
	}
	im->st->good++;
	if (value)
		im->batch[im->nr_batch++] = (struct pending){im->line_ids, im->nr_ends, value};
	else
		im->st->zero++; /* no sample, but a line to share frames with */
	return im->nr_batch == BATCH_LINES || im->nr_ids >= BATCH_FRAMES ? flush(im) : 0;
}

/* ---- the file ------------------------------------------------------------ */

/* The byte order mark some editors write. */
static void skip_bom(struct importer *im, const char **line, size_t *len)
{
	if (im->st->lines == 0 && *len >= 3 && !memcmp(*line, "\xef\xbb\xbf", 3)) {
		*line += 3;
		*len -= 3;
	}
}

static int import_lines(struct importer *im, struct line_source *in)
{
	const char *line;
	size_t len;
	int ret;

	while ((ret = line_source_next(in, &line, &len)) > 0) {
		if (in->moved) {
			im->line_len = im->nr_ends = 0; /* its bytes are gone */
			in->moved = 0;
		}
		if (ret == 2) {
			im->st->lines++;
			bad_line(im, "", 0, "longer than 64 MiB");
			continue;
		}
		skip_bom(im, &line, &len);
		ret = import_line(im, line, len);
		if (ret)
			return ret;
	}
	im->st->bytes = in->bytes;
	return ret < 0 ? err_sys(im->e, ret, "reading") : flush(im);
}

/* The records that come before all others. @path is raw, for the names. */
static int begin(struct importer *im, const char *path)
{
	struct record run = {.kind = RECORD_RUN, .run = {.value_types = 1u << VALUE_COUNT}};
	const char *slash = strrchr(path, '/'), *base = slash && slash[1] ? slash + 1 : path;
	struct record_process process = {0};
	int64_t id;
	int ret;

	ret = builder_put(im->builder, &run, im->e);
	if (!ret)
		ret = builder_meta(im->builder, "import.file", path, 0, im->e);
	if (ret)
		return ret;
	id = builder_string(im->builder, base, strlen(base), im->e);
	if (id < 0)
		return (int)id;
	process.name = (uint32_t)id;
	id = builder_process(im->builder, &process, NULL, im->e);
	if (id < 0)
		return (int)id;
	id = builder_thread(im->builder, (uint32_t)id, 0, "imported", strlen("imported"), im->e);
	if (id < 0)
		return (int)id;
	im->thread = (uint32_t)id;
	return 0;
}

static int finish(struct importer *im)
{
	struct record end = {.kind = RECORD_END, .end = {0, im->samples, END_IMPORT}};
	int ret;

	im->st->restarts = builder_restarts(im->builder);
	ret = builder_meta(im->builder, "import.lines", NULL, im->st->lines, im->e);
	if (!ret)
		ret = builder_meta(im->builder, "import.bad_lines", NULL, im->st->bad, im->e);
	if (!ret)
		ret = builder_meta(im->builder, "import.saturated", NULL, im->st->saturated, im->e);
	return ret ? ret : builder_put(im->builder, &end, im->e);
}

/* Nothing came out: which kind of nothing. */
static int no_samples(struct importer *im)
{
	const struct folded_stats *st = im->st;
	char line[32];

	if (st->bad && !st->good) {
		err_set(im->e, -EBADMSG, "not folded text; line %s: %s: \"%s\"",
			fmt_count(line, sizeof(line), st->first_bad_line), st->first_bad_reason,
			st->first_bad_text);
		err_hint(im->e, "each line is: root;...;leaf count");
		return -EBADMSG;
	}
	if (st->zero)
		return err_set(im->e, -ENODATA, "no samples: all counts are 0");
	return err_set(im->e, -ENODATA, "no samples: %s",
		st->lines ? "only blank lines and comments" : "the input is empty");
}

static int import_from(struct line_source *in, const char *path, struct sink *sink,
	struct folded_stats *st, struct err *e)
{
	const struct builder_limits limits = {.max_stacks = MAX_STACKS,
		.max_frames = FOLDED_NAMES_MAX,
		.max_strings = FOLDED_NAMES_MAX + 64};
	const char *shown = strcmp(path, "-") ? path : "standard input";
	struct importer im = {.st = st, .e = e};
	char name[ESCAPE_BRIEF_BUF];
	int ret;

	ret = builder_new(&im.builder, sink, &limits);
	if (!ret)
		ret = name_table_init(&im.names);
	ret = ret ? no_memory(&im) : begin(&im, shown);
	if (!ret)
		ret = import_lines(&im, in);
	if (!ret)
		ret = im.samples ? finish(&im) : no_samples(&im);
	if (ret)
		err_prefix(e, "%s", escape_brief(name, sizeof(name), shown));
	builder_free(im.builder);
	name_table_release(&im.names);
	free(im.ids);
	free(im.ends);
	buf_release(&im.plain);
	return ret;
}

static int open_input(const char *path, int *fd, struct err *e)
{
	char name[ESCAPE_BRIEF_BUF];
	struct stat st;

	escape_brief(name, sizeof(name), path);
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return err_sys(e, -errno, "%s: opening", name);
	if (!fstat(*fd, &st) && S_ISDIR(st.st_mode)) {
		close(*fd);
		return err_set(e, -EISDIR, "%s: is a directory", name);
	}
	return 0;
}

int folded_import(const char *path, struct sink *sink, struct folded_stats *st, struct err *e)
{
	int fd = STDIN_FILENO, from_stdin = !strcmp(path, "-"), ret;
	struct folded_stats own_stats;
	struct err own_err = {0};
	struct line_source in;

	st = st ? st : &own_stats;
	e = e ? e : &own_err; /* context is put before sentences: there must be one */
	*st = (struct folded_stats){0};
	if (!from_stdin) {
		ret = open_input(path, &fd, e);
		if (ret)
			return ret;
	}
	ret = line_source_init_fd(&in, fd, FOLDED_LINE_MAX);
	ret = ret ? err_set(e, ret, "out of memory") : import_from(&in, path, sink, st, e);
	line_source_release(&in);
	if (!from_stdin)
		close(fd);
	return ret;
}

int folded_import_mem(const char *name, const void *data, size_t len, struct sink *sink,
	struct folded_stats *st, struct err *e)
{
	struct folded_stats own_stats;
	struct err own_err = {0};
	struct line_source in;
	int ret;

	st = st ? st : &own_stats;
	e = e ? e : &own_err;
	*st = (struct folded_stats){0};
	line_source_init_mem(&in, data, len, FOLDED_LINE_MAX);
	ret = import_from(&in, name, sink, st, e);
	line_source_release(&in);
	return ret;
}
