/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Folded stacks: "root;caller;leaf value", one line for each stack that is a
 * leaf of samples, each stack once. What flamegraph.pl, speedscope, inferno and
 * user/import/folded.h read.
 *
 * Values are in the tree's unit: ns of CPU time for a recording, the counts of
 * the text for an import. Names are escaped so that a line is a line and a ';'
 * is a border between frames (\x3b inside a name); reading it back with
 * folded_import gives the same stacks.
 *
 * A frame without a name is "[unknown: reason] module+0x1234". A stack that was
 * cut begins with "[truncated]".
 */
#ifndef PROFBPF_EXPORT_FOLDED_H
#define PROFBPF_EXPORT_FOLDED_H

#include "user/base/out.h"
#include "user/model/calltree.h"

/**
 * Write @t, which was built with names_only (2 if @annotate): then no stack
 * comes twice. @annotate adds _[k] to kernel functions, _[i] to inlined and
 * _[j] to JIT code, for flamegraph.pl's palettes. 0 or -ENOMEM; write errors
 * stay in @o.
 */
int folded_write(struct out *o, const struct calltree *t, int annotate, struct err *e);

#endif
