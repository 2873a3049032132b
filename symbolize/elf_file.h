/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bounded reading of one ELF file: header, segments, sections, bytes, strings.
 *
 * Everything is read with pread, never mapped: a file that shrinks while we
 * read gives an error and not a SIGBUS, and of a 2 GB binary only the tables
 * asked for are touched. Nothing in the file is trusted: tables are compared
 * with the file's size and with the stated maxima before memory is allocated.
 *
 * Little-endian ELF32 and ELF64 of any machine. Not thread-safe.
 */
#ifndef PROFBPF_SYMBOLIZE_ELF_FILE_H
#define PROFBPF_SYMBOLIZE_ELF_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/err.h"

/* Loadable segments: linkers make 2-10; a search is linear. */
#define ELF_MAX_LOADS 1024
/* Program headers looked at: what e_phnum can say without an extension. */
#define ELF_MAX_PHDRS 65535
/* Sections looked at: linked files have tens; more exist only in objects. */
#define ELF_MAX_SECTIONS 65536
/* PT_NOTE segments and SHT_NOTE sections looked at. */
#define ELF_MAX_NOTES 64

struct elf_segment {	 /* PT_LOAD, in file order */
	uint64_t offset; /* first byte in the file */
	uint64_t filesz; /* bytes in the file */
	uint64_t vaddr;	 /* link-time address of that byte */
	uint64_t memsz;
	uint32_t flags; /* PF_* */
};

struct elf_section {
	uint64_t flags; /* SHF_* */
	uint64_t addr;
	uint64_t offset;
	uint64_t size;
	uint64_t entsize;
	uint32_t type; /* SHT_* */
	uint32_t link;
};

struct elf_note { /* a range of the file that holds notes */
	uint64_t offset, size;
	uint64_t align; /* 4 or 8 */
};

/* Fields are for reading; made by elf_open*(). */
struct elf_file {
	char *name;		     /* for sentences; escaped; owned */
	int fd;			     /* owned; -1 for memory */
	uint8_t *mem;		     /* owned copy; NULL for files */
	uint64_t size;		     /* bytes, when it was opened */
	uint64_t mtime_ns, ctime_ns; /* 0 for memory */
	int is64;
	uint16_t type;	  /* ET_* */
	uint16_t machine; /* EM_* */
	struct elf_segment *loads;
	uint32_t nr_loads;
	struct elf_section *sections; /* NULL until elf_read_sections() */
	uint32_t nr_sections;
	struct elf_note notes[ELF_MAX_NOTES];
	uint32_t nr_notes;
	uint64_t shoff; /* section header table, as the header says */
	uint32_t shnum, shentsize;
};

/**
 * Take over @fd (a regular file; closed by elf_close and on failure) and read
 * header and segments. -EBADMSG when it is no ELF file or contradicts itself,
 * -EOPNOTSUPP for big-endian ones, -E2BIG over a maximum, -ENOMEM, or the error
 * of reading; each with a sentence that begins with @name.
 */
int elf_open(struct elf_file **f, int fd, const char *name, struct err *e);
/** The same on a copy of @len bytes at @data. */
int elf_open_mem(
	struct elf_file **f, const void *data, size_t len, const char *name, struct err *e);
/** @f may be NULL. */
void elf_close(struct elf_file *f);

/** Read the section headers. No sections at all is fine: nr_sections stays 0. */
int elf_read_sections(struct elf_file *f, struct err *e);

/** Copy exactly @len bytes from @offset. -EBADMSG with a sentence when the file has fewer. */
int elf_read(const struct elf_file *f, uint64_t offset, void *dst, size_t len, struct err *e);
/**
 * Copy the string at @at of string table @sec into @buf, NUL-terminated and cut
 * to what fits. Returns its length, size - 1 when it is longer (look at
 * *cut, may be NULL), or -EBADMSG when it is outside the table. No sentence:
 * one bad name is no reason to give up a file.
 */
int64_t elf_string(const struct elf_file *f, const struct elf_section *sec, uint64_t at, char *buf,
	size_t size, int *cut);

/**
 * Link-time address of the byte at @offset of the file. The segment whose file
 * bytes [offset, offset + filesz) hold it decides, an executable one first; a
 * page that is mapped beyond a segment's bytes belongs to nobody. 1 if found.
 */
int elf_vaddr(const struct elf_file *f, uint64_t offset, uint64_t *vaddr);
/** 1 when the open file was written to since it was opened (another name or owner does not count).
 */
int elf_changed(const struct elf_file *f);

#endif
