/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DESIGN: ids of the wire are small numbers (module ids) or short keys (process
 * generation), so arrays and one hash map translate them; the dictionaries of
 * the stream itself are the builder's. Nothing is allocated per sample.
 *
 * A module id can reach us before its WIRE_MODULE: another CPU saw the file in
 * the table while the record waits in the ring of the first one. Then the
 * sampler is asked for the key.
 *
 * A file whose first process was gone too soon is tried again when another
 * process that maps it is sampled (short-lived programs in a loop).
 */
#include "procs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "proc_stat.h"
#include "user/base/escape.h"
#include "user/base/hashmap.h"

#define LOG_DOMAIN "record"
#include "user/base/log.h"

#define CMDLINE_KEPT 4096 /* bytes of arguments per process; the rest tells nobody more */
#define WIRE_MODULES (MODULE_FIRST_FILE + MAX_MODULES)

struct process_key {
	uint64_t start_boot_ns;
	uint32_t pid, exec_id;
};

struct process {
	uint32_t id; /* of the stream */
	uint32_t pid;
};

struct procs {
	struct builder *builder;
	struct sampler *sampler;
	struct files *files;
	struct unwind_loader *loader; /* NULL = no tables wanted */
	uint64_t start_mono_ns;
	struct hashmap *process_map; /* struct process_key -> index */
	struct process *processes;
	size_t nr_processes, cap_processes;
	struct hashmap *thread_map;	 /* {process index, tid}: counting */
	uint32_t modules[WIRE_MODULES];	 /* wire id -> id of the stream, 0 = not seen */
	uint64_t *received, *table_full; /* per CPU */
	uint32_t nr_cpus;
	struct procs_counts counts;
	uint32_t frames[MAX_KERNEL_FRAMES + MAX_USER_FRAMES];
};

int procs_new(struct procs **out, struct builder *b, struct sampler *s, uint32_t nr_cpus)
{
	struct procs *p = calloc(1, sizeof(*p));

	*out = NULL;
	if (!p)
		return -ENOMEM;
	p->builder = b;
	p->sampler = s;
	p->nr_cpus = nr_cpus;
	p->process_map = hashmap_new(sizeof(struct process_key));
	p->thread_map = hashmap_new(2 * sizeof(uint32_t));
	p->received = calloc(nr_cpus, sizeof(*p->received));
	p->table_full = calloc(nr_cpus, sizeof(*p->table_full));
	if (!p->process_map || !p->thread_map || !p->received || !p->table_full ||
		files_new(&p->files)) {
		procs_free(p);
		return -ENOMEM;
	}
	*out = p;
	return 0;
}

void procs_free(struct procs *p)
{
	if (!p)
		return;
	files_free(p->files);
	hashmap_free(p->process_map);
	hashmap_free(p->thread_map);
	free(p->processes);
	free(p->received);
	free(p->table_full);
	free(p);
}

void procs_set_start(struct procs *p, uint64_t start_mono_ns)
{
	p->start_mono_ns = start_mono_ns;
}

void procs_set_loader(struct procs *p, struct unwind_loader *l)
{
	p->loader = l;
}

struct files *procs_files(struct procs *p)
{
	return p->files;
}

/* ---- processes ---- */

/* The executable's path, without the " (deleted)" the kernel adds when it is. 0 = not known. */
static int64_t exe_string(struct procs *p, uint32_t pid, struct err *e)
{
	static const char deleted[] = " (deleted)";
	char link[64], path[4096];
	struct stat st;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%u/exe", pid);
	n = readlink(link, path, sizeof(path));
	if (n <= 0)
		return 0;
	if ((size_t)n > strlen(deleted) &&
		!memcmp(path + n - strlen(deleted), deleted, strlen(deleted)) && !stat(link, &st) &&
		!st.st_nlink)
		n -= (ssize_t)strlen(deleted);
	return builder_string(p->builder, path, (size_t)n, e);
}

static int64_t cmdline_string(struct procs *p, uint32_t pid, struct err *e)
{
	char path[64], text[CMDLINE_KEPT + 1];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	n = proc_read(path, text, sizeof(text));
	if (n <= 0)
		return 0;
	return builder_string(p->builder, text, (size_t)n, e);
}

/*
 * What /proc says now is about the generation that was sampled: same start,
 * same name. Another name may be an exec that came after the sample; then its
 * program is not told rather than told wrong.
 */
