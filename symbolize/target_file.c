/* SPDX-License-Identifier: BSD-2-Clause */
#include "target_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "proc_maps.h"
#include "user/base/escape.h"

static const char deleted_mark[] = " (deleted)";

/* ---- sentences ---- */

static int say(struct err *e, int code, const char *path, const char *what)
{
	char name[ESCAPE_BRIEF_BUF];

	escape_brief(name, sizeof(name), path);
	if (what)
		return err_set(e, code, "%s: %s", name, what);
	return err_sys(e, code, "%s: cannot open", name);
}

/* A missing file below /proc/PID: is it the file or the process? */
static int proc_error(pid_t pid, int code)
{
	char dir[32];

	snprintf(dir, sizeof(dir), "/proc/%d", (int)pid);
	if (code == -ENOENT && access(dir, F_OK) < 0 && errno == ENOENT)
		return -ESRCH;
	return code;
}

/* ---- opening ---- */

/* Turn an O_PATH descriptor (closed here) into one for reading, if it is a regular file. */
static int open_regular(int at)
{
	char self[40];
	struct stat st;
	int fd;

	if (fstat(at, &st) < 0) {
		fd = -errno;
	} else if (!S_ISREG(st.st_mode)) {
		fd = -EINVAL;
	} else {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", at);
		fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd < 0)
			fd = -errno;
	}
	close(at);
	return fd;
}

/* Follow one of /proc's magic links, which lead to the open file itself. */
static int open_link(const char *link)
{
	int at = open(link, O_PATH | O_CLOEXEC);

	return at < 0 ? -errno : open_regular(at);
}

static int open_root(pid_t pid)
{
	char root[40] = "/";
	int fd;

	if (pid)
		snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
	fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* O_PATH descriptor of @path below @root; links cannot lead out of it. */
static int find_in_root(int root, const char *path, int follow_last)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | (follow_last ? 0 : O_NOFOLLOW),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd;

	/* EAGAIN: a rename during the walk; once more is usually enough. */
	for (int tries = 0; tries < 4; tries++) {
		fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
		if (fd >= 0)
			return (int)fd;
		if (errno != EAGAIN)
			break;
	}
	return -errno;
}

/* ---- is it the right one? ---- */

static uint64_t ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

/* overlayfs can put the number of a layer into the upper bits of an inode number. */
static int same_ino(int fd, uint64_t a, uint64_t b)
{
	struct statfs fs;

	if (a == b)
		return 1;
	return (uint32_t)a == (uint32_t)b && fstatfs(fd, &fs) == 0 &&
	       fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

int file_key_matches(int fd, const struct file_key *want, int strict)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !same_ino(fd, st.st_ino, want->ino))
		return 0;
	if (!want->size && !want->ctime_ns)
		return 1;
	if ((uint64_t)st.st_size != want->size)
		return 0;
	return ns(&st.st_ctim) == want->ctime_ns || (!strict && ns(&st.st_mtim) <= want->ctime_ns);
}

/* @fd, or -ESTALE with @fd closed. */
static int check(int fd, const struct file_key *want, const char *name, struct err *e)
{
	if (fd < 0 || !want || file_key_matches(fd, want, 0))
		return fd;
	close(fd);
	return say(e, -ESTALE, name, "the file is not the one that was mapped");
}

/* ---- paths ---- */

/* 1 if @path, seen from the root of @pid or from ours, is the file behind @fd. */
static int leads_to(pid_t pid, const char *path, int fd)
{
	struct stat want, st;
	int found = 0;

	if (fstat(fd, &want) < 0)
		return 0;
	for (int own = 0; own < 2 && !found; own++) {
		int root = open_root(own ? 0 : pid), at;

		if (root < 0)
			continue;
		at = find_in_root(root, path, 1);
		if (at >= 0) {
			found = fstat(at, &st) == 0 && st.st_ino == want.st_ino &&
				st.st_dev == want.st_dev;
			close(at);
		}
		close(root);
	}
	return found;
}

/*
 * The text of a magic link is the path, without any escapes, but with
 * " (deleted)" when the name is gone. A file can be named so: then the whole
 * text still leads to it.
 */
static void path_of_link(const char *link, pid_t pid, int fd, struct buf *path, int *deleted)
{
	size_t mark = sizeof(deleted_mark) - 1;
	char text[PATH_MAX + 1];
	ssize_t len = readlink(link, text, PATH_MAX);

	buf_clear(path);
	*deleted = 0;
	if (len <= 0)
		return;
	text[len] = '\0';
	if ((size_t)len > mark && memcmp(text + len - mark, deleted_mark, mark) == 0 &&
		!leads_to(pid, text, fd)) {
		*deleted = 1;
		len -= (ssize_t)mark;
	}
	buf_add(path, text, (size_t)len);
}

/* ---- what others call ---- */

int target_open_exe(
	pid_t pid, const struct file_key *want, struct buf *path, int *deleted, struct err *e)
{
	char link[40];
	int fd;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	fd = open_link(link);
	if (fd < 0)
		return say(e, proc_error(pid, fd), link, NULL);
	fd = check(fd, want, link, e);
	if (fd >= 0)
		path_of_link(link, pid, fd, path, deleted);
	return fd;
}

static int open_below(int root, const char *path, int follow_last, struct err *e)
{
	int fd = find_in_root(root, path, follow_last);

	if (fd >= 0)
		fd = open_regular(fd);
	if (fd == -EINVAL)
		return say(e, fd, path, "not a regular file");
	return fd < 0 ? say(e, fd, path, NULL) : fd;
}

