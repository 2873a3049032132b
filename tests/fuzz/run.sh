#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# run.sh    libFuzzer on each target (T=NAME: one) for TIME seconds, from the committed seeds. New
#           inputs go to a folder under the build folder, never into the tree. A crash is a failure;
#           its input is kept there, to become a seed with the fix.
set -eu
cd "$(dirname "$0")/../.."
build=${FUZZ_O:-build/fuzz}
seconds=${TIME:-60}
passed=0 failed=0
for source in tests/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	name=${name#fuzz_}
	[ -z "${T:-}" ] || [ "$T" = "$name" ] || continue
	for seeds in "tests/fuzz/corpus/$name" "tests/fuzz/seeds/$name" "tests/fuzz/$name"; do
		[ ! -d "$seeds" ] || break
	done
	found=$build/found/$name
	mkdir -p "$found/new"
	if "$build/tests/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
		-print_final_stats=1 -artifact_prefix="$found/" "$found/new" "$seeds" >"$found/log" 2>&1; then
		echo "ok $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$found/log") runs in $seconds s"
		passed=$((passed + 1))
	else
		echo "FAIL $name: see $found"
		tail -n 40 "$found/log"
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
