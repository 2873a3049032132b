/* SPDX-License-Identifier: BSD-2-Clause */
/* A perf map as a JIT, or somebody who pretends to be one, wrote it. */
#include "symbolize/symbolize.h"
#define LOG_DOMAIN "fuzz"
#include "user/base/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbols out;
	struct perf_map *p;
	size_t first;

	log_set_level(LOG_ERROR);
	if (perf_map_open_mem(&p, (const char *)data, size, NULL))
		return 0;
	for (unsigned shift = 0; shift < 64; shift++)
		perf_map_symbols(p, 1ull << shift, shift & 1, &out);
	for (uint64_t addr = 0; addr < 4096; addr += 5)
		perf_map_symbols(p, addr, 0, &out);
	perf_map_symbols(p, UINT64_MAX, 0, &out);
	perf_map_bad_lines(p, &first);
	perf_map_close(p);
	return 0;
}
