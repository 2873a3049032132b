/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader: bytes -> blocks -> records -> stream check -> sink.
 *
 * Three things can be wrong with a file, and they are told apart:
 *
 *   it ends inside a block, or in zeros: an interrupted recording. The records
 *   before are good; info->complete is 0 and info->tail_bytes says how much
 *   is left over.
 *
 *   a sum, a sequence number or a rule is violated: damage, -EBADMSG. The hint
 *   says how much before it is sound, and how to cut the file there.
 *
 *   another major version, or an unknown encoding: -EPROTO.
 *
 * Unknown kinds, trailing fields and new enumerators are a newer minor version:
 * stepped over and counted.
 */
#include "capture.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "block.h"
#include "byte_source.h"
#include "codec.h"
#include "stream.h"
#include "table.h"
#include "user/base/escape.h"
#include "user/base/fmt.h"
#include "user/base/gz.h"

#define READ_PIECE ((size_t)1 << 16)

struct reader {
	char name[ESCAPE_BRIEF_BUF];
	struct byte_source src;
	struct sink *sink;
	struct stream stream;
	struct codec *codec;
	struct capture_info info;
	struct buf stored, raw;
	uint32_t sequence;     /* of the block being read */
	uint64_t block_offset; /* where it begins */
	struct err *e;
};

/* ---- complaints ---------------------------------------------------------- */

static void hint_sound_part(struct reader *rd)
{
	char bytes[32], samples[32];

	if (!rd->sequence)
		return;
	err_hint(rd->e,
		"the first %s bytes are sound (%u blocks, %s samples); head -c %" PRIu64
		" makes a readable file of them",
		fmt_count(bytes, sizeof(bytes), rd->block_offset), rd->sequence,
		fmt_count(samples, sizeof(samples), rd->info.records[RECORD_SAMPLE]),
		rd->block_offset);
}

/* Puts "FILE: block N at offset X: " before the sentence that is in e. */
static int at_block(struct reader *rd, int code)
{
	err_prefix(
		rd->e, "%s: block %u at offset %" PRIu64, rd->name, rd->sequence, rd->block_offset);
	if (code == -EBADMSG)
		hint_sound_part(rd);
	return code;
}

#define bad_block(rd, code, ...) (err_set((rd)->e, code, __VA_ARGS__), at_block(rd, code))

/* ---- records ------------------------------------------------------------- */

/*
 * Check a record; if what is wrong with it are only enumerators newer than this
 * version, take it without them. 1 = dropped.
 */
static int check_record(struct reader *rd, struct record *r, int *newer)
{
	int ret = stream_take(&rd->stream, r, rd->e), degraded;

	if (!ret)
		return 0;
	degraded = stream_degrade(r);
	if (degraded < 0) {
		*rd->e = (struct err){0};
		stream_drop(&rd->stream, r);
		return 1;
	}
	if (!degraded)
		return ret;
	*rd->e = (struct err){0};
	*newer = 1;
	return stream_take(&rd->stream, r, rd->e);
}

static int take_record(struct reader *rd, unsigned kind, struct cursor *payload)
{
	struct record r;
	int ret, newer;

	ret = codec_decode(rd->codec, &rd->stream, kind, payload, &r, rd->e);
	if (ret)
		return ret;
	newer = cursor_left(payload) > 0;
	ret = check_record(rd, &r, &newer);
	if (ret < 0)
		return ret;
	rd->info.unknown_records += (unsigned)ret;
	if (ret)
		return 0;
	rd->info.unknown_fields += (unsigned)newer;
	rd->info.records[kind]++;
	ret = sink_put(rd->sink, &r, rd->e);
	/* Not our finding: positive, so that the caller can tell. */
	return ret < 0 ? -ret : 0;
}

static int take_records(struct reader *rd, const struct block_header *h)
{
	struct cursor in, payload;
	uint64_t kind, len;
	uint32_t nr = 0;
	size_t start;
	int ret;

	codec_block(rd->codec);
	cursor_init(&in, rd->raw.data, rd->raw.len);
	for (; cursor_left(&in); nr++) {
		start = cursor_offset(&in);
		kind = codec_varint(&in);
		len = codec_varint(&in);
		if (cursor_err(&in) || len > cursor_left(&in))
			return bad_block(rd, -EBADMSG, "record %u: does not fit the block", nr);
		if (!kind)
			return bad_block(rd, -EBADMSG, "record %u: kind 0 does not exist", nr);
		cursor_init(&payload, cursor_bytes(&in, len), len);
		if (kind >= RECORD_KIND_MAX || !kind_at((unsigned)kind)) {
			rd->info.unknown_records++;
			continue;
		}
		rd->info.bytes[kind] += cursor_offset(&in) - start;
		ret = take_record(rd, (unsigned)kind, &payload);
		if (ret > 0)
			return -ret;
		if (ret) {
			err_prefix(rd->e, "record %u", nr);
			return at_block(rd, ret);
		}
	}
	if (!nr)
		return bad_block(rd, -EBADMSG, "holds no record");
	if (nr != h->records)
		return bad_block(
			rd, -EBADMSG, "%u records where the header says %u", nr, h->records);
	return 0;
}

