/* SPDX-License-Identifier: BSD-2-Clause */
#include "run_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "proc_stat.h"

#define FAILURES_TOLD 8 /* files without an unwind table, with the reason */

#ifndef PROFBPF_VERSION
#define PROFBPF_VERSION "unknown"
#endif

/* Facts are put one by one; the first error stops the rest and is returned once. */
struct facts {
	struct builder *b;
	struct err *e;
	int ret;
};

static void text(struct facts *f, const char *key, const char *value)
{
	if (!f->ret && value && *value)
		f->ret = builder_meta(f->b, key, value, 0, f->e);
}

static void num(struct facts *f, const char *key, uint64_t value)
{
	if (!f->ret)
		f->ret = builder_meta(f->b, key, NULL, value, f->e);
}

static void both(struct facts *f, const char *key, const char *value, uint64_t n)
{
	if (!f->ret)
		f->ret = builder_meta(f->b, key, value, n, f->e);
}

/* The first line of a file, without its end; "" if there is none. */
static const char *first_line(const char *path, char *buf, size_t size)
{
	if (proc_read(path, buf, size) < 0)
		buf[0] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return buf;
}

static void cpu_model(struct facts *f)
{
	char *line = NULL, *value;
	size_t size = 0;
	FILE *cpuinfo = fopen("/proc/cpuinfo", "re");

	while (cpuinfo && getline(&line, &size, cpuinfo) > 0) {
		if (strncmp(line, "model name", 10) && strncmp(line, "Model", 5))
			continue;
		value = strchr(line, ':');
		if (!value)
			continue;
		value += 1 + strspn(value + 1, " \t");
		value[strcspn(value, "\n")] = '\0';
		text(f, "host.cpu_model", value);
		break;
	}
	free(line);
	if (cpuinfo)
		fclose(cpuinfo);
}

/* Load averages as text, the one of the last minute in hundredths as number. */
static void load(struct facts *f, const char *key)
{
	char line[128], *end;
	double one;

	first_line("/proc/loadavg", line, sizeof(line));
	one = strtod(line, &end);
	if (end == line)
		return;
	end = line; /* keep the three averages, cut the task counts */
	end += strcspn(end, " ");
	end += strspn(end, " ");
	end += strcspn(end, " ");
	end += strspn(end, " ");
	end += strcspn(end, " ");
	*end = '\0';
	both(f, key, line, (uint64_t)(one * 100 + 0.5));
}

/* The eighth number of the first line: time stolen from all our CPUs. */
static uint64_t steal_ns(void)
{
	char line[512], *p;
	int i;

	first_line("/proc/stat", line, sizeof(line));
	p = line + strcspn(line, " ");
	for (i = 0; i < 7; i++)
		(void)strtoull(p, &p, 10);
	return strtoull(p, NULL, 10) * proc_tick_ns();
}

int run_info_begin(struct run_info *i, struct builder *b, const struct record_options *o,
	const struct target *t, struct err *e)
{
	struct facts f = {.b = b, .e = e};
	char line[512];
	struct utsname u;
	struct buf words = BUF_INIT;

	text(&f, "profbpf.version", PROFBPF_VERSION);
	text(&f, "command", o->command_line);
	target_describe(t, &words);
	text(&f, "target", buf_str(&words));
	buf_release(&words);
	num(&f, "target.children", (uint64_t) !!t->children);
	text(&f, "events", o->events);
	num(&f, "freq.asked", o->freq);
	num(&f, "freq.redrawn", (uint64_t)!o->no_redraw);
	text(&f, "cpus", o->cpus);
	if (o->delay_ns)
		num(&f, "delay_ns", o->delay_ns);
	if (o->duration_ns)
		num(&f, "duration.asked_ns", o->duration_ns);

	if (!uname(&u)) {
		text(&f, "host.name", u.nodename);
		text(&f, "host.kernel", u.release);
		text(&f, "host.kernel_build", u.version);
		text(&f, "host.arch", u.machine);
	}
	text(&f, "host.boot_id", first_line("/proc/sys/kernel/random/boot_id", line, sizeof(line)));
	cpu_model(&f);
	num(&f, "host.cpus_online", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	text(&f, "host.governor",
		first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", line,
			sizeof(line)));
	load(&f, "host.load_before");
	i->steal_ns = steal_ns();
	return f.ret;
}

