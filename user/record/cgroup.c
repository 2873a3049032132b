/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mounts are read from /proc/self/mountinfo, whose paths are escaped by the
 * kernel (\040). What lies at a path is asked of the file system (statfs), so
 * links and bind mounts are what they lead to.
 */
#include "cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "user/base/escape.h"

#define MAGIC_CGROUP1 0x27e0eb
#define MAGIC_CGROUP2 0x63677270

#define MAX_DEPTH 32 /* as the sampling program (bpf/filter.bpf.h) */

enum {
	V_NONE,
	V_OTHER,
	V_1,
	V_2
};

static int version_of(const char *path, int *fd)
{
	struct statfs fs;

	*fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*fd < 0)
		return V_NONE;
	if (fstatfs(*fd, &fs))
		return V_OTHER;
	return fs.f_type == MAGIC_CGROUP2 ? V_2 : fs.f_type == MAGIC_CGROUP1 ? V_1 : V_OTHER;
}

static void unescape_mount(char *s)
{
	char *d = s;

	for (; *s; s++, d++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
			s[3] >= '0' && s[3] <= '7') {
			*d = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
			s += 3;
		} else {
			*d = *s;
		}
	}
	*d = '\0';
}

/* Fields: id parent dev root MOUNT options [tags] - TYPE source superoptions */
static int split_mount(char *line, char **mount, char **type)
{
	char *save = NULL, *word;
	int i;

	*mount = *type = NULL;
	for (i = 0, word = strtok_r(line, " ", &save); word;
		word = strtok_r(NULL, " ", &save), i++) {
		if (i == 4)
			*mount = word;
		if (i > 5 && !strcmp(word, "-")) {
			*type = strtok_r(NULL, " ", &save);
			break;
		}
	}
	if (!*mount || !*type)
		return 0;
	unescape_mount(*mount);
	return 1;
}

/* Try @path below each cgroup mount. Opens it if a version 2 one has it; *seen_v1 is where a
 * version 1 one has it, *root a version 2 mount. */
static int find_below_mounts(
	struct cgroup *c, const char *path, struct buf *seen_v1, struct buf *root)
{
	char *line = NULL, *mount, *type;
	struct buf full = BUF_INIT;
	size_t size = 0;
	int fd, v, found = 0;
	FILE *f;

	f = fopen("/proc/self/mountinfo", "re");
	while (f && !found && getline(&line, &size, f) > 0) {
		if (!split_mount(line, &mount, &type) ||
			(strcmp(type, "cgroup2") && strcmp(type, "cgroup")))
			continue;
		if (!root->len && !strcmp(type, "cgroup2"))
			buf_adds(root, mount);
		buf_clear(&full);
		buf_addf(&full, "%s/%s", mount, path + strspn(path, "/"));
		v = full.err ? V_NONE : version_of(full.data, &fd);
		if (v == V_2) {
			c->fd = fd;
			buf_adds(&c->path, full.data);
			found = 1;
			continue;
		}
		if (v != V_NONE)
			close(fd);
		if (v == V_1 && !seen_v1->len)
			buf_adds(seen_v1, full.data);
	}
	if (f)
		fclose(f);
	free(line);
	buf_release(&full);
	return found;
}

static int read_id(struct cgroup *c)
{
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + sizeof(uint64_t)];
	} u = {.h = {.handle_bytes = sizeof(uint64_t)}};
	struct stat st;
	int mount_id;

	if (!name_to_handle_at(c->fd, "", &u.h, &mount_id, AT_EMPTY_PATH) &&
		u.h.handle_bytes == sizeof(uint64_t)) {
		memcpy(&c->id, u.h.f_handle, sizeof(c->id));
		return 0;
	}
	/* The inode number is the id where inode numbers have 64 bits. */
	if (sizeof(st.st_ino) == 8 && !fstat(c->fd, &st)) {
		c->id = st.st_ino;
		return 0;
	}
	return -errno;
}

