/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that processes have mapped as code, as the kernel lists them
 * (bpf/preload.bpf.c), before anything is sampled.
 */
#ifndef PROFBPF_RECORD_MAPPED_FILES_H
#define PROFBPF_RECORD_MAPPED_FILES_H

#include <linux/types.h>
#include <sys/types.h>

#include "bpf/wire.h"

/** A mapping of a file, valid until the callback returns. Non-zero ends the listing. */
typedef int (*mapped_file_fn)(void *ctx, const struct wire_module *m);

/**
 * List the executable mappings of task @tid (a process: its first thread), or with 0
 * of all processes; each mapping, so a file comes several times. @prog_fd is the
 * loaded iterator. 0, a negative errno, or what @fn returned.
 */
int mapped_files_list(int prog_fd, pid_t tid, mapped_file_fn fn, void *ctx);

#endif
