/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind_file.h"

#include <errno.h>
#include <fcntl.h>

#include "build_id.h"
#include "vdso.h"

static int build(struct unwind_table **t, int *keeps_fp, struct elf_file *f,
	struct unwind_rules *rules, struct err *e)
{
	struct elf_cfi cfi;
	int err = elf_cfi_find(f, &cfi, e);

	if (err)
		return err;
	/* Stripped of its section headers, a Go program still has its note. */
	*keeps_fp = cfi.is_go || build_id_is_go(f);
	return *keeps_fp ? 0 : unwind_table_build(t, f, rules, e);
}

int unwind_file_build(struct unwind_table **t, int *keeps_fp, int fd, const char *name,
	struct unwind_rules *rules, struct err *e)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0), err;
	struct elf_file *f;

	*t = NULL;
	*keeps_fp = 0;
	if (own < 0)
		return err_sys(e, -errno, "%s", name);
	err = elf_open(&f, own, name, e);
	if (err)
		return err;
	err = build(t, keeps_fp, f, rules, e);
	elf_close(f);
	return err;
}

int unwind_vdso_build(struct unwind_table **t, struct unwind_rules *rules, struct err *e)
{
	struct elf_file *f;
	const void *image;
	size_t len;
	int err;

	*t = NULL;
	err = vdso_find(&image, &len, e);
	if (err)
		return err;
	err = elf_open_mem(&f, image, len, "[vdso]", e);
	if (err)
		return err;
	err = unwind_table_build(t, f, rules, e);
	elf_close(f);
	return err;
}
