/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The separate debug file of a binary: build-id directories, .gnu_debuglink, .gnu_debugdata.
 */
#ifndef BINARY_DEBUG_FILE_H
#define BINARY_DEBUG_FILE_H

#include "base/cursor.h"
#include "binary/build_id.h"

#include <stdbool.h>

/*
 * Finds it and reads its image: /usr/lib/debug/.build-id/xx/yyyy.debug, then the debuglink in the
 * binary's folder, its .debug/ and /usr/lib/debug/<folder>, then /usr/lib/debug/<path>[.debug],
 * each below `root` ("" or "/proc/PID/root") and then without it, then what was fetched from a
 * server before (debug_server.h). A file counts only if it has symbols and the binary's build id;
 * if the binary has no id, the debuglink's checksum decides.
 *
 * path       of the binary, as its process saw it
 * id         of the binary; length 0: it has none
 * ret_bytes  file_unmap() it
 * Returns 0 or -ENOENT, without a sentence.
 */
int debug_file_read(const char *root, const char *path, struct bytes image,
		    const struct build_id *id, struct bytes *ret_bytes);

/* Where it may be. */
struct debug_places {
	const char *path; /* of the binary */
	const struct build_id *id;
	const char *link; /* as of debug_file_link(); NULL: there is none */
	/* Hears of one place, as a path below the binary's root or ours. True: that was it. */
	bool (*take)(void *context, const char *path);
	void *context;
};

/* Tells of each place in the order of debug_file_read(), until one is taken. Returns whether one
 * was. */
bool debug_file_places(const struct debug_places *places);

enum { DEBUG_LINK_BYTES = 256 };

/* The name in .gnu_debuglink. Returns 0 or -ENODATA (none, or with a slash in it). */
int debug_file_link(struct bytes image, char ret_name[static DEBUG_LINK_BYTES]);

/* As debug_file_read(), of files that are open. */
int debug_file_among(const int *fds, size_t count, struct bytes image, const struct build_id *id,
		     struct bytes *ret_bytes);

/* The same as debug_file_read() for the sections that hold source lines, elf_image_debug(): a file
 * counts if it has those. */
int debug_file_read_lines(const char *root, const char *path, struct bytes image,
			  const struct build_id *id, struct bytes *ret_bytes);

/* As debug_file_read_lines(), of files that are open. */
int debug_file_lines_among(const int *fds, size_t count, struct bytes image,
			   const struct build_id *id, struct bytes *ret_bytes);

/* What dwz moved out of several debug files, as .gnu_debugaltlink of one of them names it: by build
 * id, or by its path from the folder of `path` or that below /usr/lib/debug. Returns 0 or -ENOENT.
 */
int debug_file_read_common(const char *root, const char *path, struct bytes image,
			   struct bytes *ret_bytes);

/* The same of files that are open. Returns 0, -ENODATA (nothing was moved out) or -ENOENT. */
int debug_file_common_among(const int *fds, size_t count, struct bytes image,
			    struct bytes *ret_bytes);

/* The unpacked .gnu_debugdata (xz) of an image: an ELF file in memory, owned by the caller, free()
 * its start. At most 256 MiB. Returns 0, -ENODATA (there is none), -EBADMSG or -EFBIG. */
int debug_data_unpack(struct bytes image, struct bytes *ret_bytes);

/* Whether an image has DWARF of its own. */
bool has_source_lines(struct bytes image);
/* Whether an image has a .symtab of its own. */
bool has_symbol_table(struct bytes image);

#endif
