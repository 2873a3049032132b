/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a small x86-64 ELF file with one executable segment and unwind sections. */
#ifndef PROFBPF_TESTS_ELF_BUILD_H
#define PROFBPF_TESTS_ELF_BUILD_H

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "user/base/buf.h"

#define ELF_EH_VADDR 0x10000000u /* of .eh_frame, in a segment of its own */

struct elf_build {
	uint64_t text_offset, text_vaddr, text_size;
	uint64_t entry;
	const struct buf *eh_frame, *debug_frame; /* NULL = none */
	int no_sections;
	int hdr;	   /* PT_GNU_EH_FRAME: 1 without a table, 2 with one */
	uint64_t eh_tail;  /* bytes 0xff behind .eh_frame, in its segment */
	uint16_t machine;  /* 0 = x86-64 */
	uint64_t eh_claim; /* instead of .eh_frame's size in its section header */
	uint64_t debug_flags;
	const struct buf *note; /* a PT_NOTE, instead of hdr */
	const char *section;	/* the name of one more section, the text again; 16 bytes at most */
};

static inline void elf_pad(struct buf *b, uint64_t to)
{
	while (b->len < to)
		buf_addc(b, 0);
}

static inline uint32_t elf_word(const struct buf *b, size_t at)
{
	uint32_t v;

	memcpy(&v, b->data + at, sizeof(v));
	return v;
}

/* .eh_frame_hdr for the section at ELF_EH_VADDR. The table's first column is not filled. */
static inline void elf_add_hdr(struct buf *b, const struct buf *eh, uint64_t vaddr, int table)
{
	size_t count_at = b->len + 8;
	uint32_t nr = 0;

	buf_addc(b, 1);
	buf_addc(b, 0x1b);
	buf_addc(b, table ? 0x03 : (char)0xff);
	buf_addc(b, table ? 0x3b : (char)0xff);
	buf_add_u32le(b, (uint32_t)(ELF_EH_VADDR - (vaddr + 4)));
	buf_add_u32le(b, 0);
	for (size_t at = 0; table && at + 8 <= eh->len; at += 4 + elf_word(eh, at)) {
		if (!elf_word(eh, at) || !elf_word(eh, at + 4))
			continue;
		buf_add_u32le(b, 0);
		buf_add_u32le(b, (uint32_t)(ELF_EH_VADDR + at - vaddr));
		nr++;
	}
	memcpy(b->data + count_at, &nr, sizeof(nr));
}

static inline void elf_build(struct buf *out, const struct elf_build *s)
{
	char names[64] = "\0.text\0.eh_frame\0.debug_frame\0.shstrtab";
	Elf64_Ehdr eh = {.e_type = ET_DYN,
		.e_machine = s->machine ? s->machine : EM_X86_64,
		.e_version = 1,
		.e_entry = s->entry,
		.e_phoff = sizeof(eh),
		.e_ehsize = sizeof(eh),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_shentsize = sizeof(Elf64_Shdr)};
	Elf64_Phdr ph[3] = {0};
	Elf64_Shdr sh[6] = {0};
	uint64_t hdr_at;

	memcpy(eh.e_ident, ELFMAG, SELFMAG);
	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	eh.e_ident[EI_VERSION] = 1;
	buf_clear(out);
	elf_pad(out, s->text_offset + s->text_size);
	ph[0] = (Elf64_Phdr){.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = s->text_offset,
		.p_vaddr = s->text_vaddr,
		.p_filesz = s->text_size,
		.p_memsz = s->text_size};
	sh[1] = (Elf64_Shdr){.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = s->text_offset};
	elf_pad(out, (out->len + 15) & ~15ul);
	if (s->eh_frame) {
		ph[1] = (Elf64_Phdr){.p_type = PT_LOAD,
			.p_flags = PF_R,
			.p_offset = out->len,
			.p_vaddr = ELF_EH_VADDR};
		sh[2] = (Elf64_Shdr){.sh_name = 7,
			.sh_type = SHT_X86_64_UNWIND,
			.sh_addr = ELF_EH_VADDR,
			.sh_offset = out->len,
			.sh_size = s->eh_claim ? s->eh_claim : s->eh_frame->len};
		buf_add(out, s->eh_frame->data, s->eh_frame->len);
		for (uint64_t i = 0; i < s->eh_tail; i++)
			buf_addc(out, (char)0xff);
		elf_pad(out, (out->len + 15) & ~15ul);
		hdr_at = out->len;
		if (s->hdr)
			elf_add_hdr(out, s->eh_frame, ELF_EH_VADDR + (hdr_at - ph[1].p_offset),
				s->hdr == 2);
		ph[1].p_filesz = ph[1].p_memsz = out->len - ph[1].p_offset;
		if (s->hdr)
			ph[2] = (Elf64_Phdr){.p_type = PT_GNU_EH_FRAME,
				.p_flags = PF_R,
				.p_offset = hdr_at,
				.p_vaddr = ELF_EH_VADDR + (hdr_at - ph[1].p_offset),
				.p_filesz = out->len - hdr_at,
				.p_memsz = out->len - hdr_at};
	}
	if (s->note) {
		ph[2] = (Elf64_Phdr){.p_type = PT_NOTE,
			.p_flags = PF_R,
			.p_offset = out->len,
			.p_filesz = s->note->len,
			.p_memsz = s->note->len,
			.p_align = 4};
		buf_add(out, s->note->data, s->note->len);
	}
	if (s->debug_frame) {
		sh[3] = (Elf64_Shdr){.sh_name = 17,
			.sh_type = SHT_PROGBITS,
			.sh_flags = s->debug_flags,
			.sh_offset = out->len,
			.sh_size = s->debug_frame->len};
		buf_add(out, s->debug_frame->data, s->debug_frame->len);
	}
	sh[4] = (Elf64_Shdr){.sh_name = 30,
		.sh_type = SHT_STRTAB,
		.sh_offset = out->len,
		.sh_size = sizeof(names)};
	if (s->section) {
		sh[5] = sh[1];
		sh[5].sh_name = 40;
		snprintf(names + 40, sizeof(names) - 40, "%s", s->section);
	}
	buf_add(out, names, sizeof(names));
	elf_pad(out, (out->len + 7) & ~7ul);
	eh.e_phnum = 3;
	if (!s->no_sections) {
		eh.e_shoff = out->len;
		eh.e_shnum = s->section ? 6 : 5;
		eh.e_shstrndx = 4;
		buf_add(out, sh, eh.e_shnum * sizeof(sh[0]));
	}
	memcpy(out->data, &eh, sizeof(eh));
	memcpy(out->data + sizeof(eh), ph, sizeof(ph));
}

#endif
