/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The life of a recording:
 *
 *   prepare   target checked, command forked (waiting), programs loaded, FILE.part begun
 *   delay     nothing is sampled yet
 *   sampling  rings -> procs -> builder -> writer; a block at least once a second
 *   drain     events off, rings emptied, clocks read
 *   finish    names, run facts, END record, rename
 *   wait      for the command, when there is one
 *
 * The order in prepare is deliberate: the fork comes before limits are raised
 * and handlers installed, which the command must not inherit; the file comes
 * after the programs are loaded, so that a recording that cannot start leaves an
 * earlier .part alone; the events come last. Whatever fails, the file is
 * readable up to the last block.
 */
#include "recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "account.h"
#include "child.h"
#include "files.h"
#include "preload.h"
#include "procs.h"
#include "progress.h"
#include "run_info.h"
#include "sampler.h"
#include "stop.h"
#include "target.h"
#include "unwind_loader.h"
#include "unwind_maps.h"
#include "user/base/clock.h"
#include "user/base/escape.h"
#include "user/capture/capture.h"
#include "user/resolve/resolve.h"
#include "why_empty.h"

#define LOG_DOMAIN "record"
#include "user/base/log.h"

#define NS_PER_S       1000000000u
#define TURN_MS	       100 /* longest sleep: stop requests, target's end and redraws wait this long */
#define LOADER_TURN_NS 50000000u  /* of making unwind tables, before the rings are emptied again */
#define BLOCK_NS       900000000u /* a block at most 1 s apart, TURN_MS included */
#define SAMPLE_BYTES   12	  /* in the file, at most, in the long run */

struct recorder {
	const struct record_options *o;
	struct record_result *r;
	struct err *e;
	struct target target;
	struct child *child;
	struct sampler *sampler;
	struct capture_writer *writer;
	struct resolve_index *index; /* what naming must know of the stream */
	struct sink *tee;	     /* writer and index */
	struct builder *builder;
	struct procs *procs;
	struct account *account;
	struct unwind_maps *unwind_maps;
	struct unwind_loader *loader;
	struct progress progress;
	struct run_info info;
	struct preload_stats preloaded;
	uint64_t start_ns, stop_ns; /* CLOCK_MONOTONIC */
	uint64_t own_begin_ns;
	uint64_t next_turn_ns, next_block_ns;
	uint64_t block_samples; /* taken when the last block was ended */
	int priority;		/* what it was before raise_priority() */
	int write_failed;	/* the file is as it is: nothing more can be added */
};

/* ---- prepare ---- */

/* Files of targets are held open: have room for them. The command keeps the old limit. */
static void raise_descriptor_limit(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) || l.rlim_cur == l.rlim_max)
		return;
	l.rlim_cur = l.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &l))
		log_info("the limit on open files could not be raised: %s", strerror(errno));
}

/*
 * Beside thousands of runnable threads a recorder of normal priority gets no CPU
 * for seconds: it would begin late and lose samples. It needs little. The
 * command keeps the old priority; without the privilege it stays as it is.
 */
static void raise_priority(struct recorder *rec)
{
	rec->priority = getpriority(PRIO_PROCESS, 0);
	if (setpriority(PRIO_PROCESS, 0, -20))
		log_info("the priority could not be raised: %s", strerror(errno));
}

static void restore_priority(const struct recorder *rec)
{
	setpriority(PRIO_PROCESS, 0, rec->priority); /* lowering it needs no privilege */
}

static int start_sampler(struct recorder *rec)
{
	const struct record_options *o = rec->o;
	struct sampler_options so = {.freq = o->freq,
		.no_redraw = o->no_redraw,
		.mode = rec->target.mode,
		.children = o->children,
		.cgroup_id = rec->target.cgroup.id,
		.cpus = rec->target.cpus,
		.nr_cpus = rec->target.nr_cpus,
		.ring_bytes = o->buffer};
	int ret = sampler_new(&rec->sampler, &so, rec->e);

	return ret ? ret : target_admit(&rec->target, rec->sampler, rec->e);
}

static int start_stream(struct recorder *rec)
{
	int ret = capture_writer_open(&rec->writer, rec->o->output, rec->e);

	if (ret)
		return ret;
	if (resolve_index_new(&rec->index))
		return err_set(rec->e, -ENOMEM, "out of memory");
	rec->tee = sink_tee(capture_writer_sink(rec->writer), resolve_index_sink(rec->index));
	rec->account = account_new();
	if (!rec->tee || !rec->account || builder_new(&rec->builder, rec->tee, NULL) ||
		procs_new(&rec->procs, rec->builder, rec->sampler, MAX_CPUS))
		return err_set(rec->e, -ENOMEM, "out of memory");
	return 0;
}

