/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libbpf's ring_buffer does the memory mapping and the reading. What it does not
 * know is our wake-up rule: writers wake the reader only when a ring becomes half
 * full, so after each wait all rings are read, not only those epoll names.
 */
#include "ring.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "user/base/fmt.h"

struct rings {
	struct ring_buffer *rb; /* NULL until the first ring */
	int outer_fd;		/* borrowed */
	uint32_t bytes, nr_cpus, count;
	int *fds; /* by CPU; -1 = none */
	/* during rings_consume() */
	ring_fn fn;
	void *ctx;
	int stopped; /* what fn returned */
	int records;
};

int rings_new(struct rings **out, int outer_fd, uint32_t nr_cpus, uint32_t bytes, struct err *e)
{
	struct rings *r = calloc(1, sizeof(*r));

	*out = NULL;
	if (!r)
		return err_set(e, -ENOMEM, "out of memory");
	r->fds = malloc(nr_cpus * sizeof(*r->fds));
	if (!r->fds) {
		free(r);
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (uint32_t i = 0; i < nr_cpus; i++)
		r->fds[i] = -1;
	r->outer_fd = outer_fd;
	r->nr_cpus = nr_cpus;
	r->bytes = bytes;
	*out = r;
	return 0;
}

void rings_free(struct rings *r)
{
	if (!r)
		return;
	ring_buffer__free(r->rb);
	for (uint32_t i = 0; i < r->nr_cpus; i++)
		if (r->fds[i] >= 0)
			close(r->fds[i]);
	free(r->fds);
	free(r);
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct rings *r = ctx;
	const struct wire_header *h = data;

	if (size < sizeof(*h) || h->len != size)
		return 0; /* not ours; cannot happen */
	r->records++;
	r->stopped = r->fn(r->ctx, h);
	return r->stopped ? -ECANCELED : 0;
}

int rings_add(struct rings *r, uint32_t cpu, struct err *e)
{
	char text[32];
	int fd, code;

	if (cpu >= r->nr_cpus)
		return err_set(e, -EINVAL, "CPU %u is not a possible CPU", cpu);
	if (r->fds[cpu] >= 0)
		return 0;
	fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "profbpf_ring", 0, 0, r->bytes, NULL);
	if (fd < 0)
		return err_sys(e, fd, "cannot create the %s ring of CPU %u",
			fmt_bytes(text, sizeof(text), r->bytes), cpu);
	if (!r->rb) {
		r->rb = ring_buffer__new(fd, on_record, r, NULL);
		code = r->rb ? 0 : -errno;
	} else {
		code = ring_buffer__add(r->rb, fd, on_record, r);
	}
	if (code) {
		close(fd);
		return err_sys(e, code, "cannot map the ring of CPU %u", cpu);
	}
	/* From here on libbpf polls the descriptor: it stays open to the end. */
	r->fds[cpu] = fd;
	r->count++;
	code = bpf_map_update_elem(r->outer_fd, &cpu, &fd, BPF_ANY);
	if (code)
		return err_sys(e, code, "cannot install the ring of CPU %u", cpu);
	return 0;
}

uint64_t rings_bytes(const struct rings *r)
{
	/* Data, the two pages of positions, and the kernel's own page. */
	return r ? (uint64_t)r->count * (r->bytes + 3 * (uint64_t)sysconf(_SC_PAGESIZE)) : 0;
}

int rings_consume(struct rings *r, int timeout_ms, ring_fn fn, void *ctx)
{
	struct epoll_event ev;
	int code;

	if (!r->rb)
		return 0;
	if (timeout_ms)
		epoll_wait(ring_buffer__epoll_fd(r->rb), &ev, 1,
			timeout_ms); /* EINTR: read what is there */
	r->fn = fn;
	r->ctx = ctx;
	r->stopped = 0;
	r->records = 0;
	code = ring_buffer__consume(r->rb);
	if (r->stopped)
		return r->stopped;
	return code < 0 ? code : r->records;
}
