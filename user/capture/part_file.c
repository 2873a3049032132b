/* SPDX-License-Identifier: BSD-2-Clause */
#include "part_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "block.h"
#include "user/base/escape.h"
#include "user/base/fmt.h"
#include "user/base/out.h"

/* Another recorder may create and drop the name between two of our steps. */
#define CREATE_TRIES 8

static char *with_suffix(const char *path, const char *suffix)
{
	char *s;

	return asprintf(&s, "%s%s", path, suffix) < 0 ? NULL : s;
}

static int sys_err(struct err *e, int code, const char *what, const char *path)
{
	char name[ESCAPE_BRIEF_BUF];

	return err_sys(e, code, "%s: %s", escape_brief(name, sizeof(name), path), what);
}

static int busy(struct err *e, const char *part)
{
	char name[ESCAPE_BRIEF_BUF];

	err_set(e, -EBUSY, "%s: another recording is writing it",
		escape_brief(name, sizeof(name), part));
	err_hint(e, "choose another file with -o");
	return -EBUSY;
}

static int not_ours(struct err *e, const char *path)
{
	char name[ESCAPE_BRIEF_BUF];

	err_set(e, -EEXIST, "%s: exists and is not a capture; it is left alone",
		escape_brief(name, sizeof(name), path));
	err_hint(e, "remove it, or choose another file with -o");
	return -EEXIST;
}

/* Somebody's text or program, that a slip of the -o would move away or replace? */
static int is_other_file(const char *path)
{
	char magic[FILE_MAGIC_LEN];
	struct stat st;
	ssize_t n = 0;
	int fd;

	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 0; /* a link is not followed; what cannot be read is not judged */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		n = pread(fd, magic, sizeof(magic), 0);
	close(fd);
	return n > 0 && (n < (ssize_t)sizeof(magic) || memcmp(magic, FILE_MAGIC, sizeof(magic)));
}

/* Only what can be renamed over can be an output. */
static int check_target(const char *path, struct err *e)
{
	char name[ESCAPE_BRIEF_BUF], *old;
	struct stat st;
	int ret = 0;

	if (!*path || path[strlen(path) - 1] == '/') {
		err_set(e, -EINVAL, "%s: not a file name for a capture",
			escape_brief(name, sizeof(name), path));
		return -EINVAL;
	}
	if (lstat(path, &st))
		return 0; /* what else may be wrong shows when the .part is created */
	if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)) {
		if (is_other_file(path))
			return not_ours(e, path);
		old = with_suffix(path, ".old");
		if (!old)
			return err_set(e, -ENOMEM, "out of memory");
		if (is_other_file(old))
			ret = not_ours(e, old);
		free(old);
		return ret;
	}
	err_set(e, -EINVAL, "%s: is %s; a capture needs a regular file",
		escape_brief(name, sizeof(name), path),
		S_ISDIR(st.st_mode) ? "a directory" : "no regular file");
	return -EINVAL;
}

