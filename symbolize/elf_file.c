/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DESIGN: libelf could read the headers too, but its accessors either map the
 * file (a target that truncates it kills us) or read sections whole. The few
 * tables we want are fixed-size records; decoding them with base/cursor keeps
 * one rule for all untrusted bytes.
 */
#include "elf_file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/base/cursor.h"
#include "user/base/escape.h"

#define SHDR_BATCH 512 /* section headers read at once: 32 KiB */

static uint64_t stat_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

int elf_read(const struct elf_file *f, uint64_t offset, void *dst, size_t len, struct err *e)
{
	size_t done = 0;

	if (offset > f->size || len > f->size - offset)
		return err_set(e, -EBADMSG,
			"%s: %zu bytes at %#llx lie beyond the end of the file (%llu bytes)",
			f->name, len, (unsigned long long)offset, (unsigned long long)f->size);
	if (f->mem) {
		memcpy(dst, f->mem + offset, len);
		return 0;
	}
	while (done < len) {
		ssize_t n = pread(f->fd, (char *)dst + done, len - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, -errno, "%s: cannot read", f->name);
		if (n == 0)
			return err_set(
				e, -EBADMSG, "%s: file became shorter while it was read", f->name);
		done += (size_t)n;
	}
	return 0;
}

/* Addresses and sizes are 4 or 8 bytes by class. */
static uint64_t word(const struct elf_file *f, struct cursor *c)
{
	return f->is64 ? cursor_u64(c) : cursor_u32(c);
}

static void parse_section(
	const struct elf_file *f, struct cursor *c, struct elf_section *s, uint32_t *info)
{
	cursor_u32(c); /* sh_name */
	s->type = cursor_u32(c);
	s->flags = word(f, c);
	s->addr = word(f, c);
	s->offset = word(f, c);
	s->size = word(f, c);
	s->link = cursor_u32(c);
	*info = cursor_u32(c);
	word(f, c); /* sh_addralign */
	s->entsize = word(f, c);
}

static int read_section0(struct elf_file *f, struct elf_section *s, uint32_t *info, struct err *e)
{
	uint8_t raw[sizeof(Elf64_Shdr)];
	size_t len = f->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	struct cursor c;
	int err = elf_read(f, f->shoff, raw, len, e);

	if (err)
		return err;
	cursor_init(&c, raw, len);
	parse_section(f, &c, s, info);
	return 0;
}

static void add_note(struct elf_file *f, uint64_t offset, uint64_t size, uint64_t align)
{
	if (f->nr_notes == ELF_MAX_NOTES || !size)
		return;
	f->notes[f->nr_notes++] =
		(struct elf_note){.offset = offset, .size = size, .align = align == 8 ? 8 : 4};
}

static int add_load(struct elf_file *f, const struct elf_segment *s, struct err *e)
{
	struct elf_segment *grown;

	if (f->nr_loads == ELF_MAX_LOADS)
		return err_set(
			e, -E2BIG, "%s: more than %d loadable segments", f->name, ELF_MAX_LOADS);
	/* Linked files have a handful: grow one by one. */
	grown = realloc(f->loads, (f->nr_loads + 1) * sizeof(*grown));
	if (!grown)
		return err_set(e, -ENOMEM, "%s: out of memory", f->name);
	f->loads = grown;
	f->loads[f->nr_loads++] = *s;
	return 0;
}

static int read_segments(struct elf_file *f, uint64_t phoff, uint32_t phnum, struct err *e)
{
	uint8_t raw[sizeof(Elf64_Phdr)];
	size_t len = f->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	int err;

	if (phoff > f->size || phnum > (f->size - phoff) / len)
		return err_set(
			e, -EBADMSG, "%s: program headers lie beyond the end of the file", f->name);
	for (uint32_t i = 0; i < phnum; i++) {
		struct elf_segment s = {0};
		uint64_t align;
		uint32_t type;
		struct cursor c;

		err = elf_read(f, phoff + i * len, raw, len, e);
		if (err)
			return err;
		cursor_init(&c, raw, len);
		type = cursor_u32(&c);
		if (f->is64)
			s.flags = cursor_u32(&c);
		s.offset = word(f, &c);
		s.vaddr = word(f, &c);
		word(f, &c); /* p_paddr */
		s.filesz = word(f, &c);
		s.memsz = word(f, &c);
		if (!f->is64)
			s.flags = cursor_u32(&c);
		align = word(f, &c);

		if (type == PT_NOTE)
			add_note(f, s.offset, s.filesz, align);
		/* Ranges that wrap round cannot be loaded; skip them here once
		 * so that later additions need no check. */
		if (type == PT_LOAD && s.filesz <= UINT64_MAX - s.offset &&
			s.memsz <= UINT64_MAX - s.vaddr && s.filesz <= UINT64_MAX - s.vaddr) {
			err = add_load(f, &s, e);
			if (err)
				return err;
		}
	}
	if (!f->nr_loads)
		return err_set(e, -EBADMSG, "%s: ELF file without loadable segments", f->name);
	return 0;
}

