/* SPDX-License-Identifier: BSD-2-Clause */
#include "files.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "procs.h"
#include "symbolize/proc_maps.h"
#include "symbolize/target_file.h"
#include "user/base/hashmap.h"

#define LOG_DOMAIN "record"
#include "user/base/log.h"

#define WIRE_MODULES (MODULE_FIRST_FILE + MAX_MODULES)
#define SCAN_MAX     512 /* files opened ahead; a JVM with many agents maps about 100 */
#define RETRY_MAX    16	 /* processes in which one file is looked for again */
#define ASK_MAX	     100 /* times that the walk is asked where else it is mapped */

struct file {
	int fd; /* -1 = not held */
	uint32_t stream_id;
	struct wire_file_key key;
	uint32_t reason;
	uint32_t tries, asked;
	pid_t tried;		 /* the last one it was looked for in */
	struct file_info *early; /* owned; opened, and not asked for yet */
};

/* Opened ahead, not asked for yet. */
struct ahead {
	int fd;
	struct stat st;
	struct file_info info;
};

/* Where the perf map of a process will be looked for: it grows until the end. */
struct perf_map_file {
	uint32_t process;
	struct perf_map_place place; /* dir_fd -1 = not known, or taken */
};

struct files {
	struct file file[WIRE_MODULES]; /* mostly untouched: zero pages */
	struct hashmap *by_stream;	/* stream id -> wire id */
	uint32_t early[WIRE_MODULES];	/* wire ids that were opened early */
	uint32_t nr_early;
	struct ahead *ahead;
	size_t nr_ahead;
	struct perf_map_file *perf_maps;
	size_t nr_perf_maps, cap_perf_maps;
	struct hashmap *by_process; /* stream process id -> index in perf_maps */
	uint32_t held, not_held, max_held;
};

void file_info_release(struct file_info *i)
{
	buf_release(&i->path);
}

int files_new(struct files **out)
{
	struct files *f = calloc(1, sizeof(*f));
	struct rlimit limit;
	rlim_t half;

	*out = NULL;
	if (!f)
		return -ENOMEM;
	f->by_stream = hashmap_new(sizeof(uint32_t));
	f->by_process = hashmap_new(sizeof(uint32_t));
	f->ahead = calloc(SCAN_MAX, sizeof(*f->ahead));
	if (!f->by_stream || !f->by_process || !f->ahead) {
		files_free(f);
		return -ENOMEM;
	}
	half = getrlimit(RLIMIT_NOFILE, &limit) ? 512 : limit.rlim_cur / 2;
	f->max_held = half < PROCS_MAX_FILES ? (uint32_t)half : PROCS_MAX_FILES;
	*out = f;
	return 0;
}

static void drop(struct files *f, int *fd)
{
	if (*fd < 0)
		return;
	close(*fd);
	*fd = -1;
	f->held--;
}

static void drop_early(struct files *f, struct file *file)
{
	if (!file->early)
		return;
	drop(f, &file->fd);
	file_info_release(file->early);
	free(file->early);
	file->early = NULL;
}

void files_free(struct files *f)
{
	size_t i, it = 0;
	uint32_t wire_id;
	const void *key;

	if (!f)
		return;
	while (f->by_stream && hashmap_next(f->by_stream, &it, &key, &wire_id))
		drop(f, &f->file[wire_id].fd);
	for (i = 0; i < f->nr_early; i++)
		drop_early(f, &f->file[f->early[i]]);
	for (i = 0; i < f->nr_ahead; i++) {
		drop(f, &f->ahead[i].fd);
		file_info_release(&f->ahead[i].info);
	}
	for (i = 0; i < f->nr_perf_maps; i++)
		perf_map_place_release(&f->perf_maps[i].place);
	hashmap_free(f->by_stream);
	hashmap_free(f->by_process);
	free(f->ahead);
	free(f->perf_maps);
	free(f);
}

static uint32_t reason_of(int err)
{
	switch (err) {
	case -ESRCH:
		return REASON_EXITED;
	case -ESTALE:
		return REASON_FILE_CHANGED;
	case -ENOENT:
		return REASON_FILE_GONE;
	default:
		return REASON_FILE_UNREADABLE;
	}
}

/* Open one mapping and read what belongs in the record. Returns an fd or -1 with info->reason. */
static int open_mapping(pid_t pid, uint64_t start, uint64_t end, const struct file_key *want,
	struct file_info *info)
{
	struct err e = {0};
	int fd, n;

