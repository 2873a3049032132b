// SPDX-License-Identifier: BSD-2-Clause
/*
 * tables FILE...   builds the unwind table of each ELF file, prints its size and
 *                  how long that took, and a line for all. Files that are no
 *                  64-bit x86-64 ELF files are left out. Without arguments the
 *                  names are read from standard input, and only the sum is shown.
 *
 * These are the figures of docs/unwinding.md.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symbolize/unwind_table.h"

struct total {
	unsigned files, tables, entry_end;
	uint64_t text, rows, raw_rows, bytes, fdes, bad, outside, overlaps, gaps, covered, refused;
	double seconds;
	struct eh_stats cfi;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t text_bytes(const struct elf_file *f)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < f->nr_loads; i++)
		if (f->loads[i].flags & 1) /* PF_X */
			sum += f->loads[i].filesz;
	return sum;
}

static void line(const char *name, double mb, const struct eh_stats *cfi, uint64_t rows,
	uint32_t rules, uint64_t bytes, double seconds)
{
	printf("%9.1f %9" PRIu64 " %10" PRIu64 " %10" PRIu64 " %6u %9.2f %5.2f %8.1f  %s\n", mb,
		cfi->fdes, cfi->rows, rows, rules, (double)bytes / 1e6,
		rows ? (double)bytes / (double)rows : 0.0, seconds * 1e3, name);
}

static void one(const char *path, struct unwind_rules *rules, struct total *sum, int verbose)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct unwind_table *t;
	struct elf_file *f;
	struct err e = {0};
	uint32_t nr;
	double began;

	if (fd < 0 || elf_open(&f, fd, path, NULL)) /* closes fd */
		return;
	began = now();
	if (unwind_table_build(&t, f, rules, &e) == 0) {
		double took = now() - began;

		unwind_table_check(t);
		unwind_rules_array(rules, &nr);
		sum->files++;
		sum->tables += t->nr_rows > 0;
		sum->text += text_bytes(f);
		sum->rows += t->nr_rows;
		sum->bytes += unwind_table_bytes(t);
		sum->outside += t->stats.outside;
		sum->overlaps += t->stats.overlaps;
		sum->gaps += t->stats.gaps;
		sum->covered += t->stats.covered;
		sum->refused += t->stats.refused;
		sum->entry_end += t->stats.entry_end;
		sum->seconds += took;
		eh_stats_add(&sum->cfi, &t->stats.cfi);
		if (verbose)
			line(path, (double)text_bytes(f) / 1e6, &t->stats.cfi, t->nr_rows, nr,
				unwind_table_bytes(t), took);
		if (t->stats.overlaps || t->stats.outside || t->stats.cfi.bad_fdes ||
			t->stats.cfi.truncated)
			printf("          %s: %u overlaps, %u outside, %" PRIu64
			       " bad FDEs, %" PRIu64 " bad CIEs%s\n",
				path, t->stats.overlaps, t->stats.outside, t->stats.cfi.bad_fdes,
				t->stats.cfi.bad_cies, t->stats.cfi.truncated ? ", truncated" : "");
		unwind_table_free(t);
	} else if (e.code != -EOPNOTSUPP) {
		printf("          %s\n", e.msg);
	}
	elf_close(f);
}

int main(int argc, char **argv)
{
	struct unwind_rules *rules = unwind_rules_new();
	struct total sum = {0};
	char *name = NULL;
	size_t cap = 0;
	ssize_t len;
	uint32_t nr;

	if (!rules)
		return 3;
	printf("%9s %9s %10s %10s %6s %9s %5s %8s\n", "text MB", "FDEs", "CFI rows", "rows",
		"rules", "table MB", "B/row", "ms");
	for (int i = 1; i < argc; i++)
		one(argv[i], rules, &sum, 1);
	while (argc == 1 && (len = getline(&name, &cap, stdin)) > 0) {
		name[strcspn(name, "\n")] = '\0';
		one(name, rules, &sum, 0);
	}
	free(name);
	unwind_rules_array(rules, &nr);
	line("all", (double)sum.text / 1e6, &sum.cfi, sum.rows, nr, sum.bytes, sum.seconds);
	printf("%u files, %u with a table; %.1f MB of code covered; %" PRIu64 " gaps, %" PRIu64
	       " overlaps, %" PRIu64 " FDEs outside, %u entry points ended; %" PRIu64
	       " rules refused\n",
		sum.files, sum.tables, (double)sum.covered / 1e6, sum.gaps, sum.overlaps,
		sum.outside, sum.entry_end, sum.refused);
	printf("%" PRIu64 " bad CIEs, %" PRIu64 " bad FDEs, %" PRIu64
	       " empty FDEs, %d sections truncated\n",
		sum.cfi.bad_cies, sum.cfi.bad_fdes, sum.cfi.empty_fdes, sum.cfi.truncated);
	for (unsigned i = 0; i < EH_UNSUPPORTED_NR; i++)
		printf("%10" PRIu64 " rows: %s\n", sum.cfi.unsupported[i], eh_unsupported_text(i));
	unwind_rules_free(rules);
	return 0;
}
