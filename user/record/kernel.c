/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "user/base/fmt.h"

#define INITIAL_PID_NAMESPACE 0xeffffffcu /* PROC_PID_INIT_INO, include/linux/proc_ns.h */

int kernel_read_text(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t n = 0;
	int code = 0;

	buf[0] = '\0';
	if (fd < 0)
		return -errno;
	while (used + 1 < size && (n = read(fd, buf + used, size - 1 - used)) > 0)
		used += (size_t)n;
	if (n < 0)
		code = -errno;
	close(fd);
	while (used && (buf[used - 1] == '\n' || buf[used - 1] == '\0'))
		used--;
	buf[used] = '\0';
	return code ? code : (int)used;
}

int kernel_sysctl(const char *name, long long *v)
{
	char path[128], text[64], *end;
	long long value;
	int n;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	n = kernel_read_text(path, text, sizeof(text));
	if (n < 0)
		return n;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || end == text)
		return -EBADMSG;
	*v = value;
	return 0;
}

/* The value of a "Key:\tvalue" line of /proc/self/status. */
static int status_value(const char *key, char *value, size_t size)
{
	char text[8192], *line;
	int n = kernel_read_text("/proc/self/status", text, sizeof(text));

	if (n < 0)
		return n;
	for (line = text; line; line = strchr(line, '\n')) {
		if (*line == '\n')
			line++;
		if (strncmp(line, key, strlen(key)) || line[strlen(key)] != ':')
			continue;
		line += strlen(key) + 1;
		line += strspn(line, " \t");
		snprintf(value, size, "%.*s", (int)strcspn(line, "\n"), line);
		return 0;
	}
	return -ENOENT;
}

enum kernel_proc kernel_proc(void)
{
	char text[256];
	struct statfs st;
	ssize_t n;

	if (access("/proc/self/status", F_OK) &&
		(statfs("/proc", &st) || st.f_type != PROC_SUPER_MAGIC))
		return PROC_ABSENT;
	/* A process that the mounted namespace does not contain has no "self" in it. */
	n = readlink("/proc/self", text, sizeof(text) - 1);
	if (n < 0)
		return PROC_FOREIGN;
	text[n] = '\0';
	if (strtol(text, NULL, 10) != getpid())
		return PROC_FOREIGN;
	/* Two namespaces may number us alike. It lists our numbers from the one of this mount on
	 * down to our own: there is one when these are the same. */
	if (!status_value("NSpid", text, sizeof(text)) && strpbrk(text, " \t"))
		return PROC_FOREIGN;
	return PROC_OK;
}

int kernel_has_sysfs(void)
{
	return !access("/sys/devices/system/cpu", F_OK);
}

int kernel_has_cap(int cap)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[_LINUX_CAPABILITY_U32S_3] = {0};

	/* libc has no function for it. /proc/self/status shows the same, where there is one. */
	if (syscall(SYS_capget, &h, d))
		return 0;
	return (int)(d[cap / 32].effective >> cap % 32 & 1);
}

int kernel_in_user_namespace(void)
{
	char text[4096];
	unsigned long inside, outside, count;

	if (kernel_read_text("/proc/self/uid_map", text, sizeof(text)) < 0)
		return 0;
	if (sscanf(text, "%lu %lu %lu", &inside, &outside, &count) != 3)
		return 1; /* no mapping written yet: certainly not the initial one */
	return inside != 0 || outside != 0 || count < 0xffffffffu;
}

uint32_t kernel_pid_namespace(void)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st))
		return 0;
	return (uint32_t)st.st_ino == INITIAL_PID_NAMESPACE ? 0 : (uint32_t)st.st_ino;
}

int kernel_seccomp(void)
{
	char text[16];

	return !status_value("Seccomp", text, sizeof(text)) && text[0] == '2';
}

const char *kernel_lockdown(char *buf, size_t size)
{
	char text[128], *open, *close;

	buf[0] = '\0';
	/* "none [integrity] confidentiality": the one in force is in brackets */
	if (kernel_read_text("/sys/kernel/security/lockdown", text, sizeof(text)) < 0)
		return buf;
	open = strchr(text, '[');
	close = open ? strchr(open, ']') : NULL;
	if (close)
		snprintf(buf, size, "%.*s", (int)(close - open - 1), open + 1);
	return buf;
}

static int cpu_list(const char *path, uint32_t **cpus, size_t *nr)
{
	char text[16384];
	int n = kernel_read_text(path, text, sizeof(text));

	*cpus = NULL;
	*nr = 0;
	if (n < 0)
		return n;
	return parse_cpu_list(text, cpus, nr, NULL);
}

uint32_t kernel_possible_cpus(void)
{
	uint32_t *cpus = NULL, last = 0;
	size_t nr;

	if (!cpu_list("/sys/devices/system/cpu/possible", &cpus, &nr) && nr)
		last = cpus[nr - 1];
	free(cpus);
	return last + 1;
}

int kernel_online_cpus(uint32_t **cpus, size_t *nr)
{
	return cpu_list("/sys/devices/system/cpu/online", cpus, nr);
}

static int has_func(const struct btf *btf, const char *name)
{
	return btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;
}

static int has_tracepoint(const struct btf *btf, const char *name)
{
	char type[64];

	snprintf(type, sizeof(type), "btf_trace_%s", name);
	return btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF) > 0;
}

void kernel_btf(struct kernel_btf *k)
{
	struct btf *btf;

	memset(k, 0, sizeof(*k));
	btf = btf__parse(KERNEL_BTF_PATH, NULL);
	if (libbpf_get_error(btf))
		return;
	k->readable = 1;
	k->rdonly_cast = has_func(btf, "bpf_rdonly_cast");
	k->tp_fork = has_tracepoint(btf, "sched_process_fork");
	k->tp_exec = has_tracepoint(btf, "sched_process_exec");
	k->tp_exit = has_tracepoint(btf, "sched_process_exit");
	k->tp_free = has_tracepoint(btf, "sched_process_free");
	k->iter_vma = has_func(btf, "bpf_iter_task_vma");
	btf__free(btf);
}
