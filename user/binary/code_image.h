/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What one needs of an x86-64 ELF file to reason about its code: the bytes, who is named, and which
 * words the dynamic linker fills in. Addresses are virtual, as linked. Of its text that is read
 * which is asked for.
 */
#ifndef BINARY_CODE_IMAGE_H
#define BINARY_CODE_IMAGE_H

#include "base/cursor.h"
#include "base/vec.h"
#include "binary/build_id.h"

struct code_segment {
	u64 address, offset, bytes; /* bytes: those in the file */
	bool is_executable;
};

struct code_symbol {
	u64 address, bytes; /* bytes 0: unknown */
	const char *name;   /* borrowed from the image */
	bool is_exported;   /* in .dynsym: other files can name it */
	bool is_resolver;   /* STT_GNU_IFUNC: who is meant is decided when the program runs */
};

/* A word that the dynamic linker fills in. */
struct code_slot {
	u64 address;
	u64 target;	  /* in this file; 0: elsewhere */
	const char *name; /* whose address it will be; NULL: nobody's name */
	bool is_resolver; /* `target` is asked who is meant */
};

/* A table of jumps through slots (.plt and its like), by section. */
struct code_stubs {
	u64 address, bytes;
	u64 stub_bytes;
};

/* What a program has there for itself: constants, variables. */
struct code_data {
	u64 address, offset, bytes;
};

struct file_pieces;

struct code_image {
	struct bytes
		tables; /* headers, symbols, relocations; as long as the file, the rest zeros */
	struct bytes frames;	  /* the same with call frame information instead */
	struct file_pieces *text; /* see code_image_text() */
	u64 entry;		  /* of a program, and of the dynamic linker; 0: none */
	struct build_id id;	  /* of a file; length 0: it has none, or these are bytes */
	/* Of which file it was and when it was changed last; 0: of none, or just now, so that it
	 * may change again without showing. */
	u64 state;
	VEC(struct code_segment) segments;
	VEC(struct code_symbol) symbols; /* functions that are defined here */
	VEC(struct code_slot) slots;	 /* ascending */
	VEC(struct code_stubs) stubs;
	VEC(struct code_data) data;
	VEC(u64) objects;      /* where variables begin that other files can name */
	bool has_packed_words; /* of SHT_RELR: addresses stand in the data, and are no slots */
	bool is_partial;       /* code is pointed at by what is not listed here */
};

/*
 * Reads an open file, which stays the caller's.
 *
 * ret_image  code_image_release() it
 * Returns 0, -ENOTSUP (not 64-bit x86), -EFBIG (more than 16 GiB), -EBADMSG (not ELF, or malformed)
 * or why reading failed; without a sentence.
 */
int code_image_read(int file, struct code_image *ret_image);
/* The same of bytes in memory, which are taken over after success: file_unmap() frees them.
 * Returns 0, -ENOTSUP or -EBADMSG. */
int code_image_take(struct bytes bytes, struct code_image *ret_image);
/* Frees; harmless on a zeroed struct. For CLEANUP too. */
void code_image_release(struct code_image *image);

/* The bytes from a linked address on, at most so many of what is executable there; length 0 if it
 * is not. Borrowed. */
struct bytes code_image_text(const struct code_image *image, u64 address, u64 most);
/* How many bytes of the file are executable from a linked address on. */
u64 code_image_text_left(const struct code_image *image, u64 address);
/* Copies bytes at a file offset; what there is not is zeros. Threads may do this at the same time.
 */
void code_image_copy(const struct code_image *image, u64 offset, void *to, size_t bytes);
/* The executable segment that a file offset is loaded by, NULL if there is none. */
const struct code_segment *code_image_segment(const struct code_image *image, u64 offset);
/* The file offset of a linked address, ~0 if it is not loaded. */
u64 code_image_offset(const struct code_image *image, u64 address);
/* What the dynamic linker puts at a linked address, NULL if nothing. */
const struct code_slot *code_image_slot(const struct code_image *image, u64 address);

#endif
