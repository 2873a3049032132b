/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts the parts of one recording together: skeleton (bpf/), rings (ring.c), one
 * event per CPU (attach_cpu.c), their periods (period.c).
 *
 * DESIGN. Which way of walking mappings this kernel can do is found by trying:
 * BTF says whether bpf_rdonly_cast() exists, the verifier whether it may be used
 * here, the self-test whether the answers are right; then the next way is tried.
 * Events are opened for all CPUs first and enabled afterwards, so that ticks begin
 * nearly together. Per-CPU counters are never reset: what hotplug and restarts do
 * to a CPU's event, its counters go on.
 */
#define LOG_DOMAIN "sampler"
#include "sampler.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "attach_cpu.h"
#include "explain.h"
#include "kernel.h"
#include "period.h"
#include "ring.h"
#include "user/base/clock.h"
#include "user/base/fmt.h"
#include "user/base/log.h"
#include "walktest.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include "profbpf.skel.h"
#pragma GCC diagnostic pop

/* Descriptors: for maps, programs, links and the walk's test; and with the recorder's own files. */
#define FDS_NEEDED  40
#define FDS_WANTED  256
#define FDS_PER_CPU 2

#define MIN_RING	 (128u << 10) /* a second of full stacks at 25 Hz, of usual ones at 200 */
#define MAX_RING	 (2u << 20)
#define BYTES_PER_SAMPLE 2048 /* generous: 80 frames of both kinds */
#define RING_LIMIT	 (1u << 30)
#define TARGETS_FIXED	 4096 /* without --children: what fits on a command line */

/* How often each event is asked whether it still runs: its CPU may have been away in between. */
#define ALIVE_NS 1000000000u

struct cpu {
	struct cpu_event event;
	int wanted; /* to be sampled when online */
	int seen;   /* has been sampled */
	struct period_draws draws;
	uint64_t next_redraw_ns;
	uint64_t next_alive_ns;
};

struct sampler {
	struct profbpf_bpf *skel;
	struct rings *rings;
	struct period_plan plan;
	struct cpu *cpus; /* nr_cpus of them, by number */
	uint32_t nr_cpus; /* possible CPUs */
	uint32_t seen;	  /* highest CPU ever sampled + 1 */
	enum admit_mode mode;
	int running;
	int rdonly_cast;
	int walk_ok;
	uint32_t hotplugged;
	uint64_t redraws;
	/* the last read of the per-CPU counters */
	struct wire_counters *counters;
	uint64_t counters_at;
	struct bpf_link *links[4];
};

/* ---- libbpf's own words ------------------------------------------------- */

/* The first warning since it was cleared. libbpf's callback has no context: one per process. */
static char last_complaint[256];

static int on_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char *text, *line, *rest;

	if (level != LIBBPF_WARN && !log_enabled(LOG_DEBUG, "libbpf"))
		return 0;
	if (vasprintf(&text, fmt, ap) < 0)
		return 0;
	/* One message may hold a whole verifier log. */
	for (rest = text; (line = strsep(&rest, "\n"));) {
		if (!*line)
			continue;
		if (log_enabled(LOG_DEBUG, "libbpf"))
			log_write(LOG_DEBUG, "libbpf", "%s", line);
		if (level == LIBBPF_WARN && !last_complaint[0])
			snprintf(last_complaint, sizeof(last_complaint), "%.*s",
				(int)sizeof(last_complaint) - 1, line);
	}
	free(text);
	return 0;
}

/* ---- set-up --------------------------------------------------------------- */

static unsigned open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* Raise the soft limit, only as far as needed: a command we start would inherit it. */
static int ensure_fds(unsigned cpus, struct err *e)
{
	rlim_t used = open_fds() + FDS_PER_CPU * (rlim_t)cpus;
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim))
		return 0;
	if (lim.rlim_cur < used + FDS_WANTED) {
		lim.rlim_cur = used + FDS_WANTED < lim.rlim_max ? used + FDS_WANTED : lim.rlim_max;
		setrlimit(RLIMIT_NOFILE, &lim);
	}
	/* Said here, once and plainly: later each step fails in its own way. */
	return lim.rlim_cur < used + FDS_NEEDED ? explain_fds(-EMFILE, "preparing the recording", e)
						: 0;
}

