/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * What identifies a mapped file (struct wire_file_key), from its struct file.
 *
 * Two programs ask, with different rights to memory: whoever includes this has
 * defined KREAD(type, address, field), which reads a field of a kernel structure
 * known only by address.
 */
#ifndef PROFBPF_FILE_KEY_BPF_H
#define PROFBPF_FILE_KEY_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>

#include "bpf/wire.h"

/* The field was renamed twice; one branch is left after relocation. */
static __always_inline __u64 inode_ctime_ns(__u64 inode)
{
	__u64 sec = 0, ns = 0;

	if (bpf_core_field_exists(struct inode, i_ctime_sec)) {
		sec = KREAD(struct inode, inode, i_ctime_sec);
		/* Bit 31 says that somebody asked for it (I_CTIME_QUERIED, 6.13). */
		ns = KREAD(struct inode, inode, i_ctime_nsec) & 0x7fffffff;
	} else if (bpf_core_field_exists(struct inode___6_10, __i_ctime)) {
		sec = KREAD(struct inode___6_10, inode, __i_ctime.tv_sec);
		ns = KREAD(struct inode___6_10, inode, __i_ctime.tv_nsec);
	} else if (bpf_core_field_exists(struct inode___6_5, i_ctime)) {
		sec = KREAD(struct inode___6_5, inode, i_ctime.tv_sec);
		ns = KREAD(struct inode___6_5, inode, i_ctime.tv_nsec);
	}
	return sec * 1000000000 + ns;
}

static __always_inline void read_file_key(struct wire_file_key *key, __u64 file)
{
	__u64 inode = (__u64)KREAD(struct file, file, f_inode);
	__u64 sb = (__u64)KREAD(struct inode, inode, i_sb);

	key->ino = KREAD(struct inode, inode, i_ino);
	key->size = KREAD(struct inode, inode, i_size);
	key->gen = KREAD(struct inode, inode, i_generation);
	key->ctime_ns = inode_ctime_ns(inode);
	key->dev = KREAD(struct super_block, sb, s_dev);
}

#endif
