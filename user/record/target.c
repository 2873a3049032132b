/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DESIGN: a process is watched by a pidfd, which cannot be confused by pid
 * reuse; with more targets than descriptors the rest is watched by start time.
 * Threads have no descriptor on kernels before 6.9 and are looked up below
 * their process.
 *
 * CPU clocks: a process's is read through its clock id, exact to the ns and
 * without privileges. The kernel gives no clock of another process's thread, so
 * schedstat is read there (ns), or stat (clock ticks).
 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "explain.h"
#include "kernel.h"
#include "proc_stat.h"
#include "user/base/escape.h"
#include "user/base/fmt.h"

#define LOG_DOMAIN "record"
#include "user/base/log.h"

#define PID_LIMIT 4194304 /* the kernel's own, 64-bit */

static void escape_comm(struct buf *b, const char *comm)
{
	escape_text(b, comm, strnlen(comm, COMM_LEN));
}

/* ---- naming and checking ---- */

static int check_process(struct target_task *t, struct err *e)
{
	struct proc_stat st;
	pid_t owner;
	int ret;

	ret = proc_owner(t->id, &owner);
	if (!ret)
		ret = proc_stat_read(t->id, 0, &st);
	if (ret == -ESRCH) {
		err_set(e, -ESRCH, "there is no process %d", t->id);
		err_hint(e, "it may have ended; pgrep -f NAME finds processes by name");
		return -ESRCH;
	}
	if (ret) {
		err_sys(e, ret, "process %d: reading /proc/%d", t->id, t->id);
		if (ret == -EACCES || ret == -EPERM)
			err_hint(e, "/proc may be mounted with hidepid; run as root");
		return ret;
	}
	if (owner != t->id) {
		err_set(e, -ESRCH, "%d is a thread of process %d, not a process", t->id, owner);
		err_hint(e, "-t %d samples the thread, -p %d all threads of its process", t->id,
			owner);
		return -ESRCH;
	}
	/* The first thread may have ended while others go on: that is no zombie. */
	if ((st.state == 'Z' || st.state == 'X') && st.threads <= 1) {
		err_set(e, -ESRCH, "process %d has ended; its parent has not collected it yet",
			t->id);
		err_hint(e, "a zombie runs nothing: there is nothing to sample");
		return -ESRCH;
	}
	t->pid = owner;
	t->start_ticks = st.start_ticks;
	t->kernel_thread = !!(st.flags & PROC_FLAG_KTHREAD);
	memcpy(t->comm, st.comm, sizeof(t->comm));
	return 0;
}

static int check_thread(struct target_task *t, struct err *e)
{
	struct proc_stat st;
	int ret;

	ret = proc_owner(t->id, &t->pid);
	if (!ret)
		ret = proc_stat_read(t->pid, t->id, &st);
	if (ret == -ESRCH || (!ret && (st.state == 'Z' || st.state == 'X'))) {
		err_set(e, -ESRCH, "there is no thread %d%s", t->id, ret ? "" : " any more");
		err_hint(e, "ls /proc/PID/task lists the threads of a process");
		return -ESRCH;
	}
	if (ret)
		return err_sys(e, ret, "thread %d: reading /proc", t->id);
	t->start_ticks = st.start_ticks;
	t->kernel_thread = !!(st.flags & PROC_FLAG_KTHREAD);
	memcpy(t->comm, st.comm, sizeof(t->comm));
	return 0;
}

static struct target_task *add_task(struct target *t, pid_t id, struct err *e)
{
	struct target_task *tasks;

	if (t->nr == MAX_TARGETS) {
		err_set(e, -E2BIG, "more than %d targets", MAX_TARGETS);
		err_hint(e, "-a or --cgroup name many at once");
		return NULL;
	}
	tasks = reallocarray(t->tasks, t->nr + 1, sizeof(*tasks));
	if (!tasks) {
		err_set(e, -ENOMEM, "out of memory");
		return NULL;
	}
	t->tasks = tasks;
	tasks += t->nr++;
	*tasks = (struct target_task){.id = id, .pid = id, .pidfd = -1};
	return tasks;
}