static uint32_t ring_bytes(const struct sampler_options *o)
{
	uint64_t want = o->ring_bytes;
	uint32_t bytes = (uint32_t)sysconf(_SC_PAGESIZE);

	if (!want) {
		want = o->freq * BYTES_PER_SAMPLE / 2; /* half a second of samples */
		want = want < MIN_RING ? MIN_RING : want > MAX_RING ? MAX_RING : want;
	}
	while (bytes < want && bytes < RING_LIMIT)
		bytes <<= 1;
	return bytes;
}

/* CPUs that will be sampled, as far as they are online now. */
static unsigned count_sampled(const struct sampler *s)
{
	uint32_t *online = NULL;
	unsigned n = 0;
	size_t nr = 0;

	kernel_online_cpus(&online, &nr);
	for (size_t i = 0; i < nr; i++)
		n += online[i] < s->nr_cpus && s->cpus[online[i]].wanted;
	free(online);
	return n;
}

/* Rings are memory of the kernel that cannot be swapped: all together get half of it at most. */
static int check_rings(const struct sampler *s, const struct sampler_options *o, struct err *e)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	unsigned cpus = count_sampled(s);
	uint32_t limit = RING_LIMIT, used;
	char asked[32], most[32];

	cpus += !cpus;
	while (limit > MIN_RING && limit > memory / 2 / cpus)
		limit >>= 1;
	fmt_bytes(asked, sizeof(asked), o->ring_bytes);
	if (o->ring_bytes > limit) {
		err_set(e, -EINVAL,
			"--buffer: a ring of %s for each of %u CPUs is too large: %s at most here",
			asked, cpus, fmt_bytes(most, sizeof(most), limit));
		err_hint(e, "the default is %s at %llu Hz; 4M is much",
			fmt_bytes(most, sizeof(most),
				ring_bytes(&(struct sampler_options){.freq = o->freq})),
			(unsigned long long)o->freq);
		return -EINVAL;
	}
	if (!o->ring_bytes)
		return 0;
	used = ring_bytes(o);
	fmt_bytes(most, sizeof(most), used);
	if (o->ring_bytes < (uint64_t)sysconf(_SC_PAGESIZE))
		log_warn("--buffer: a ring of %s is too small, %s is the least and is used", asked,
			most);
	else if (used != o->ring_bytes)
		log_info("--buffer: rings are powers of two: %s each", most);
	return 0;
}

static int check_frequency(struct sampler *s, const struct sampler_options *o, struct err *e)
{
	long long limit = 100000;
	uint64_t seed = 0;

	kernel_sysctl("kernel/perf_event_max_sample_rate", &limit);
	if (!o->freq)
		return err_set(e, -EINVAL, "the frequency must be above 0");
	if (limit > 0 && o->freq > (uint64_t)limit) {
		err_set(e, -EINVAL,
			"frequency %llu Hz is over the kernel's limit of %lld "
			"(kernel.perf_event_max_sample_rate)",
			(unsigned long long)o->freq, limit);
		err_hint(e,
			"ask for less with -F, or raise the limit: sysctl "
			"kernel.perf_event_max_sample_rate=%llu",
			(unsigned long long)o->freq);
		return -EINVAL;
	}
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = clock_mono_ns();
	period_plan(&s->plan, o->freq, limit > 0 ? (uint64_t)limit : UINT64_MAX, count_sampled(s),
		o->no_redraw, seed);
	if (!o->no_redraw && !s->plan.interval_ns)
		log_info("%llu Hz is near the kernel's limit of %lld: the period stays fixed",
			(unsigned long long)o->freq, limit);
	return 0;
}

static int choose_cpus(struct sampler *s, const struct sampler_options *o, struct err *e)
{
	s->nr_cpus = kernel_possible_cpus();
	if (s->nr_cpus > MAX_CPUS)
		return err_set(e, -E2BIG, "this machine has %u possible CPUs; %u can be sampled",
			s->nr_cpus, MAX_CPUS);
	s->cpus = calloc(s->nr_cpus, sizeof(*s->cpus));
	s->counters = calloc(s->nr_cpus, sizeof(*s->counters));
	if (!s->cpus || !s->counters)
		return err_set(e, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < s->nr_cpus; i++) {
		s->cpus[i].event.fd = -1;
		s->cpus[i].wanted = !o->cpus;
		s->cpus[i].draws.last = i * 0.7549; /* CPUs differ */
	}
	for (size_t i = 0; o->cpus && i < o->nr_cpus; i++) {
		if (o->cpus[i] >= s->nr_cpus)
			return err_set(e, -EINVAL, "there is no CPU %u: this machine has 0-%u",
				o->cpus[i], s->nr_cpus - 1);
		s->cpus[o->cpus[i]].wanted = 1;
	}
	return 0;
}

