/* SPDX-License-Identifier: BSD-2-Clause */
/* The run record as text for people. Pure; all text of the capture is escaped. */
#ifndef PROFBPF_RENDER_INFO_H
#define PROFBPF_RENDER_INFO_H

#include "user/base/out.h"
#include "user/view/info.h"

/** @name: the file as it is shown, safe to print. Errors stay in @o. */
void info_render(struct out *o, const struct info_view *v, const char *name);

#endif
