/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The separate debug file of a binary.
 *
 * Places: GDB manual, "Debugging Information in Separate Files" and "MiniDebugInfo";
 * /usr/lib/debug/<path>[.debug] are where perf looks besides (tools/perf/util/dso.c, Linux 6.1).
 */
#include "binary/debug_file.h"

#include "base/file.h"
#include "base/memory.h"
#include "binary/debug_server.h"
#include "binary/elf_file.h"
#include "binary/elf_image.h"
#include "binary/open_below.h"

#include <errno.h>
#include <lzma.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum {
	UNPACKED_MAX_BYTES = 256 << 20,
	UNPACK_MEMORY_MAX_BYTES = 128 << 20,
	PART_BYTES = 1 << 20, /* of a file, read at once */
};

static const char debug_root[] = "/usr/lib/debug";

/* What the binary says of its debug file, and what that is for. */
struct wanted {
	const struct build_id *id;
	u32 checksum;
	bool has_link;
	int (*read)(int fd, struct bytes *ret_image);
	bool (*is_of_use)(struct bytes image);
};

bool has_symbol_table(struct bytes image)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};

	return !elf_file_open(image, &file) && elf_file_section(&file, SHT_SYMTAB, NULL);
}

bool has_source_lines(struct bytes image)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};
	const struct elf_section *info;

	if (elf_file_open(image, &file))
		return false;
	info = elf_file_section(&file, SHT_NULL, ".debug_info");
	if (!info)
		info = elf_file_section(&file, SHT_NULL, ".zdebug_info");
	return info && info->type != SHT_NOBITS;
}

/* Of the whole file, of which an image holds only a part. */
static u32 checksum_of(int fd)
{
	CLEANUP(freep) u8 *part = must_alloc(PART_BYTES);
	uLong checksum = crc32(0, NULL, 0);
	off_t offset = 0;
	ssize_t got;

	while ((got = pread(fd, part, PART_BYTES, offset)) > 0) {
		checksum = crc32(checksum, part, (uInt)got);
		offset += got;
	}
	return (u32)checksum;
}

/* The build id of a file that has no program headers, such as dwz writes. */
static int id_of_sections(struct bytes image, struct build_id *ret_id)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};
	int error = elf_file_open(image, &file);
	struct bytes notes;

	if (error)
		return error;
	notes = elf_file_contents(&file, elf_file_section(&file, SHT_NULL, ".note.gnu.build-id"));
	return build_id_in_notes(notes, file.is_swapped, ret_id);
}

enum supplement { REFERS_TO_COMMON, IS_COMMON };

/*
 * What .debug_sup says: a path, if the file refers to a common one, and what that is known by.
 * Returns the path, NULL if it says nothing. Source: DWARF 5, 7.3.6.
 */
static const char *read_supplement(const struct elf_file *file, enum supplement kind,
				   struct build_id *id)
{
	enum { VERSION = 5 };
	struct bytes contents = elf_file_contents(file,
						  elf_file_section(file, SHT_NULL, ".debug_sup"));
	struct cursor cursor = cursor_of(contents);
	const u8 *bytes;
	const char *name;
	u8 length;

	cursor.swap = file->is_swapped;
	if (cursor_u16(&cursor) != VERSION || cursor_u8(&cursor) != kind)
		return NULL;
	name = (const char *)cursor.next;
	cursor_take(&cursor, strnlen(name, cursor_left(&cursor)) + 1);
	length = cursor_u8(&cursor); /* LEB128: of what is longer the first byte is too large */
	bytes = cursor_take(&cursor, length);
	if (cursor.overrun || !length || length > sizeof(id->bytes))
		return NULL;
	id->length = length;
	memcpy(id->bytes, bytes, length);
	return name;
}

static int id_of_supplement(struct bytes image, struct build_id *ret_id)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};
	int error = elf_file_open(image, &file);

	return error || read_supplement(&file, IS_COMMON, ret_id) ? error : -ENODATA;
}

