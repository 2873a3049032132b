/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DESIGN: two pipes. The child reads the first until we write a byte (go) or
 * die (end of file: it must not run unsampled or at all). The second closes on
 * exec; what comes out of it instead is the errno of a failed exec.
 *
 * Everything that may allocate or ask a name service happens before the fork.
 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/base/escape.h"

#define MAX_GROUPS 65536 /* NGROUPS_MAX */

struct child {
	pid_t pid;
	int pidfd;
	int go_fd;   /* we write; -1 once let go */
	int exec_fd; /* we read */
	int collected;
	int status;
	const char *name; /* argv[0], for sentences */
};

/* Who the command runs as. */
struct identity {
	int change; /* 0: as we are */
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* owned */
	int nr_groups;
	char *home, *name, *shell; /* owned, NULL without a passwd entry */
};

static void identity_release(struct identity *id)
{
	free(id->groups);
	free(id->home);
	free(id->name);
	free(id->shell);
}

static int number(const char *s, unsigned long *v)
{
	char *end;

	errno = 0;
	*v = strtoul(s, &end, 10);
	return *s >= '0' && *s <= '9' && !*end && !errno && *v < UINT32_MAX;
}

static int fill_identity(struct identity *id, const struct passwd *pw)
{
	int nr = 64;

	id->uid = pw->pw_uid;
	id->gid = pw->pw_gid;
	id->name = strdup(pw->pw_name);
	id->home = strdup(pw->pw_dir);
	id->shell = strdup(pw->pw_shell);
	if (!id->name || !id->home || !id->shell)
		return -ENOMEM;
	for (;;) {
		int max = nr;
		gid_t *groups = reallocarray(id->groups, (size_t)max, sizeof(*groups));

		if (!groups)
			return -ENOMEM;
		id->groups = groups;
		if (getgrouplist(pw->pw_name, pw->pw_gid, groups, &nr) >= 0)
			break;
		if (max >= MAX_GROUPS)
			return -E2BIG;
		nr = nr > max ? nr : max * 2;
	}
	id->nr_groups = nr;
	return 0;
}

/* @user given, or the sudo caller; may end in "as we are". */
static int find_identity(struct identity *id, const char *user, struct err *e)
{
	const char *uid_text = getenv("SUDO_UID"), *gid_text = getenv("SUDO_GID");
	char brief[ESCAPE_BRIEF_BUF];
	const struct passwd *pw;
	unsigned long uid, gid;
	int ret;

	*id = (struct identity){0};
	if (!user) {
		if (geteuid() || !uid_text || !number(uid_text, &uid) || !uid)
			return 0;
		user = uid_text;
	}
	errno = 0;
	pw = getpwnam(user);
	if (!pw && number(user, &uid)) {
		pw = getpwuid((uid_t)uid);
		if (!pw) {
			/* A number needs no entry: then there is one group and no home. */
			id->uid = (uid_t)uid;
			id->gid = user == uid_text && gid_text && number(gid_text, &gid)
					  ? (gid_t)gid
					  : (gid_t)uid;
			id->groups = malloc(sizeof(*id->groups));
			if (!id->groups)
				return err_set(e, -ENOMEM, "out of memory");
			id->groups[0] = id->gid;
			id->nr_groups = 1;
			id->change = 1;
			return 0;
		}
	}
	if (!pw)
		return err_set(e, -EINVAL, "--user: there is no user \"%s\"",
			escape_brief(brief, sizeof(brief), user));
	ret = fill_identity(id, pw);
	if (ret)
		return err_sys(e, ret, "--user %s: reading its groups",
			escape_brief(brief, sizeof(brief), user));
	/* Being that user already needs no change, and no privilege. */
	id->change = geteuid() != id->uid || getegid() != id->gid;
	if (id->change && geteuid()) {
		err_set(e, -EPERM, "--user %s: only root can start a command as another user",
			escape_brief(brief, sizeof(brief), user));
		return -EPERM;
	}
	return 0;
}

/* ---- in the child: async-signal-safe calls only, but for setenv on our own copy ---- */

static int become(const struct identity *id)
{
	if (!id->change)
		return 0;
	if (setgroups((size_t)id->nr_groups, id->groups) || setresgid(id->gid, id->gid, id->gid) ||
		setresuid(id->uid, id->uid, id->uid))
		return -errno;
	if (id->name) {
		setenv("USER", id->name, 1);
		setenv("LOGNAME", id->name, 1);
		setenv("HOME", id->home, 1);
		setenv("SHELL", id->shell, 1);
	}
	return 0;
}

