/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hot table as text for people.
 *
 *   warnings, if any
 *   what was recorded, what is selected
 *   rows: share of self, its error, share of total, value, name, module
 *   the rest, so that self adds up to 100 %; notes on waiting and on precision
 *
 * Pure: the same view, summary and style give the same bytes. All names are
 * escaped here; no control byte of theirs gets through.
 */
#ifndef PROFBPF_RENDER_TABLE_H
#define PROFBPF_RENDER_TABLE_H

#include "user/base/out.h"
#include "user/view/functions.h"
#include "user/view/summary.h"

struct table_style {
	int width; /* columns; no line is longer unless it must be; 0 = as wide as the names are */
	int utf8;  /* else ASCII only for what we draw; names keep their characters */
	int color; /* escape sequences: cyan for CPU */
};

/**
 * @filters: the restrictions in words for the line on the selection, safe to
 * print (filter_describe); NULL or "" = none. Errors stay in @out.
 */
void table_render(struct out *out, const struct functions_view *v, const struct summary *s,
	const char *filters, const struct table_style *style);

#endif