int target_open_path(pid_t pid, const char *path, const struct file_key *want, struct err *e)
{
	int root = open_root(pid), fd;

	if (root < 0) {
		char link[40];

		snprintf(link, sizeof(link), "/proc/%d/root", (int)pid);
		return say(e, proc_error(pid, root), pid ? link : "/", NULL);
	}
	fd = open_below(root, path, 1, e);
	close(root);
	return check(fd, want, path, e);
}

/* map_files is closed to us: look for the file by name, and believe only its key. */
static int open_by_maps(pid_t pid, uint64_t start, uint64_t end, const struct file_key *want,
	struct buf *path, int *deleted, struct err *e)
{
	const struct proc_map *pm;
	struct proc_maps maps;
	int fd = target_open_exe(pid, want, path, deleted, NULL);

	if (fd >= 0)
		return fd;
	fd = proc_maps_read(&maps, pid, e);
	if (fd)
		return fd;
	pm = proc_maps_find(&maps, start);
	fd = -ENOENT;
	if (pm && pm->end >= end && pm->path_len) {
		for (unsigned i = 0; fd < 0 && proc_map_paths(pm, i, path, deleted); i++)
			fd = target_open_path(pid, buf_str(path), want, NULL);
		/* The name as far as it is known, also when it leads nowhere. */
		if (fd < 0)
			proc_map_paths(pm, 0, path, deleted);
	}
	proc_maps_release(&maps);
	return fd;
}

int target_open_mapping(pid_t pid, uint64_t start, uint64_t end, const struct file_key *want,
	struct buf *path, int *deleted, struct err *e)
{
	char link[96];
	int fd;

	buf_clear(path);
	*deleted = 0;
	snprintf(link, sizeof(link), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, start,
		end);
	fd = open_link(link);
	if (fd == -EPERM || fd == -EACCES) {
		int other = want ? open_by_maps(pid, start, end, want, path, deleted, NULL) : fd;

		if (other >= 0)
			return other;
		say(e, fd, link, NULL);
		err_hint(e, "needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE; try sudo");
		return fd;
	}
	if (fd == -EINVAL)
		return say(e, fd, link, "not a regular file");
	if (fd < 0)
		return say(e, proc_error(pid, fd), link, NULL);
	/* The path is worth knowing even when the file is of no use. */
	path_of_link(link, pid, fd, path, deleted);
	return check(fd, want, link, e);
}

/* ---- perf maps ---- */

static int read_status(struct perf_map_place *p, pid_t pid, struct err *e)
{
	char name[40], line[512];
	int have_uid = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/status", (int)pid);
	f = fopen(name, "re");
	if (!f)
		return say(e, errno == ENOENT ? -ESRCH : -errno, name, NULL);
	p->pid = pid; /* kernels without NSpid have no pid namespaces for us to see */
	while (fgets(line, sizeof(line), f)) {
		/* Its pid in each namespace, ours first, its own last. */
		if (strncmp(line, "NSpid:", 6) == 0) {
			char *last = strrchr(line, '\t');

			if (last && atoi(last + 1) > 0)
				p->pid = atoi(last + 1);
		}
		if (sscanf(line, "Uid: %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32, &p->uids[0],
			    &p->uids[1], &p->uids[2], &p->uids[3]) == 4)
			have_uid = 1;
	}
	fclose(f);
	return have_uid ? 0 : say(e, -ESRCH, name, "no such process");
}

int perf_map_place_find(struct perf_map_place *p, pid_t pid, struct err *e)
{
	char link[40];
	int err, root;

	*p = (struct perf_map_place){.dir_fd = -1};
	err = read_status(p, pid, e);
	if (err)
		return err;
	snprintf(link, sizeof(link), "/proc/%d/root", (int)pid);
	root = open_root(pid);
	if (root < 0)
		return say(e, proc_error(pid, root), link, NULL);
	/* Its /tmp and not its root: when the last process of a container ends,
	 * what was mounted below the root is gone, but not what we hold. */
	p->dir_fd = find_in_root(root, "/tmp", 1);
	close(root);
	if (p->dir_fd < 0) {
		err = p->dir_fd;
		p->dir_fd = -1;
		return say(e, err, "/tmp", NULL);
	}
	return 0;
}

void perf_map_place_release(struct perf_map_place *p)
{
	if (p->dir_fd >= 0)
		close(p->dir_fd);
	*p = (struct perf_map_place){.dir_fd = -1};
}

int perf_map_place_open(const struct perf_map_place *p, struct err *e)
{
	char path[64];
	struct stat st;
	int fd, ours = 0;

	snprintf(path, sizeof(path), "perf-%d.map", (int)p->pid);
	/* The file may not be a link: anybody may put one into /tmp. */
	fd = open_below(p->dir_fd, path, 0, e);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0) {
		int err = -errno;

		close(fd);
		return say(e, err, path, NULL);
	}
	for (int i = 0; i < 4; i++)
		ours |= st.st_uid == p->uids[i];
	if (!ours && st.st_uid != 0) {
		close(fd);
		return say(e, -EPERM, path, "owned by neither the process's user nor root");
	}
	return fd;
}

int target_open_perf_map(pid_t pid, struct err *e)
{
	struct perf_map_place p;
	int fd = perf_map_place_find(&p, pid, e);

	if (fd)
		return fd;
	fd = perf_map_place_open(&p, e);
	perf_map_place_release(&p);
	return fd;
}
