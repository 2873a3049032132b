/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From an open file, or the vDSO, to its unwind table.
 *
 * Go programs get none: their code keeps frame pointers throughout, and a table
 * would not lead over the changes between goroutine and system stacks.
 */
#ifndef PROFBPF_SYMBOLIZE_UNWIND_FILE_H
#define PROFBPF_SYMBOLIZE_UNWIND_FILE_H

#include "symbolize/unwind_table.h"

/**
 * The table of the ELF file @fd (regular, for reading; borrowed, its position is
 * not used). *keeps_fp and no table for a Go program; a table without rows where
 * there is no call frame information. @name begins the sentences; text of
 * strangers in it is escaped already. Errors: elf_open(), unwind_table_build().
 */
int unwind_file_build(struct unwind_table **t, int *keeps_fp, int fd, const char *name,
	struct unwind_rules *rules, struct err *e);
/** The table of this kernel's vDSO; file offsets are those of the image. -ENOENT without one. */
int unwind_vdso_build(struct unwind_table **t, struct unwind_rules *rules, struct err *e);

#endif