	fd = target_open_mapping(pid, start, end, want, &info->path, &info->deleted, &e);
	if (fd < 0) {
		log_debug("%s", e.msg);
		info->reason = reason_of(fd);
		return -1;
	}
	n = build_id_of_fd(fd, info->build_id);
	info->build_id_len = n > 0 ? (size_t)n : 0;
	info->reason = 0;
	return fd;
}

/* Keep @fd if the bound allows. */
static void hold(struct files *f, int *slot, int fd)
{
	*slot = -1;
	if (f->held >= f->max_held) {
		close(fd);
		f->not_held++;
		return;
	}
	*slot = fd;
	f->held++;
}

/* Device numbers are not compared: overlayfs and btrfs show others to user space. */
static int take_ahead(struct files *f, const struct wire_file_key *key, struct file_info *info)
{
	size_t i;
	int fd;

	for (i = 0; i < f->nr_ahead; i++) {
		struct ahead *a = &f->ahead[i];

		if (a->fd < 0 || a->st.st_ino != key->ino || (uint64_t)a->st.st_size != key->size ||
			(uint64_t)a->st.st_ctim.tv_sec * 1000000000u +
					(uint64_t)a->st.st_ctim.tv_nsec !=
				key->ctime_ns)
			continue;
		fd = a->fd;
		*info = a->info;
		a->info = (struct file_info){0};
		a->fd = -1;
		f->held--;
		return fd;
	}
	return -1;
}

void files_open(struct files *f, uint32_t wire_id, const struct wire_file_key *key, pid_t pid,
	uint64_t start, uint64_t end, struct file_info *info)
{
	struct file_key want = {.dev = key->dev,
		.gen = key->gen,
		.ino = key->ino,
		.size = key->size,
		.ctime_ns = key->ctime_ns};
	struct file *file = &f->file[wire_id];
	int fd;

	*info = (struct file_info){0};
	if (file->early) {
		*info = *file->early;
		free(file->early);
		file->early = NULL;
		return;
	}
	*file = (struct file){.fd = -1, .key = *key, .tried = pid, .reason = REASON_EXITED};
	fd = take_ahead(f, key, info);
	if (fd < 0 && pid > 0)
		fd = open_mapping(pid, start, end, &want, info);
	if (fd >= 0)
		hold(f, &file->fd, fd);
	else if (!info->reason)
		info->reason = REASON_EXITED;
	file->reason = info->reason;
}

int files_open_early(struct files *f, uint32_t wire_id, const struct wire_file_key *key, pid_t pid,
	uint64_t start, uint64_t end, const struct file_info **info)
{
	struct file *file = &f->file[wire_id];
	struct file_info *early;

	if (file->key.ino || f->held >= f->max_held / 2)
		return 0;
	early = calloc(1, sizeof(*early));
	if (!early)
		return 0;
	files_open(f, wire_id, key, pid, start, end, early);
	if (early->reason) {
		/* As if it had not been seen: a sample of it may come from another process. */
		file_info_release(early);
		free(early);
		*file = (struct file){0};
		return 0;
	}
	file->early = early;
	f->early[f->nr_early++] = wire_id;
	*info = early;
	return 1;
}

const struct wire_file_key *files_early_key(const struct files *f, uint32_t wire_id)
{
	return f->file[wire_id].early ? &f->file[wire_id].key : NULL;
}

int files_fd(const struct files *f, uint32_t wire_id)
{
	return f->file[wire_id].key.ino ? f->file[wire_id].fd : -1;
}

void files_bind(struct files *f, uint32_t wire_id, uint32_t stream_id)
{
	f->file[wire_id].stream_id = stream_id;
	if (hashmap_set(f->by_stream, &stream_id, wire_id))
		drop(f, &f->file[wire_id].fd); /* no memory to find it again */
}

/* ---- the mappings of a process ---- */

static int is_code(const struct proc_map *m)
{
	return m->ino && (m->perm & PROC_MAP_X);
}

int files_missing(const struct files *f, uint32_t wire_id)
{
	const struct file *file = &f->file[wire_id];

	return (file->reason == REASON_EXITED || file->reason == REASON_FILE_GONE) && file->key.ino;
}

int files_wants_retry(const struct files *f, uint32_t wire_id, pid_t pid)
{
	const struct file *file = &f->file[wire_id];

	return files_missing(f, wire_id) && file->tried != pid && file->tries < RETRY_MAX;
}

int files_wants_place(struct files *f, uint32_t wire_id)
{
	struct file *file = &f->file[wire_id];

	if (!files_missing(f, wire_id) || file->asked >= ASK_MAX)
		return 0;
	file->asked++;
	return 1;
}