static int add_one(struct target *t, const char *word, const char *option, struct err *e)
{
	struct target_task *task;
	uint64_t id;
	size_t i;
	int ret;

	ret = parse_u64(word, 1, PID_LIMIT, &id, e);
	if (ret) {
		ret = err_prefix(e, "%s", option);
		err_hint(e, "%s takes numbers; pgrep NAME finds them", option);
		return ret;
	}
	for (i = 0; i < t->nr; i++)
		if (t->tasks[i].id == (pid_t)id)
			return 0; /* said twice */
	if (t->mode == ADMIT_PIDS && (pid_t)id == getpid())
		return err_set(e, -EINVAL, "-p %d is this profbpf itself", (int)id);
	task = add_task(t, (pid_t)id, e);
	if (!task)
		return e ? e->code : -ENOMEM;
	ret = t->mode == ADMIT_PIDS ? check_process(task, e) : check_thread(task, e);
	if (ret)
		return ret;
	if (t->mode == ADMIT_PIDS) {
		task->pidfd = (int)syscall(SYS_pidfd_open, task->id, 0);
		if (task->pidfd < 0 && errno == ESRCH)
			return err_set(e, -ESRCH, "process %d has just ended", task->id);
	}
	if (task->kernel_thread)
		log_info("%d is a kernel thread: its stacks have no user part", task->id);
	return 0;
}

/* Every use of -p or -t, each a list with commas. */
static int add_lists(
	struct target *t, const struct opt_list *lists, const char *option, struct err *e)
{
	char word[32];
	const char *s;
	size_t i, len;
	int ret;

	for (i = 0; i < lists->nr; i++) {
		for (s = lists->items[i];; s += len + 1) {
			len = strcspn(s, ",");
			if (len ||
				!s[len]) { /* a stray comma is no id; an empty list is an error */
				snprintf(word, sizeof(word), "%.*s",
					(int)(len < sizeof(word) ? len : sizeof(word) - 1), s);
				if (len || !t->nr) {
					ret = add_one(t, word, option, e);
					if (ret)
						return ret;
				}
			}
			if (!s[len])
				break;
		}
	}
	return 0;
}

/* ---- options ---- */

static int check_kinds(const struct record_options *o, struct err *e)
{
	int kinds = !!o->pids.nr + !!o->tids.nr + !!o->cgroup + !!o->all + !!o->command;

	if (!kinds) {
		err_set(e, -EINVAL, "no target: what is to be sampled?");
		err_hint(e, "-p PID, -t TID, --cgroup PATH, -a, or -- COMMAND");
		return -EINVAL;
	}
	if (kinds > 1) {
		err_set(e, -EINVAL, "more than one kind of target");
		err_hint(e, "one of -p, -t, --cgroup, -a and -- COMMAND at a time");
		return -EINVAL;
	}
	if (o->children && o->tids.nr) {
		err_set(e, -EINVAL, "--children does not go with -t");
		err_hint(e, "-p PID --children samples a process and its children");
		return -EINVAL;
	}
	if (o->user && !o->command)
		return err_set(e, -EINVAL, "--user is for a command that is started (-- COMMAND)");
	return 0;
}

static int read_cpu_list(const char *path, uint32_t **cpus, size_t *nr)
{
	char text[4096];
	ssize_t n = proc_read(path, text, sizeof(text));

	if (n < 0)
		return (int)n;
	text[strcspn(text, "\n")] = '\0';
	return parse_cpu_list(text, cpus, nr, NULL);
}

static int has_cpu(const uint32_t *cpus, size_t nr, uint32_t cpu)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (cpus[i] == cpu)
			return 1;
	return 0;
}

