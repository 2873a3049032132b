/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resolve_capture(): FILE or FILE.part -> capture reader -> builder -> writer of
 * FILE.resolve.part -> FILE.
 *
 * Old records are passed on as they are, with two exceptions: END waits until
 * the new names are in, and NAME records that only hold a reason are left out,
 * because naming puts one again where it still has no name (so a capture does
 * not grow each time).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "index.h"
#include "resolve.h"
#include "user/base/clock.h"
#include "user/base/escape.h"
#include "user/capture/capture.h"

#define PART ".part"

/* The sink of the reader. */
struct copy {
	struct sink sink;
	struct builder *b;
	struct resolve_index *x;
	struct record_run run;
	struct record_end end;
	int has_end;
	uint64_t samples, last_ns;
};

static int copy_put(struct sink *s, const struct record *r, struct err *e)
{
	struct copy *c = (struct copy *)s;
	int err = sink_put(resolve_index_sink(c->x), r, e);

	if (err)
		return err;
	switch (r->kind) {
	case RECORD_RUN:
		c->run = r->run;
		break;
	case RECORD_SAMPLE:
		c->samples++;
		if (r->sample.time_ns > c->last_ns)
			c->last_ns = r->sample.time_ns;
		break;
	case RECORD_NAME:
		if (!r->name.name && !r->name.depth)
			return 0;
		break;
	case RECORD_END:
		c->end = r->end;
		c->has_end = 1;
		return 0;
	default:
		break;
	}
	return builder_replay(c->b, r, e);
}

static int put_end(struct copy *c, struct err *e)
{
	struct record r = {.kind = RECORD_END, .end = c->end};

	if (!c->has_end)
		r.end = (struct record_end){.duration_ns = c->last_ns, .reason = END_RESOLVED_PART};
	/* What was passed on, should the reader have left out kinds of a later version. */
	r.end.samples = c->samples;
	return builder_put(c->b, &r, e);
}

/* ---- is this the boot it was recorded in? ---- */

static int same_text(const struct resolve_index *x, const char *key, const char *now)
{
	const char *then = index_meta(x, key);

	return then && strcmp(then, now) == 0;
}

static int boot_id(char *buf, size_t size)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return 1;
}

/*
 * Kernel addresses change with each boot. The boot ID decides where it is
 * stored, else host, kernel and a start after this boot began; one second is
 * left for clocks that were set.
 */
static int of_this_boot(const struct copy *c)
{
	char now[64];
	struct utsname u;

	if (index_meta(c->x, "host.boot_id"))
		return boot_id(now, sizeof(now)) && same_text(c->x, "host.boot_id", now);
	return uname(&u) == 0 && same_text(c->x, "host.name", u.nodename) &&
	       same_text(c->x, "host.kernel", u.release) &&
	       same_text(c->x, "host.kernel_build", u.version) &&
	       c->run.start_real_ns + 1000000000u > clock_real_ns() - clock_boot_ns();
}

/* ---- files ---- */

struct paths {
	char from[4096]; /* what is read */
	char to[4096];	 /* what it becomes */
	char temp[4096]; /* what is written first */
	int is_part;
	struct stat st; /* of from */
	int lock;	/* descriptor; -1 = none */
};

static int too_long(struct err *e)
{
	return err_set(e, -ENAMETOOLONG, "the path of the capture is too long");
}

