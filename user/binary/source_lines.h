/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Source lines and inlined functions of one ELF file, from its DWARF.
 *
 * Names: an inlined frame carries the name that the linker would know it by, where DWARF has one
 * (DW_AT_linkage_name, else DW_AT_name), as it stands there; demangling is the caller's. The
 * outermost frame, the function whose code it is, carries none: the symbol table has its name. If
 * that has several at one address, take a global one before a weak before a local one, and among
 * equals that with the fewest leading underscores.
 *
 * Files: the path as the compiler wrote it, joined to its folder and the folder it was compiled in.
 *
 * Relocatable files (kernel modules) are not read: their addresses mean nothing before relocation.
 *
 * Bounds, whatever the file says: 4 GiB of DWARF, unpacked to 256 times a section's size at most;
 * of a unit 512 levels of DIEs, steps in proportion to its bytes, and line programs up to 16 MiB.
 */
#ifndef BINARY_SOURCE_LINES_H
#define BINARY_SOURCE_LINES_H

#include "base/cursor.h"
#include "binary/build_id.h"

#include <stdbool.h>
#include <stddef.h>

struct source_frame {
	const char *function; /* NULL: the symbol's name stays; always for the outermost frame */
	const char *file;     /* NULL: unknown */
	u32 line, column;     /* 0: unknown */
	bool is_inlined;
};

struct source_lines;

/*
 * Finds and opens the DWARF of an ELF file: its own, or that of its separate debug file (the places
 * of debug_file_read()), with the file that dwz moved common parts to; split units out of path.dwp,
 * or the .dwo files that it names or that are beside it. Which code is in which unit is read, the
 * units themselves when they are asked for.
 *
 * fd    of the ELF file; stays the caller's
 * root  where files beside it are looked for: "" or a folder such as "/proc/PID/root"
 * path  of the ELF file, as its process saw it
 * id    its build id; length 0: it has none
 * Returns 0, -ENODATA (no DWARF), -EFBIG (more than 4 GiB of it), -ENOTSUP (relocatable),
 * -EBADMSG (malformed) or why reading failed; without a sentence.
 */
int source_lines_open(int fd, const char *root, const char *path, const struct build_id *id,
		      struct source_lines **ret_lines);
/* The same of images in memory, which must outlive it; `alternate` (length 0: none) is dwz's file.
 * No other file is opened, so split units are not found. */
int source_lines_of_images(struct bytes image, struct bytes alternate,
			   struct source_lines **ret_lines);
/*
 * The same of files that are open, and of nothing that other files have a part of: what is found is
 * what source_lines_open() would find.
 *
 * fds  the ELF file, then those among which its debug file may be; they must outlive the result
 * Returns as source_lines_open(), or -EXDEV (dwz moved a part to a file that is not among them).
 */
int source_lines_open_given(const int *fds, size_t fd_count, const struct build_id *id,
			    struct source_lines **ret_lines);
/* Whether addresses were asked for of which nothing was told, as a split unit is elsewhere. */
bool source_lines_has_left_out(const struct source_lines *lines);
/* Whether addresses were asked for of which not all may be told, as what should tell of them is
 * damaged. */
bool source_lines_is_damaged(const struct source_lines *lines);
/* Closes; NULL is fine. */
void source_lines_close(struct source_lines *lines);
/* For CLEANUP. */
void source_lines_closep(struct source_lines **lines);

/*
 * The frames at an address, innermost first. For more than a few addresses take
 * source_lines_find_all(): this one goes through the whole unit each time.
 *
 * address  virtual, as the ELF file has it
 * frames   room for `room`; of a longer chain the innermost are written
 * Returns how many were written, 0 if DWARF says nothing of the address. Strings are borrowed until
 * source_lines_close().
 */
u32 source_lines_find(struct source_lines *lines, u64 address, struct source_frame *frames,
		      u32 room);

/* The frames of addresses[i] are frames[starts[i]] up to frames[starts[i + 1]], exclusive. */
struct source_chains {
	struct source_frame *frames;
	u32 *starts;
};

/*
 * The frames at many addresses, in any order, on several threads. Memory beyond the answer: what
 * one unit needs a thread, and some 50 MiB a thread of rows that libdw keeps.
 *
 * threads     0: as many as this process may use CPUs
 * ret_chains  source_chains_release() it; strings are borrowed until source_lines_close()
 */
void source_lines_find_all(struct source_lines *lines, const u64 *addresses, size_t count,
			   u32 threads, struct source_chains *ret_chains);
/* Frees; harmless on a zeroed struct. For CLEANUP too. */
void source_chains_release(struct source_chains *chains);

#endif
