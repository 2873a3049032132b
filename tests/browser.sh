#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Makes four flame graphs and has browser.js use them in a real browser. PROFBPF is the program.
set -eu
cd "$(dirname "$0")/.."
bin=${PROFBPF:-build/release/profbpf}
for tool in chromium node; do
	command -v $tool >/dev/null || {
		echo "SKIP svg: $tool is not installed"
		exit 0
	}
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
printf 'main;read;parse_record 20\nmain;digest;hash_block 50\nmain;write;compress_block 30\n' >"$tmp/plain.folded"
# ";" parts frames in folded text, so no name here has one.
cat >"$tmp/hostile.folded" <<'END'
main;<script>alert(1)</script> 10
main;"><img src=x onerror=alert(2)> 10
main;</title><svg onload=window.owned=1> 10
main;]]></style></script><script>window.owned=1</script> 10
main;&lt\;b&gt\; 5
main;a' onload='window.owned=1 5
main;javascript:alert(3) 5
END
awk 'BEGIN {
	srand(3)
	for (i = 0; i < 20000; i++) {
		s = "main"
		d = 2 + int(rand() * 12)
		for (j = 0; j < d; j++) s = s ";function_" j "_" int(rand() * rand() * 200)
		print s, 1 + int(rand() * 5)
	}
}' >"$tmp/large.folded"
"$bin" flame "$tmp/plain.folded" -o "$tmp/plain.svg"
"$bin" flame "$tmp/plain.folded" --inverted -o "$tmp/inverted.svg"
"$bin" flame "$tmp/hostile.folded" -o "$tmp/hostile.svg"
"$bin" flame "$tmp/large.folded" -o "$tmp/large.svg"
node tests/browser.js "$tmp/plain.svg" "$tmp/hostile.svg" "$tmp/inverted.svg" "$tmp/large.svg"
