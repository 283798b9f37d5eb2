/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What naming needs of a binary, to be kept for when the binary is gone. Pure. Private to
 * symbolize/.
 */
#ifndef SYMBOLIZE_KEPT_NAMES_H
#define SYMBOLIZE_KEPT_NAMES_H

#include "binary/binary.h"
#include "symbolize/kept_file.h"
#include "unwind/unwind.h"

struct kept_names {
	struct build_id id;
	struct symbols *symbols; /* finished; NULL: there are none */
	struct function_places functions;
	u64 reference;	 /* of a kernel: the address of its reference symbol among `symbols` */
	bool is_linkage; /* `symbols` are entries of the PLT only */
};

/* Frees; harmless on a zeroed struct. For CLEANUP too. */
void kept_names_release(struct kept_names *names);

/* How many rows there are to keep: symbols and functions. */
u64 kept_names_rows(const struct kept_names *names);
/* Appends the block of a file of KEPT_NAMES. */
void kept_names_put(const struct kept_names *names, struct text *block);
/* Reads it back: symbols_find() and function_places_find() then answer as they did before.
 * kept_names_release() them. Returns 0 or -EBADMSG, without a sentence. */
int kept_names_take(struct bytes block, struct kept_names *ret_names);

#endif
