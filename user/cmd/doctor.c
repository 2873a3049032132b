/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profbpf doctor: what this kernel and these permissions allow.
 */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "user/base/out.h"
#include "user/base/term.h"
#include "user/record/features.h"

static const char *const state_words[] = {
	[FEATURE_OK] = "ok", [FEATURE_DEGRADED] = "less", [FEATURE_MISSING] = "missing"};
static const char *const state_colors[] = {
	[FEATURE_OK] = "32", [FEATURE_DEGRADED] = "33", [FEATURE_MISSING] = "31"};

static void print_feature(struct out *o, const struct term *t, const struct feature *f, int width)
{
	out_printf(o, t->color ? "\033[%sm%-8s\033[0m" : "%.0s%-8s", state_colors[f->state],
		state_words[f->state]);
	out_printf(o, "%-*s  %s\n", width, f->name, f->detail);
	if (f->follows[0])
		out_printf(o, "%*s  %s\n", 8 + width, "", f->follows);
}

static int run(const struct command *c, int argc, char **argv)
{
	struct feature *list = NULL;
	struct err e = {0}, reason = {0};
	int rest, dashdash, ret, possible, width = 0;
	unsigned nr = 0, i;
	struct term t;
	struct out *o;

	ret = command_parse(c, NULL, argc, argv, &rest, &dashdash);
	if (ret >= 0)
		return ret;
	if (rest < argc)
		return command_usage(c, "it takes no arguments");
	ret = features_probe(&list, &nr);
	if (ret) {
		err_set(&e, ret, "out of memory");
		return command_fail(&e);
	}
	possible = !features_require(&reason);
	ret = out_open(&o, "-", &e);
	if (ret) {
		free(list);
		return command_fail(&e);
	}
	term_probe(&t, 1);
	for (i = 0; i < nr; i++)
		if ((int)strlen(list[i].name) > width)
			width = (int)strlen(list[i].name);
	for (i = 0; i < nr; i++)
		print_feature(o, &t, &list[i], width);
	if (possible) {
		out_str(o, "\nA recording is possible.\n");
	} else {
		out_printf(o, "\nA recording is not possible: %s\n", reason.msg);
		if (reason.hint[0])
			out_printf(o, "hint: %s\n", reason.hint);
	}
	free(list);
	ret = out_close(o, &e);
	if (ret)
		return command_fail(&e);
	return possible ? EXIT_DONE : EXIT_CANNOT;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.summary = "Say what this kernel and these permissions allow, and what follows",
	.usage = "",
	.notes = "Exit status: 0 if a recording is possible, else 3.\n",
	.run = run,
};