static int still_same(const struct wire_process *w)
{
	struct proc_stat st;
	uint64_t start_ns;

	if (proc_stat_read((pid_t)w->pid, 0, &st))
		return 0;
	start_ns = st.start_ticks * proc_tick_ns();
	if (w->start_boot_ns < start_ns || w->start_boot_ns - start_ns > 2 * proc_tick_ns())
		return 0;
	return !strncmp(st.comm, w->comm, sizeof(st.comm));
}

static int new_process(struct procs *p, const struct wire_process *w, struct err *e)
{
	struct record_process r = {
		.pid = w->pid, .exec_id = w->exec_id, .start_boot_ns = w->start_boot_ns};
	struct process *grown;
	int64_t id;

	if (p->nr_processes == p->cap_processes) {
		size_t cap = p->cap_processes ? 2 * p->cap_processes : 64;

		grown = reallocarray(p->processes, cap, sizeof(*grown));
		if (!grown)
			return err_set(e, -ENOMEM, "out of memory for processes");
		p->processes = grown;
		p->cap_processes = cap;
	}
	id = builder_string(p->builder, w->comm, strnlen(w->comm, sizeof(w->comm)), e);
	if (id < 0)
		return (int)id;
	r.name = (uint32_t)id;
	if (still_same(w)) {
		id = exe_string(p, w->pid, e);
		if (id < 0)
			return (int)id;
		r.exe = (uint32_t)id;
		id = cmdline_string(p, w->pid, e);
		if (id < 0)
			return (int)id;
		r.cmdline = (uint32_t)id;
	}
	id = builder_process(p->builder, &r, NULL, e);
	if (id < 0)
		return (int)id;
	p->processes[p->nr_processes++] = (struct process){.id = (uint32_t)id, .pid = w->pid};
	p->counts.processes++;
	return 0;
}

/* Index of the process generation of a sample. */
static int find_process(
	struct procs *p, const struct wire_process *w, uint32_t *index, struct err *e)
{
	struct process_key key = {
		.start_boot_ns = w->start_boot_ns, .pid = w->pid, .exec_id = w->exec_id};
	int ret;

	if (hashmap_get(p->process_map, &key, index))
		return 0;
	ret = new_process(p, w, e);
	if (ret)
		return ret;
	*index = (uint32_t)(p->nr_processes - 1);
	if (hashmap_set(p->process_map, &key, *index)) {
		p->nr_processes--;
		return err_set(e, -ENOMEM, "out of memory for processes");
	}
	return 0;
}

/* ---- modules ---- */

static int put_module(struct procs *p, uint32_t id, const struct wire_file_key *key,
	const struct file_info *info, int64_t *out, struct err *e)
{
	struct record_module m = {.id = id,
		.kind = MODULE_KIND_FILE,
		.dev = key->dev,
		.gen = key->gen,
		.ino = key->ino,
		.size = key->size,
		.ctime_ns = key->ctime_ns};
	struct record r = {.kind = RECORD_MODULE};
	int64_t s;

	if (info->path.len) {
		s = builder_string(p->builder, info->path.data, info->path.len, e);
		if (s < 0)
			return (int)s;
		m.path = (uint32_t)s;
	}
	if (info->build_id_len) {
		s = builder_string(p->builder, (const char *)info->build_id, info->build_id_len, e);
		if (s < 0)
			return (int)s;
		m.build_id = (uint32_t)s;
	}
	m.flags = (info->deleted ? MODULE_F_DELETED : 0) | (info->reason ? MODULE_F_NO_FILE : 0);
	m.reason = info->reason;
	if (!id) {
		*out = builder_module(p->builder, &m, e);
		return *out < 0 ? (int)*out : 0;
	}
	r.module = m;
	*out = id;
	return builder_put(p->builder, &r, e);
}

/* Have the unwind table of a file made that is open now. */
static void load_table(struct procs *p, uint32_t wire_id, const struct file_info *info)
{
	char name[ESCAPE_BRIEF_BUF];

	if (p->loader && !info->reason)
		unwind_loader_add(p->loader, wire_id, files_fd(p->files, wire_id),
			escape_brief(name, sizeof(name), buf_str(&info->path)));
}

/* First sight of a file: open it through the mapping it was seen in. */
static int new_module(struct procs *p, uint32_t wire_id, const struct wire_file_key *key,
	uint32_t pid, uint64_t start, uint64_t end, struct err *e)
{
	struct file_info info = {0};
	int64_t id = 0;
	int ret;

	files_open(p->files, wire_id, key, (pid_t)pid, start, end, &info);
	load_table(p, wire_id, &info);
	ret = put_module(p, 0, key, &info, &id, e);
	if (!ret) {
		p->modules[wire_id] = (uint32_t)id;
		files_bind(p->files, wire_id, (uint32_t)id);
		p->counts.modules++;
		if (info.reason)
			p->counts.modules_not_open++;
	}
	file_info_release(&info);
	return ret;
}

