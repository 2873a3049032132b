/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An ELF file from a stranger: symbols, build ID and lookups all over it.
 *
 * Seeds: "fixture" is what tests/unit/elf_fixture.h makes of six symbols. The
 * others are t.s, `.globl _start; _start: ret; f: nop; ret; lab: nop` with types
 * and sizes on the first two, built by
 *   gcc -nostdlib -static -Wl,--build-id=sha1,-z,noseparate-code t.s         (static64)
 *   as --32 t.s && ld -m elf_i386 -z noseparate-code --build-id=md5          (static32)
 *   gcc -nostdlib -shared -s -Wl,-z,noseparate-code,-z,norelro t.s           (shared64-stripped)
 */
#include <stdlib.h>

#include "symbolize/elf_file.h"
#include "symbolize/symbolize.h"
#include "symbolize/symtab.h"

static void check_table(const uint8_t *data, size_t size)
{
	struct elf_file *f;
	struct symtab *t;

	if (elf_open_mem(&f, data, size, "fuzz", NULL))
		return;
	if (symtab_read(&t, f, NULL) == 0) {
		if (!symtab_check(t))
			abort();
		symtab_free(t);
	}
	elf_close(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t id[BUILD_ID_MAX];
	struct symbols out;
	enum frame_reason why;
	struct module *m;
	struct err e = {0};

	if (module_open_mem(&m, data, size, "fuzz", &why, &e))
		return 0;
	for (uint64_t at = 0; at < size + 64; at += at < 8192 ? 7 : 97)
		module_symbols(m, at, at & 1, &out);
	module_symbols(m, UINT64_MAX, 1, &out);
	module_build_id(m, id);
	module_close(m);
	check_table(data, size);
	return 0;
}