static bool is_wanted(int fd, struct bytes bytes, const struct wanted *wanted)
{
	struct build_id id;

	if (!wanted->is_of_use(bytes))
		return false;
	if (!wanted->id->length)
		return wanted->has_link && checksum_of(fd) == wanted->checksum;
	if (build_id_of_fd(fd, &id) && id_of_sections(bytes, &id) && id_of_supplement(bytes, &id))
		return false;
	return build_id_is(&id, wanted->id->bytes, wanted->id->length);
}

static int try_below(const char *root, const char *path, const struct wanted *wanted,
		     struct bytes *ret_bytes)
{
	CLEANUP(closep) int fd = -1;
	struct bytes bytes;

	if (open_below(root, path, LINKS_FOLLOWED, &fd) || wanted->read(fd, &bytes))
		return -ENOENT;
	if (!is_wanted(fd, bytes, wanted)) {
		file_unmap(&bytes);
		return -ENOENT;
	}
	*ret_bytes = bytes;
	return 0;
}

/* Tries a path below `root`, then ours; frees it. */
static int try_path(const char *root, char *path, const struct wanted *wanted,
		    struct bytes *ret_bytes)
{
	int error = try_below(root, path, wanted, ret_bytes);

	if (error && root[0])
		error = try_below("", path, wanted, ret_bytes);
	free(path);
	return error;
}

/* The name in .gnu_debuglink and the checksum behind it, padded to 4; NULL if there is none. */
static const char *read_link(const struct elf_file *file, struct wanted *wanted)
{
	struct bytes contents = elf_file_contents(
		file, elf_file_section(file, SHT_NULL, ".gnu_debuglink"));
	struct cursor cursor = cursor_of(contents);
	size_t name_bytes;
	const char *name;

	if (!contents.length)
		return NULL;
	name_bytes = strnlen((const char *)contents.start, contents.length) + 1;
	name = cursor_text(&cursor, (name_bytes + 3) & ~(size_t)3);
	cursor.swap = file->is_swapped;
	wanted->checksum = cursor_u32(&cursor);
	if (cursor.overrun || !name[0] || strchr(name, '/'))
		return NULL;
	wanted->has_link = true;
	return name;
}

/* Offers one place, and frees it; true: that was it. */
static bool offer(const struct debug_places *places, char *path)
{
	bool is_taken = places->take(places->context, path);

	free(path);
	return is_taken;
}

static bool offer_id(const struct debug_places *places)
{
	char text[BUILD_ID_TEXT_BYTES];

	if (places->id->length <= 1)
		return false;
	build_id_text(places->id, text);
	return offer(places, must_format("%s/.build-id/%.2s/%s.debug", debug_root, text, text + 2));
}

static bool offer_link(const struct debug_places *places)
{
	const char *path = places->path, *name = places->link, *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash - path) : 0;

	return name && (offer(places, must_format("%.*s/%s", folder, path, name)) ||
			offer(places, must_format("%.*s/.debug/%s", folder, path, name)) ||
			offer(places, must_format("%s%.*s/%s", debug_root, folder, path, name)));
}

bool debug_file_places(const struct debug_places *places)
{
	return offer_id(places) || offer_link(places) ||
	       offer(places, must_format("%s%s.debug", debug_root, places->path)) ||
	       offer(places, must_format("%s%s", debug_root, places->path));
}

static int try_id(const char *root, const struct wanted *wanted, struct bytes *ret_bytes)
{
	char text[BUILD_ID_TEXT_BYTES];

	if (wanted->id->length <= 1)
		return -ENOENT;
	build_id_text(wanted->id, text);
	return try_path(root, must_format("%s/.build-id/%.2s/%s.debug", debug_root, text, text + 2),
			wanted, ret_bytes);
}

/* What was fetched from a server before; it is ours alone. */
static int try_fetched(const struct wanted *wanted, struct bytes *ret_bytes)
{
	char *path = debug_server_kept(wanted->id);

	return path ? try_path("", path, wanted, ret_bytes) : -ENOENT;
}

