/* SPDX-License-Identifier: BSD-2-Clause */
/* A mangled name: what comes out fits, ends, and does not take long (libFuzzer's -timeout). */
#include <stdlib.h>
#include <string.h>

#include "symbolize/symbolize.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char out[SYMBOL_NAME_MAX], *raw = malloc(size + 1);

	if (!raw)
		return 0;
	if (size)
		memcpy(raw, data, size);
	raw[size] = '\0';
	if (demangle(raw, out, sizeof(out)) && strnlen(out, sizeof(out)) == sizeof(out))
		abort();
	free(raw);
	return 0;
}
