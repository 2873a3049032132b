/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two checks with different reach:
 *   - all mappings: start, end and offset must be those of /proc/self/maps. The
 *     inode is not compared: on overlayfs maps shows the overlay's, the walk
 *     finds the real one.
 *   - one mapping of a file we make ourselves (a memfd): the whole key must be
 *     what fstat() says. Plus the vDSO. The file is never written to: it only
 *     needs a size, as large as RLIMIT_FSIZE lets it be, and the mapping may lie
 *     beyond that.
 */
#include "walktest.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bpf/wire.h"
#include "explain.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008u /* since 6.3; vm.memfd_noexec=2 refuses without */
#endif

struct expected {
	uint64_t start, end, offset;
	int exec, has_file, is_vdso;
};

/* Up to @max mappings of ours, spread over the list. */
static size_t read_maps(struct expected *out, size_t max)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long vdso = getauxval(AT_SYSINFO_EHDR);
	char line[4352];
	size_t n = 0;

	if (!f)
		return 0;
	while (n < max && fgets(line, sizeof(line), f)) {
		struct expected *x = &out[n];
		uint64_t ino;
		char perms[5];

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*x:%*x %" SCNu64,
			    &x->start, &x->end, perms, &x->offset, &ino) != 5)
			continue;
		/* Not in the tree (vsyscall), or may still grow (stack, heap). */
		if (strstr(line, "[vsyscall]") || strstr(line, "[stack]") || strstr(line, "[heap]"))
			continue;
		/* vvar and friends have an offset of their own kind. */
		if (strstr(line, "[vvar"))
			continue;
		x->exec = perms[2] == 'x';
		x->has_file = ino != 0;
		x->is_vdso = vdso && x->start == vdso;
		n++;
	}
	fclose(f);
	return n;
}

static int compare(const struct expected *x, const struct wire_walk *w, struct err *e)
{
	uint64_t offset = w->pgoff * (uint64_t)sysconf(_SC_PAGESIZE);

	if (w->reason)
		return err_set(e, -EBADMSG, "mapping at %#" PRIx64 " not found (reason %u)",
			x->start, w->reason);
	if (w->start != x->start || w->end != x->end || (x->has_file && offset != x->offset) ||
		!!w->exec != x->exec || !!w->has_file != x->has_file || !!w->is_vdso != x->is_vdso)
		return err_set(e, -EBADMSG,
			"mapping %#" PRIx64 "-%#" PRIx64 " offset %#" PRIx64
			" was found as %#llx-%#llx offset %#" PRIx64,
			x->start, x->end, x->offset, w->start, w->end, offset);
	return 0;
}

static int compare_key(const struct stat *st, const struct wire_file_key *key, struct err *e)
{
	uint64_t ctime_ns =
		(uint64_t)st->st_ctim.tv_sec * 1000000000u + (uint64_t)st->st_ctim.tv_nsec;

	if (key->ino != st->st_ino || key->size != (uint64_t)st->st_size ||
		key->ctime_ns != ctime_ns ||
		key->dev != (major(st->st_dev) << 20 | minor(st->st_dev)))
		return err_set(e, -EBADMSG,
			"file %u:%u inode %ju size %jd changed %" PRIu64
			" was found as %u:%u inode %llu size %llu changed %llu",
			major(st->st_dev), minor(st->st_dev), (uintmax_t)st->st_ino,
			(intmax_t)st->st_size, ctime_ns, key->dev >> 20, key->dev & 0xfffff,
			key->ino, key->size, key->ctime_ns);
	return 0;
}

/* Put the addresses, run the program, fetch the answers. */
static int run(int prog_fd, int map_fd, struct wire_walk *w, uint32_t nr, struct err *e)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	int code;

	for (uint32_t i = 0; i < nr; i++) {
		code = bpf_map_update_elem(map_fd, &i, &w[i], BPF_ANY);
		if (code)
			return err_sys(e, code, "cannot write the test addresses");
	}
	code = bpf_prog_test_run_opts(prog_fd, &opts);
	if (code)
		return err_sys(e, code, "cannot run the test program");
	for (uint32_t i = 0; i < nr; i++) {
		code = bpf_map_lookup_elem(map_fd, &i, &w[i]);
		if (code)
			return err_sys(e, code, "cannot read the test's answers");
	}
	return 0;
}

static int make_file(size_t size, struct err *e)
{
	struct rlimit l;
	int fd, code;

	fd = memfd_create("profbpf-walktest", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("profbpf-walktest", MFD_CLOEXEC);
	if (fd < 0) {
		code = -errno;
		return code == -EMFILE || code == -ENFILE
			       ? explain_fds(code, "making a file for the mapping test", e)
			       : err_sys(e, code, "cannot make a file for the mapping test");
	}
	/* A limit of 0 is left alone: that is the size it has. */
	if (!getrlimit(RLIMIT_FSIZE, &l) && l.rlim_cur < size)
		size = (size_t)l.rlim_cur;
	if (size && ftruncate(fd, (off_t)size)) {
		code = err_sys(e, -errno, "cannot give the file of the mapping test a size");
		close(fd);
		return code;
	}
	return fd;
}

int walktest_run(int prog_fd, int map_fd, struct err *e)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct expected x[MAX_WALKTEST - 1];
	struct wire_walk w[MAX_WALKTEST];
	void *own = MAP_FAILED;
	struct stat st;
	int fd, code = 0;
	size_t nr;

	memset(w, 0, sizeof(w));
	fd = make_file(2 * page, e);
	if (fd < 0)
		return fd;
	if (!fstat(fd, &st))
		own = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, (off_t)page);
	if (own == MAP_FAILED) {
		code = err_sys(e, -errno, "cannot map a file for the mapping test");
		goto out;
	}
	nr = read_maps(x, MAX_WALKTEST - 1);
	if (!nr) {
		code = errno == EMFILE || errno == ENFILE
			       ? explain_fds(-errno, "reading /proc/self/maps", e)
			       : err_set(e, -ENOENT, "/proc/self/maps cannot be read");
		goto out;
	}
	/* First the whole key of our own file, then every mapping. */
	w[0].addr = (uintptr_t)own;
	for (size_t i = 0; i < nr; i++)
		w[1 + i].addr = x[i].start + (x[i].end - x[i].start) / 2;
	code = run(prog_fd, map_fd, w, (uint32_t)nr + 1, e);
	if (code)
		goto out;
	code = w[0].reason
		       ? err_set(e, -EBADMSG, "our own file's mapping was not found (reason %u)",
				 w[0].reason)
		       : compare_key(&st, &w[0].key, e);
	for (size_t i = 0; !code && i < nr; i++)
		code = compare(&x[i], &w[1 + i], e);
out:
	if (own != MAP_FAILED)
		munmap(own, page);
	close(fd);
	return code;
}