/* A search for a file that is wanted, place by place. */
struct attempt {
	const char *root;
	const struct wanted *wanted;
	struct bytes *ret_bytes;
};

static bool try_place(void *context, const char *path)
{
	const struct attempt *attempt = context;

	return !try_path(attempt->root, must_copy(path), attempt->wanted, attempt->ret_bytes);
}

/* `wanted` without what the image says. */
static int read_file(const char *root, const char *path, struct bytes image, struct wanted wanted,
		     struct bytes *ret_bytes)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};
	struct attempt attempt = {root, &wanted, ret_bytes};
	struct debug_places places = {
		.path = path, .id = wanted.id, .take = try_place, .context = &attempt};

	if (elf_file_open(image, &file))
		return -ENOENT;
	places.link = read_link(&file, &wanted);
	return debug_file_places(&places) ? 0 : try_fetched(&wanted, ret_bytes);
}

int debug_file_link(struct bytes image, char ret_name[static DEBUG_LINK_BYTES])
{
	CLEANUP(elf_file_close) struct elf_file file = {0};
	struct wanted wanted = {0};
	const char *name = elf_file_open(image, &file) ? NULL : read_link(&file, &wanted);

	if (!name || strlen(name) >= DEBUG_LINK_BYTES)
		return -ENODATA;
	strcpy(ret_name, name);
	return 0;
}

/* The first of the files that is wanted. */
static int find_among(const int *fds, size_t count, const struct wanted *wanted,
		      struct bytes *ret_bytes)
{
	for (size_t i = 0; i < count; i++) {
		struct bytes bytes;

		if (wanted->read(fds[i], &bytes))
			continue;
		if (is_wanted(fds[i], bytes, wanted)) {
			*ret_bytes = bytes;
			return 0;
		}
		file_unmap(&bytes);
	}
	return -ENOENT;
}

/* `wanted` without what the image says. */
static int debug_among(const int *fds, size_t count, struct bytes image, struct wanted wanted,
		       struct bytes *ret_bytes)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};

	if (elf_file_open(image, &file))
		return -ENOENT;
	(void)read_link(&file, &wanted);
	return find_among(fds, count, &wanted, ret_bytes);
}

int debug_file_among(const int *fds, size_t count, struct bytes image, const struct build_id *id,
		     struct bytes *ret_bytes)
{
	const struct wanted wanted = {
		.id = id, .read = elf_image_read, .is_of_use = has_symbol_table};

	return debug_among(fds, count, image, wanted, ret_bytes);
}

int debug_file_lines_among(const int *fds, size_t count, struct bytes image,
			   const struct build_id *id, struct bytes *ret_bytes)
{
	const struct wanted wanted = {
		.id = id, .read = elf_image_debug, .is_of_use = has_source_lines};

	return debug_among(fds, count, image, wanted, ret_bytes);
}

int debug_file_read(const char *root, const char *path, struct bytes image,
		    const struct build_id *id, struct bytes *ret_bytes)
{
	const struct wanted wanted = {
		.id = id, .read = elf_image_read, .is_of_use = has_symbol_table};

	return read_file(root, path, image, wanted, ret_bytes);
}

int debug_file_read_lines(const char *root, const char *path, struct bytes image,
			  const struct build_id *id, struct bytes *ret_bytes)
{
	const struct wanted wanted = {
		.id = id, .read = elf_image_debug, .is_of_use = has_source_lines};

	return read_file(root, path, image, wanted, ret_bytes);
}

/* What .gnu_debugaltlink says, or .debug_sup: a path, and the build id of what is there. Returns
 * the path, NULL if they say nothing. */