/* ---- blocks -------------------------------------------------------------- */

/* The file ends before the block does. */
static int rough_end(struct reader *rd)
{
	rd->info.tail_bytes = rd->src.offset - rd->block_offset;
	if (rd->stream.ended)
		return bad_block(rd, -EBADMSG, "%" PRIu64 " bytes after the end record",
			rd->info.tail_bytes);
	return 0;
}

/* A file system may leave zeros where the last writes did not reach the disk. */
static int only_zeros_follow(struct reader *rd, const uint8_t *data, size_t len, int *zeros)
{
	int ret;

	for (*zeros = 1; len;) {
		if (data[0] || memcmp(data, data + 1, len - 1)) {
			*zeros = 0;
			return 0;
		}
		ret = byte_source_take(&rd->src, READ_PIECE, &rd->stored, &data, &len);
		if (ret)
			return ret;
	}
	return 0;
}

static int check_header(struct reader *rd, const struct block_header *h)
{
	uint64_t raw = rd->info.raw_bytes + h->raw_len;
	uint64_t file = rd->block_offset + BLOCK_HEADER_LEN + h->stored_len;

	if (h->sequence != rd->sequence)
		return bad_block(rd, -EBADMSG, "it is number %u: a block is missing or doubled",
			h->sequence);
	if (rd->stream.ended)
		return bad_block(rd, -EBADMSG, "comes after the end record");
	if (h->encoding >= BLOCK_ENCODING_MAX)
		return bad_block(
			rd, -EPROTO, "encoding %u is not known to this version", h->encoding);
	if (h->raw_len > BLOCK_RAW_MAX ||
		(h->encoding == BLOCK_STORED && h->raw_len != h->stored_len))
		return bad_block(rd, -EBADMSG, "impossible length of %u bytes", h->raw_len);
	if (!file_ratio_ok(raw, file))
		return bad_block(
			rd, -EBADMSG, "inflates the file more than %d times", FILE_RATIO_MAX);
	return 0;
}

static int unpack_payload(struct reader *rd, const struct block_header *h, const uint8_t *data)
{
	int ret;

	if (gz_crc32(0, data, h->stored_len) != h->payload_crc)
		return bad_block(rd, -EBADMSG, "check sum does not match: the content is damaged");
	buf_clear(&rd->raw);
	if (h->encoding == BLOCK_STORED) {
		buf_add(&rd->raw, data, h->stored_len);
		ret = rd->raw.err;
	} else {
		ret = gz_inflate(&rd->raw, data, h->stored_len, h->raw_len);
	}
	if (ret == -EBADMSG)
		return bad_block(rd, ret, "does not inflate to %u bytes", h->raw_len);
	if (ret)
		return bad_block(rd, ret, "out of memory for %u bytes", h->raw_len);
	return 0;
}

/* One block. 1 = there may be another, 0 = the end, or negative errno. */
static int read_block(struct reader *rd)
{
	struct block_header h;
	enum header_state state;
	const uint8_t *data;
	size_t got;
	int ret, zeros;

	rd->block_offset = rd->src.offset;
	ret = byte_source_take(&rd->src, BLOCK_HEADER_LEN, &rd->stored, &data, &got);
	if (ret)
		goto unreadable;
	if (!got)
		return 0;
	if (got < BLOCK_HEADER_LEN)
		return rough_end(rd);
	state = block_header_unpack(data, &h);
	if (state == HEADER_NO_MAGIC) {
		ret = only_zeros_follow(rd, data, got, &zeros);
		if (ret)
			goto unreadable;
		return zeros ? rough_end(rd) : bad_block(rd, -EBADMSG, "no block begins here");
	}
	if (state != HEADER_OK)
		return bad_block(rd, -EBADMSG, "check sum of its header does not match");
	ret = check_header(rd, &h);
	if (ret)
		return ret;
	ret = byte_source_take(&rd->src, h.stored_len, &rd->stored, &data, &got);
	if (ret)
		goto unreadable;
	if (got < h.stored_len)
		return rough_end(rd);
	ret = unpack_payload(rd, &h, data);
	if (!ret)
		ret = take_records(rd, &h);
	if (ret)
		return ret;
	rd->info.blocks++;
	rd->info.raw_bytes += h.raw_len;
	rd->sequence++;
	return 1;

unreadable:
	err_sys(rd->e, ret, "reading");
	return at_block(rd, ret);
}

/* ---- the file ------------------------------------------------------------ */