static int new_vdso(struct procs *p, struct err *e)
{
	struct record_module m = {.kind = MODULE_KIND_VDSO};
	int64_t id = builder_string(p->builder, "[vdso]", 6, e);

	if (id < 0)
		return (int)id;
	m.path = (uint32_t)id;
	id = builder_module(p->builder, &m, e);
	if (id < 0)
		return (int)id;
	p->modules[MODULE_VDSO] = (uint32_t)id;
	p->counts.modules++;
	return 0;
}

/* A module we could not open is mapped by another process: try there. */
static int retry_module(struct procs *p, uint32_t wire_id, uint32_t pid, uint64_t start,
	uint64_t end, struct err *e)
{
	struct file_info info = {0};
	struct wire_file_key key;
	int64_t id;
	int ret = 0;

	if (files_reopen(p->files, wire_id, (pid_t)pid, start, end, &key, &info)) {
		load_table(p, wire_id, &info);
		ret = put_module(p, p->modules[wire_id], &key, &info, &id, e);
		p->counts.modules_not_open--;
	}
	file_info_release(&info);
	return ret;
}

/* Id of the stream for a module of the wire. */
static int find_module(struct procs *p, uint32_t wire_id, uint32_t pid, uint32_t *id, struct err *e)
{
	struct wire_module_value value;
	struct wire_file_key key = {0};
	int ret = 0;

	if (wire_id >= WIRE_MODULES)
		return err_set(e, -EINVAL, "module id %u on the ring is out of range", wire_id);
	if (!p->modules[wire_id]) {
		const struct wire_file_key *early = files_early_key(p->files, wire_id);

		if (wire_id == MODULE_VDSO) {
			ret = new_vdso(p, e);
		} else if (early) {
			key = *early;
			ret = new_module(p, wire_id, &key, 0, 0, 0, e);
		} else if (!sampler_find_module(p->sampler, wire_id, &key, &value)) {
			ret = new_module(p, wire_id, &key, value.pid, value.start, value.end, e);
		} else {
			ret = new_module(p, wire_id, &key, 0, 0, 0, e);
		}
	} else if (files_wants_retry(p->files, wire_id, (pid_t)pid)) {
		ret = retry_module(p, wire_id, pid, 0, 0, e);
	}
	*id = p->modules[wire_id];
	return ret;
}

/* ---- samples ---- */

static int convert_frame(struct procs *p, const struct frame *w, const struct process *process,
	uint64_t now_ns, uint32_t *id, struct err *e)
{
	struct frame f = *w;
	int64_t n;
	int ret;

	switch (f.kind) {
	case FRAME_MODULE:
		ret = find_module(p, w->owner, process->pid, &f.owner, e);
		if (ret)
			return ret;
		if (unwind_loader_misses(p->loader, w->owner, now_ns))
			unwind_loader_again(p->loader, w->owner, files_fd(p->files, w->owner));
		break;
	case FRAME_JIT:
		f.owner = process->id;
		files_want_perf_map(p->files, process->id, (pid_t)process->pid);
		break;
	case FRAME_NONE:
		/* What was taken for a return address is any word of the target's stack, a secret
		 * (the stack protector's) included, and often another one in each sample. That it
		 * was none is all there is to know. */
		if (f.flags & FRAME_F_RETURN)
			f.addr = 0;
		f.owner = 0;
		break;
	default:
		f.owner = 0;
		break;
	}
	n = builder_frame(p->builder, &f, e);
	if (n < 0)
		return (int)n;
	*id = (uint32_t)n;
	return 0;
}

