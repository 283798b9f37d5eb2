/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * zstd as one long stream that is cut into blocks: each block can be read as soon as it is there,
 * but only after the ones before it.
 */
#ifndef BASE_COMPRESS_H
#define BASE_COMPRESS_H

#include "base/cursor.h"
#include "base/text.h"

struct compressor;

/* `level` as zstd's, 1 … 22. Free with compressor_free(). */
struct compressor *compressor_new(int level);
/* Before the first block: finds what repeats with tables that stay near to the CPU. For whoever
 * compresses little, and rarely: at level 6 3.5 MiB in place of 5.7 for as many bytes, at level 16
 * 8% fewer bytes in 40% of the time (a window of 420 KB: 16.9 KB in 20 ms; 19 makes 16.1 in 270).
 */
void compressor_stay_small(struct compressor *compressor);
/* Frees; NULL is fine. */
void compressor_free(struct compressor *compressor);

/* What a block can become if it cannot be packed; at least zstd's ZSTD_COMPRESSBOUND. */
#define COMPRESSED_MAX_BYTES(block_bytes) ((block_bytes) + ((block_bytes) >> 8) + 64)

/*
 * Compresses one block and flushes, so that it can be read without what follows.
 *
 * out, capacity  COMPRESSED_MAX_BYTES() of the block do
 * ret_length     bytes written to `out`
 * Returns 0 or -EIO without a sentence (`capacity` did not do, too): the stream is spoilt.
 */
int compressor_block(struct compressor *compressor, struct bytes block, u8 *out, size_t capacity,
		     size_t *ret_length);

struct decompressor;

/* At the start of a stream. Free with decompressor_free(). */
struct decompressor *decompressor_new(void);
/* Frees; NULL is fine. */
void decompressor_free(struct decompressor *decompressor);

/*
 * Decompresses the next piece of the stream.
 *
 * limit       the most bytes it may become: the piece is foreign
 * keep_bytes  room to leave in front of the result, for what the caller puts there
 * ret_bytes   keep_bytes zero bytes and then the result, at most keep_bytes + limit; its start is
 *             owned by the caller, free()
 * Returns 0, -EBADMSG (not zstd, or damaged) or -EFBIG (more than `limit`), without a sentence.
 */
int decompressor_piece(struct decompressor *decompressor, struct bytes piece, size_t limit,
		       size_t keep_bytes, struct bytes *ret_bytes);

/* Packs one block on its own, for block_unpack(). ret_packed: its start is owned by the caller,
 * free(). Returns 0 or -EIO without a sentence. */
int block_pack(int level, struct bytes block, struct bytes *ret_packed);
/* Unpacks what is foreign into exactly `length` bytes, which the caller has bounded; their start is
 * owned by the caller, free(). Returns 0 or -EBADMSG without a sentence. */
int block_unpack(struct bytes packed, size_t length, struct bytes *ret_block);

/* A whole gzip file of these bytes, behind `out`. Returns 0 or -EIO without a sentence. */
int gzip_pack(struct bytes bytes, struct text *out);

#endif
