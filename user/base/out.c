/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DESIGN: one buffer in front of a descriptor, or a growing one when collecting
 * into memory. Four kinds of destination:
 *
 *   "-", /dev/stdout, /dev/fd/N   a descriptor we share: never replaced, as
 *                                 renaming over the link would destroy it
 *   device, FIFO                  opened and written straight
 *   new name, regular file        temporary beside it, renamed at the end
 *   symbolic link to a file       replaced, not followed: we may be root in a
 *                                 folder where a stranger put the link; one to
 *                                 a device or FIFO is refused
 */
#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "escape.h"

#define BUF_SIZE  ((size_t)64 << 10)
#define TMP_TRIES 100

struct out {
	char *buf;	 /* cap + 1 bytes, the last for out_mem_data()'s NUL */
	size_t len, cap; /* of buf */
	uint64_t count;
	int err;
	int fd;	     /* -1 in memory */
	int owns_fd; /* to be closed */
	int dir_fd;  /* folder of the temporary, or -1 */
	char *path;  /* as given, for sentences; NULL for descriptors */
	char *base;  /* final name inside dir_fd; points into path */
	char tmp[NAME_MAX + 1];
};

static struct out *out_new(size_t cap)
{
	struct out *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->fd = o->dir_fd = -1;
	o->cap = cap;
	o->buf = malloc(cap + 1);
	if (!o->buf) {
		free(o);
		return NULL;
	}
	return o;
}

static void out_free(struct out *o)
{
	if (o->owns_fd && o->fd >= 0)
		close(o->fd);
	if (o->dir_fd >= 0)
		close(o->dir_fd);
	free(o->path);
	free(o->buf);
	free(o);
}

struct out *out_fd(int fd)
{
	struct out *o = out_new(BUF_SIZE);

	if (o)
		o->fd = fd;
	return o;
}

struct out *out_mem(void)
{
	return out_new(1024);
}

const char *out_mem_data(const struct out *o, size_t *len)
{
	o->buf[o->len] = '\0';
	if (len)
		*len = o->len;
	return o->buf;
}

/* A sentence about this output; call with an error code. */
static int complain(const struct out *o, int code, struct err *e)
{
	char brief[ESCAPE_BRIEF_BUF];

	if (o->path)
		return err_sys(
			e, code, "cannot write %s", escape_brief(brief, sizeof(brief), o->path));
	if (o->fd == STDOUT_FILENO)
		return err_sys(e, code, "cannot write to standard output");
	return err_sys(e, code, "cannot write to descriptor %d", o->fd);
}

/* An all-digit id as sudo gives it; (uid_t)-1 means "leave as it is" to chown. */
static int parse_id(const char *s, uint32_t *id)
{
	uint64_t v = 0;

	if (!s || !*s)
		return 0;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return 0;
		v = v * 10 + (uint64_t)(*s - '0');
		if (v >= UINT32_MAX)
			return 0;
	}
	*id = (uint32_t)v;
	return 1;
}

int out_give_to_caller(int fd)
{
	uint32_t uid, gid;

	if (geteuid() || !parse_id(getenv("SUDO_UID"), &uid) || !parse_id(getenv("SUDO_GID"), &gid))
		return 0;
	return fchown(fd, uid, gid) ? -errno : 0;
}

/* The descriptor a name like /dev/fd/3 stands for, or -1. */
static int shared_fd(const char *path)
{
	static const char *const dirs[] = {"/dev/fd/", "/proc/self/fd/"};
	const char *num;
	uint32_t fd;
	size_t i;

	if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (i = 0; i < 2; i++) {
		if (strncmp(path, dirs[i], strlen(dirs[i])))
			continue;
		num = path + strlen(dirs[i]);
		if (parse_id(num, &fd) && fd <= INT_MAX)
			return (int)fd;
	}
	return -1;
}