static int read_file_header(struct reader *rd)
{
	uint16_t major, minor;
	const uint8_t *data;
	size_t got;
	int ret;

	ret = byte_source_take(&rd->src, FILE_HEADER_LEN, &rd->stored, &data, &got);
	if (ret)
		return err_sys(rd->e, ret, "%s: reading", rd->name);
	if (!got)
		return err_set(rd->e, -ENODATA, "%s: is empty", rd->name);
	if (got < FILE_HEADER_LEN) {
		if (!memcmp(data, FILE_MAGIC, got < FILE_MAGIC_LEN ? got : FILE_MAGIC_LEN))
			return err_set(rd->e, -ENODATA,
				"%s: ends inside its header, nothing was recorded", rd->name);
		return err_set(rd->e, -EBADMSG, "%s: not a capture", rd->name);
	}
	switch (file_header_unpack(data, &major, &minor)) {
	case HEADER_OK:
		break;
	case HEADER_NO_MAGIC:
		return err_set(rd->e, -EBADMSG, "%s: not a capture", rd->name);
	default:
		return err_set(rd->e, -EBADMSG,
			"%s: the header's check sum does not match: damaged", rd->name);
	}
	if (major != FILE_MAJOR) {
		err_set(rd->e, -EPROTO, "%s: capture format %u.%u; this version reads %u.x",
			rd->name, major, minor, FILE_MAJOR);
		err_hint(rd->e, "read it with the profbpf that wrote it, or one of its time");
		return -EPROTO;
	}
	return 0;
}

static int read_all(struct reader *rd)
{
	int ret = read_file_header(rd);

	if (ret)
		return ret;
	do {
		ret = read_block(rd);
	} while (ret > 0);
	if (ret)
		return ret;
	if (!rd->info.blocks)
		return err_set(rd->e, -ENODATA, "%s: holds no whole block, nothing was recorded",
			rd->name);
	rd->info.complete = rd->stream.ended;
	return 0;
}

static int reader_run(struct reader *rd, const char *name, struct sink *sink,
	struct capture_info *info, struct err *e)
{
	struct err own = {0}; /* context is put before sentences: there must be one */
	int ret;

	escape_brief(rd->name, sizeof(rd->name), name);
	rd->sink = sink;
	rd->e = e ? e : &own;
	rd->codec = codec_new();
	ret = rd->codec ? read_all(rd) : err_set(e, -ENOMEM, "%s: out of memory", rd->name);
	rd->info.file_bytes = rd->src.offset;
	if (info)
		*info = rd->info;
	codec_free(rd->codec);
	buf_release(&rd->stored);
	buf_release(&rd->raw);
	return ret;
}

static int open_capture(const char *path, int *fd, struct err *e)
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

int capture_read(const char *path, struct sink *sink, struct capture_info *info, struct err *e)
{
	struct reader rd = {.src = {.fd = STDIN_FILENO}};
	int ret;

	if (!strcmp(path, "-"))
		return reader_run(&rd, "standard input", sink, info, e);
	ret = open_capture(path, &rd.src.fd, e);
	if (ret)
		return ret;
	ret = reader_run(&rd, path, sink, info, e);
	close(rd.src.fd);
	return ret;
}

int capture_read_mem(const char *name, const void *data, size_t len, struct sink *sink,
	struct capture_info *info, struct err *e)
{
	struct reader rd = {.src = {.fd = -1, .mem = data, .mem_left = len}};

	return reader_run(&rd, name, sink, info, e);
}

/* ---- probing ------------------------------------------------------------- */

/* The first bytes of standard input, left there for the real reader. */
static ssize_t peek_stdin(void *buf, size_t len)
{
	off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
	int copy[2];
	ssize_t n;

	if (at >= 0)
		return pread(STDIN_FILENO, buf, len, at);
	if (pipe2(copy, O_CLOEXEC))
		return -1;
	/* tee(2) copies from one pipe to another and takes nothing away. */
	do {
		n = tee(STDIN_FILENO, copy[1], len, 0);
	} while (n < 0 && errno == EINTR);
	if (n > 0)
		n = read(copy[0], buf, (size_t)n);
	close(copy[0]);
	close(copy[1]);
	return n < 0 ? 0 : n; /* a terminal or a socket is no place for a capture */
}

int capture_probe(const char *path, struct err *e)
{
	char magic[FILE_MAGIC_LEN], name[ESCAPE_BRIEF_BUF];
	int fd = -1, ret, code;
	ssize_t n;

	if (!strcmp(path, "-")) {
		n = peek_stdin(magic, sizeof(magic));
	} else {
		ret = open_capture(path, &fd, e);
		if (ret)
			return ret;
		do {
			n = read(fd, magic, sizeof(magic));
		} while (n < 0 && errno == EINTR);
	}
	code = errno;
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return err_sys(e, -code, "%s: reading", escape_brief(name, sizeof(name), path));
	return n == (ssize_t)sizeof(magic) && !memcmp(magic, FILE_MAGIC, sizeof(magic));
}