static int is_version1(const char *path, struct err *e)
{
	char brief[ESCAPE_BRIEF_BUF];

	err_set(e, -EOPNOTSUPP,
		"cgroup %s is in a version 1 hierarchy; only version 2 cgroups can be sampled",
		escape_brief(brief, sizeof(brief), path));
	err_hint(e, "the 0:: line of /proc/PID/cgroup names a task's version 2 cgroup; or use -p");
	return -EOPNOTSUPP;
}

int cgroup_find(struct cgroup *c, const char *path, struct err *e)
{
	struct buf v1 = BUF_INIT, root = BUF_INIT;
	char brief[ESCAPE_BRIEF_BUF];
	int fd, v, ret = 0;

	*c = (struct cgroup){.fd = -1};
	if (!*path)
		return err_set(e, -EINVAL, "--cgroup: an empty path names no cgroup");
	v = *path == '/' ? version_of(path, &fd) : V_NONE;
	if (v == V_2) {
		c->fd = fd;
		buf_adds(&c->path, path);
	} else {
		if (v != V_NONE)
			close(fd);
		if (v == V_1)
			return is_version1(path, e);
		if (!find_below_mounts(c, path, &v1, &root)) {
			if (v1.len) {
				ret = is_version1(v1.data, e);
			} else {
				ret = err_set(e, -ENOENT, "no cgroup %s",
					escape_brief(brief, sizeof(brief), path));
				if (root.len)
					err_hint(e, "version 2 cgroups are the folders below %s",
						escape_brief(brief, sizeof(brief), root.data));
				else
					err_hint(
						e, "no version 2 cgroup hierarchy is mounted here");
			}
			goto out;
		}
	}
	ret = c->path.err ? c->path.err : read_id(c);
	if (ret)
		err_sys(e, ret, "cgroup %s: reading its id",
			escape_brief(brief, sizeof(brief), path));
out:
	buf_release(&v1);
	buf_release(&root);
	if (ret)
		cgroup_release(c);
	return ret;
}

void cgroup_release(struct cgroup *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	buf_release(&c->path);
}

static ssize_t read_file(const struct cgroup *c, const char *name, char *text, size_t size)
{
	int fd = openat(c->fd, name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	if (n < 0)
		n = -errno;
	text[n < 0 ? 0 : n] = '\0';
	close(fd);
	return n;
}

/* Those of one group. */
static int group_processes(int dir, int (*fn)(void *ctx, pid_t pid), void *ctx)
{
	int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC), ret = 0;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char line[32];

	if (!f) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while (!ret && fgets(line, sizeof(line), f)) {
		long pid = strtol(line, NULL, 10);

		if (pid > 0) /* 0: of another pid namespace */
			ret = fn(ctx, (pid_t)pid);
	}
	fclose(f);
	return ret;
}

/* @depth levels of groups below @dir, which may be an O_PATH descriptor. */
static int tree_processes(int dir, int depth, int (*fn)(void *ctx, pid_t pid), void *ctx)
{
	int ret = group_processes(dir, fn, ctx), fd;
	struct dirent *entry;
	DIR *d;

	fd = depth ? openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		if (fd >= 0)
			close(fd);
		return ret;
	}
	while (!ret && (entry = readdir(d))) {
		int sub;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		sub = openat(fd, entry->d_name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub < 0)
			continue;
		ret = tree_processes(sub, depth - 1, fn, ctx);
		close(sub);
	}
	closedir(d);
	return ret;
}

int cgroup_processes(const struct cgroup *c, int (*fn)(void *ctx, pid_t pid), void *ctx)
{
	return tree_processes(c->fd, MAX_DEPTH, fn, ctx);
}

int cgroup_cpu_ns(const struct cgroup *c, uint64_t *ns)
{
	char text[1024], *p;
	ssize_t n = read_file(c, "cpu.stat", text, sizeof(text));

	if (n < 0)
		return (int)n;
	p = strstr(text, "usage_usec ");
	if (!p)
		return -EBADMSG;
	*ns = strtoull(p + strlen("usage_usec "), NULL, 10) * 1000;
	return 0;
}

int cgroup_gone(const struct cgroup *c)
{
	char text[64];
	ssize_t n = read_file(c, "cgroup.procs", text, sizeof(text));

	return n == -ENOENT || n == -ENODEV;
}
