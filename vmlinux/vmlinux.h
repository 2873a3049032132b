/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The kernel's types as our BPF programs see them: written by hand, only the
 * fields used. preserve_access_index makes every access a CO-RE relocation, so
 * the offsets come from the running kernel's BTF at load time: a build needs no
 * BTF, a run does. Only names matter here, not order or holes.
 *
 * A field that was renamed has a "flavour": struct inode___6_5 is struct inode
 * to libbpf, which cuts the name at the three underscores. Which one applies is
 * asked with bpf_core_field_exists().
 *
 * Architecture: arch_x86.h, arch_arm64.h (kernel types), regs_*.h (the context's registers).
 */
#ifndef PROFBPF_VMLINUX_H
#define PROFBPF_VMLINUX_H

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;

#define NULL ((void *)0)

/* include/uapi/linux/bpf.h: UAPI, the numbers never change */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_USER_STACK = 1 << 8,
	BPF_F_MMAPABLE = 1 << 10,
	BPF_RB_NO_WAKEUP = 1 << 0,
	BPF_RB_FORCE_WAKEUP = 1 << 1,
	BPF_RB_AVAIL_DATA = 0, /* bpf_ringbuf_query() */
	BPF_RB_RING_SIZE = 1,
};

enum {
	ENOENT = 2,
	E2BIG = 7,
	EBUSY = 16,
	EEXIST = 17,
};

/* include/linux/mm.h, include/linux/sched.h */
#define VM_EXEC	       0x00000004
#define PF_IO_WORKER   0x00000010
#define PF_USER_WORKER 0x00004000 /* since 6.4; PF_USED_ASYNC, harmless to us, before */
#define PF_KTHREAD     0x00200000

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

struct timespec64 {
	__s64 tv_sec;
	long tv_nsec;
};

struct super_block {
	__u32 s_dev;
};

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
	__s64 i_size;
	__s64 i_ctime_sec; /* since 6.11 */
	__u32 i_ctime_nsec;
	__u32 i_generation;
};

struct inode___6_10 { /* 6.6 to 6.10 */
	struct timespec64 __i_ctime;
};

struct inode___6_5 { /* to 6.5 */
	struct timespec64 i_ctime;
};

struct file {
	struct inode *f_inode;
};

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
};

struct maple_tree {
	void *ma_root;
};

struct maple_range_64 {
	struct maple_pnode *parent;
	unsigned long pivot[15];
	void *slot[16];
};

struct maple_arange_64 {
	struct maple_pnode *parent;
	unsigned long pivot[9];
	void *slot[10];
};

struct maple_node {
	struct maple_pnode *parent;
	struct maple_range_64 mr64;
	struct maple_arange_64 ma64;
};

#if defined(__TARGET_ARCH_x86)
#include "arch_x86.h"
#elif defined(__TARGET_ARCH_arm64)
#include "arch_arm64.h"
#else
#error "no vmlinux header for this architecture"
#endif

struct mm_struct {
	struct maple_tree mm_mt;
	mm_context_t context;
};

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1]; /* level + 1 of them */
};

struct signal_struct {
	atomic_t live;
};

struct sched_entity {
	__u64 sum_exec_runtime;
	__u64 prev_sum_exec_runtime; /* when the task was last put on a CPU */
};

struct task_struct {
	unsigned int flags;
	struct sched_entity se;
	struct mm_struct *mm;
	int exit_code;
	int pid;
	int tgid;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	__u64 start_boottime;
	__u64 parent_exec_id;
	__u64 self_exec_id;
	char comm[16];
	struct signal_struct *signal;
};

struct seq_file {
	unsigned long count;
};

/* The context of an iterator over mappings. */
struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task_vma {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct vm_area_struct *vma;
};

#pragma clang attribute pop

#if defined(__TARGET_ARCH_x86)
#include "regs_x86.h"
#else
#include "regs_arm64.h"
#endif

/*
 * The context of a perf_event program. UAPI: a relocated access might get another
 * width (cs is 16 bits in newer kernels), which the verifier refuses.
 */
struct bpf_perf_event_data {
	bpf_user_pt_regs_t regs;
	__u64 sample_period;
	__u64 addr;
};

#endif