static int read_header(struct elf_file *f, struct err *e)
{
	uint8_t raw[sizeof(Elf64_Ehdr)] = {0};
	struct elf_section sec0 = {0};
	uint64_t phoff;
	uint32_t phnum, phentsize, info;
	struct cursor c;
	int err;

	if (f->size < sizeof(Elf32_Ehdr))
		return err_set(e, -EBADMSG, "%s: not an ELF file (%llu bytes)", f->name,
			(unsigned long long)f->size);
	err = elf_read(f, 0, raw, sizeof(Elf32_Ehdr), e);
	if (err)
		return err;
	if (memcmp(raw, ELFMAG, SELFMAG) != 0)
		return err_set(e, -EBADMSG, "%s: not an ELF file", f->name);
	if (raw[EI_DATA] == ELFDATA2MSB)
		return err_set(e, -EOPNOTSUPP, "%s: big-endian ELF file", f->name);
	if (raw[EI_DATA] != ELFDATA2LSB ||
		(raw[EI_CLASS] != ELFCLASS32 && raw[EI_CLASS] != ELFCLASS64))
		return err_set(e, -EBADMSG, "%s: ELF class %u, data %u are unknown", f->name,
			raw[EI_CLASS], raw[EI_DATA]);
	f->is64 = raw[EI_CLASS] == ELFCLASS64;
	if (f->is64) {
		err = elf_read(f, 0, raw, sizeof(Elf64_Ehdr), e);
		if (err)
			return err;
	}

	cursor_init(&c, raw, f->is64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
	cursor_skip(&c, EI_NIDENT);
	f->type = cursor_u16(&c);
	f->machine = cursor_u16(&c);
	cursor_u32(&c); /* e_version */
	word(f, &c);	/* e_entry */
	phoff = word(f, &c);
	f->shoff = word(f, &c);
	cursor_u32(&c); /* e_flags */
	cursor_u16(&c); /* e_ehsize */
	phentsize = cursor_u16(&c);
	phnum = cursor_u16(&c);
	f->shentsize = cursor_u16(&c);
	f->shnum = cursor_u16(&c);

	/* Numbers that do not fit 16 bits are in section 0 (gABI, "Sections"). */
	if (f->shoff && (phnum == PN_XNUM || !f->shnum)) {
		if (read_section0(f, &sec0, &info, NULL) == 0) {
			if (phnum == PN_XNUM)
				phnum = info;
			if (!f->shnum)
				f->shnum = sec0.size > ELF_MAX_SECTIONS ? ELF_MAX_SECTIONS
									: (uint32_t)sec0.size;
		}
	}
	if (phnum > ELF_MAX_PHDRS)
		return err_set(e, -E2BIG, "%s: %u program headers", f->name, phnum);
	if (phnum && phentsize != (f->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
		return err_set(e, -EBADMSG, "%s: program headers of %u bytes", f->name, phentsize);
	return read_segments(f, phoff, phnum, e);
}

int elf_read_sections(struct elf_file *f, struct err *e)
{
	size_t len = f->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	uint32_t nr = f->shnum < ELF_MAX_SECTIONS ? f->shnum : ELF_MAX_SECTIONS;
	uint8_t *raw = NULL;
	int err = 0;

	if (f->sections || !f->shoff || !nr)
		return 0;
	if (f->shentsize != len)
		return err_set(
			e, -EBADMSG, "%s: section headers of %u bytes", f->name, f->shentsize);
	if (f->shoff > f->size || nr > (f->size - f->shoff) / len)
		return err_set(
			e, -EBADMSG, "%s: section headers lie beyond the end of the file", f->name);
	f->sections = calloc(nr, sizeof(*f->sections));
	raw = malloc(SHDR_BATCH * len);
	if (!f->sections || !raw) {
		err = err_set(e, -ENOMEM, "%s: out of memory", f->name);
		goto out;
	}
	for (uint32_t i = 0; i < nr; i += SHDR_BATCH) {
		uint32_t n = nr - i < SHDR_BATCH ? nr - i : SHDR_BATCH;
		struct cursor c;

		err = elf_read(f, f->shoff + i * len, raw, n * len, e);
		if (err)
			goto out;
		cursor_init(&c, raw, n * len);
		for (uint32_t k = 0; k < n; k++) {
			struct elf_section *s = &f->sections[i + k];
			uint32_t info;

			parse_section(f, &c, s, &info);
			if (s->type == SHT_NOTE)
				add_note(f, s->offset, s->size, 4);
		}
	}
	f->nr_sections = nr;
out:
	if (err) {
		free(f->sections);
		f->sections = NULL;
	}
	free(raw);
	return err;
}

int64_t elf_string(const struct elf_file *f, const struct elf_section *sec, uint64_t at, char *buf,
	size_t size, int *cut)
{
	size_t done = 0;
	uint64_t left;

	if (cut)
		*cut = 0;
	if (!size || at >= sec->size || sec->offset > f->size || at >= f->size - sec->offset)
		return -EBADMSG;
	left = sec->size - at;
	if (left > f->size - sec->offset - at)
		left = f->size - sec->offset - at;
	/* Most names are short: one small read, and more only for the rest. */
	for (size_t step = 128; done < size - 1 && done < left; step = 1024) {
		size_t n = size - 1 - done;
		char *nul;

		if (n > step)
			n = step;
		if (n > left - done)
			n = (size_t)(left - done);
		if (elf_read(f, sec->offset + at + done, buf + done, n, NULL))
			return -EBADMSG;
		nul = memchr(buf + done, '\0', n);
		if (nul)
			return nul - buf;
		done += n;
	}
	buf[done] = '\0';
	if (done == left)
		return -EBADMSG; /* the table ends inside the string */
	if (cut)
		*cut = 1;
	return (int64_t)done;
}

int elf_vaddr(const struct elf_file *f, uint64_t offset, uint64_t *vaddr)
{
	const struct elf_segment *best = NULL;

	for (uint32_t i = 0; i < f->nr_loads; i++) {
		const struct elf_segment *s = &f->loads[i];

		if (offset < s->offset || offset - s->offset >= s->filesz)
			continue;
		if (!best || ((s->flags & PF_X) && !(best->flags & PF_X)))
			best = s;
	}
	if (best)
		*vaddr = best->vaddr + (offset - best->offset);
	return best != NULL;
}

int elf_changed(const struct elf_file *f)
{
	struct stat st;

	if (f->fd < 0)
		return 0;
	return fstat(f->fd, &st) < 0 || (uint64_t)st.st_size != f->size ||
	       (stat_ns(&st.st_ctim) != f->ctime_ns && stat_ns(&st.st_mtim) != f->mtime_ns);
}

/* NULL on ENOMEM. @fd stays the caller's. */
static struct elf_file *new_file(const char *name)
{
	struct elf_file *f = calloc(1, sizeof(*f));
	char shown[ESCAPE_BRIEF_BUF];

	if (!f)
		return NULL;
	f->fd = -1;
	f->name = strdup(escape_brief(shown, sizeof(shown), name ? name : "file"));
	if (!f->name) {
		free(f);
		return NULL;
	}
	return f;
}

static int stat_file(struct elf_file *f, struct err *e)
{
	struct stat st;

	if (fstat(f->fd, &st) < 0)
		return err_sys(e, -errno, "%s: cannot read its size", f->name);
	if (!S_ISREG(st.st_mode))
		return err_set(e, -EBADMSG, "%s: not a regular file", f->name);
	f->size = (uint64_t)st.st_size;
	f->mtime_ns = stat_ns(&st.st_mtim);
	f->ctime_ns = stat_ns(&st.st_ctim);
	return 0;
}

int elf_open(struct elf_file **out, int fd, const char *name, struct err *e)
{
	struct elf_file *f = new_file(name);
	int err;

	*out = NULL;
	if (!f) {
		close(fd);
		return err_set(e, -ENOMEM, "out of memory");
	}
	f->fd = fd;
	err = stat_file(f, e);
	if (!err)
		err = read_header(f, e);
	if (err) {
		elf_close(f);
		return err;
	}
	*out = f;
	return 0;
}

int elf_open_mem(
	struct elf_file **out, const void *data, size_t len, const char *name, struct err *e)
{
	struct elf_file *f = new_file(name);
	int err;

	*out = NULL;
	if (!f)
		return err_set(e, -ENOMEM, "out of memory");
	f->size = len;
	f->mem = malloc(len ? len : 1);
	if (f->mem) {
		if (len)
			memcpy(f->mem, data, len);
		err = read_header(f, e);
	} else {
		err = err_set(e, -ENOMEM, "%s: out of memory", f->name);
	}
	if (err) {
		elf_close(f);
		return err;
	}
	*out = f;
	return 0;
}

void elf_close(struct elf_file *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	free(f->mem);
	free(f->loads);
	free(f->sections);
	free(f->name);
	free(f);
}