/* Why files have no table, a few of them. */
static void unwind_failures(struct facts *f, const struct unwind_loader *l)
{
	char key[32];
	int nr = 0;

	for (uint32_t id = 0; id < UNWIND_MODULES && nr < FAILURES_TOLD; id++) {
		if (unwind_loader_outcome(l, id) != UNWIND_FAILED)
			continue;
		snprintf(key, sizeof(key), "unwind.failure.%d", ++nr);
		text(f, key, unwind_loader_why(l, id));
	}
}

int run_info_unwind(struct run_info *i, struct builder *b, const struct unwind_loader *l,
	const struct preload_stats *p, struct err *e)
{
	struct facts f = {.b = b, .e = e};
	struct unwind_loader_stats s;

	unwind_loader_stats(l, &s);
	i->kernel_bytes = s.kernel_bytes;
	num(&f, "unwind.tables", s.files[UNWIND_LOADED]);
	num(&f, "unwind.rows", s.rows);
	num(&f, "unwind.rules", s.rules);
	num(&f, "unwind.bytes", s.kernel_bytes);
	num(&f, "unwind.user_bytes", s.user_bytes);
	num(&f, "unwind.build_ns", s.build_ns);
	num(&f, "unwind.build_max_ns", s.build_max_ns);
	num(&f, "unwind.preload_ns", p->wall_ns);
	num(&f, "unwind.preload_cut", (uint64_t)p->cut);
	num(&f, "unwind.frame_pointers", s.files[UNWIND_KEEPS_FP]);
	num(&f, "unwind.empty", s.files[UNWIND_EMPTY]);
	num(&f, "unwind.failed", s.files[UNWIND_FAILED]);
	num(&f, "unwind.no_room", s.files[UNWIND_NO_ROOM]);
	num(&f, "unwind.evicted", s.evicted);
	num(&f, "unwind.unsupported_rows", s.unsupported_rows);
	num(&f, "unwind.refused_rows", s.refused_rows);
	unwind_failures(&f, l);
	return f.ret;
}

int run_info_end(struct run_info *i, struct builder *b, const struct record_result *r,
	struct procs *p, struct sampler *s, struct err *e)
{
	const struct procs_counts *c = procs_counts(p);
	struct facts f = {.b = b, .e = e};
	struct sampler_info info = {0};
	struct rusage self = {0};
	uint64_t steal = steal_ns();

	sampler_info(s, &info);
	load(&f, "host.load_after");
	num(&f, "host.steal_ns", steal > i->steal_ns ? steal - i->steal_ns : 0);
	num(&f, "target.cpu_ns", r->target_cpu_ns);

	num(&f, "overhead.own_cpu_ns", r->own_cpu_ns);
	num(&f, "overhead.naming_ns", r->naming_ns);
	if (info.bpf_run_cnt) {
		num(&f, "overhead.bpf_run_ns", info.bpf_run_ns);
		num(&f, "overhead.bpf_runs", info.bpf_run_cnt);
	}
	num(&f, "overhead.map_bytes", info.map_bytes + i->kernel_bytes);
	if (!getrusage(RUSAGE_SELF, &self))
		num(&f, "overhead.peak_rss_bytes", (uint64_t)self.ru_maxrss * 1024);
	num(&f, "overhead.dictionary_bytes", builder_bytes(b));

	num(&f, "sampler.rdonly_cast", (uint64_t)info.rdonly_cast);
	num(&f, "sampler.walk_selftest", (uint64_t)info.walk_selftest);
	num(&f, "sampler.redraws", info.redraws);
	num(&f, "sampler.cpus_hotplugged", info.cpus_hotplugged);
	num(&f, "files.held", c->files_held);
	num(&f, "files.not_held", c->files_not_held);
	num(&f, "files.not_opened", c->modules_not_open);
	if (c->malformed)
		num(&f, "sampler.malformed", c->malformed);
	return f.ret;
}
