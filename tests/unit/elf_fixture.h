/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small ELF64 file in memory, for tests of symbols and segments:
 *
 *   offset 0x0000  headers            (in no segment)
 *   offset 0x1000  .text, 0x1000 long at vaddr 0x401000, R-X
 *   offset 0x2000  .data, 0x1000 long at vaddr 0x403000, RW-
 *   behind it      a build ID note, .symtab, .strtab, section headers
 *
 * so that offset + 0x400000 is the vaddr in .text and offset + 0x401000 in .data.
 */
#ifndef PROFBPF_TESTS_ELF_FIXTURE_H
#define PROFBPF_TESTS_ELF_FIXTURE_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "user/base/buf.h"

#define FIX_TEXT      0x401000u
#define FIX_TEXT_SIZE 0x1000u
#define FIX_DATA      0x403000u
#define FIX_BIAS      0x400000u /* vaddr - offset in .text */

enum {
	FIX_SEC_NULL,
	FIX_SEC_TEXT,
	FIX_SEC_DATA,
	FIX_SEC_NOTE,
	FIX_SEC_SYMTAB,
	FIX_SEC_STRTAB,
	FIX_NR_SECS
};

struct fix_sym {
	const char *name;
	uint64_t addr, size;
	unsigned type, bind;
	unsigned shndx;
};
#define FUNC(n, a, s)                                                                              \
	{                                                                                          \
		n, a, s, STT_FUNC, STB_GLOBAL, FIX_SEC_TEXT                                        \
	}
#define LOCAL(n, a, s)                                                                             \
	{                                                                                          \
		n, a, s, STT_FUNC, STB_LOCAL, FIX_SEC_TEXT                                         \
	}
#define WEAK(n, a, s)                                                                              \
	{                                                                                          \
		n, a, s, STT_FUNC, STB_WEAK, FIX_SEC_TEXT                                          \
	}
#define LABEL(n, a, s)                                                                             \
	{                                                                                          \
		n, a, s, STT_NOTYPE, STB_LOCAL, FIX_SEC_TEXT                                       \
	}

static inline void fix_pad(struct buf *b, size_t to)
{
	while (b->len < to)
		buf_addc(b, '\0');
}

/* The file is appended to @b, which is empty. */
static inline void fix_elf(struct buf *b, const struct fix_sym *syms, size_t nr)
{
	static const uint8_t note[] = {4, 0, 0, 0, 4, 0, 0, 0, NT_GNU_BUILD_ID, 0, 0, 0, 'G', 'N',
		'U', 0, 0xde, 0xad, 0xbe, 0xef};
	Elf64_Ehdr eh = {.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(eh),
		.e_ehsize = sizeof(eh),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 3,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = FIX_NR_SECS};
	Elf64_Phdr ph[3] = {
		{.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_offset = 0x1000,
			.p_vaddr = FIX_TEXT,
			.p_filesz = FIX_TEXT_SIZE,
			.p_memsz = FIX_TEXT_SIZE,
			.p_align = 0x1000},
		{.p_type = PT_LOAD,
			.p_flags = PF_R | PF_W,
			.p_offset = 0x2000,
			.p_vaddr = FIX_DATA,
			.p_filesz = 0x1000,
			.p_memsz = 0x2000,
			.p_align = 0x1000},
		{.p_type = PT_NOTE, .p_flags = PF_R, .p_filesz = sizeof(note), .p_align = 4},
	};
	Elf64_Shdr sh[FIX_NR_SECS] = {
		[FIX_SEC_TEXT] = {.sh_type = SHT_PROGBITS,
			.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			.sh_addr = FIX_TEXT,
			.sh_offset = 0x1000,
			.sh_size = FIX_TEXT_SIZE},
		[FIX_SEC_DATA] = {.sh_type = SHT_PROGBITS,
			.sh_flags = SHF_ALLOC | SHF_WRITE,
			.sh_addr = FIX_DATA,
			.sh_offset = 0x2000,
			.sh_size = 0x1000},
		[FIX_SEC_NOTE] = {.sh_type = SHT_NOTE, .sh_size = sizeof(note)},
		[FIX_SEC_SYMTAB] = {.sh_type = SHT_SYMTAB,
			.sh_link = FIX_SEC_STRTAB,
			.sh_entsize = sizeof(Elf64_Sym)},
		[FIX_SEC_STRTAB] = {.sh_type = SHT_STRTAB},
	};
	struct buf strings = BUF_INIT;

	memcpy(eh.e_ident, ELFMAG, SELFMAG);
	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	eh.e_ident[EI_VERSION] = EV_CURRENT;
	fix_pad(b, 0x3000);
	ph[2].p_offset = sh[FIX_SEC_NOTE].sh_offset = b->len;
	buf_add(b, note, sizeof(note));
	fix_pad(b, 0x3020);
	buf_addc(&strings, '\0');
	sh[FIX_SEC_SYMTAB].sh_offset = b->len;
	sh[FIX_SEC_SYMTAB].sh_size = (nr + 1) * sizeof(Elf64_Sym);
	fix_pad(b, b->len + sizeof(Elf64_Sym));
	for (size_t i = 0; i < nr; i++) {
		Elf64_Sym s = {.st_name = (Elf64_Word)strings.len,
			.st_info = ELF64_ST_INFO(syms[i].bind, syms[i].type),
			.st_shndx = (Elf64_Section)syms[i].shndx,
			.st_value = syms[i].addr,
			.st_size = syms[i].size};

		buf_add(b, &s, sizeof(s));
		buf_adds(&strings, syms[i].name);
		buf_addc(&strings, '\0');
	}
	sh[FIX_SEC_STRTAB].sh_offset = b->len;
	sh[FIX_SEC_STRTAB].sh_size = strings.len;
	buf_add(b, strings.data, strings.len);
	buf_release(&strings);
	fix_pad(b, (b->len + 7) & ~(size_t)7);
	eh.e_shoff = b->len;
	buf_add(b, sh, sizeof(sh));
	memcpy(b->data, &eh, sizeof(eh));
	memcpy(b->data + sizeof(eh), ph, sizeof(ph));
}

#endif
