/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FILE.part: created for us alone, appended to, and renamed to FILE when whole.
 *
 * While it is open it is locked (flock), so that a second recorder with the
 * same output is told so. A .part nobody holds is what an interrupted recording
 * left behind: it is moved to FILE.part.old and never overwritten unread. Links
 * are not followed: we may be root in a folder of someone else. Files that are
 * not captures are not replaced, also not as FILE and FILE.old.
 *
 * Private to user/capture.
 */
#ifndef PROFBPF_CAPTURE_PART_FILE_H
#define PROFBPF_CAPTURE_PART_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/err.h"

struct part_file {
	int fd;	       /* -1 when closed */
	char *path;    /* FILE; owned */
	char *part;    /* FILE.part; owned */
	uint64_t size; /* bytes of whole appends */
};

/** Create @path.part. 0 or negative errno with a sentence; @f is released then. */
int part_file_create(struct part_file *f, const char *path, struct err *e);
/**
 * Append @data whole. When that fails, what was written of it is cut off again,
 * so that the file ends where it ended before.
 */
int part_file_append(struct part_file *f, const void *data, size_t len, struct err *e);
/** fsync, FILE to FILE.old, FILE.part to FILE, close. On error the .part stays. */
int part_file_rename(struct part_file *f, struct err *e);
/** Remove FILE.part. */
void part_file_remove(struct part_file *f);
/** Close and free names; no-op on a released or zeroed-with-fd-(-1) one. */
void part_file_release(struct part_file *f);

#endif