static int set_knobs(struct sampler *s, const struct sampler_options *o, const struct kernel_btf *k,
	int cast, struct err *e)
{
	struct profbpf_bpf *skel = s->skel;
	uint32_t pidns = kernel_pid_namespace();
	uint32_t home = 0;
	int code;

	while (home + 1 < s->nr_cpus && !s->cpus[home].wanted)
		home++;
	skel->rodata->knob_cap_ns = MAX_VALUE_PERIODS * 1000000000ull / o->freq;
	skel->rodata->knob_admit = o->mode;
	skel->rodata->knob_cgroup_id = o->cgroup_id;
	skel->rodata->knob_rdonly_cast = !!cast;
	skel->rodata->knob_page_shift =
		(uint32_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
	skel->rodata->knob_wake_bytes = ring_bytes(o) / 2;
	skel->rodata->knob_home_cpu = home;
	skel->rodata->knob_pidns_inum = pidns;
	skel->rodata->knob_have_free = k->tp_free && !pidns;

	bpf_program__set_autoload(
		skel->progs.life_fork, o->mode == ADMIT_PIDS && o->children && k->tp_fork);
	bpf_program__set_autoload(skel->progs.life_exec, k->tp_exec);
	bpf_program__set_autoload(skel->progs.mapped_files, k->iter_vma);
	bpf_program__set_autoload(skel->progs.life_exit, k->tp_exit);
	bpf_program__set_autoload(
		skel->progs.life_free, o->mode == ADMIT_PIDS && k->tp_free && !pidns);

	code = bpf_map__set_max_entries(skel->maps.rings, s->nr_cpus);
	if (!code)
		code = bpf_map__set_max_entries(skel->maps.pace, s->nr_cpus);
	if (!code)
		code = bpf_map__set_max_entries(skel->maps.targets,
			o->mode == ADMIT_PIDS && o->children		 ? MAX_TARGETS
			: o->mode == ADMIT_PIDS || o->mode == ADMIT_TIDS ? TARGETS_FIXED
									 : 1);
	return code ? err_sys(e, code, "cannot size the maps") : 0;
}

/* Load with one way of walking, and test it. */
static int load(struct sampler *s, const struct sampler_options *o, const struct kernel_btf *k,
	int cast, struct err *e)
{
	int code;

	profbpf_bpf__destroy(s->skel);
	last_complaint[0] = '\0';
	s->walk_ok = 0;
	s->skel = profbpf_bpf__open();
	if (!s->skel)
		return explain_load(-errno, last_complaint, e);
	code = set_knobs(s, o, k, cast, e);
	if (code)
		return code;
	code = profbpf_bpf__load(s->skel);
	if (code)
		return explain_load(code, last_complaint, e);
	s->rdonly_cast = cast;
	code = walktest_run(
		bpf_program__fd(s->skel->progs.walk_test), bpf_map__fd(s->skel->maps.walktest), e);
	if (code == -EBADMSG) {
		err_prefix(e, "the mapping walk does not work on this kernel");
		err_hint(e, "please report it with the output of profbpf doctor");
	}
	if (code)
		return code;
	s->walk_ok = 1;
	return 0;
}

/* PROFBPF_DISABLE="rdonly_cast,life": do as if this kernel did not have it. For tests. */
static int disabled(const char *feature)
{
	const char *list = getenv("PROFBPF_DISABLE");
	size_t len = strlen(feature);

	while (list && *list) {
		if (!strncmp(list, feature, len) && (!list[len] || list[len] == ','))
			return 1;
		list = strchr(list, ',');
		list += !!list;
	}
	return 0;
}

static int load_best(struct sampler *s, const struct sampler_options *o, struct err *e)
{
	struct kernel_btf k;
	int code;

	kernel_btf(&k);
	if (disabled("rdonly_cast"))
		k.rdonly_cast = 0;
	if (disabled("life"))
		k.tp_fork = k.tp_exec = k.tp_exit = k.tp_free = 0;
	if (disabled("preload"))
		k.iter_vma = 0;
	if (k.rdonly_cast) {
		code = load(s, o, &k, 1, e);
		if (!code || code == -EPERM || code == -EACCES || code == -EMFILE ||
			code == -ENOMEM)
			return code;
		log_info("bpf_rdonly_cast does not serve here (%s); copying nodes instead",
			e ? e->msg : last_complaint);
	}
	return load(s, o, &k, 0, e);
}

int sampler_new(struct sampler **out, const struct sampler_options *o, struct err *e)
{
	struct sampler *s;
	int code;

	*out = NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_set(e, -ENOMEM, "out of memory");
	s->mode = o->mode;
	libbpf_set_print(on_libbpf);
	code = explain_places(e); /* without /sys it would be a machine of one CPU */
	if (!code)
		code = choose_cpus(s, o, e);
	if (!code)
		code = check_frequency(s, o, e);
	if (!code)
		code = check_rings(s, o, e);
	if (!code)
		code = explain_missing(e);
	if (code)
		goto fail;
	code = ensure_fds(count_sampled(s), e);
	if (!code)
		code = load_best(s, o, e);
	if (code)
		goto fail;
	code = rings_new(&s->rings, bpf_map__fd(s->skel->maps.rings), s->nr_cpus, ring_bytes(o), e);
	if (code)
		goto fail;
	*out = s;
	return 0;
fail:
	sampler_free(s);
	return code;
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	sampler_stop(s);
	rings_free(s->rings);
	profbpf_bpf__destroy(s->skel);
	free(s->counters);
	free(s->cpus);
	free(s);
}

int sampler_admit(struct sampler *s, pid_t id, int until_exec, struct err *e)
{
	struct wire_target value = {.until_exec = !!until_exec};
	uint32_t key = (uint32_t)id;
	int code;

	code = bpf_map_update_elem(bpf_map__fd(s->skel->maps.targets), &key, &value, BPF_ANY);
	if (code == -E2BIG)
		return err_set(e, code,
			"too many processes or threads to follow by number: %u at most",
			bpf_map__max_entries(s->skel->maps.targets));
	return code ? err_sys(e, code, "cannot admit %s %d",
			      s->mode == ADMIT_TIDS ? "thread" : "process", (int)id)
		    : 0;
}

/* ---- events --------------------------------------------------------------- */

static int open_event(struct sampler *s, uint32_t cpu, struct err *e)
{
	struct cpu *c = &s->cpus[cpu];
	int code = rings_add(s->rings, cpu, e);

	if (code == -EMFILE || code == -ENFILE)
		return explain_fds(code, "making one ring per CPU", e);
	if (code)
		return code;
	return cpu_event_open(&c->event, cpu, period_draw(&s->plan, &c->draws, 0),
		bpf_program__fd(s->skel->progs.cpu_tick), e);
}

/* Tell the program how the timer of @cpu runs. */
static int publish_pace(struct sampler *s, uint32_t cpu)
{
	return bpf_map_update_elem(
		bpf_map__fd(s->skel->maps.pace), &cpu, &s->cpus[cpu].event.pace, BPF_ANY);
}

static int enable_event(struct sampler *s, uint32_t cpu, struct err *e)
{
	struct cpu *c = &s->cpus[cpu];
	uint64_t now;
	int code;

	cpu_event_arm(&c->event);
	code = publish_pace(s, cpu);
	if (!code)
		code = cpu_event_enable(&c->event);
	if (code)
		return err_sys(e, code, "cannot start the event of CPU %u", cpu);
	now = c->event.pace.armed_ns;
	c->next_redraw_ns = s->plan.interval_ns ? now + period_wait(&s->plan) : UINT64_MAX;
	c->next_alive_ns = now + ALIVE_NS;
	c->seen = 1;
	if (cpu >= s->seen)
		s->seen = cpu + 1;
	return 0;
}

static void attach_life(struct sampler *s)
{
	struct {
		struct bpf_program *prog;
		const char *without;
	} life[] = {
		{s->skel->progs.life_fork, "children forked from now on are not sampled"},
		{s->skel->progs.life_exec,
			"a program change in mid-run is seen at its next sample only"},
		{s->skel->progs.life_exit, "the end of a process is seen late"},
		{s->skel->progs.life_free, "ended processes stay in the target set"},
	};

	for (size_t i = 0; i < sizeof(life) / sizeof(life[0]); i++) {
		if (!bpf_program__autoload(life[i].prog))
			continue;
		s->links[i] = bpf_program__attach(life[i].prog);
		if (!s->links[i])
			log_warn("cannot attach to %s (%s): %s",
				bpf_program__section_name(life[i].prog), strerrordesc_np(errno),
				life[i].without);
	}
}

int sampler_start(struct sampler *s, struct err *e)
{
	uint32_t *online = NULL;
	uint32_t opened = 0;
	size_t nr = 0;
	int code;

	code = kernel_online_cpus(&online, &nr);
	if (code)
		return err_sys(e, code, "/sys/devices/system/cpu/online");
	for (size_t i = 0; i < nr; i++) {
		if (online[i] >= s->nr_cpus || !s->cpus[online[i]].wanted)
			continue;
		code = open_event(s, online[i], e);
		if (code == -ENODEV)
			continue; /* gone since */
		if (code)
			goto out;
		opened++;
	}
	if (!opened) {
		code = err_set(e, -ENODEV, "none of the CPUs to sample is online");
		goto out;
	}
	attach_life(s);
	s->running = 1;
	for (uint32_t cpu = 0; cpu < s->nr_cpus; cpu++) {
		if (s->cpus[cpu].event.fd < 0)
			continue;
		code = enable_event(s, cpu, e);
		if (code)
			goto out;
	}
out:
	free(online);
	if (code)
		sampler_stop(s);
	return code;
}

void sampler_stop(struct sampler *s)
{
	if (!s || !s->cpus)
		return;
	s->running = 0;
	s->counters_at = 0; /* the next read is the last word */
	for (uint32_t cpu = 0; cpu < s->nr_cpus; cpu++)
		cpu_event_disable(&s->cpus[cpu].event);
	for (uint32_t cpu = 0; cpu < s->nr_cpus; cpu++)
		cpu_event_close(&s->cpus[cpu].event);
	for (size_t i = 0; i < sizeof(s->links) / sizeof(s->links[0]); i++) {
		bpf_link__destroy(s->links[i]);
		s->links[i] = NULL;
	}
}

int sampler_consume(struct sampler *s, int timeout_ms, sampler_fn fn, void *ctx, struct err *e)
{
	int n = rings_consume(s->rings, timeout_ms, fn, ctx);

	return n < 0 && n != -EINTR && e && !e->code ? err_sys(e, n, "reading the rings") : n;
}

static void redraw(struct sampler *s, uint32_t cpu, uint64_t now)
{
	struct cpu *c = &s->cpus[cpu];
	uint64_t period = period_draw(&s->plan, &c->draws, now - c->event.pace.armed_ns);

	if (cpu_event_set_period(&c->event, period) || publish_pace(s, cpu))
		return;
	s->redraws++;
	c->next_redraw_ns = now + period_wait(&s->plan);
}

static int reopen(struct sampler *s, uint32_t cpu, struct err *e)
{
	int code;

	cpu_event_close(&s->cpus[cpu].event);
	code = open_event(s, cpu, e);
	if (code == -ENODEV)
		return 0;
	if (!code)
		code = enable_event(s, cpu, e);
	if (!code)
		s->hotplugged++;
	return code;
}

static int read_counters(struct sampler *s)
{
	uint64_t now = clock_mono_ns();
	uint32_t zero = 0;
	int code;

	/* One read is good for a pass over all CPUs. */
	if (s->counters_at && now - s->counters_at < 1000000)
		return 0;
	code = bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.counters), &zero, s->counters);
	if (!code)
		s->counters_at = now;
	return code;
}

