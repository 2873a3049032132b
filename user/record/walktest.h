/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does the VMA walk work on this kernel? It depends on the maple tree's encoding,
 * which no interface promises, so before each recording it resolves addresses of
 * our own mappings and is compared with /proc/self/maps.
 */
#ifndef PROFBPF_RECORD_WALKTEST_H
#define PROFBPF_RECORD_WALKTEST_H

#include "user/base/err.h"

/**
 * @prog_fd: walk_test of the skeleton, @map_fd: its map walktest; both borrowed.
 * 0 when all mappings agree; -EBADMSG with the first that does not, which is the kernel's doing;
 * another errno with a sentence when the test could not be made, which says nothing of the kernel.
 */
int walktest_run(int prog_fd, int map_fd, struct err *e);

#endif