static const char *read_common_link(const struct elf_file *file, struct build_id *id)
{
	struct bytes contents = elf_file_contents(
		file, elf_file_section(file, SHT_NULL, ".gnu_debugaltlink"));
	const char *name = (const char *)contents.start;
	size_t name_bytes = contents.length ? strnlen(name, contents.length) + 1 : 0;

	if (!contents.length)
		return read_supplement(file, REFERS_TO_COMMON, id);
	if (name_bytes < 2 || name_bytes >= contents.length ||
	    contents.length - name_bytes > sizeof(id->bytes))
		return NULL;
	id->length = (u8)(contents.length - name_bytes);
	memcpy(id->bytes, contents.start + name_bytes, id->length);
	return name;
}

int debug_file_read_common(const char *root, const char *path, struct bytes image,
			   struct bytes *ret_bytes)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};
	struct build_id id = {0};
	const struct wanted wanted = {
		.id = &id, .read = elf_image_debug, .is_of_use = has_source_lines};
	const char *name, *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash - path) : 0;
	int error;

	if (elf_file_open(image, &file))
		return -ENOENT;
	name = read_common_link(&file, &id);
	if (!name)
		return -ENOENT;
	error = try_id(root, &wanted, ret_bytes);
	if (error)
		error = try_fetched(&wanted, ret_bytes);
	if (error && name[0] == '/')
		return try_path(root, must_copy(name), &wanted, ret_bytes);
	/* From where the file is that has the link. */
	if (error)
		error = try_path(root, must_format("%.*s/%s", folder, path, name), &wanted,
				 ret_bytes);
	if (error)
		error = try_path(root, must_format("%s%.*s/%s", debug_root, folder, path, name),
				 &wanted, ret_bytes);
	return error;
}

int debug_file_common_among(const int *fds, size_t count, struct bytes image,
			    struct bytes *ret_bytes)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};
	struct build_id id = {0};
	const struct wanted wanted = {
		.id = &id, .read = elf_image_debug, .is_of_use = has_source_lines};

	if (elf_file_open(image, &file) || !read_common_link(&file, &id))
		return -ENODATA;
	return id.length ? find_among(fds, count, &wanted, ret_bytes) : -ENOENT;
}

static void end_stream(lzma_stream *stream)
{
	lzma_end(stream);
}

/* Unpacks what is left of `stream` into a growing buffer. */
static int unpack(lzma_stream *stream, u8 **buffer, size_t *ret_length)
{
	size_t capacity = 1 << 20;
	lzma_ret state = LZMA_OK;

	*buffer = must_resize_array(*buffer, capacity, 1);
	while (state == LZMA_OK) {
		if (stream->total_out == capacity && capacity == UNPACKED_MAX_BYTES)
			return -EFBIG;
		if (stream->total_out == capacity)
			*buffer = must_resize_array(*buffer, capacity *= 2, 1);
		stream->next_out = *buffer + stream->total_out;
		stream->avail_out = capacity - stream->total_out;
		state = lzma_code(stream, LZMA_FINISH);
	}
	*ret_length = stream->total_out;
	return state == LZMA_STREAM_END ? 0 : -EBADMSG;
}

int debug_data_unpack(struct bytes image, struct bytes *ret_bytes)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};
	CLEANUP(end_stream) lzma_stream stream = LZMA_STREAM_INIT;
	CLEANUP(freep) u8 *buffer = NULL;
	struct bytes packed;
	size_t length;
	int error;

	if (elf_file_open(image, &file))
		return -EBADMSG;
	packed = elf_file_contents(&file, elf_file_section(&file, SHT_NULL, ".gnu_debugdata"));
	if (!packed.length)
		return -ENODATA;
	if (lzma_stream_decoder(&stream, UNPACK_MEMORY_MAX_BYTES, 0) != LZMA_OK)
		return -EBADMSG;
	stream.next_in = packed.start;
	stream.avail_in = packed.length;
	error = unpack(&stream, &buffer, &length);
	if (error)
		return error;
	*ret_bytes = (struct bytes){.start = TAKE(buffer), .length = length};
	return 0;
}