static int put_sample(struct procs *p, const struct wire_sample *w, struct err *e)
{
	struct record r = {.kind = RECORD_SAMPLE};
	uint32_t index, nr = w->nr_kernel + w->nr_user, i, thread_key[2];
	int64_t thread, stack;
	int ret, is_new;

	ret = find_process(p, &w->process, &index, e);
	if (ret)
		return ret;
	thread = builder_thread(p->builder, p->processes[index].id, w->tid, w->comm,
		strnlen(w->comm, sizeof(w->comm)), e);
	if (thread < 0)
		return (int)thread;
	r.sample.time_ns = w->time_ns > p->start_mono_ns ? w->time_ns - p->start_mono_ns : 0;
	for (i = 0; i < nr; i++) {
		ret = convert_frame(
			p, &w->frames[i], &p->processes[index], w->time_ns, &p->frames[i], e);
		if (ret)
			return ret;
	}
	stack = builder_stack_path(p->builder, p->frames, nr, e);
	if (stack < 0)
		return (int)stack;
	r.sample.value = w->value;
	r.sample.thread = (uint32_t)thread;
	r.sample.stack = (uint32_t)stack;
	r.sample.cpu = w->h.cpu;
	r.sample.type = VALUE_CPU;
	r.sample.result = w->result;
	ret = builder_put(p->builder, &r, e);
	if (ret)
		return ret;

	p->counts.samples++;
	p->counts.value_ns += w->value;
	if (r.sample.time_ns > p->counts.last_ns)
		p->counts.last_ns = r.sample.time_ns;
	thread_key[0] = index;
	thread_key[1] = w->tid;
	if (hashmap_slot(p->thread_map, thread_key, 0, &is_new) && is_new)
		p->counts.threads++;
	return 0;
}

static int is_whole(const struct procs *p, const struct wire_sample *w)
{
	return w->h.len >= sizeof(*w) && w->h.cpu < p->nr_cpus &&
	       w->nr_kernel <= MAX_KERNEL_FRAMES && w->nr_user <= MAX_USER_FRAMES &&
	       w->h.len >= sizeof(*w) + (size_t)(w->nr_kernel + w->nr_user) * sizeof(struct frame);
}

static int take_sample(struct procs *p, const struct wire_sample *w, struct err *e)
{
	int ret;

	if (!is_whole(p, w)) {
		p->counts.malformed++;
		return 0;
	}
	p->received[w->h.cpu]++;
	ret = put_sample(p, w, e);
	if (ret == -E2BIG) {
		/* A dictionary is at its stated limit: the sample is lost, the recording goes on.
		 */
		p->table_full[w->h.cpu]++;
		p->counts.table_full++;
		return 0;
	}
	return ret;
}

static int take_module(struct procs *p, const struct wire_module *w, struct err *e)
{
	int ret;

	if (w->h.len < sizeof(*w) || w->id >= WIRE_MODULES) {
		p->counts.malformed++;
		return 0;
	}
	if (!p->modules[w->id])
		ret = new_module(p, w->id, &w->key, w->pid, w->start, w->end, e);
	else if (files_missing(p->files, w->id))
		ret = retry_module(p, w->id, w->pid, w->start, w->end, e);
	else
		return 0; /* a sample from another CPU was here first */
	if (!ret && files_wants_place(p->files, w->id))
		unwind_loader_ask(p->loader, w->id);
	return ret == -E2BIG ? 0 : ret;
}

static void take_exit(struct procs *p, const struct wire_life *w)
{
	if (w->h.len < sizeof(*w))
		p->counts.malformed++;
	else if (w->time_ns > p->start_mono_ns + p->counts.last_exit_ns)
		p->counts.last_exit_ns = w->time_ns - p->start_mono_ns;
}

int procs_record(struct procs *p, const struct wire_header *h, struct err *e)
{
	switch (h->kind) {
	case WIRE_SAMPLE:
		return take_sample(p, (const struct wire_sample *)(const void *)h, e);
	case WIRE_MODULE:
		return take_module(p, (const struct wire_module *)(const void *)h, e);
	case WIRE_EXIT:
		take_exit(p, (const struct wire_life *)(const void *)h);
		return 0;
	case WIRE_EXEC:
		/* Generations are told apart by what each sample says of its process. */
		return 0;
	default:
		p->counts.malformed++;
		return 0;
	}
}

void procs_preload(struct procs *p, const struct wire_module *m)
{
	const struct file_info *info;

	if (m->id >= WIRE_MODULES || p->modules[m->id] ||
		!files_open_early(p->files, m->id, &m->key, (pid_t)m->pid, m->start, m->end, &info))
		return;
	load_table(p, m->id, info);
}

void procs_scan(struct procs *p, pid_t pid)
{
	files_scan(p->files, pid);
}

const struct procs_counts *procs_counts(struct procs *p)
{
	p->counts.files_held = files_held(p->files);
	p->counts.files_not_held = files_not_held(p->files);
	return &p->counts;
}

void procs_cpu_counts(const struct procs *p, uint32_t cpu, uint64_t *received, uint64_t *table_full)
{
	*received = cpu < p->nr_cpus ? p->received[cpu] : 0;
	*table_full = cpu < p->nr_cpus ? p->table_full[cpu] : 0;
}
