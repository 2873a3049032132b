/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbolize/symbolize.h"
#define LOG_DOMAIN "fuzz"
#include "user/base/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *module;
	struct kallsyms *k;
	struct symbols out;

	log_set_level(LOG_ERROR);
	if (kallsyms_open_mem(&k, (const char *)data, size, NULL))
		return 0;
	for (uint64_t addr = 0xffffffff81000000; addr < 0xffffffff81001000; addr += 3)
		kallsyms_symbols(k, addr, addr & 1, &out, &module);
	kallsyms_symbols(k, 0, 1, &out, &module);
	kallsyms_symbols(k, UINT64_MAX, 0, &out, &module);
	kallsyms_close(k);
	return 0;
}