int sampler_tick(struct sampler *s, struct err *e)
{
	uint64_t now = clock_mono_ns();
	uint32_t *online = NULL;
	size_t nr = 0, at = 0;
	int code = 0;

	if (!s->running)
		return 0;
	if (kernel_online_cpus(&online, &nr))
		return 0; /* no /sys here: no hotplug either */
	for (uint32_t cpu = 0; cpu < s->nr_cpus && !code; cpu++) {
		struct cpu *c = &s->cpus[cpu];
		int is_online;

		while (at < nr && online[at] < cpu)
			at++;
		is_online = at < nr && online[at] == cpu;
		if (!c->wanted)
			continue;
		if (!is_online) {
			if (c->event.fd >= 0) {
				log_info("CPU %u went offline", cpu);
				cpu_event_close(&c->event);
			}
			continue;
		}
		cpu_event_poll(&c->event);
		if (c->event.fd >= 0 && now >= c->next_alive_ns) {
			if (!cpu_event_alive(&c->event))
				cpu_event_close(&c->event);
			c->next_alive_ns = now + ALIVE_NS;
		}
		if (c->event.fd < 0) {
			log_info("CPU %u is online again", cpu);
			code = reopen(s, cpu, e);
			continue;
		}
		if (now >= c->next_redraw_ns)
			redraw(s, cpu, now);
	}
	free(online);
	return code;
}