static int check_cpus(struct target *t, const char *list, struct err *e)
{
	uint32_t *possible = NULL, *online = NULL;
	size_t nr_possible = 0, nr_online = 0, i, on = 0;
	int ret;

	ret = parse_cpu_list(list, &t->cpus, &t->nr_cpus, e);
	if (ret)
		return err_prefix(e, "--cpus");
	if (read_cpu_list("/sys/devices/system/cpu/possible", &possible, &nr_possible) ||
		read_cpu_list("/sys/devices/system/cpu/online", &online, &nr_online))
		goto out; /* no sysfs: the sampler will say what is wrong */
	for (i = 0; i < t->nr_cpus; i++) {
		if (!has_cpu(possible, nr_possible, t->cpus[i])) {
			ret = err_set(e, -EINVAL, "--cpus: there is no CPU %u", t->cpus[i]);
			err_hint(e, "this machine has CPUs 0 to %u",
				nr_possible ? possible[nr_possible - 1] : 0);
			goto out;
		}
		on += has_cpu(online, nr_online, t->cpus[i]);
	}
	if (!on)
		ret = err_set(e, -EINVAL, "--cpus %s: none of these CPUs is online", list);
out:
	free(possible);
	free(online);
	return ret;
}

int target_init(struct target *t, const struct record_options *o, struct err *e)
{
	int ret;

	*t = (struct target){.cgroup = {.fd = -1}, .children = o->children};
	t->command = o->command ? o->command[0] : NULL;
	ret = check_kinds(o, e);
	if (!ret)
		ret = explain_places(
			e); /* else "no such process" would be said of one that lives */
	if (ret)
		return ret;
	if (o->pids.nr || o->command) {
		t->mode = ADMIT_PIDS;
		ret = add_lists(t, &o->pids, "-p", e);
	} else if (o->tids.nr) {
		t->mode = ADMIT_TIDS;
		ret = add_lists(t, &o->tids, "-t", e);
	} else if (o->cgroup) {
		t->mode = ADMIT_CGROUP;
		ret = cgroup_find(&t->cgroup, o->cgroup, e);
	} else {
		t->mode = ADMIT_ALL;
	}
	if (!ret && o->cpus)
		ret = check_cpus(t, o->cpus, e);
	if (ret)
		target_release(t);
	return ret;
}

int target_add_command(struct target *t, pid_t pid, int pidfd, struct err *e)
{
	struct target_task *task = add_task(t, pid, e);
	struct proc_stat st;

	if (!task)
		return -ENOMEM;
	t->is_command = 1;
	task->pidfd = pidfd >= 0 ? fcntl(pidfd, F_DUPFD_CLOEXEC, 0) : -1;
	if (!proc_stat_read(pid, 0, &st))
		task->start_ticks = st.start_ticks;
	return 0;
}

void target_release(struct target *t)
{
	size_t i;

	for (i = 0; i < t->nr; i++)
		if (t->tasks[i].pidfd >= 0)
			close(t->tasks[i].pidfd);
	free(t->tasks);
	free(t->cpus);
	cgroup_release(&t->cgroup);
	*t = (struct target){.cgroup = {.fd = -1}};
}

int target_admit(const struct target *t, struct sampler *s, struct err *e)
{
	size_t i;
	int ret;

	for (i = 0; i < t->nr; i++) {
		ret = sampler_admit(s, t->tasks[i].id, t->is_command, e);
		if (ret)
			return ret;
	}
	return 0;
}

/* ---- its end ---- */

static int task_gone(const struct target *t, const struct target_task *task)
{
	struct pollfd p = {.fd = task->pidfd, .events = POLLIN};
	struct proc_stat st;
	int ret;

	if (task->pidfd >= 0)
		return poll(&p, 1, 0) == 1;
	ret = proc_stat_read(task->pid, t->mode == ADMIT_TIDS ? task->id : 0, &st);
	if (ret)
		return ret == -ESRCH;
	return st.start_ticks != task->start_ticks ||
	       ((st.state == 'Z' || st.state == 'X') && (st.threads <= 1 || t->mode == ADMIT_TIDS));
}