static int start_loader(struct recorder *rec)
{
	struct unwind_map_fds fds;
	int ret;

	if (!rec->o->unwind_memory)
		return 0;
	sampler_unwind_maps(rec->sampler, &fds);
	ret = unwind_maps_open(&rec->unwind_maps, &fds, rec->o->unwind_memory, rec->e);
	if (!ret)
		ret = unwind_loader_new(&rec->loader, unwind_maps_memory(rec->unwind_maps), rec->e);
	if (ret)
		return ret;
	unwind_loader_add_vdso(rec->loader);
	procs_set_loader(rec->procs, rec->loader);
	return 0;
}

static int prepare(struct recorder *rec)
{
	const struct record_options *o = rec->o;
	int ret;

	ret = target_init(&rec->target, o, rec->e);
	if (ret)
		return ret;
	if (o->command) {
		ret = child_start(&rec->child, o->command, o->user, rec->e);
		if (!ret)
			ret = target_add_command(&rec->target, child_pid(rec->child),
				child_pidfd(rec->child), rec->e);
		if (ret)
			return ret;
	}
	raise_descriptor_limit();
	raise_priority(rec);
	stop_install();
	ret = start_sampler(rec);
	if (!ret)
		ret = start_stream(rec);
	return ret ? ret : start_loader(rec);
}

static int let_command_go(struct recorder *rec)
{
	int status, ret;

	if (!rec->child)
		return 0;
	ret = child_go(rec->child, &status, rec->e);
	if (ret) {
		rec->r->command_status = W_EXITCODE(status, 0);
		return ret;
	}
	rec->r->command_ran = 1;
	procs_scan(rec->procs, child_pid(rec->child)); /* it may be over in a moment */
	return 0;
}

/* Pass on what a process sent us; what the terminal sent has reached the command already. */
static void forward_signals(const struct recorder *rec)
{
	int signo;

	while ((signo = stop_take_sent()) != 0)
		if (rec->child)
			child_signal(rec->child, signo);
}

/* ---- delay ---- */

static int wait_delay(struct recorder *rec)
{
	uint64_t now = clock_mono_ns(), end = now + rec->o->delay_ns, turn;
	char line[64];

	for (; now < end; now = clock_mono_ns()) {
		forward_signals(rec);
		if (stop_signal()) {
			rec->r->end_reason = END_SIGNAL;
			return 1;
		}
		if (target_ended(&rec->target)) {
			rec->r->end_reason = END_TARGET_EXITED;
			return 1;
		}
		snprintf(line, sizeof(line), "recording begins in %.1f s",
			(double)(end - now) / 1e9);
		progress_say(&rec->progress, line);
		turn = now + (uint64_t)TURN_MS * 1000000;
		clock_sleep_until(turn < end ? turn : end);
	}
	return 0;
}

/* ---- sampling ---- */

/*
 * The events are on; what they deliver is taken later. The run starts here and
 * not before: opening and attaching took some 20 ms in which nothing was sampled.
 */
