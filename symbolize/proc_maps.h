/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /proc/PID/maps:
 *
 *   START-END PERM OFFSET MAJ:MIN INODE          PATH
 *
 * Fields go by position and the path is the rest of the line, blanks and all.
 * What the file cannot say (the kernel escapes a newline as \012 and leaves a
 * backslash alone; a file may be named "x (deleted)") is left open here: path
 * is the text as printed, and proc_map_paths() gives what it may stand for.
 */
#ifndef PROFBPF_SYMBOLIZE_PROC_MAPS_H
#define PROFBPF_SYMBOLIZE_PROC_MAPS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "user/base/buf.h"
#include "user/base/err.h"

#define PROC_MAP_R	0x1
#define PROC_MAP_W	0x2
#define PROC_MAP_X	0x4
#define PROC_MAP_SHARED 0x8

struct proc_map {
	uint64_t start, end; /* [start, end) */
	uint64_t offset;     /* byte in the file at start */
	uint64_t ino;	     /* 0: no file */
	uint32_t major, minor;
	uint32_t perm; /* PROC_MAP_* */
	uint32_t path_len;
	const char *path; /* NUL-terminated; owned by the list; "" for anonymous memory */
};

struct proc_maps {
	struct proc_map *at; /* sorted by start, as the kernel prints them */
	size_t nr;
	size_t bad;	 /* lines that could not be read */
	struct buf text; /* private */
};

/** One line without its newline. 1, or 0 when it is none. out->path points into @line (not
 * NUL-terminated). */
int proc_map_parse(const char *line, size_t len, struct proc_map *out);

/**
 * Read the maps of @pid (0 = our own). -ESRCH when there is no such process,
 * -EACCES/-EPERM, -E2BIG over 1,000,000 mappings; each with a sentence. Release
 * with proc_maps_release() (also a zeroed one).
 */
int proc_maps_read(struct proc_maps *m, pid_t pid, struct err *e);
int proc_maps_read_mem(struct proc_maps *m, const char *text, size_t len, struct err *e);
void proc_maps_release(struct proc_maps *m);
/** The mapping that holds @addr, or NULL. */
const struct proc_map *proc_maps_find(const struct proc_maps *m, uint64_t addr);

/**
 * What the path may be in truth, most likely first: candidate @i (0, 1, ...)
 * into @path (cleared first), and *deleted = 1 if it supposes that the kernel
 * appended " (deleted)". 1 while there is one, else 0. Whoever opens files
 * compares inode numbers and so finds the right one.
 */
int proc_map_paths(const struct proc_map *m, unsigned i, struct buf *path, int *deleted);

#endif
