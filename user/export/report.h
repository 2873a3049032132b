/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hot table for programs: JSON (docs/report.schema.json) and CSV.
 *
 * Fields are added, never renamed. What was not measured is null (CSV: empty),
 * never 0. Names are valid UTF-8, other bytes escaped reversibly as \xNN.
 */
#ifndef PROFBPF_EXPORT_REPORT_H
#define PROFBPF_EXPORT_REPORT_H

#include "user/base/out.h"
#include "user/view/functions.h"
#include "user/view/summary.h"

/**
 * One JSON object and a newline; rows are the view's shown ones. With @v and
 * @s NULL (there was nothing to read): the same fields, all null, no rows.
 * Errors stay in @o.
 */
void report_json(
	struct out *o, const struct functions_view *v, const struct summary *s, enum rows_by by);
/** A header line, then a line a row (ending in LF). @v NULL: no rows. Errors stay in @o. */
void report_csv(struct out *o, const struct functions_view *v, const struct summary *s);

#endif
