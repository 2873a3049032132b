/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * C++ (Itanium ABI) and Rust (legacy and v0) names to text. demangle() itself
 * is declared in symbolize.h; here are its bounds.
 */
#ifndef PROFBPF_SYMBOLIZE_DEMANGLE_H
#define PROFBPF_SYMBOLIZE_DEMANGLE_H

/* Longer names are shown as they are. The library gives up at 1,024 already
 * (its guard of the stack), except for legacy Rust names. Of 80,000 names in
 * libstdc++, libLLVM and libclang-cpp none is longer than 1,024. */
#define DEMANGLE_INPUT_MAX 2048

#endif
