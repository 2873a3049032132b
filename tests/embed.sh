#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# embed.sh FILE: a C array with the bytes of FILE on stdout, named after its
# path (flamegraph/assets/a.js -> asset_flamegraph_assets_a_js, ..._len).
set -eu
name=asset_$(printf '%s' "$1" | tr -c 'A-Za-z0-9' '_')
printf 'static const unsigned char %s[] = {' "$name"
od -An -v -tu1 "$1" | sed 's/  */,/g;s/^,//;s/$/,/'
printf '0};\nstatic const unsigned int %s_len = sizeof(%s) - 1;\n' "$name" "$name"