int target_ended(struct target *t)
{
	size_t i, alive = 0;

	if (t->mode == ADMIT_CGROUP)
		return cgroup_gone(&t->cgroup);
	if (t->mode == ADMIT_ALL)
		return 0;
	for (i = 0; i < t->nr; i++) {
		if (!t->tasks[i].gone)
			t->tasks[i].gone = task_gone(t, &t->tasks[i]);
		alive += !t->tasks[i].gone;
	}
	return !alive;
}

/* ---- CPU time ---- */

static int process_clock(pid_t pid, uint64_t *ns)
{
	struct timespec ts;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	*ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	return 1;
}

static int thread_clock(pid_t pid, pid_t tid, uint64_t *ns)
{
	char path[64], text[128], *end;
	struct proc_stat st;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, tid);
	if (proc_read(path, text, sizeof(text)) > 0) {
		*ns = strtoull(text, &end, 10);
		if (end != text)
			return 1;
	}
	if (proc_stat_read(pid, tid, &st))
		return 0;
	*ns = (st.user_ticks + st.system_ticks) * proc_tick_ns();
	return 1;
}

static int read_clocks(struct target *t, int begin)
{
	uint64_t ns = 0;
	size_t i;
	int ok = 1;

	switch (t->mode) {
	case ADMIT_ALL:
		/* /proc/stat counts whole timer ticks and, on virtual machines, more
		 * busy time than there is time: 2.75 s in 1 s on 2 CPUs were seen. */
		ok = 0;
		break;
	case ADMIT_CGROUP:
		ok = !cgroup_cpu_ns(&t->cgroup, &ns);
		break;
	case ADMIT_PIDS:
	case ADMIT_TIDS:
		for (i = 0; i < t->nr; i++) {
			struct target_task *task = &t->tasks[i];

			/* A zombie's clock can still be read; of one that is gone the last value
			 * stays. */
			if (!(t->mode == ADMIT_PIDS ? process_clock(task->pid, &ns)
						    : thread_clock(task->pid, task->id, &ns)))
				continue;
			task->cpu_ns = ns;
			if (begin)
				task->cpu_begin_ns = ns;
		}
		for (i = 0, ns = 0; i < t->nr; i++)
			ns += t->tasks[i].cpu_ns;
		break;
	}
	if (ok)
		t->cpu_ns = ns;
	return ok;
}

void target_cpu_begin(struct target *t)
{
	t->cpu_known = read_clocks(t, 1);
	t->cpu_begin_ns = t->cpu_ns;
}

void target_cpu_watch(struct target *t)
{
	if (t->mode != ADMIT_ALL) /* the system's stays, and costs a millisecond with many CPUs */
		read_clocks(t, 0);
}

void target_cpu_read(struct target *t)
{
	read_clocks(t, 0);
}

uint64_t target_cpu_ns(const struct target *t)
{
	if (!t->cpu_known || (t->children && t->mode == ADMIT_PIDS))
		return 0;
	return t->cpu_ns > t->cpu_begin_ns ? t->cpu_ns - t->cpu_begin_ns : 0;
}

/* ---- words ---- */

void target_describe(const struct target *t, struct buf *b)
{
	switch (t->mode) {
	case ADMIT_ALL:
		buf_adds(b, kernel_pid_namespace() ? "all processes of this pid namespace"
						   : "the system");
		break;
	case ADMIT_CGROUP:
		buf_adds(b, "cgroup ");
		escape_text(b, buf_str(&t->cgroup.path), t->cgroup.path.len);
		break;
	case ADMIT_PIDS:
	case ADMIT_TIDS:
		if (t->is_command) {
			buf_adds(b, "the command ");
			escape_text(b, t->command, strlen(t->command));
		} else if (t->nr == 1) {
			buf_addf(b, "%s %d (", t->mode == ADMIT_PIDS ? "process" : "thread",
				t->tasks[0].id);
			escape_comm(b, t->tasks[0].comm);
			buf_addc(b, ')');
		} else {
			buf_addf(b, "%zu %s", t->nr,
				t->mode == ADMIT_PIDS ? "processes" : "threads");
		}
		break;
	}
}
