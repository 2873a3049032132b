// SPDX-License-Identifier: BSD-2-Clause
/*
 * Section headers are looked at by name and type; a file whose section headers
 * are damaged is treated like one without (they are not needed to run it).
 */
#include "elf_cfi.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/buf.h"
#include "user/base/cursor.h"
#include "user/base/gz.h"

/* Pointer encodings that linkers use in .eh_frame_hdr, LSB 10.6.2. */
enum {
	HDR_UDATA4 = 0x03,
	HDR_PCREL_SDATA4 = 0x1b,
	HDR_DATAREL_SDATA4 = 0x3b
};

#define HDR_FIXED 12 /* version, three encodings, eh_frame_ptr, fde_count */

static int is_plt(const char *name)
{
	return strcmp(name, ".plt") == 0 || strcmp(name, ".plt.sec") == 0 ||
	       strcmp(name, ".plt.got") == 0 || strcmp(name, ".iplt") == 0;
}

static int is_go(const char *name)
{
	return strcmp(name, ".gopclntab") == 0 || strcmp(name, ".go.buildinfo") == 0;
}

static struct elf_section section_of(const Elf64_Shdr *sh)
{
	return (struct elf_section){.type = sh->sh_type,
		.flags = sh->sh_flags,
		.addr = sh->sh_addr,
		.offset = sh->sh_offset,
		.size = sh->sh_size};
}

static void note_section(const struct elf_file *f, const Elf64_Shdr *sh, struct elf_cfi_range *r)
{
	/* A separate debug file has .eh_frame as NOBITS. */
	if (sh->sh_type == SHT_NOBITS || !sh->sh_size || sh->sh_offset >= f->size ||
		sh->sh_size > f->size - sh->sh_offset)
		return;
	*r = (struct elf_cfi_range){.source = ELF_CFI_SECTION,
		.offset = sh->sh_offset,
		.size = sh->sh_size,
		.vaddr = sh->sh_addr,
		.compressed = !!(sh->sh_flags & SHF_COMPRESSED)};
}

/* 1, 0 without section headers that can be used, or -ENOMEM. */
static int by_sections(const struct elf_file *f, const Elf64_Ehdr *eh, struct elf_cfi *out)
{
	uint64_t nr = f->shnum < ELF_MAX_SECTIONS ? f->shnum : ELF_MAX_SECTIONS;
	uint32_t names_at = eh->e_shstrndx;
	struct elf_section names;
	Elf64_Shdr *sh;
	int ret = 0;

	if (!f->shoff || !nr || f->shentsize != sizeof(*sh) || f->shoff > f->size ||
		nr > (f->size - f->shoff) / sizeof(*sh))
		return 0;
	sh = calloc(nr, sizeof(*sh));
	if (!sh)
		return -ENOMEM;
	if (elf_read(f, f->shoff, sh, nr * sizeof(*sh), NULL))
		goto out;
	if (names_at == SHN_XINDEX)
		names_at = sh[0].sh_link;
	if (names_at >= nr)
		goto out;
	names = section_of(&sh[names_at]);
	ret = 1;
	for (uint64_t i = 1; i < nr; i++) {
		uint32_t type = sh[i].sh_type;
		char name[16];

		if (type != SHT_PROGBITS && type != SHT_X86_64_UNWIND)
			continue;
		if (elf_string(f, &names, sh[i].sh_name, name, sizeof(name), NULL) < 0)
			continue;
		if (is_go(name))
			out->is_go = 1;
		else if (!out->eh_frame.source && strcmp(name, ".eh_frame") == 0)
			note_section(f, &sh[i], &out->eh_frame);
		else if (!out->debug_frame.source && strcmp(name, ".debug_frame") == 0)
			note_section(f, &sh[i], &out->debug_frame);
		else if (out->nr_plts < ELF_CFI_MAX_PLTS && is_plt(name) &&
			 sh[i].sh_size <= ELF_CFI_MAX_PLT_BYTES) {
			note_section(f, &sh[i], &out->plt[out->nr_plts]);
			out->nr_plts += out->plt[out->nr_plts].source != ELF_CFI_NONE;
		}
	}
out:
	free(sh);
	return ret;
}

/* The file bytes from link-time address @vaddr to the end of their segment. */
static int segment_bytes(const struct elf_file *f, uint64_t vaddr, uint64_t *offset, uint64_t *size)
{
	for (uint32_t i = 0; i < f->nr_loads; i++) {
		const struct elf_segment *s = &f->loads[i];
		uint64_t at = vaddr - s->vaddr;

		if (vaddr < s->vaddr || at >= s->filesz || s->offset + at >= f->size)
			continue;
		*offset = s->offset + at;
		*size = s->filesz - at;
		if (*size > f->size - *offset)
			*size = f->size - *offset;
		return 1;
	}
	return 0;
}