static int begin_run(struct recorder *rec)
{
	struct record r = {.kind = RECORD_RUN};
	int ret;

	rec->start_ns = clock_mono_ns();
	target_cpu_begin(&rec->target);
	rec->own_begin_ns = clock_process_cpu_ns();
	r.run.start_mono_ns = rec->start_ns;
	r.run.start_real_ns = clock_real_ns();
	r.run.period_ns = NS_PER_S / rec->o->freq;
	r.run.cpus = rec->target.cpus ? (uint32_t)rec->target.nr_cpus
				      : (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	r.run.value_types = 1u << VALUE_CPU;
	procs_set_start(rec->procs, rec->start_ns);
	ret = builder_put(rec->builder, &r, rec->e);
	if (!ret)
		ret = run_info_begin(&rec->info, rec->builder, rec->o, &rec->target, rec->e);
	/* So that even a kill in the first second leaves a capture that says what it is. */
	if (!ret)
		ret = capture_writer_flush(rec->writer, rec->e);
	if (ret)
		rec->write_failed = 1;
	return ret;
}

/* What is mapped already. A command that was not let go yet has nothing but ourselves. */
static void look_ahead(struct recorder *rec)
{
	size_t i;

	if (rec->child && !rec->o->delay_ns)
		return;
	if (preload(&rec->target, rec->sampler, rec->procs, rec->loader, &rec->preloaded) !=
		-EOPNOTSUPP)
		return;
	for (i = 0; i < rec->target.nr && !rec->child; i++)
		if (!rec->target.tasks[i].kernel_thread)
			procs_scan(rec->procs, rec->target.tasks[i].pid);
}

static int take_record(void *ctx, const struct wire_header *h)
{
	struct recorder *rec = ctx;
	int ret = procs_record(rec->procs, h, rec->e);

	if (ret)
		rec->write_failed = 1;
	return ret;
}

static uint64_t since_start(const struct recorder *rec)
{
	return clock_mono_ns() - rec->start_ns;
}

static int end_block(struct recorder *rec)
{
	int ret;

	ret = account_put(
		rec->account, rec->sampler, rec->procs, rec->builder, since_start(rec), rec->e);
	if (!ret)
		ret = capture_writer_flush(rec->writer, rec->e);
	if (ret)
		rec->write_failed = 1;
	rec->block_samples = procs_counts(rec->procs)->samples;
	return ret;
}

/* With a limit on the size, a block ends early when it might reach it. */
static int block_is_due(struct recorder *rec, uint64_t now)
{
	uint64_t waiting = procs_counts(rec->procs)->samples - rec->block_samples;

	return now >= rec->next_block_ns ||
	       (rec->o->max_size && waiting &&
		       capture_writer_bytes(rec->writer) + waiting * SAMPLE_BYTES >=
			       rec->o->max_size);
}

static void show_progress(struct recorder *rec, uint64_t now)
{
	struct progress_state s = {.elapsed_ns = now - rec->start_ns,
		.duration_ns = rec->o->duration_ns,
		.samples = procs_counts(rec->procs)->samples,
		.lost = account_totals(rec->account)->lost,
		.file_bytes = capture_writer_bytes(rec->writer)};

	progress_show(&rec->progress, now, &s);
}

/* What is due some times a second. 1 to end the sampling, 0 to go on, or negative. */
static int turn(struct recorder *rec, uint64_t now)
{
	int ret;

	ret = sampler_tick(rec->sampler, rec->e);
	if (ret)
		return ret;
	target_cpu_watch(&rec->target);
	if (block_is_due(rec, now)) {
		rec->next_block_ns = now + BLOCK_NS;
		ret = end_block(rec);
		if (ret)
			return ret;
		if (rec->o->max_size && capture_writer_bytes(rec->writer) >= rec->o->max_size) {
			rec->r->end_reason = END_MAX_SIZE;
			return 1;
		}
	}
	show_progress(rec, now);
	if (target_ended(&rec->target)) {
		rec->r->end_reason = END_TARGET_EXITED;
		return 1;
	}
	return 0;
}

/* How long to wait for records: until something else is due, at most @left_ns. */
static int wait_at_most(const struct recorder *rec, uint64_t left_ns)
{
	uint64_t left_ms = (left_ns + 999999) / 1000000;
	int loader_ms = unwind_loader_wait_ms(rec->loader);
	int ms = left_ms < TURN_MS ? (int)left_ms : TURN_MS;

	return loader_ms >= 0 && loader_ms < ms ? loader_ms : ms;
}

static int sample(struct recorder *rec)
{
	uint64_t now = clock_mono_ns();
	uint64_t asked = rec->o->duration_ns;
	uint64_t end =
		asked && asked < UINT64_MAX - rec->start_ns ? rec->start_ns + asked : UINT64_MAX;
	int ret, wait_ms;

	rec->next_block_ns = now + BLOCK_NS;
	for (;; now = clock_mono_ns()) {
		forward_signals(rec);
		if (stop_signal()) {
			rec->r->end_reason = END_SIGNAL;
			return 0;
		}
		if (now >= end) {
			rec->r->end_reason = END_DURATION;
			return 0;
		}
		if (now >= rec->next_turn_ns) {
			rec->next_turn_ns = now + (uint64_t)TURN_MS * 1000000;
			ret = turn(rec, now);
			if (ret)
				return ret < 0 ? ret : 0;
		}
		wait_ms = wait_at_most(rec, end - now);
		ret = sampler_consume(rec->sampler, wait_ms, take_record, rec, rec->e);
		if (ret < 0 && ret != -EINTR)
			return ret;
		unwind_loader_work(rec->loader, LOADER_TURN_NS);
	}
}

/* ---- drain ---- */

static int drain(struct recorder *rec)
{
	uint64_t exit_ns;
	int n;

	rec->stop_ns = clock_mono_ns();
	target_cpu_read(&rec->target);
	sampler_stop(rec->sampler);
	rec->r->duration_ns = rec->stop_ns - rec->start_ns;
	rec->r->target_cpu_ns = target_cpu_ns(&rec->target);
	if (rec->write_failed)
		return 0;
	do {
		n = sampler_consume(rec->sampler, 0, take_record, rec, rec->e);
	} while (n > 0);
	/* We look for the end of the target now and then; the kernel knows when it was. */
	exit_ns = procs_counts(rec->procs)->last_exit_ns;
	if (exit_ns && exit_ns < procs_counts(rec->procs)->last_ns)
		exit_ns =
			procs_counts(rec->procs)->last_ns; /* its memory is taken down after that */
	if (rec->r->end_reason == END_TARGET_EXITED && exit_ns && exit_ns < rec->r->duration_ns)
		rec->r->duration_ns = exit_ns;
	rec->r->own_cpu_ns = clock_process_cpu_ns() - rec->own_begin_ns;
	return n < 0 && n != -EINTR ? n : 0;
}

static void fill_counts(struct recorder *rec)
{
	const struct account_totals *t = account_totals(rec->account);
	const struct procs_counts *c = procs_counts(rec->procs);
	struct record_result *r = rec->r;

	r->samples = c->samples;
	r->cpu_ns = c->value_ns;
	r->threads = c->threads;
	r->processes = c->processes;
	r->modules = c->modules;
	r->lost = t->lost;
	r->ticks = t->ticks;
	r->file_bytes = capture_writer_bytes(rec->writer);
}

/* ---- finish ---- */

/* The file as it was held from first sight; else by path, with proof that it is the same. */
static int open_module(void *ctx, const struct resolve_module *m, enum frame_reason *why)
{
	struct recorder *rec = ctx;
	int fd = files_take_module(procs_files(rec->procs), m->record->id);

	if (fd >= 0)
		return fd;
	fd = resolve_open_module_on_host(NULL, m, why);
	if (fd < 0 && m->record->reason)
		*why = (enum frame_reason)m->record->reason; /* why it was not held says more */
	return fd;
}

static int open_perf_map(void *ctx, const struct record_process *p)
{
	struct recorder *rec = ctx;
	struct err e = {0};
	int fd = files_take_perf_map(procs_files(rec->procs), p->id, &e);

	if (fd < 0)
		log_debug("%s", e.msg);
	return fd;
}

static int name_frames(struct recorder *rec)
{
	const struct resolve_files files = {
		.open_module = open_module, .open_perf_map = open_perf_map, .ctx = rec};
	uint64_t begin = clock_process_cpu_ns();
	int ret;

	progress_say(&rec->progress, "looking up names");
	ret = resolve_frames(rec->builder, rec->index, &files, NULL, rec->e);
	rec->r->naming_ns = clock_process_cpu_ns() - begin;
	return ret;
}

static int put_end(struct recorder *rec)
{
	struct record r = {.kind = RECORD_END,
		.end = {.duration_ns = rec->r->duration_ns,
			.samples = rec->r->samples,
			.reason = (uint32_t)rec->r->end_reason}};

	return builder_put(rec->builder, &r, rec->e);
}

/* The file is complete under its final name, or the error is said and the .part stays. */
static int finish(struct recorder *rec)
{
	char message[ESCAPE_BRIEF_BUF + 128], part[sizeof(rec->r->path)], brief[ESCAPE_BRIEF_BUF];
	struct stat st;
	int ret;

	snprintf(message, sizeof(message),
		"\nprofbpf: left before the names were looked up; the samples are in %s\n",
		escape_brief(brief, sizeof(brief), rec->r->path));
	snprintf(part, sizeof(part), "%s", rec->r->path);
	stop_leave_on_second(message, part);
	ret = name_frames(rec);
	if (!ret && rec->loader)
		ret = run_info_unwind(
			&rec->info, rec->builder, rec->loader, &rec->preloaded, rec->e);
	if (!ret)
		ret = run_info_end(
			&rec->info, rec->builder, rec->r, rec->procs, rec->sampler, rec->e);
	if (!ret)
		ret = put_end(rec);
	if (ret) {
		rec->write_failed = 1;
	} else {
		ret = capture_writer_finish(rec->writer, rec->e);
		rec->writer = NULL;
		if (!ret) {
			snprintf(rec->r->path, sizeof(rec->r->path), "%s", rec->o->output);
			rec->r->complete = 1;
			if (!stat(rec->r->path, &st))
				rec->r->file_bytes = (uint64_t)st.st_size;
		}
	}
	stop_leave_on_second(NULL, NULL);
	progress_say(&rec->progress, NULL);
	return ret;
}

/*
 * Wait for the command to end; it is not hurried. Its status is the user's answer. It may ignore
 * the signal that ended the sampling: another one, the second of all at least, ends the waiting.
 */
static void wait_for_command(struct recorder *rec)
{
	int before = stop_count(), said = 0;

	if (!rec->r->command_ran)
		return;
	for (;;) {
		forward_signals(rec);
		if (child_wait(rec->child, TURN_MS, &rec->r->command_status))
			return;
		if (stop_count() > before && stop_count() >= 2) {
			forward_signals(rec);
			rec->r->command_left = stop_last();
			log_warn("the command (pid %d) was left running",
				(int)child_pid(rec->child));
			return;
		}
		if (!said)
			log_warn("waiting for the command (pid %d) to end; %s",
				(int)child_pid(rec->child),
				before ? "another Ctrl-C leaves it running"
				       : "the second Ctrl-C leaves it running");
		said = 1;
	}
}

/* From the first tick to the last; leaves the file with all samples in it. */
static int run(struct recorder *rec)
{
	int ret, drained;

	if (rec->o->delay_ns) {
		ret = let_command_go(rec);
		if (ret)
			return ret;
		if (wait_delay(rec))
			return 0;
	}
	snprintf(rec->r->path, sizeof(rec->r->path), "%s", capture_writer_part_path(rec->writer));
	look_ahead(rec);
	ret = sampler_start(rec->sampler, rec->e);
	if (!ret)
		ret = begin_run(rec);
	if (!ret && !rec->o->delay_ns)
		ret = let_command_go(rec);
	if (ret)
		return ret;
	ret = sample(rec);
	/* The first error counts; after it, only the clocks are read. */
	if (ret) {
		struct err later = {0}, *first = rec->e;

		rec->e = &later;
		drain(rec);
		rec->e = first;
		return ret;
	}
	drained = drain(rec);
	return drained ? drained : end_block(rec);
}

/* Say where the samples are that an error left behind. */
static void leave_part(struct recorder *rec)
{
	char brief[ESCAPE_BRIEF_BUF];

	if (!rec->writer)
		return;
	if (!procs_counts(rec->procs)->samples) {
		capture_writer_discard(rec->writer);
		rec->writer = NULL;
		rec->r->path[0] = '\0';
		return;
	}
	capture_writer_leave_part(rec->writer, NULL);
	rec->writer = NULL;
	if (rec->e && !rec->e->hint[0])
		err_hint(rec->e, "what was recorded until then is in %s",
			escape_brief(brief, sizeof(brief), rec->r->path));
}

static void discard(struct recorder *rec)
{
	if (rec->writer)
		capture_writer_discard(rec->writer);
	rec->writer = NULL;
	rec->r->path[0] = '\0';
}

/* "File too large" does not say whose limit that is. */
static void hint_at_file_limit(struct err *e)
{
	struct rlimit l;

	if (e->code == -EFBIG && !e->hint[0] && !getrlimit(RLIMIT_FSIZE, &l) &&
		l.rlim_cur != RLIM_INFINITY)
		err_hint(e, "files may have %llu bytes (RLIMIT_FSIZE): ulimit -f unlimited",
			(unsigned long long)l.rlim_cur);
}

int recorder_run(const struct record_options *o, struct record_result *r, struct err *e)
{
	struct err unused = {0};
	struct recorder rec = {
		.o = o, .r = r, .e = e ? e : &unused, .target = {.cgroup = {.fd = -1}}};
	int ret;

	memset(r, 0, sizeof(*r));
	rec.progress.on = o->progress;
	ret = prepare(&rec);
	if (ret) {
		discard(&rec);
		goto out;
	}
	ret = run(&rec);
	progress_say(&rec.progress, NULL);
	fill_counts(&rec);
	if (ret) {
		leave_part(&rec);
	} else if (!r->samples) {
		ret = why_empty(&rec.target, o, r, account_totals(rec.account), rec.e);
		discard(&rec);
	} else {
		ret = finish(&rec);
		if (ret)
			leave_part(&rec);
	}
	restore_priority(&rec);
	wait_for_command(&rec);
out:
	if (ret)
		hint_at_file_limit(rec.e);
	child_free(rec.child);
	procs_free(rec.procs);
	unwind_loader_free(rec.loader);
	unwind_maps_close(rec.unwind_maps);
	builder_free(rec.builder);
	free(rec.tee);
	resolve_index_free(rec.index);
	account_free(rec.account);
	sampler_free(rec.sampler);
	target_release(&rec.target);
	stop_restore();
	return ret;
}
