/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The run record for programs: one JSON object, "profbpf-info/1", and a
 * newline. Fields are added, never renamed; what was not measured is null.
 */
#ifndef PROFBPF_EXPORT_INFO_H
#define PROFBPF_EXPORT_INFO_H

#include "user/base/out.h"
#include "user/view/info.h"

/** Errors stay in @o. */
void info_json(struct out *o, const struct info_view *v);

#endif
