/* SPDX-License-Identifier: BSD-2-Clause */
#include "mapped_files.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <unistd.h>

#define RECORDS 64 /* read at once: 4 KiB */

static int read_all(int fd, mapped_file_fn fn, void *ctx)
{
	struct wire_module rec[RECORDS];

	for (;;) {
		ssize_t n = read(fd, rec, sizeof(rec));
		int ret;

		if (!n)
			return 0;
		/* It went over a million mappings without a file. */
		if (n < 0 && errno == EAGAIN)
			continue;
		if (n < 0)
			return -errno;
		for (size_t i = 0; i < (size_t)n / sizeof(rec[0]); i++) {
			ret = fn(ctx, &rec[i]);
			if (ret)
				return ret;
		}
	}
}

int mapped_files_list(int prog_fd, pid_t tid, mapped_file_fn fn, void *ctx)
{
	union bpf_iter_link_info info = {.task.tid = (__u32)tid};
	LIBBPF_OPTS(bpf_link_create_opts, opts);
	int link, fd, ret;

	if (tid) {
		opts.iter_info = &info;
		opts.iter_info_len = sizeof(info);
	}
	link = bpf_link_create(prog_fd, 0, BPF_TRACE_ITER, &opts);
	if (link < 0)
		return link;
	fd = bpf_iter_create(link);
	close(link);
	if (fd < 0)
		return fd;
	ret = read_all(fd, fn, ctx);
	close(fd);
	return ret;
}
