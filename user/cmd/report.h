/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hot table for other commands: `profbpf record` ends with it.
 */
#ifndef PROFBPF_CMD_REPORT_H
#define PROFBPF_CMD_REPORT_H

#include "user/base/err.h"

/**
 * Print the hot table of the capture @path to @fd (borrowed), as `profbpf
 * report PATH` with its defaults does, but at most @limit rows (0 = the
 * default). 0, -ENODATA with the reason when it holds no sample, or another
 * negative errno with a sentence.
 */
int report_print_file(const char *path, unsigned limit, int fd, struct err *e);

#endif
