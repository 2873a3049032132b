#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Who may include whom, from two tables (explained in docs/architecture.md). Names each include that
# goes against the direction of data flow, and exits 1.
set -eu
cd "$(dirname "$0")/.."

# A folder, then the folders and headers its files may include besides their own.
table='
user/base
symbolize user/base bpf/frame.h bpf/unwind_step.h
user/capture user/base bpf/frame.h
user/import user/base bpf/frame.h user/capture
user/record user/base user/capture symbolize user/resolve bpf
user/resolve user/base user/capture symbolize bpf/frame.h
user/model user/base user/capture bpf/frame.h
user/view user/base user/model
flamegraph user/base user/model/calltree.h
user/render user/base user/view user/model
user/export user/base user/view user/model
user/page user/base user/view user/model flamegraph
user/cmd user symbolize flamegraph bpf/frame.h
'
# The contract with the kernel: fixed-width types only, so these see nothing but each other.
contract='bpf/frame.h bpf/wire.h bpf/limits.h bpf/unwind_step.h bpf/call_insn.h'
# The beginning of a library header, then the one folder that may see it.
libraries='
bpf/libbpf.h user/record
bpf/bpf.h user/record
bpf/btf.h user/record
profbpf.skel.h user/record
libelf.h symbolize
gelf.h symbolize
elfutils/ symbolize
dwarf.h symbolize
zlib.h user/base
'

sources() { find bpf symbolize flamegraph user -name '*.[ch]' | sort; }

# shellcheck disable=SC2046 # no blanks in our names
awk -v table="$table" -v contract="$contract" -v libraries="$libraries" '
BEGIN {
	n = split(table, line, "\n")
	for (i = 1; i <= n; i++)
		if (split(line[i], w, " ") > 0) {
			known[w[1]] = 1
			may[w[1], w[1]] = 1
			for (j = 2; j in w; j++) may[w[1], w[j]] = 1
			delete w
		}
	n = split(libraries, line, "\n")
	for (i = 1; i <= n; i++)
		if (split(line[i], w, " ") == 2) owner[w[1]] = w[2]
	n = split(contract, w, " ")
	for (i = 1; i <= n; i++) sealed[w[i]] = 1
	for (i = 1; i < ARGC; i++) exists[ARGV[i]] = 1
}
function complain(text) { print FILENAME ":" FNR ": " text; bad = 1 }
FNR == 1 {
	dir = FILENAME
	sub(/\/[^\/]*$/, "", dir)
}
!/^[ \t]*#[ \t]*include[ \t]*[<"]/ { next }
{
	quoted = $0 ~ /include[ \t]*"/
	header = $0
	sub(/^[^<"]*[<"]/, "", header)
	sub(/[>"].*/, "", header)
}
FILENAME in sealed {
	if (!((header in sealed) || (("bpf/" header) in sealed))) complain("the contract with the kernel includes " header)
	next
}
dir == "bpf" { next }
{
	for (l in owner)
		if (index(header, l) == 1 && owner[l] != dir) complain(header " is only for " owner[l])
	if (!quoted || header ~ /\.skel\.h$/ || header ~ /^(flamegraph|user\/page)\/assets\//) next
	if (dir == "user") next # main.c
	if (!(dir in known)) { complain("no layer is called " dir); next }
	path = header ~ /\// ? header : dir "/" header
	if (!(path in exists)) { complain("includes \"" header "\", which does not exist"); next }
	folder = path
	sub(/\/[^\/]*$/, "", folder)
	top = folder
	sub(/\/.*/, "", top)
	if (!((dir, path) in may) && !((dir, folder) in may) && !((dir, top) in may))
		complain(dir " may not include \"" header "\"")
}
END {
	if (!bad) print "layers: ok (" ARGC - 1 " files)"
	exit bad
}' $(sources)
