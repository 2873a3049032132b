/* SPDX-License-Identifier: BSD-2-Clause */
/* Folded text: whatever it is, what comes out is a sound stream that adds up. */
#include <stdint.h>
#include <stdlib.h>

#include "user/capture/capture.h"
#include "user/import/folded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sum {
	struct sink sink, *verify;
	uint64_t samples, total;
};

static int sum_put(struct sink *s, const struct record *r, struct err *e)
{
	struct sum *sum = (struct sum *)s;

	if (r->kind == RECORD_SAMPLE) {
		sum->samples++;
		sum->total += r->sample.value;
	}
	if (sink_put(sum->verify, r, e))
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sum sum = {.sink = {sum_put}, .verify = verify_sink_new()};
	struct folded_stats st;
	struct err e = {0};
	int ret;

	if (!sum.verify)
		return 0;
	ret = folded_import_mem("fuzz", data, size, &sum.sink, &st, &e);
	if ((ret != 0) != (sum.samples == 0) || sum.total != st.total ||
		st.total > FOLDED_TOTAL_MAX || st.good + st.bad > st.lines ||
		st.zero + sum.samples != st.good)
		abort();
	if (!ret && verify_sink_finish(sum.verify, &e))
		abort();
	verify_sink_free(sum.verify);
	return 0;
}
