/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Readable names of C++ and Rust symbols.
 */
#ifndef BINARY_DEMANGLE_H
#define BINARY_DEMANGLE_H

/* The readable name, owned by the caller; NULL if `name` is not mangled, or the readable one longer
 * than 256 KiB. C++ without parameters and
 * return types, as perf's, Rust legacy without its hash. */
char *demangle(const char *name);

#endif
