/* SPDX-License-Identifier: BSD-2-Clause */
#include "values.h"

#include <math.h>
#include <string.h>

#include "user/capture/records.h"

static const struct value_info infos[VALUE_TYPE_MAX] = {
	[VALUE_CPU] = {"cpu", "CPU time", "ns", 1},
	[VALUE_COUNT] = {"count", "count", "count", 0},
};

const struct value_info *value_info(unsigned type)
{
	return type < VALUE_TYPE_MAX && infos[type].view ? &infos[type] : NULL;
}

unsigned value_by_view(const char *view)
{
	unsigned type;

	for (type = 1; type < VALUE_TYPE_MAX; type++)
		if (infos[type].view && !strcmp(infos[type].view, view))
			return type;
	return 0;
}

double share_pct(uint64_t part, uint64_t total)
{
	return total ? 100.0 * (double)part / (double)total : 0;
}

/*
 * The share is a ratio of two sums over the same samples, so its variance is
 * sum(w^2 (x - p)^2) / total^2, where x is 1 for samples of the row and 0 for
 * the others. That many equal samples would scatter alike: n = p (1-p) / var.
 * At p = 0 or 1 the formula is 0/0, and n is what all samples are worth.
 */
double share_error(double part, double part_sq, double total, double total_sq)
{
	const double z = 1.96, zz = z * z;
	double p, var, n;

	if (!(total > 0) || !(total_sq > 0) || isnan(part_sq))
		return NAN;
	p = part / total;
	if (p < 0)
		p = 0;
	if (p > 1)
		p = 1;
	var = (part_sq * (1 - p) * (1 - p) + fmax(total_sq - part_sq, 0) * p * p) / (total * total);
	n = total * total / total_sq;
	if (var > 0 && p > 0 && p < 1)
		n = p * (1 - p) / var;
	return 100 * z / (1 + zz / n) * sqrt(p * (1 - p) / n + zz / (4 * n * n));
}