/* Is this the name's file still, or did somebody put another one there? */
static int same_file(int fd, const char *path)
{
	struct stat a, b;

	return !fstat(fd, &a) && !lstat(path, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* A .part is there already: move it aside if it is ours and nobody writes it. */
static int move_stale(const char *part, struct err *e)
{
	char magic[FILE_MAGIC_LEN], *old = NULL;
	struct stat st;
	int fd, ret;

	/* O_NONBLOCK: a FIFO must not hold us up. */
	fd = open(part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		if (errno == ENOENT)
			return 0;
		if (errno == ELOOP || errno == ENXIO)
			goto not_ours;
		return sys_err(e, -errno, "looking at what is there", part);
	}
	if (fstat(fd, &st)) {
		ret = sys_err(e, -errno, "looking at what is there", part);
		goto out;
	}
	if (!S_ISREG(st.st_mode))
		goto not_ours;
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		ret = errno == EWOULDBLOCK ? busy(e, part) : sys_err(e, -errno, "locking", part);
		goto out;
	}
	if (!same_file(fd, part)) {
		ret = 0; /* renamed meanwhile */
		goto out;
	}
	if (st.st_size == 0) {
		ret = unlink(part) && errno != ENOENT ? sys_err(e, -errno, "removing", part) : 0;
		goto out;
	}
	if (pread(fd, magic, sizeof(magic), 0) != (ssize_t)sizeof(magic) ||
		memcmp(magic, FILE_MAGIC, sizeof(magic)))
		goto not_ours;
	old = with_suffix(part, ".old");
	if (!old)
		ret = err_set(e, -ENOMEM, "out of memory");
	else if (rename(part, old))
		ret = sys_err(e, -errno, "moving the interrupted recording to .part.old", part);
	else
		ret = 0;
	goto out;

not_ours:
	ret = not_ours(e, part);
out:
	free(old);
	if (fd >= 0)
		close(fd);
	return ret;
}

int part_file_create(struct part_file *f, const char *path, struct err *e)
{
	int ret, i;

	*f = (struct part_file){.fd = -1};
	ret = check_target(path, e);
	if (ret)
		return ret;
	f->path = strdup(path);
	f->part = with_suffix(path, ".part");
	if (!f->path || !f->part) {
		ret = err_set(e, -ENOMEM, "out of memory");
		goto fail;
	}
	for (i = 0; i < CREATE_TRIES; i++) {
		f->fd = open(f->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (f->fd >= 0)
			break;
		if (errno != EEXIST) {
			ret = sys_err(e, -errno, "creating", f->part);
			goto fail;
		}
		ret = move_stale(f->part, e);
		if (ret)
			goto fail;
	}
	if (f->fd < 0) {
		ret = busy(e, f->part);
		goto fail;
	}
	/* Locked too late: another recorder took our empty file for a stale one. */
	if (flock(f->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		ret = busy(e, f->part);
		goto fail;
	}
	if (!same_file(f->fd, f->part)) {
		ret = busy(e, f->part);
		goto fail;
	}
	ret = out_give_to_caller(f->fd);
	if (ret) {
		sys_err(e, ret, "giving it to the calling user", f->part);
		unlink(f->part);
		goto fail;
	}
	return 0;

fail:
	part_file_release(f);
	return ret;
}

/* Should this fail too, then readers still stop at the last whole block. */
static void cut_back(struct part_file *f)
{
	if (!ftruncate(f->fd, (off_t)f->size))
		lseek(f->fd, (off_t)f->size, SEEK_SET);
}

int part_file_append(struct part_file *f, const void *data, size_t len, struct err *e)
{
	char size[32], name[ESCAPE_BRIEF_BUF];
	const char *p = data;
	size_t left = len;
	ssize_t n;
	int ret;

	while (left) {
		n = write(f->fd, p, left);
		if (n > 0) {
			p += n;
			left -= (size_t)n;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		ret = n < 0 ? -errno : -EIO;
		cut_back(f);
		err_sys(e, ret, "%s: writing", escape_brief(name, sizeof(name), f->part));
		if (f->size > FILE_HEADER_LEN)
			err_hint(e, "the %s written so far are a readable capture",
				fmt_bytes(size, sizeof(size), f->size));
		return ret;
	}
	f->size += len;
	return 0;
}

/* The rename itself must survive a power cut; a file system that cannot is none of our business. */
static void sync_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	int fd;

	if (!dir)
		return;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(dir);
	if (fd < 0)
		return;
	(void)fsync(fd);
	close(fd);
}

int part_file_rename(struct part_file *f, struct err *e)
{
	char name[ESCAPE_BRIEF_BUF], *old = with_suffix(f->path, ".old");
	int ret = 0;

	if (!old)
		return err_set(e, -ENOMEM, "out of memory");
	if (fsync(f->fd)) {
		/* Which blocks reached the disk is not known: their sums will tell. */
		free(old);
		return sys_err(e, -errno, "writing to the disk", f->part);
	}
	if (!same_file(f->fd, f->part)) {
		ret = err_set(e, -EBUSY, "%s: was replaced by another file while recording",
			escape_brief(name, sizeof(name), f->part));
		goto out;
	}
	if (rename(f->path, old) && errno != ENOENT) {
		ret = sys_err(e, -errno, "moving the old capture to .old", f->path);
		goto out;
	}
	if (rename(f->part, f->path)) {
		ret = sys_err(e, -errno, "renaming to its final name", f->part);
		goto out;
	}
	sync_folder(f->path);
	part_file_release(f);
out:
	if (ret)
		err_hint(e, "the capture is whole and stays under its .part name");
	free(old);
	return ret;
}

void part_file_remove(struct part_file *f)
{
	if (f->fd >= 0 && same_file(f->fd, f->part))
		unlink(f->part);
}

void part_file_release(struct part_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->path);
	free(f->part);
	*f = (struct part_file){.fd = -1};
}