static int find_paths(struct paths *p, const char *path, struct err *e)
{
	char name[ESCAPE_BRIEF_BUF], real[PATH_MAX];
	size_t len;
	int n;

	p->lock = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (p->lock < 0)
		return err_sys(
			e, -errno, "%s: cannot open", escape_brief(name, sizeof(name), path));
	if (fstat(p->lock, &p->st) < 0)
		return err_sys(
			e, -errno, "%s: cannot open", escape_brief(name, sizeof(name), path));
	if (!S_ISREG(p->st.st_mode))
		return err_set(e, -EINVAL, "%s: not a regular file",
			escape_brief(name, sizeof(name), path));
	/* Whoever records into a .part holds its lock. */
	if (flock(p->lock, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		err_set(e, -EBUSY, "%s: is still being written",
			escape_brief(name, sizeof(name), path));
		err_hint(e, "stop the recording first; it names its frames itself when it ends");
		return -EBUSY;
	}
	/* A link stays a link: its target is what we replace. */
	if (!realpath(path, real))
		return err_sys(
			e, -errno, "%s: cannot open", escape_brief(name, sizeof(name), path));
	len = strlen(real);
	if (len + sizeof(".resolve" PART) > sizeof(p->temp))
		return too_long(e);
	memcpy(p->from, real, len + 1);
	p->is_part = len > strlen(PART) && strcmp(real + len - strlen(PART), PART) == 0;
	if (p->is_part)
		len -= strlen(PART);
	memcpy(p->to, real, len);
	p->to[len] = '\0';
	n = snprintf(p->temp, sizeof(p->temp), "%s.resolve", p->to);
	return n < 0 || (size_t)n >= sizeof(p->temp) ? too_long(e) : 0;
}

/* The same owner and mode as before, as far as we may. */
static int keep_owner(const struct paths *p, struct err *e)
{
	int fd = open(p->temp, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), err = 0;

	if (fd < 0 || fchmod(fd, p->st.st_mode & 0777) < 0)
		err = -errno;
	if (!err && geteuid() == 0 && fchown(fd, p->st.st_uid, p->st.st_gid) < 0)
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err ? err_sys(e, err, "cannot give the capture its owner and mode") : 0;
}

static int move_into_place(const struct paths *p, struct err *e)
{
	char name[ESCAPE_BRIEF_BUF], old[4096 + 8];

	if (p->is_part && access(p->to, F_OK) == 0) {
		snprintf(old, sizeof(old), "%s.old", p->to);
		if (rename(p->to, old) < 0)
			return err_sys(e, -errno, "%s: cannot be moved to FILE.old",
				escape_brief(name, sizeof(name), p->to));
	}
	if (rename(p->temp, p->to) < 0)
		return err_sys(e, -errno, "%s: cannot be put into place",
			escape_brief(name, sizeof(name), p->to));
	if (p->is_part && unlink(p->from) < 0)
		return err_sys(e, -errno, "%s: is complete, but the .part cannot be removed",
			escape_brief(name, sizeof(name), p->to));
	return 0;
}

static int copy_and_name(struct copy *c, const struct paths *p, const struct resolve_files *files,
	struct sink *to, struct resolve_result *r, struct err *e)
{
	struct resolve_files here = files ? *files : resolve_host_files;
	struct capture_info info = {0};
	int err;

	c->sink.put = copy_put;
	if (builder_new(&c->b, to, NULL) || resolve_index_new(&c->x))
		return err_set(e, -ENOMEM, "out of memory for naming");
	err = capture_read(p->from, &c->sink, &info, e);
	if (err)
		return err;
	if (!of_this_boot(c))
		here.other_boot = 1;
	err = resolve_frames(c->b, c->x, &here, &r->stats, e);
	if (!err)
		err = put_end(c, e);
	r->was_complete = info.complete;
	r->lost_tail = info.tail_bytes;
	r->samples = c->samples;
	return err;
}

int resolve_capture(const char *path, const struct resolve_files *files, struct resolve_result *r,
	struct err *e)
{
	struct paths p = {.lock = -1};
	struct capture_writer *w = NULL;
	struct copy c = {0};
	int err;

	*r = (struct resolve_result){0};
	err = find_paths(&p, path, e);
	if (!err)
		err = capture_writer_open(&w, p.temp, e);
	if (!err)
		err = copy_and_name(&c, &p, files, capture_writer_sink(w), r, e);
	if (err) {
		capture_writer_discard(w);
		goto out;
	}
	err = capture_writer_finish(w, e);
	if (!err)
		err = keep_owner(&p, e);
	if (!err)
		err = move_into_place(&p, e);
	r->was_part = p.is_part;
	snprintf(r->path, sizeof(r->path), "%s", p.to);
out:
	builder_free(c.b);
	resolve_index_free(c.x);
	if (p.lock >= 0)
		close(p.lock);
	return err;
}
