/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * zstd streams on top of libzstd.
 */
#include "base/compress.h"

#include "base/memory.h"

#include <errno.h>
#include <zlib.h>
#include <zstd.h>

struct compressor {
	ZSTD_CStream *stream;
	int level;
};

static void *must_have(void *stream)
{
	if (!stream)
		must_alloc(SIZE_MAX); /* says that there is no memory, and ends */
	return stream;
}

struct compressor *compressor_new(int level)
{
	struct compressor *compressor = must_alloc(sizeof(*compressor));

	compressor->stream = must_have(ZSTD_createCStream());
	compressor->level = level;
	ZSTD_CCtx_setParameter(compressor->stream, ZSTD_c_compressionLevel, level);
	if (level == 1) {
		/* Half of what a recorder does in user space is this: as small, in a tenth less
		 * time. Chains repeat addresses, shorter ones than level 1 looks for (7 bytes), and
		 * what repeats nothing is hardly worth a code of its own. */
		ZSTD_CCtx_setParameter(compressor->stream, ZSTD_c_minMatch, 6);
		ZSTD_CCtx_setParameter(compressor->stream, ZSTD_c_targetLength, 1);
	}
	return compressor;
}

void compressor_stay_small(struct compressor *compressor)
{
	enum { HASH_LOG = 17, CHAIN_LOG = 16 };
	/* Of the levels that weigh what each choice costs: records repeat whole stacks, mostly
	 * those right before them, so long matches are worth weighing, and a short search finds
	 * them. */
	enum { WEIGHING = 16, SEARCH_LOG = 1, LEAST_MATCH = 6, WEIGHED = 256, WINDOW_LOG = 20 };

	ZSTD_CCtx_setParameter(compressor->stream, ZSTD_c_hashLog, HASH_LOG);
	ZSTD_CCtx_setParameter(compressor->stream, ZSTD_c_chainLog, CHAIN_LOG);
	if (compressor->level < WEIGHING)
		return;
	ZSTD_CCtx_setParameter(compressor->stream, ZSTD_c_searchLog, SEARCH_LOG);
	ZSTD_CCtx_setParameter(compressor->stream, ZSTD_c_minMatch, LEAST_MATCH);
	ZSTD_CCtx_setParameter(compressor->stream, ZSTD_c_targetLength, WEIGHED);
	ZSTD_CCtx_setParameter(compressor->stream, ZSTD_c_windowLog, WINDOW_LOG);
}

void compressor_free(struct compressor *compressor)
{
	if (!compressor)
		return;
	ZSTD_freeCStream(compressor->stream);
	free(compressor);
}

int compressor_block(struct compressor *compressor, struct bytes block, u8 *out, size_t capacity,
		     size_t *ret_length)
{
	ZSTD_inBuffer input = {.src = block.start, .size = block.length};
	ZSTD_outBuffer output = {.dst = out, .size = capacity};
	size_t left;

	do {
		size_t before = output.pos + input.pos;

		left = ZSTD_compressStream2(compressor->stream, &output, &input, ZSTD_e_flush);
		if (ZSTD_isError(left) || (left && output.pos + input.pos == before))
			return -EIO;
	} while (left);
	*ret_length = output.pos;
	return 0;
}

struct decompressor {
	ZSTD_DStream *stream;
};

struct decompressor *decompressor_new(void)
{
	struct decompressor *decompressor = must_alloc(sizeof(*decompressor));

	decompressor->stream = must_have(ZSTD_createDStream());
	/* the window a frame may ask for: what level 22 uses, not the 2 GiB of a hostile header */
	ZSTD_DCtx_setParameter(decompressor->stream, ZSTD_d_windowLogMax, 27);
	return decompressor;
}

void decompressor_free(struct decompressor *decompressor)
{
	if (!decompressor)
		return;
	ZSTD_freeDStream(decompressor->stream);
	free(decompressor);
}

int decompressor_piece(struct decompressor *decompressor, struct bytes piece, size_t limit,
		       size_t keep_bytes, struct bytes *ret_bytes)
{
	ZSTD_inBuffer input = {.src = piece.start, .size = piece.length};
	size_t capacity = piece.length * 4 + 4096;
	CLEANUP(freep) u8 *out = NULL;
	ZSTD_outBuffer output = {.pos = keep_bytes};

	for (;;) {
		size_t left;

		if (capacity > limit)
			capacity = limit;
		out = must_resize_array(out, keep_bytes + capacity, 1);
		output.dst = out;
		output.size = keep_bytes + capacity;
		left = ZSTD_decompressStream(decompressor->stream, &output, &input);
		if (ZSTD_isError(left))
			return -EBADMSG;
		if (output.pos < output.size && input.pos == input.size)
			break; /* room was left: nothing more is in there */
		if (output.pos < output.size)
			continue;
		if (capacity == limit)
			return -EFBIG;
		capacity *= 2;
	}
	memset(out, 0, keep_bytes);
	*ret_bytes = (struct bytes){.length = output.pos};
	ret_bytes->start = TAKE(out);
	return 0;
}

int block_pack(int level, struct bytes block, struct bytes *ret_packed)
{
	size_t capacity = ZSTD_compressBound(block.length), length;
	CLEANUP(freep) u8 *packed = must_alloc(capacity);

	length = ZSTD_compress(packed, capacity, block.start, block.length, level);
	if (ZSTD_isError(length))
		return -EIO;
	ret_packed->length = length;
	ret_packed->start = must_resize_array(TAKE(packed), length, 1);
	return 0;
}

int block_unpack(struct bytes packed, size_t length, struct bytes *ret_block)
{
	CLEANUP(freep) u8 *block = must_alloc(length);

	if (ZSTD_decompress(block, length, packed.start, packed.length) != length)
		return -EBADMSG;
	ret_block->length = length;
	ret_block->start = TAKE(block);
	return 0;
}

int gzip_pack(struct bytes bytes, struct text *out)
{
	enum { WINDOW_BITS = 15, AS_GZIP = 16, MEMORY_LEVEL = 8, PIECE = 1 << 16 };
	z_stream stream = {0};
	u8 piece[PIECE];
	size_t fed = 0;
	int result = Z_OK;

	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_BITS + AS_GZIP,
			 MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return -EIO;
	while (result == Z_OK) {
		/* zlib counts in 32 bits */
		size_t more = bytes.length - fed < PIECE ? bytes.length - fed : PIECE;

		if (!stream.avail_in) {
			stream.next_in = (u8 *)bytes.start + fed;
			stream.avail_in = (uInt)more;
			fed += more;
		}
		stream.next_out = piece;
		stream.avail_out = PIECE;
		result = deflate(&stream, fed == bytes.length ? Z_FINISH : Z_NO_FLUSH);
		text_append_bytes(out, piece, PIECE - stream.avail_out);
	}
	deflateEnd(&stream);
	return result == Z_STREAM_END ? 0 : -EIO;
}