static int open_direct(struct out *o)
{
	do
		o->fd = open(o->path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
	while (o->fd < 0 && errno == EINTR);
	if (o->fd < 0)
		return -errno;
	o->owns_fd = 1;
	return 0;
}

static int open_dir(struct out *o)
{
	char *slash = strrchr(o->path, '/');
	int ret = 0;

	o->base = slash ? slash + 1 : o->path;
	if (!slash) {
		o->dir_fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	} else if (slash == o->path) {
		o->dir_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	} else {
		*slash = '\0';
		o->dir_fd = open(o->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		*slash = '/';
	}
	if (o->dir_fd < 0)
		ret = -errno;
	return ret;
}

static int open_tmp(struct out *o)
{
	uint64_t rnd = 0;
	int i;

	for (i = 0; i < TMP_TRIES; i++) {
		if (getrandom(&rnd, sizeof(rnd), GRND_NONBLOCK) < 0)
			rnd += (uint64_t)getpid() << 32 | (uint64_t)i;
		/* The name is cut, so that one of 255 bytes has room for the rest. */
		snprintf(o->tmp, sizeof(o->tmp), ".%.200s.%012llx", o->base,
			(unsigned long long)(rnd & 0xffffffffffffu));
		o->fd = openat(o->dir_fd, o->tmp,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
		if (o->fd >= 0)
			break;
		if (errno != EEXIST && errno != EINTR)
			return -errno;
	}
	if (o->fd < 0)
		return -EEXIST;
	o->owns_fd = 1;
	/* Some file systems have no owners; the output is still worth having. */
	(void)out_give_to_caller(o->fd);
	return 0;
}

int out_open(struct out **op, const char *path, struct err *e)
{
	char brief[ESCAPE_BRIEF_BUF];
	struct stat st;
	struct out *o;
	int ret, fd;

	*op = NULL;
	if (!*path)
		return err_set(e, -ENOENT, "the output file's name is empty");
	o = out_new(BUF_SIZE);
	if (!o)
		return err_set(e, -ENOMEM, "out of memory");
	fd = shared_fd(path);
	if (fd >= 0) {
		o->fd = fd;
		if (fcntl(fd, F_GETFD) < 0) {
			ret = complain(o, -errno, e);
			goto out;
		}
		*op = o;
		return 0;
	}
	o->path = strdup(path);
	if (!o->path) {
		ret = err_set(e, -ENOMEM, "out of memory");
		goto out;
	}
	if (!stat(path, &st)) {
		ret = S_ISDIR(st.st_mode) ? -EISDIR : 0;
		if (!ret && !S_ISREG(st.st_mode)) {
			ret = open_direct(o);
			if (ret == -ELOOP) {
				err_set(e, ret,
					"cannot write %s: a symbolic link to no regular file",
					escape_brief(brief, sizeof(brief), path));
				err_hint(e, "name the device or pipe itself");
			} else if (ret) {
				complain(o, ret, e);
			} else {
				*op = o;
			}
			goto out;
		}
		/* rename() would not mind replacing a file its owner made read-only. */
		if (!ret && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS))
			ret = -errno;
	} else {
		ret = errno == ENOENT || errno == ELOOP ? 0 : -errno;
	}
	if (!ret && path[strlen(path) - 1] == '/')
		ret = -EISDIR;
	if (ret) {
		complain(o, ret, e);
		goto out;
	}
	ret = open_dir(o);
	if (ret) {
		err_sys(e, ret, "cannot write %s: its folder",
			escape_brief(brief, sizeof(brief), path));
		goto out;
	}
	ret = open_tmp(o);
	if (ret) {
		err_sys(e, ret, "cannot create a file for %s in its folder",
			escape_brief(brief, sizeof(brief), path));
		goto out;
	}
	*op = o;
out:
	if (!*op)
		out_free(o);
	return ret;
}

static int write_all(int fd, const char *data, size_t len)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	ssize_t n;

	while (len) {
		n = write(fd, data, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			/* Somebody made the terminal or pipe we share non-blocking. */
			if (poll(&p, 1, -1) < 0 && errno != EINTR)
				return -errno;
			continue;
		}
		if (n < 0)
			return -errno;
		if (!n)
			return -EIO;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static void flush(struct out *o)
{
	if (!o->err)
		o->err = write_all(o->fd, o->buf, o->len);
	o->len = 0;
}

static int mem_grow(struct out *o, size_t more)
{
	size_t need, cap = o->cap + o->cap / 2;
	char *buf;

	if (__builtin_add_overflow(o->len, more, &need) || need >= PTRDIFF_MAX)
		return -ENOMEM;
	if (cap < need)
		cap = need;
	buf = realloc(o->buf, cap + 1);
	if (!buf)
		return -ENOMEM;
	o->buf = buf;
	o->cap = cap;
	return 0;
}

static void write_slow(struct out *o, const char *data, size_t len)
{
	if (o->fd < 0) {
		o->err = mem_grow(o, len);
	} else {
		flush(o);
		if (!o->err && len >= o->cap) {
			o->err = write_all(o->fd, data, len);
			if (!o->err)
				o->count += len;
			return;
		}
	}
	if (o->err)
		return;
	memcpy(o->buf + o->len, data, len);
	o->len += len;
	o->count += len;
}

void out_write(struct out *o, const void *data, size_t len)
{
	if (o->err || !len)
		return;
	if (len > o->cap - o->len) {
		write_slow(o, data, len);
		return;
	}
	memcpy(o->buf + o->len, data, len);
	o->len += len;
	o->count += len;
}

void out_str(struct out *o, const char *s)
{
	out_write(o, s, strlen(s));
}

void out_char(struct out *o, char c)
{
	out_write(o, &c, 1);
}

void out_printf(struct out *o, const char *fmt, ...)
{
	char small[512], *big = NULL;
	va_list ap, again;
	int n;

	if (o->err)
		return;
	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	if (n < 0) {
		out_fail(o, -EINVAL);
	} else if ((size_t)n < sizeof(small)) {
		out_write(o, small, (size_t)n);
	} else if (vasprintf(&big, fmt, again) < 0) {
		out_fail(o, -ENOMEM);
	} else {
		out_write(o, big, (size_t)n);
		free(big);
	}
	va_end(again);
	va_end(ap);
}

void out_u64(struct out *o, uint64_t v)
{
	char tmp[20], *p = tmp + sizeof(tmp);

	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	out_write(o, p, (size_t)(tmp + sizeof(tmp) - p));
}

uint64_t out_count(const struct out *o)
{
	return o->count;
}

int out_err(const struct out *o)
{
	return o->err;
}

void out_fail(struct out *o, int err)
{
	if (!o->err)
		o->err = err;
}

/* The bytes must be on disk before the name is: a crash may not leave an empty file under it. */
static int settle(struct out *o)
{
	int ret = 0;

	/* Refused by file systems that have nothing to sync. */
	if (fsync(o->fd) && errno != EINVAL && errno != ENOTSUP && errno != EROFS)
		ret = -errno;
	/* Network file systems report a full disk here. */
	if (close(o->fd) && errno != EINTR && !ret)
		ret = -errno;
	o->fd = -1;
	if (!ret && renameat(o->dir_fd, o->tmp, o->dir_fd, o->base))
		ret = -errno;
	if (!ret)
		o->tmp[0] = '\0';
	return ret;
}

int out_close(struct out *o, struct err *e)
{
	int ret;

	if (o->fd >= 0)
		flush(o);
	ret = o->err;
	if (!ret && o->tmp[0])
		ret = settle(o);
	else if (!ret && o->owns_fd) {
		ret = close(o->fd) && errno != EINTR ? -errno : 0;
		o->fd = -1;
	}
	if (ret)
		complain(o, ret, e);
	out_abort(o);
	return ret;
}

void out_abort(struct out *o)
{
	if (!o)
		return;
	if (o->tmp[0])
		unlinkat(o->dir_fd, o->tmp, 0);
	out_free(o);
}