/* ---- questions ------------------------------------------------------------ */

int sampler_counters(struct sampler *s, uint32_t cpu, struct wire_counters *c, uint64_t *throttled)
{
	int code;

	if (cpu >= s->seen || !s->cpus[cpu].seen)
		return -ENOENT;
	code = read_counters(s);
	if (code)
		return code;
	*c = s->counters[cpu];
	if (throttled)
		*throttled = (uint64_t)(s->cpus[cpu].event.throttled + 0.5);
	return 0;
}

uint32_t sampler_nr_cpus(const struct sampler *s)
{
	return s->seen;
}

int sampler_find_module(
	struct sampler *s, uint32_t id, struct wire_file_key *key, struct wire_module_value *v)
{
	int fd = bpf_map__fd(s->skel->maps.modules);
	struct wire_file_key k, next;
	const struct wire_file_key *at = NULL;

	while (!bpf_map_get_next_key(fd, at, &next)) {
		k = next;
		at = &k;
		if (bpf_map_lookup_elem(fd, &k, v) || v->id != id)
			continue;
		*key = k;
		return 0;
	}
	return -ENOENT;
}

int sampler_mapped_files(struct sampler *s, pid_t tid, mapped_file_fn fn, void *ctx)
{
	int fd = bpf_program__fd(s->skel->progs.mapped_files);

	return fd < 0 ? -EOPNOTSUPP : mapped_files_list(fd, tid, fn, ctx);
}