/*
 * .eh_frame_hdr's table names every FDE: the one that lies last, with its
 * length, is where .eh_frame ends. Without the table the end is not known.
 */
static void size_by_table(const struct elf_file *f, uint64_t hdr_vaddr, uint64_t hdr_offset,
	uint64_t left, uint32_t nr, struct elf_cfi_range *r)
{
	uint64_t last = 0, at, size = (uint64_t)nr * 8;
	uint8_t raw[4];
	struct cursor c;
	uint8_t *table;

	if (!nr || size > left || size > ELF_CFI_MAX_BYTES)
		return;
	table = malloc(size);
	if (!table)
		return;
	if (elf_read(f, hdr_offset + HDR_FIXED, table, size, NULL))
		goto out;
	cursor_init(&c, table, size);
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t fde;

		cursor_u32(&c); /* the function's address */
		fde = hdr_vaddr + (uint64_t)(int64_t)(int32_t)cursor_u32(&c);
		if (fde > last)
			last = fde;
	}
	at = last - r->vaddr;
	if (last < r->vaddr || at > r->size - 4 ||
		elf_read(f, r->offset + at, raw, sizeof(raw), NULL))
		goto out;
	cursor_init(&c, raw, sizeof(raw));
	size = at + 4 + cursor_u32(&c);
	if (size > r->size)
		goto out;
	r->size = size;
	r->unsized = 0;
out:
	free(table);
}

static void by_header(const struct elf_file *f, uint64_t hdr_vaddr, struct elf_cfi_range *r)
{
	uint64_t hdr_offset, left, vaddr, offset, size;
	uint8_t raw[HDR_FIXED], enc[4];
	struct cursor c;
	uint32_t nr;

	if (!segment_bytes(f, hdr_vaddr, &hdr_offset, &left) || left < sizeof(raw) ||
		elf_read(f, hdr_offset, raw, sizeof(raw), NULL))
		return;
	cursor_init(&c, raw, sizeof(raw));
	for (int i = 0; i < 4; i++)
		enc[i] = cursor_u8(&c);
	/* All linkers write these; a version of our own would be no more tested than used. */
	if (enc[0] != 1 || enc[1] != HDR_PCREL_SDATA4)
		return;
	vaddr = hdr_vaddr + 4 + (uint64_t)(int64_t)(int32_t)cursor_u32(&c);
	nr = cursor_u32(&c);
	if (!segment_bytes(f, vaddr, &offset, &size) || size < 4)
		return;
	*r = (struct elf_cfi_range){.source = ELF_CFI_HEADER,
		.offset = offset,
		.size = size,
		.vaddr = vaddr,
		.unsized = 1};
	if (enc[2] == HDR_UDATA4 && enc[3] == HDR_DATAREL_SDATA4)
		size_by_table(f, hdr_vaddr, hdr_offset, left - HDR_FIXED, nr, r);
}

/*
 * An entry that looks like the CIE with which all compilers begin: length, id 0,
 * version 1, "zR" or "zPLR", code alignment 1, data alignment -8, return address
 * column 16.
 */
static const uint8_t *find_cie(const uint8_t *p, size_t len)
{
	static const uint8_t plain[] = "\0\0\0\0\1zR\0\1\x78\x10";
	static const uint8_t handlers[] = "\0\0\0\0\1zPLR\0\1\x78\x10";
	const uint8_t *end = p + len, *at = p;

	while ((at = memmem(at, (size_t)(end - at), "\0\0\0\0\1z", 6)) != NULL) {
		size_t left = (size_t)(end - at);
		int like =
			(left >= sizeof(plain) && !memcmp(at, plain, sizeof(plain) - 1)) ||
			(left >= sizeof(handlers) && !memcmp(at, handlers, sizeof(handlers) - 1));

		/* The length is a small multiple of four; a copy of these bytes has none. */
		if (like && at - p >= 4 && at[-4] >= 12 && at[-4] % 4 == 0 && !at[-3] && !at[-2] &&
			!at[-1])
			return at - 4;
		at++;
	}
	return NULL;
}

