/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main() for a fuzz target without libFuzzer: runs it once for every file named
 * on the command line, folders included. So `make check` replays the corpora
 * with any compiler. Each input is given in a block of exactly its size, for
 * AddressSanitizer to see one byte too many.
 */
#include <errno.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

static unsigned long nr_inputs; /* nftw() passes no context */

static int replay(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	size_t size = (size_t)st->st_size;
	uint8_t *data = NULL;
	int ret = -1;
	FILE *f;

	(void)ftw;
	if (kind == FTW_D || kind == FTW_DP)
		return 0;
	f = fopen(path, "re");
	if (kind != FTW_F || !f)
		goto out;
	data = malloc(size ? size : 1);
	if (!data || fread(data, 1, size, f) != size)
		goto out;
	/* Known before it runs: a crash leaves no time to tell which input it was. */
	if (getenv("V"))
		fprintf(stderr, "%s\n", path);
	LLVMFuzzerTestOneInput(data, size);
	nr_inputs++;
	ret = 0;
out:
	if (ret)
		fprintf(stderr, "%s: %s\n", path, errno ? strerror(errno) : "cannot be read");
	free(data);
	if (f)
		fclose(f);
	return ret;
}

int main(int argc, char **argv)
{
	int i, ret = 0;

	setenv("PROFBPF_FUZZ", "1", 1); /* the same hash seed each time */
	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	for (i = 1; i < argc; i++) {
		errno = 0;
		if (nftw(argv[i], replay, 16, 0)) {
			fprintf(stderr, "%s: %s\n", argv[i],
				errno ? strerror(errno) : "could not be replayed");
			ret = 1;
		}
	}
	printf("%s: %lu inputs\n", argv[0], nr_inputs);
	return ret;
}
