/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where an ELF file keeps its call frame information.
 *
 * .eh_frame is found by its section header, else by PT_GNU_EH_FRAME, whose
 * header .eh_frame_hdr gives the address: files that were stripped of section
 * headers still unwind exceptions by it. Static programs have no such header
 * either; there the first CIE is searched for, by the bytes that compilers begin
 * it with. .debug_frame is no part of a loaded program and has a section header
 * or is not there.
 *
 * Only 64-bit x86-64 files. Nothing found is no error.
 */
#ifndef PROFBPF_SYMBOLIZE_ELF_CFI_H
#define PROFBPF_SYMBOLIZE_ELF_CFI_H

#include <stddef.h>
#include <stdint.h>

#include "symbolize/elf_file.h"
#include "user/base/err.h"

/* The largest section read. A browser has 20 MB, a database server 60 MB. */
#define ELF_CFI_MAX_BYTES (256u << 20)
/* PLT sections: .plt, .plt.sec, .plt.got, .iplt. */
#define ELF_CFI_MAX_PLTS 4
/* The largest PLT read: a million stubs. */
#define ELF_CFI_MAX_PLT_BYTES (16u << 20)

enum elf_cfi_source {
	ELF_CFI_NONE = 0,
	ELF_CFI_SECTION, /* by section header */
	ELF_CFI_HEADER,	 /* by PT_GNU_EH_FRAME */
	ELF_CFI_SEARCH,	 /* by the look of its first entry */
};

struct elf_cfi_range {
	enum elf_cfi_source source;
	uint64_t offset, size; /* bytes in the file */
	uint64_t vaddr;	       /* link-time address of the first */
	int compressed;	       /* SHF_COMPRESSED: size is that of the compressed bytes */
	int unsized;	       /* size is only an upper bound */
};

struct elf_cfi {
	struct elf_cfi_range eh_frame, debug_frame;
	struct elf_cfi_range
		plt[ELF_CFI_MAX_PLTS]; /* code, which may have no call frame information */
	uint32_t nr_plts;
	uint64_t entry; /* e_entry, 0 = none */
	int is_go;	/* it has the sections of a Go program */
};

/** -EOPNOTSUPP for another machine, or the error of reading; with a sentence. */
int elf_cfi_find(const struct elf_file *f, struct elf_cfi *out, struct err *e);
/**
 * Read (and inflate) one of them into *data, to be freed. -E2BIG over
 * ELF_CFI_MAX_BYTES, -EBADMSG, -ENOMEM; with a sentence.
 */
int elf_cfi_read(const struct elf_file *f, const struct elf_cfi_range *r, uint8_t **data,
	size_t *len, struct err *e);

#endif
