/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkcapture TEXT FILE: a capture out of a few lines of text
 * (tests/unit/profile_fixture.h says which). The captures under data/ were made
 * with it; data/NAME.txt is the text of data/NAME.capture (or .capture.part). To make them
 * again:
 *
 *	gcc -std=gnu17 -D_GNU_SOURCE -I. tests/golden/mkcapture.c build/release/libprofbpf.a \
 *		-lcmocka -lz -lm -lpthread -o mkcapture
 *	for f in tests/golden/data/?*.txt; do ./mkcapture $f ${f%.txt}.capture; done
 *
 * A text with "!part" leaves FILE.part.
 */
#include "tests/unit/support.h"

#include "tests/unit/profile_fixture.h"
#include "user/capture/capture.h"

int main(int argc, char **argv)
{
	struct capture_writer *w;
	struct err e = {0};
	char *text;
	int ret;

	if (argc != 3) {
		fprintf(stderr, "usage: mkcapture TEXT FILE\n");
		return 2;
	}
	text = read_file(argv[1], NULL);
	if (capture_writer_open(&w, argv[2], &e))
		goto failed;
	fixture_records(capture_writer_sink(w), text);
	ret = strstr(text, "!part") ? capture_writer_leave_part(w, &e)
				    : capture_writer_finish(w, &e);
	if (ret)
		goto failed;
	free(text);
	return 0;

failed:
	fprintf(stderr, "mkcapture: %s\n", e.msg);
	free(text);
	return 1;
}
