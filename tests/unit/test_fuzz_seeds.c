/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The binary seeds of tests/fuzz/corpus/capture: each is here with its name, so
 * that it can be read and made again:
 *
 *	PROFBPF_WRITE_SEEDS=1 build/release/tests/unit/test_fuzz_seeds
 *
 * and the test says when one is missing. Their first byte is fuzz_capture.c's:
 * 0 a whole file, 1 the records of a block.
 */
#include "capture_support.h"
#include "user/capture/block.h"

#define FOLDER "tests/fuzz/corpus/capture/"

static void seed(const char *name, const struct buf *b)
{
	struct stat st;
	char *path = path_in(FOLDER, name);

	if (getenv("PROFBPF_WRITE_SEEDS"))
		write_file(path, b->data, b->len);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size > 0);
	free(path);
}

/* A capture of @fill, behind the byte that says so. */
static void file_seed(struct buf *b, void (*fill)(struct sink *))
{
	struct capture_writer *w;
	struct buf file = BUF_INIT;

	assert_int_equal(capture_writer_mem(&w, &file), 0);
	fill(capture_writer_sink(w));
	assert_int_equal(capture_writer_finish(w, NULL), 0);
	buf_clear(b);
	buf_addc(b, 0);
	buf_add(b, file.data, file.len);
	buf_release(&file);
}

/* Its records alone: small streams are stored, so they stand behind the headers. */
static void records_seed(struct buf *b, const void *raw, size_t len)
{
	buf_clear(b);
	buf_addc(b, 1);
	buf_add(b, raw, len);
}
#define RECORDS(b, literal) records_seed(b, literal, sizeof(literal) - 1)

static void random_fill(struct sink *s)
{
	random_stream(s, 11, 300);
}

static void test_capture_seeds_are_there(void **state)
{
	struct buf b = BUF_INIT;

	file_seed(&b, sample_stream);
	seed("whole", &b);
	b.data[b.len / 2] ^= 0x40;
	seed("damaged", &b);
	b.data[b.len / 2] ^= 0x40;
	b.len -= 20;
	seed("cut", &b);
	b.len = 1 + FILE_HEADER_LEN;
	seed("header-only", &b);
	b.len = 1 + 5;
	seed("half-magic", &b);
	file_seed(&b, sample_stream);
	b.data[1 + 8] = 2;
	seed("other-version", &b);
	file_seed(&b, random_fill);
	seed("random", &b);

	RECORDS(&b, "\x01\x00\x02\x02\x01"
		    "a\x05\x02\x05\x01\x06\x03\x01\x05\x01\x07\x02\x02\x01\x08\x02\x01\x01"
		    "\x09\x05\x35\x01\x0a\x01\x01\x09\x01\x00\x0e\x02\x00\x02");
	seed("records-sample", &b);
	RECORDS(&b, "\x01\x06\x01\x02\x03\x04\x05\x06\x3c\x02zz\x03\x00");
	seed("records-newer", &b);
	RECORDS(&b, "\x01\x00\x0d\x01\x01\x0d\x01\x02\x08\x02\x01\x01");
	seed("records-restart", &b);
	RECORDS(&b, "\x01\x00\x00\x00");
	seed("records-kind-0", &b);
	RECORDS(&b, "\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	seed("records-long", &b);
	buf_release(&b);
}

RUN_TESTS(T(test_capture_seeds_are_there))
