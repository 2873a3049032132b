/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The vDSO is an ELF image that the kernel maps into every process and that
 * exists in no file. It is the same for all 64-bit processes of one kernel, so
 * our own copy serves.
 */
#include "vdso.h"

#include <errno.h>
#include <sys/auxv.h>

#include "proc_maps.h"
#include "symbolize.h"

int vdso_find(const void **image, size_t *len, struct err *e)
{
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	const struct proc_map *pm;
	struct proc_maps maps;
	int err;

	*image = NULL;
	*len = 0;
	if (!start)
		return err_set(e, -ENOENT, "[vdso]: this kernel gave us none");
	err = proc_maps_read(&maps, 0, e);
	if (err)
		return err;
	pm = proc_maps_find(&maps, start);
	if (pm && pm->start == start) {
		*image = (const void *)(uintptr_t)start;
		*len = (size_t)(pm->end - start);
	} else {
		err = err_set(e, -ENOENT, "[vdso]: not mapped where the kernel said");
	}
	proc_maps_release(&maps);
	return err;
}

int vdso_open(struct module **m, struct err *e)
{
	const void *image;
	size_t len;
	int err;

	*m = NULL;
	err = vdso_find(&image, &len, e);
	return err ? err : module_open_mem(m, image, len, "[vdso]", NULL, e);
}
