/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The identity of a binary: its GNU build id note.
 */
#ifndef BINARY_BUILD_ID_H
#define BINARY_BUILD_ID_H

#include "base/cursor.h"
#include "event/event.h"

struct build_id {
	u8 bytes[BUILD_ID_MAX_BYTES];
	u8 length; /* 0: none */
};

/*
 * Reads the build id of an ELF file without reading the whole file (a few preads: program headers,
 * then PT_NOTE). For files of any size, class and byte order.
 * Returns 0, -ENODATA (ELF without a build id), -EBADMSG (not ELF, or damaged), or why reading
 * failed.
 */
int build_id_of_fd(int fd, struct build_id *ret_id);
/* The build id inside the bytes of ELF notes (PT_NOTE contents, /sys/kernel/notes). Pure.
 * `swap`: notes of the other byte order. Returns 0, -ENODATA or -EBADMSG. */
int build_id_in_notes(struct bytes notes, bool swap, struct build_id *ret_id);
/* The same of a whole image in memory. Returns 0, -ENODATA or -EBADMSG. */
int build_id_of_image(struct bytes image, struct build_id *ret_id);
/* The running kernel's, from /sys/kernel/notes. */
int build_id_of_kernel(struct build_id *ret_id);
/* That of a loaded module, from /sys/module. Returns 0 or a negative errno without a sentence. */
int build_id_of_module(const char *name, struct build_id *ret_id);

/* Whether an id is these bytes. */
bool build_id_is(const struct build_id *id, const u8 *bytes, size_t length);

enum { BUILD_ID_TEXT_BYTES = 2 * BUILD_ID_MAX_BYTES + 1 };

/* Lower-case hex of an id. Writes into `text`, returns it. */
const char *build_id_text(const struct build_id *id, char text[static BUILD_ID_TEXT_BYTES]);

#endif
