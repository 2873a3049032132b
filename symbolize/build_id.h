/* SPDX-License-Identifier: BSD-2-Clause */
/* The GNU build ID of an ELF file: the note the linker put in, not a hash of ours. */
#ifndef PROFBPF_SYMBOLIZE_BUILD_ID_H
#define PROFBPF_SYMBOLIZE_BUILD_ID_H

#include "elf_file.h"
#include "symbolize.h"

/**
 * Look through the notes of @f for NT_GNU_BUILD_ID. Returns its length, or 0
 * when there is none (or only damaged ones). Reads headers and notes, nothing
 * else; sections are looked at only if no segment has it.
 */
size_t build_id_read(struct elf_file *f, uint8_t id[BUILD_ID_MAX]);
/** 1 when @f has the note of the Go linker. */
int build_id_is_go(const struct elf_file *f);

#endif