/* Read-only segments are searched in pieces that overlap by more than what is looked for. */
static int by_search(const struct elf_file *f, struct elf_cfi_range *r)
{
	const size_t piece = 1 << 20, overlap = 64;
	uint64_t budget = ELF_CFI_MAX_BYTES; /* for all: segments may be many and the same bytes */
	uint8_t *buf = malloc(piece);
	int err = buf ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && !r->source && i < f->nr_loads; i++) {
		const struct elf_segment *s = &f->loads[i];
		uint64_t size = s->filesz, at = 0;

		if (s->flags & PF_W || s->offset >= f->size)
			continue;
		if (size > f->size - s->offset)
			size = f->size - s->offset;
		if (size > budget)
			size = budget;
		budget -= size;
		while (!r->source && at < size) {
			size_t n = size - at < piece ? (size_t)(size - at) : piece;
			const uint8_t *cie;

			if (elf_read(f, s->offset + at, buf, n, NULL))
				break;
			cie = find_cie(buf, n);
			if (cie) {
				at += (uint64_t)(cie - buf);
				*r = (struct elf_cfi_range){.source = ELF_CFI_SEARCH,
					.offset = s->offset + at,
					.size = size - at,
					.vaddr = s->vaddr + at,
					.unsized = 1};
			}
			if (n < piece)
				break;
			at += piece - overlap;
		}
	}
	free(buf);
	return err;
}

int elf_cfi_find(const struct elf_file *f, struct elf_cfi *out, struct err *e)
{
	Elf64_Ehdr eh;
	int err, sections;

	*out = (struct elf_cfi){0};
	if (f->machine != EM_X86_64 || !f->is64)
		return err_set(e, -EOPNOTSUPP,
			"%s: no 64-bit x86-64 file (machine %u): cannot be unwound", f->name,
			f->machine);
	err = elf_read(f, 0, &eh, sizeof(eh), e);
	if (err)
		return err;
	out->entry = eh.e_entry;
	sections = by_sections(f, &eh, out);
	if (sections < 0)
		return err_set(e, -ENOMEM, "%s: out of memory", f->name);
	/* elf_open() has compared the program headers with the file's size. */
	for (uint32_t i = 0; !out->eh_frame.source && i < eh.e_phnum && eh.e_phnum != PN_XNUM;
		i++) {
		Elf64_Phdr ph;

		err = elf_read(f, eh.e_phoff + i * sizeof(ph), &ph, sizeof(ph), e);
		if (err)
			return err;
		if (ph.p_type == PT_GNU_EH_FRAME)
			by_header(f, ph.p_vaddr, &out->eh_frame);
	}
	/* With section headers we know that there is none. */
	if (!out->eh_frame.source && !sections && by_search(f, &out->eh_frame))
		return err_set(e, -ENOMEM, "%s: out of memory", f->name);
	return 0;
}

static int inflate(const struct elf_file *f, uint8_t **data, size_t *len, struct err *e)
{
	struct buf b = BUF_INIT;
	Elf64_Chdr ch;
	int err;

	if (*len < sizeof(ch))
		return err_set(e, -EBADMSG, "%s: compressed section of %zu bytes", f->name, *len);
	memcpy(&ch, *data, sizeof(ch));
	if (ch.ch_type != ELFCOMPRESS_ZLIB)
		return err_set(e, -EOPNOTSUPP,
			"%s: call frame information is compressed by method %u", f->name,
			ch.ch_type);
	if (ch.ch_size > ELF_CFI_MAX_BYTES)
		return err_set(e, -E2BIG, "%s: call frame information of %llu bytes", f->name,
			(unsigned long long)ch.ch_size);
	err = gz_inflate(&b, *data + sizeof(ch), *len - sizeof(ch), ch.ch_size);
	if (err) {
		buf_release(&b);
		return err_set(e, err, "%s: compressed call frame information is damaged", f->name);
	}
	free(*data);
	*data = (uint8_t *)b.data;
	*len = b.len;
	return 0;
}

int elf_cfi_read(const struct elf_file *f, const struct elf_cfi_range *r, uint8_t **data,
	size_t *len, struct err *e)
{
	int err;

	*data = NULL;
	*len = 0;
	if (r->size > ELF_CFI_MAX_BYTES)
		return err_set(e, -E2BIG, "%s: call frame information of %llu bytes", f->name,
			(unsigned long long)r->size);
	*data = malloc(r->size ? r->size : 1);
	if (!*data)
		return err_set(e, -ENOMEM, "%s: out of memory", f->name);
	*len = r->size;
	err = elf_read(f, r->offset, *data, *len, e);
	if (!err && r->compressed)
		err = inflate(f, data, len, e);
	if (err) {
		free(*data);
		*data = NULL;
		*len = 0;
	}
	return err;
}
