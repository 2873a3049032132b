/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses to names. The only header of this folder that others include,
 * besides target_file.h and proc_maps.h (opening and reading a target's files).
 *
 * Three kinds of places: a byte offset in an ELF file, a kernel address, an
 * address in a process's JIT code. Every question gets a name or a reason
 * (bpf/frame.h), and never a guess: an address in a gap between sized symbols
 * has no name.
 *
 * Everything read here is hostile: sizes are compared with what is left of the
 * file before anything is allocated, symbol tables are bounded, names are cut
 * at SYMBOL_NAME_MAX bytes and demangling is bounded in time and size.
 */
#ifndef PROFBPF_SYMBOLIZE_H
#define PROFBPF_SYMBOLIZE_H

#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/frame.h"
#include "user/base/err.h"

#define SYMBOL_NAME_MAX	  4096 /* bytes of a name kept; longer ones end in "..." */
#define SYMBOL_INLINE_MAX 64   /* inlined functions at one address */
#define BUILD_ID_MAX	  64

/* One function at an address. Strings are borrowed from the module or map and
 * live as long as it does; they are raw bytes (escape before showing). */
struct symbol {
	const char *name; /* demangled; NULL when there is none */
	const char *raw;  /* as in the file; NULL when equal to name */
	const char *file; /* source file or NULL (later issue) */
	uint32_t line;	  /* 0 = not known */
	int inlined;	  /* inlined into the next entry */
};

struct symbols {
	struct symbol at[SYMBOL_INLINE_MAX]; /* innermost first */
	uint32_t nr;			     /* 0: no name, see reason */
	enum frame_reason reason;
};

/* ---- ELF modules ---- */

struct module;

/**
 * Take over @fd (closed by module_close, and on failure) and read the symbol
 * tables. 0, or a negative errno with a sentence; *why (may be NULL) gets
 * REASON_FILE_UNREADABLE or the like. @name is used in sentences only.
 */
int module_open(struct module **m, int fd, const char *name, enum frame_reason *why, struct err *e);
/** The same from memory that is copied (vDSO, fuzzing, tests). */
int module_open_mem(struct module **m, const void *data, size_t len, const char *name,
	enum frame_reason *why, struct err *e);
/** The vDSO of this kernel, as mapped into our own process. Frames of it carry offsets into that
 * image. */
int vdso_open(struct module **m, struct err *e);
void module_close(struct module *m);
/** Raw build ID bytes; 0 = none. */
size_t module_build_id(const struct module *m, uint8_t id[BUILD_ID_MAX]);
/**
 * Names at byte @offset of the file. The offset is translated with the segment
 * that really covers it. @is_return: the address was reached by return, so the
 * byte before it is looked up. Never fails: out->nr is 0 and out->reason set.
 */
void module_symbols(struct module *m, uint64_t offset, int is_return, struct symbols *out);
/** Link-time address of a file offset; 0 and *ok = 0 when no segment covers it. */
uint64_t module_vaddr(const struct module *m, uint64_t offset, int *ok);
/** 1 when the file was written to since it was opened: what was read may be wrong. */
int module_changed(const struct module *m);
/** Number of function symbols and memory held, for info and logs. */
size_t module_nr_symbols(const struct module *m);
size_t module_bytes(const struct module *m);

/** Build ID of an open ELF file without reading its symbols. Returns its length, 0 = none, or
 * negative errno. */
int build_id_of_fd(int fd, uint8_t id[BUILD_ID_MAX]);

/* ---- the kernel ---- */

struct kallsyms;

/** Read @path (NULL = /proc/kallsyms). Hidden addresses (kptr_restrict) are not an error: lookups
 * say so. */
int kallsyms_open(struct kallsyms **k, const char *path, struct err *e);
int kallsyms_open_mem(struct kallsyms **k, const char *text, size_t len, struct err *e);
void kallsyms_close(struct kallsyms *k);
int kallsyms_hidden(const struct kallsyms *k);
/** *module gets "kernel" or "[name]" of a loadable module (borrowed). */
void kallsyms_symbols(const struct kallsyms *k, uint64_t addr, int is_return, struct symbols *out,
	const char **module);

/* ---- JIT code ---- */

struct perf_map;

/** Take over @fd (regular file, size bounded; see target_file.h for opening one safely) and read
 * it. */
int perf_map_open(struct perf_map **p, int fd, const char *name, struct err *e);
int perf_map_open_mem(struct perf_map **p, const char *text, size_t len, struct err *e);
void perf_map_close(struct perf_map *p);
/** The last line of the file that covers @addr wins. */
void perf_map_symbols(const struct perf_map *p, uint64_t addr, int is_return, struct symbols *out);
size_t perf_map_entries(const struct perf_map *p);
size_t perf_map_bad_lines(const struct perf_map *p,
	size_t *first_line); /* skipped lines; 1-based number of the first */

/* ---- names ---- */

/** Demangle C++ or Rust into @buf; 1 if it did, 0 if @raw is to be shown as it is. Bounded in time
 * and size. */
int demangle(const char *raw, char *buf, size_t size);

#endif
