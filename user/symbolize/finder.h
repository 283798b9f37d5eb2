/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sources of names: what a binary's table is and where it comes from. Private to symbolize/.
 */
#ifndef SYMBOLIZE_FINDER_H
#define SYMBOLIZE_FINDER_H

#include "binary/binary.h"
#include "profile/profile.h"
#include "symbolize/kept_names.h"
#include "symbolize/symbolize.h"
#include "unwind/unwind.h"

/* Functions of one binary: those that are asked for, or all where that is not possible. */
struct functions {
	struct function_index *index; /* NULL: all are … */
	struct function_places all;   /* … here */
};

/* The names of one binary. */
struct name_source {
	const struct symbols *symbols; /* NULL: there are none */
	struct symbols *owned;	       /* the same, if it is this source's to free */
	u64 shift;		       /* from a location's address to the table's, wrapping */
	u8 unnamed;		       /* enum unnamed_reason: why there are none */
	u64 stamp;		       /* of the file that it was read from, 0: never read again */
	/* Where functions lie, for what has no symbol: read when such an address is met. */
	struct functions functions;
	bool functions_are_read;
	bool is_linkage; /* the symbols are entries of the PLT only */
	bool is_file;	 /* read from the file that ran, or from what says the same */
};

/* What finders keep between binaries. */
struct kernel_names;

/* Files whose debug files are not here; empty unless a server could be asked for them. */
struct missing_files {
	VEC(struct build_id) ids;
};

struct finder_context {
	const struct symbolize_settings *settings;
	const struct profile *profile;
	struct kernel_names *kernel;
	struct missing_files *missing;
	struct text *warnings; /* NULL: not wanted */
};

/* Loads the names of an ELF file or of the vDSO. */
void binary_finder_load(const struct finder_context *context, const struct binary_row *binary,
			struct name_source *ret_source);
/* Reads where the functions of the same file lie; none if it cannot be had. functions_release() it.
 */
void binary_finder_functions(const struct finder_context *context, const struct binary_row *binary,
			     struct functions *ret_functions);
/* The function at a file offset, and its number among them; NULL if none is. Borrowed until the
 * next one is asked for. */
const struct function_place *functions_find(const struct functions *functions, u64 offset,
					    size_t *ret_number);
/* Frees; harmless on a zeroed struct. */
void functions_release(struct functions *functions);
/* Reads all that is to be kept of a file or of the vDSO. kept_names_release() it, also after an
 * error. Returns 0 or -ENOENT (no file with that build id), without a sentence. */
int binary_finder_read(const struct running_binary *binary, struct kept_names *ret_names);
/*
 * The same of files that are open.
 *
 * fds  the binary, then files among which its debug file may be
 * id   of the binary
 * Returns 0 or a negative errno (-EBADMSG: not ELF), without a sentence.
 */
int binary_finder_read_given(const int *fds, size_t fd_count, const struct build_id *id,
			     struct kept_names *ret_names);
/* names_cache_keep(), unless at least `known_rows` are kept: a debug file may have come later. */
int names_keep(struct names_cache *cache, const struct running_binary *binary, u64 known_rows);
/* Looks for what is kept of a binary in the caches of the settings, in their order. Returns whether
 * something is; kept_names_release() it. */
bool names_kept_for(const struct symbolize_settings *settings, const struct binary_row *binary,
		    struct kept_names *ret_names);

/* What is known of the sources that a file was made of. */
struct source_file {
	struct source_lines *lines; /* NULL: nothing … */
	bool is_damaged;	    /* … as it could not be read */
	struct load_map map;	    /* to the addresses that they go by */
};

/* Opens what a binary's file, or its debug file, says of sources. source_file_close() it. */
void binary_finder_source(const struct finder_context *context, const struct binary_row *binary,
			  struct source_file *ret_file);
/* Frees; harmless on a zeroed struct. For CLEANUP too. */
void source_file_close(struct source_file *file);
/* Where lines of a kept_places_key() are looked for: the code itself, or the call before it. */
u64 source_file_address(const struct source_file *file, u64 key);
struct kept_places;
/*
 * Looks up the lines of places in files that are open, as source_lines_open_given(). What nothing
 * is known of is left out.
 *
 * keys    count of them, by kept_places_key()
 * places  added to
 * Returns 0, -ENODATA (they have no lines at all), -EXDEV (other files know of some; the rest is
 * added), -EUCLEAN (some of what tells of them is damaged; the rest is added) or why the files
 * could not be read.
 */
int source_places_read(const int *fds, size_t fd_count, const u64 *keys, size_t count,
		       struct kept_places *places);
/* Loads the names that a process wrote down for its JIT code. */
void perf_map_finder_load(const struct finder_context *context, const struct binary_row *binary,
			  struct name_source *ret_source);
/* What `stamp` would be if the perf map were loaded now; 0 if it cannot be. */
u64 perf_map_stamp(const struct finder_context *context, const struct binary_row *binary);
/* What tells one state of an open map from another; not 0. */
u64 perf_map_stamp_of(int fd);
/* Reads what is to be kept of the running kernel, and of its modules by virtual addresses, in one
 * table. symbols_free() it. Returns 0 or -EACCES (kallsyms shows no addresses). */
int kernel_finder_read(struct symbols **ret_symbols, u64 *ret_reference);
/* Loads the names of the kernel or of a module. */
void kernel_finder_load(const struct finder_context *context, const struct binary_row *binary,
			struct name_source *ret_source);

/* Nothing read yet. Free with kernel_names_free(). */
struct kernel_names *kernel_names_new(void);
/* They will be wanted: reads them meanwhile, beside the caller's work. The settings are borrowed
 * until the end. */
void kernel_names_expect(struct kernel_names *names, const struct symbolize_settings *settings);
/* Waits until that is done, if it was begun. */
void kernel_names_settle(struct kernel_names *names);
/* Frees; NULL is fine. */
void kernel_names_free(struct kernel_names *names);

/* Reads the text of a perf map into symbols by virtual address: "start bytes name" a line, the
 * numbers in hex; of two functions at one address the later one. Lines that are none are passed
 * over. Finishes the table. Pure. Returns 0 or -ENODATA. */
int perf_map_read(struct bytes text, struct symbols *symbols);
struct jit_code;
struct kept_names;
/* Reads the names that a map has for the addresses. Returns 0, -ENODATA (it has none), -EFBIG (the
 * map is too large to be one) or why it could not be read; kept_names_release() the names. */
int jit_code_read(const struct jit_code *code, struct kept_names *ret_names);

#endif
