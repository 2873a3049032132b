/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbolize/proc_maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf path = BUF_INIT;
	struct proc_maps m;
	int deleted;

	if (proc_maps_read_mem(&m, (const char *)data, size, NULL))
		return 0;
	for (size_t i = 0; i < m.nr; i++) {
		if (!proc_maps_find(&m, m.at[i].end - 1) && m.nr == 1)
			__builtin_trap();
		for (unsigned k = 0; proc_map_paths(&m.at[i], k, &path, &deleted); k++)
			;
	}
	proc_maps_release(&m);
	buf_release(&path);
	return 0;
}
