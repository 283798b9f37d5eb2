/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's types (BTF), cut down to those that our BPF programs read.
 */
#ifndef CAPTURE_KERNEL_TYPES_H
#define CAPTURE_KERNEL_TYPES_H

#include "base/cursor.h"
#include "base/intern.h"
#include "base/text.h"

struct btf;

/*
 * Keeps the types that bear one of `names`, and all that is part of them; what they only point to
 * becomes void. Sizes, offsets and values stay as they are, ids do not.
 *
 * full     BTF of this machine's byte order, aligned to 4 bytes
 * ret_cut  BTF again; for the caller to release, also after an error
 * Returns 0, -EBADMSG if it is damaged, or -ENOTSUP if it holds a kind of type that we do not know.
 */
int kernel_types_cut(struct bytes full, const struct intern *names, struct text *ret_cut);

/* Writes the types of the running kernel that `programs` name. Returns 0 or a negative errno
 * without a sentence. */
int kernel_types_write(const struct btf *programs, int fd);

#endif
