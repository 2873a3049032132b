/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program is set by ioctl, not by a link: one descriptor a CPU instead of
 * two. The event also gets a tiny ring of its own, because PERF_RECORD_THROTTLE
 * is the only place where the kernel says that it suppressed ticks; samples do
 * not go there (the program returns 0).
 */
#include "attach_cpu.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "explain.h"
#include "user/base/clock.h"

/* 85 pairs of records; read some times a second, with a pair per jiffy at worst. */
#define NOTES_PAGES 1

static size_t notes_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE) * (1 + NOTES_PAGES);
}

int cpu_event_open(
	struct cpu_event *ev, uint32_t cpu, uint64_t period_ns, int prog_fd, struct err *e)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.disabled = 1,
		.exclude_idle = 1, /* see bpf/cpu.bpf.c */
		.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	void *notes;
	int fd, code;

	fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return errno == ENODEV ? -ENODEV : explain_perf_event(-errno, cpu, e);
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog_fd)) {
		code = -errno;
		close(fd);
		return err_sys(e, code, "cannot attach the program to the event of CPU %u", cpu);
	}
	/* Fails where no memory may be locked (kernel.perf_event_mlock_kb): no throttling is seen.
	 */
	notes = mmap(NULL, notes_size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ev->fd = fd;
	ev->notes = notes == MAP_FAILED ? NULL : notes;
	ev->pace = (struct wire_pace){.period_ns = period_ns};
	ev->throttled_at = 0;
	ev->ran_ns = 0;
	return 0;
}

void cpu_event_arm(struct cpu_event *ev)
{
	ev->pace.since_ns = ev->pace.armed_ns = clock_mono_ns();
}

int cpu_event_enable(struct cpu_event *ev)
{
	if (ioctl(ev->fd, PERF_EVENT_IOC_ENABLE, 0))
		return -errno;
	cpu_event_alive(ev); /* a first reading */
	return 0;
}

void cpu_event_disable(struct cpu_event *ev)
{
	if (ev->fd >= 0)
		ioctl(ev->fd, PERF_EVENT_IOC_DISABLE, 0);
}

int cpu_event_set_period(struct cpu_event *ev, uint64_t period_ns)
{
	uint64_t before = clock_mono_ns(), now;

	if (ioctl(ev->fd, PERF_EVENT_IOC_PERIOD, &period_ns))
		return -errno;
	/* The call goes to the other CPU and back: the restart was half-way through it. */
	now = clock_mono_ns();
	now = before + (now - before) / 2;
	ev->pace.lead_ns = (now - ev->pace.armed_ns) % ev->pace.period_ns;
	ev->pace.armed_ns = now;
	ev->pace.period_ns = period_ns;
	return 0;
}

int cpu_event_alive(struct cpu_event *ev)
{
	uint64_t v[2], ran = ev->ran_ns;

	if (read(ev->fd, v, sizeof(v)) != sizeof(v))
		return 0;
	ev->ran_ns = v[1];
	return v[1] > ran;
}

static void copy_out(const struct cpu_event *ev, uint64_t at, void *dst, size_t len)
{
	const struct perf_event_mmap_page *page = ev->notes;
	const unsigned char *data = (const unsigned char *)ev->notes + page->data_offset;

	for (size_t i = 0; i < len; i++)
		((unsigned char *)dst)[i] = data[(at + i) % page->data_size];
}

void cpu_event_poll(struct cpu_event *ev)
{
	struct perf_event_mmap_page *page = ev->notes;
	struct {
		struct perf_event_header h;
		uint64_t time, id, stream_id;
	} rec;
	uint64_t head, tail;

	if (!page)
		return;
	head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	for (tail = page->data_tail; tail < head; tail += rec.h.size) {
		copy_out(ev, tail, &rec, sizeof(rec.h));
		if (rec.h.size < sizeof(rec.h))
			break;
		if (rec.h.size < sizeof(rec))
			continue;
		copy_out(ev, tail, &rec, sizeof(rec));
		if (rec.h.type == PERF_RECORD_THROTTLE) {
			ev->throttled_at = rec.time;
		} else if (rec.h.type == PERF_RECORD_UNTHROTTLE && ev->throttled_at) {
			ev->throttled_ns += rec.time - ev->throttled_at;
			ev->throttled +=
				(double)(rec.time - ev->throttled_at) / (double)ev->pace.period_ns;
			ev->throttled_at = 0;
		}
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

void cpu_event_close(struct cpu_event *ev)
{
	cpu_event_poll(ev);
	if (ev->notes)
		munmap(ev->notes, notes_size());
	if (ev->fd >= 0)
		close(ev->fd);
	ev->notes = NULL;
	ev->fd = -1;
}
