/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file named on a command line becomes a profile: a capture, a .part, or
 * folded text, told apart by content. Shared by every command that reads.
 */
#ifndef PROFBPF_CMD_LOAD_H
#define PROFBPF_CMD_LOAD_H

#include "user/base/err.h"
#include "user/model/profile.h"

/**
 * Read @path (NULL = profbpf.prof, "-" = standard input) into a finished
 * profile the caller frees. Notes about the input (an unfinished recording,
 * skipped lines of folded text) go to the log. 0 or a negative errno with a
 * sentence that names the file; *p is NULL then.
 */
int load_profile(struct profile **p, const char *path, struct err *e);

/** @path as it is shown in messages: escaped, "standard input" for "-", the default's name for
 * NULL. */
const char *load_name(const char *path, char *buf, unsigned size);

#endif