static void __attribute__((noreturn))
run_child(int go_fd, int exec_fd, char **argv, const struct identity *id)
{
	ssize_t n;
	char go;
	int err;

	/* main ignores these; an ignored signal would stay so through exec. */
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	err = -become(id);
	do {
		n = read(go_fd, &go, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127); /* the profiler is gone */
	if (!err) {
		execvp(argv[0], argv);
		err = errno;
	}
	/* Nobody to tell if this fails. */
	n = write(exec_fd, &err, sizeof(err));
	_exit(err == ENOENT ? 127 : 126);
}

/* ---- in the parent ---- */

static void close_all(int a[2], int b[2])
{
	int i;

	for (i = 0; i < 2; i++) {
		if (a[i] >= 0)
			close(a[i]);
		if (b[i] >= 0)
			close(b[i]);
	}
}

int child_start(struct child **out, char **argv, const char *user, struct err *e)
{
	int go[2] = {-1, -1}, exec[2] = {-1, -1}, ret;
	char brief[ESCAPE_BRIEF_BUF];
	struct identity id;
	struct child *c;

	*out = NULL;
	ret = find_identity(&id, user, e);
	if (ret) {
		identity_release(&id);
		return ret;
	}
	c = calloc(1, sizeof(*c));
	if (!c || pipe2(go, O_CLOEXEC) || pipe2(exec, O_CLOEXEC)) {
		ret = err_sys(e, c ? -errno : -ENOMEM, "starting %s",
			escape_brief(brief, sizeof(brief), argv[0]));
		goto fail;
	}
	c->name = argv[0];
	c->pid = fork();
	if (c->pid < 0) {
		ret = err_sys(e, -errno, "starting %s: fork",
			escape_brief(brief, sizeof(brief), argv[0]));
		goto fail;
	}
	if (!c->pid) {
		close(go[1]); /* else our own end would keep it open for ever */
		close(exec[0]);
		run_child(go[0], exec[1], argv, &id);
	}
	close(go[0]);
	close(exec[1]);
	c->go_fd = go[1];
	c->exec_fd = exec[0];
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	identity_release(&id);
	*out = c;
	return 0;
fail:
	close_all(go, exec);
	identity_release(&id);
	free(c);
	return ret;
}

int child_go(struct child *c, int *status, struct err *e)
{
	char brief[ESCAPE_BRIEF_BUF];
	int err = 0;
	ssize_t n;

	*status = 0;
	n = write(c->go_fd, "g", 1); /* EPIPE if it was killed meanwhile: its status will tell */
	close(c->go_fd);
	c->go_fd = -1;
	do {
		n = read(c->exec_fd, &err, sizeof(err));
	} while (n < 0 && errno == EINTR);
	close(c->exec_fd);
	c->exec_fd = -1;
	if (n != (ssize_t)sizeof(err))
		return 0;
	*status = err == ENOENT ? 127 : 126;
	err_sys(e, -err, "cannot run %s", escape_brief(brief, sizeof(brief), c->name));
	if (err == ENOENT)
		err_hint(e, strchr(c->name, '/')
				    ? "no such file, or its interpreter (#!, ld.so) is missing"
				    : "it is not in $PATH; a path has a slash, as in ./app");
	else if (err == EACCES)
		err_hint(e, "it is run as the caller of sudo unless --user says otherwise");
	return -err;
}

pid_t child_pid(const struct child *c)
{
	return c->pid;
}

int child_pidfd(const struct child *c)
{
	return c->pidfd;
}

int child_ended(const struct child *c)
{
	siginfo_t info = {0};

	if (c->collected)
		return 1;
	return !waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid;
}

int child_wait(struct child *c, int timeout_ms, int *status)
{
	struct pollfd p = {.fd = c->pidfd, .events = POLLIN};

	if (!child_ended(c))
		poll(&p, 1, timeout_ms); /* with a descriptor of -1 it only sleeps */
	if (!child_ended(c))
		return 0;
	if (!c->collected) {
		while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
			;
		c->collected = 1;
	}
	*status = c->status;
	return 1;
}

void child_signal(const struct child *c, int signo)
{
	if (!c->collected)
		kill(c->pid, signo);
}

void child_free(struct child *c)
{
	int status;

	if (!c)
		return;
	if (c->go_fd >= 0) {
		close(c->go_fd);
		while (!child_wait(c, 100, &status))
			;
	}
	if (c->exec_fd >= 0)
		close(c->exec_fd);
	if (c->pidfd >= 0)
		close(c->pidfd);
	free(c);
}