int files_reopen(struct files *f, uint32_t wire_id, pid_t pid, uint64_t start, uint64_t end,
	struct wire_file_key *key, struct file_info *info)
{
	struct file *file = &f->file[wire_id];
	struct file_key want = {.dev = file->key.dev,
		.gen = file->key.gen,
		.ino = file->key.ino,
		.size = file->key.size,
		.ctime_ns = file->key.ctime_ns};
	struct proc_maps maps = {0};
	int fd = -1;
	size_t i;

	*key = file->key;
	if (end) {
		fd = open_mapping(pid, start, end, &want, info);
		goto out;
	}
	file->tried = pid;
	file->tries++;
	if (!proc_maps_read(&maps, pid, NULL)) {
		for (i = 0; i < maps.nr && fd < 0; i++)
			if (is_code(&maps.at[i]) && maps.at[i].ino == key->ino)
				fd = open_mapping(
					pid, maps.at[i].start, maps.at[i].end, &want, info);
	}
	proc_maps_release(&maps);
out:
	if (fd < 0)
		return 0;
	file->reason = 0;
	hold(f, &file->fd, fd);
	return 1;
}

static void open_ahead(struct files *f, pid_t pid, const struct proc_map *m)
{
	struct ahead *a = &f->ahead[f->nr_ahead];
	struct file_key want = {.ino = m->ino};
	size_t i;

	for (i = 0; i < f->nr_ahead; i++)
		if (f->ahead[i].st.st_ino == m->ino)
			return;
	*a = (struct ahead){.fd = -1};
	a->fd = open_mapping(pid, m->start, m->end, &want, &a->info);
	if (a->fd < 0 || fstat(a->fd, &a->st)) {
		if (a->fd >= 0)
			close(a->fd);
		file_info_release(&a->info);
		return;
	}
	f->held++;
	f->nr_ahead++;
}

void files_scan(struct files *f, pid_t pid)
{
	struct proc_maps maps = {0};
	size_t i;

	if (!proc_maps_read(&maps, pid, NULL)) {
		for (i = 0; i < maps.nr; i++) {
			if (f->nr_ahead == SCAN_MAX || f->held >= f->max_held / 2)
				break;
			if (is_code(&maps.at[i]))
				open_ahead(f, pid, &maps.at[i]);
		}
	}
	proc_maps_release(&maps);
}

/* ---- perf maps ---- */

static struct perf_map_file *add_perf_map(struct files *f, uint32_t process)
{
	struct perf_map_file *grown;
	size_t cap;

	if (f->nr_perf_maps == f->cap_perf_maps) {
		cap = f->cap_perf_maps ? 2 * f->cap_perf_maps : 16;
		grown = reallocarray(f->perf_maps, cap, sizeof(*grown));
		if (!grown)
			return NULL;
		f->perf_maps = grown;
		f->cap_perf_maps = cap;
	}
	if (hashmap_set(f->by_process, &process, (uint32_t)f->nr_perf_maps))
		return NULL;
	grown = &f->perf_maps[f->nr_perf_maps++];
	*grown = (struct perf_map_file){.process = process, .place = {.dir_fd = -1}};
	return grown;
}

void files_want_perf_map(struct files *f, uint32_t process, pid_t pid)
{
	struct perf_map_file *m;
	struct err e = {0};

	if (hashmap_get(f->by_process, &process, NULL))
		return;
	m = add_perf_map(f, process);
	if (!m)
		return;
	if (f->held >= f->max_held) {
		f->not_held++;
		return;
	}
	if (perf_map_place_find(&m->place, pid, &e))
		log_debug("%s", e.msg);
	else
		f->held++;
}

/* ---- for naming ---- */

int files_take_module(struct files *f, uint32_t stream_id)
{
	uint32_t wire_id;
	int fd;

	if (!hashmap_get(f->by_stream, &stream_id, &wire_id))
		return -1;
	fd = f->file[wire_id].fd;
	f->file[wire_id].fd = -1;
	f->held -= fd >= 0;
	return fd;
}

int files_take_perf_map(struct files *f, uint32_t process, struct err *e)
{
	struct perf_map_place *place;
	uint32_t index;
	int fd;

	if (!hashmap_get(f->by_process, &process, &index) || f->perf_maps[index].place.dir_fd < 0)
		return err_set(e, -ENOENT, "where the perf map would be is not known");
	place = &f->perf_maps[index].place;
	fd = perf_map_place_open(place, e);
	perf_map_place_release(place);
	place->dir_fd = -1;
	f->held--;
	return fd;
}

uint32_t files_held(const struct files *f)
{
	return f->held;
}

uint32_t files_not_held(const struct files *f)
{
	return f->not_held;
}