void sampler_unwind_maps(const struct sampler *s, struct unwind_map_fds *fds)
{
	*fds = (struct unwind_map_fds){.modules = bpf_map__fd(s->skel->maps.unwind_modules),
		.pages = bpf_map__fd(s->skel->maps.unwind_pages),
		.rules = bpf_map__fd(s->skel->maps.unwind_rules),
		.slabs = bpf_map__fd(s->skel->maps.unwind_slabs)};
}

/* Bytes the kernel says a map holds. */
static uint64_t map_bytes(int fd)
{
	char path[64], text[2048], *line;
	unsigned long long bytes = 0;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (kernel_read_text(path, text, sizeof(text)) < 0)
		return 0;
	line = strstr(text, "memlock:");
	if (line)
		sscanf(line, "memlock: %llu", &bytes);
	return bytes;
}

void sampler_info(struct sampler *s, struct sampler_info *info)
{
	struct bpf_program *prog;
	struct bpf_map *map;

	memset(info, 0, sizeof(*info));
	info->rdonly_cast = s->rdonly_cast;
	info->walk_selftest = s->walk_ok;
	info->redraws = s->redraws;
	info->cpus_hotplugged = s->hotplugged;
	bpf_object__for_each_map(map, s->skel->obj) info->map_bytes += map_bytes(bpf_map__fd(map));
	info->map_bytes += rings_bytes(s->rings);
	bpf_object__for_each_program(prog, s->skel->obj)
	{
		struct bpf_prog_info pi = {0};
		__u32 len = sizeof(pi);

		if (bpf_program__fd(prog) < 0 ||
			bpf_obj_get_info_by_fd(bpf_program__fd(prog), &pi, &len))
			continue;
		if (pi.verified_insns > info->verified_insns)
			info->verified_insns = pi.verified_insns;
	}
	s->counters_at = 0;
	if (read_counters(s))
		return;
	for (uint32_t cpu = 0; cpu < s->seen; cpu++) {
		const struct wire_counters *c = &s->counters[cpu];

		if (!s->cpus[cpu].seen)
			continue;
		info->cpus_online += s->cpus[cpu].event.fd >= 0 || !s->running;
		info->bpf_run_ns += c->run_ns;
		info->bpf_run_cnt += c->sampled + c->lost_ring;
	}
}
