/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names from ELF files, wherever the file that ran can still be had.
 *
 * A file counts only if it has the build id that was recorded, or none was and its inode may be the
 * one that was mapped. Where there is none any more, names
 * are what a cache has kept under that build id.
 */
#include "symbolize/finder.h"

#include "base/file.h"
#include "base/memory.h"
#include "host/host.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGE_FILE_BYTES = 64 << 20 }; /* about where reading takes a noticeable time */

/* What a file that was found is opened for. */
enum search_wanted { WANT_SYMBOLS, WANT_FUNCTIONS, WANT_FUNCTION_INDEX, WANT_SOURCE };

/* The search for one file. */
struct search {
	const struct symbolize_settings *settings;
	struct running_binary binary;
	struct mapped_inode inode;
	struct missing_files *missing; /* NULL: nothing is fetched for it */
	const int *debug_fds;	       /* the debug file is among these … */
	size_t debug_fd_count;
	bool is_given; /* … and not looked for */
	u8 wanted;     /* enum search_wanted */
	/* Of the file that was found; both owned. */
	char *path; /* as recorded, but without " (deleted)" */
	char *root; /* below which it was found: "" or a folder */
	struct build_id id;
	struct bytes image;	      /* with symbols, or with call frame information */
	bool is_owned;		      /* the image is ours to unmap */
	struct source_file source;    /* if that is wanted instead */
	struct function_index *index; /* the same; NULL: the image must do */
	u8 unnamed;		      /* the best reason so far why there is none */
};

static void tell_large(const struct symbolize_settings *settings, const char *path, u64 bytes)
{
	if (bytes >= LARGE_FILE_BYTES && settings->on_large_file)
		settings->on_large_file(path);
}

static int open_source(struct search *search, const struct found_binary *found)
{
	int error = load_map_read(found->fd, &search->source.map);
	int lines_error;

	if (error)
		return error;
	/* Without DWARF it still is the file that was looked for. */
	lines_error = source_lines_open(found->fd, found->root, found->path, &found->id,
					&search->source.lines);
	search->source.is_damaged = lines_error && lines_error != -ENODATA &&
				    lines_error != -ENOTSUP;
	return 0;
}

/* Takes of the file what is wanted. */
static int take_file(struct search *search, const struct found_binary *found)
{
	struct elf_digest digest;
	struct stat status;

	if (search->wanted == WANT_SOURCE)
		return open_source(search, found);
	if (search->wanted == WANT_FUNCTION_INDEX &&
	    !function_index_open(found->fd, &search->index))
		return 0;
	if (search->wanted == WANT_FUNCTIONS || search->wanted == WANT_FUNCTION_INDEX)
		return elf_image_frames(found->fd, &search->image, &digest);
	if (!fstat(found->fd, &status))
		tell_large(search->settings, found->path, (u64)status.st_size);
	return elf_image_read(found->fd, &search->image);
}

static bool accept(void *context, const struct found_binary *found)
{
	struct search *search = context;

	if (take_file(search, found)) {
		search->unnamed = UNNAMED_NOT_ELF;
		return false;
	}
	search->is_owned = true;
	search->id = found->id;
	search->root = must_copy(found->root);
	search->path = must_copy(found->path);
	return true;
}

static void refuse(void *context, int error)
{
	((struct search *)context)->unnamed = error == -ESTALE ? UNNAMED_REPLACED : UNNAMED_NOT_ELF;
}

static bool find_image(struct search *search)
{
	struct binary_search places = {
		.symfs = search->settings->symfs,
		.path = search->binary.path,
		.build_id = search->binary.build_id,
		.build_id_bytes = search->binary.build_id_bytes,
		.inode = search->inode,
		.cache_name = "elf",
		.owner_pid = search->binary.owner_pid,
		.is_open = search->binary.is_open,
		.fd = search->binary.fd,
		.accept = accept,
		.refuse = refuse,
		.context = search,
	};

	return binary_search_run(&places);
}

/* Notes that a debug file would help, if there is somebody to ask for it. */
static void miss_debug_file(const struct search *search)
{
	struct missing_files *missing = search->missing;

	if (!missing || !debug_server_may_have(&search->id))
		return;
	for (size_t i = 0; i < missing->ids.count; i++)
		if (build_id_is(&missing->ids.items[i], search->id.bytes, search->id.length))
			return;
	*vec_add(&missing->ids) = search->id;
}

static int read_debug_file(const struct search *search, struct bytes *ret_debug)
{
	if (search->is_given)
		return debug_file_among(search->debug_fds, search->debug_fd_count, search->image,
					&search->id, ret_debug);
	return debug_file_read(search->root, search->path, search->image, &search->id, ret_debug);
}

/* The symbols of the image that was found, with its debug file or its packed one. Takes the image.
 */
static void load_symbols(struct search *search, struct name_source *source)
{
	CLEANUP(file_unmap) struct bytes debug = {0};
	CLEANUP(freep) u8 *unpacked = NULL;
	struct bytes image = search->image, mini = {0};
	int error;

	if (read_debug_file(search, &debug) && !has_symbol_table(image)) {
		miss_debug_file(search);
		if (!debug_data_unpack(image, &mini))
			unpacked = (u8 *)(uintptr_t)mini.start;
	}
	tell_large(search->settings, search->path, debug.length);
	source->owned = symbols_new();
	if (search->is_owned && !unpacked)
		error = symbols_add_elf_borrowed(source->owned, image, debug);
	else
		error = symbols_add_elf(source->owned, image, unpacked ? mini : debug);
	if (error == -ENODATA && !search->settings->only_symbols) {
		source->is_linkage = true;
		error = symbols_add_linkage(source->owned, image);
	}
	if (search->is_owned) {
		symbols_own(source->owned, &search->image);
		symbols_own(source->owned, &debug);
	}
	if (symbols_count(source->owned)) {
		source->symbols = source->owned;
		source->unnamed = UNNAMED_NOT;
		return;
	}
	source->unnamed = error == -EBADMSG ? UNNAMED_NOT_ELF : UNNAMED_NO_SYMBOLS;
	symbols_free(TAKE(source->owned));
}

/* The search for a binary's file. */
static struct search search_of(const struct finder_context *context,
			       const struct binary_row *binary)
{
	struct mapped_inode inode = {binary->inode, binary->major, binary->minor,
				     binary->inode_generation};

	if (context->settings->is_from_elsewhere)
		inode.inode = 0;
	return (struct search){
		.settings = context->settings,
		.missing = context->missing,
		.inode = inode,
		.binary = {.path = profile_text(context->profile, binary->path),
			   .build_id = binary->build_id,
			   .build_id_bytes = binary->build_id_bytes,
			   .owner_pid = binary->owner_pid},
		.unnamed = UNNAMED_NO_FILE,
	};
}

static void search_release(struct search *search)
{
	file_unmap(&search->image);
	source_file_close(&search->source);
	function_index_free(search->index);
	free(search->root);
	free(search->path);
}

static void load_file(const struct finder_context *context, const struct binary_row *binary,
		      struct name_source *source)
{
	CLEANUP(search_release) struct search search = search_of(context, binary);

	source->is_file = find_image(&search);
	if (source->is_file)
		load_symbols(&search, source);
	else
		source->unnamed = search.unnamed;
}

static void read_functions(struct search *search, struct function_places *functions)
{
	search->wanted = WANT_FUNCTIONS;
	/* What stands before a malformed entry is there. */
	if (find_image(search))
		(void)function_places_read(search->image, functions);
}

void binary_finder_functions(const struct finder_context *context, const struct binary_row *binary,
			     struct functions *ret_functions)
{
	CLEANUP(search_release) struct search search = search_of(context, binary);

	*ret_functions = (struct functions){0};
	if (binary->kind != BINARY_FILE || context->settings->only_kept)
		return;
	search.wanted = WANT_FUNCTION_INDEX;
	if (!find_image(&search))
		return;
	ret_functions->index = TAKE(search.index);
	if (!ret_functions->index)
		(void)function_places_read(search.image, &ret_functions->all);
}

const struct function_place *functions_find(const struct functions *functions, u64 offset,
					    size_t *ret_number)
{
	const struct function_place *place;

	if (functions->index) {
		place = function_index_find(functions->index, offset);
		*ret_number = place ? function_index_number(functions->index, place) : 0;
		return place;
	}
	place = function_places_find(&functions->all, offset);
	*ret_number = place ? (size_t)(place - functions->all.items.items) : 0;
	return place;
}

void functions_release(struct functions *functions)
{
	function_index_free(functions->index);
	vec_release(&functions->all.items);
}

void binary_finder_source(const struct finder_context *context, const struct binary_row *binary,
			  struct source_file *ret_file)
{
	CLEANUP(search_release) struct search search = search_of(context, binary);

	*ret_file = (struct source_file){0};
	search.wanted = WANT_SOURCE;
	if (binary->kind == BINARY_FILE && find_image(&search)) {
		if (!search.source.lines)
			miss_debug_file(&search);
		*ret_file = search.source;
		search.source = (struct source_file){0};
	}
}

void source_file_close(struct source_file *file)
{
	source_lines_close(file->lines);
	load_map_release(&file->map);
	*file = (struct source_file){0};
}

/* Takes our own vDSO, if it has the build id. */
static void take_vdso(struct search *search, struct name_source *source)
{
	struct build_id id = {0};

	search->image = own_vdso();
	if (!search->image.length) {
		source->unnamed = UNNAMED_NO_FILE;
		return;
	}
	if (search->binary.build_id_bytes &&
	    (build_id_of_image(search->image, &id) ||
	     !build_id_is(&id, search->binary.build_id, search->binary.build_id_bytes))) {
		source->unnamed = UNNAMED_REPLACED;
		return;
	}
	source->is_file = true;
	load_symbols(search, source);
}

static void load_vdso(struct search search, struct name_source *source)
{
	char root[] = "", path[] = "[vdso]";

	search.root = root;
	search.path = path;
	take_vdso(&search, source);
}

/* --- caches --- */

/* What a cache has of a binary that is gone. */
static void load_kept(const struct finder_context *context, const struct binary_row *binary,
		      struct name_source *source)
{
	const struct symbolize_settings *settings = context->settings;
	struct kept_names names;
	bool has_symbols;

	if (!names_kept_for(settings, binary, &names))
		return;
	has_symbols = names.symbols && !(names.is_linkage && settings->only_symbols);
	source->owned = TAKE(names.symbols);
	source->symbols = has_symbols ? source->owned : NULL;
	source->functions.all = names.functions;
	source->functions_are_read = true;
	source->unnamed = has_symbols ? UNNAMED_NOT : UNNAMED_NO_SYMBOLS;
}

void binary_finder_load(const struct finder_context *context, const struct binary_row *binary,
			struct name_source *ret_source)
{
	struct name_source source = {0};

	if (binary->kind == BINARY_VDSO)
		load_vdso(search_of(context, binary), &source);
	else if (context->settings->only_kept)
		source.unnamed = UNNAMED_NO_FILE;
	else
		load_file(context, binary, &source);
	if (!source.is_file)
		load_kept(context, binary, &source);
	*ret_source = source;
}

int binary_finder_read(const struct running_binary *binary, struct kept_names *ret_names)
{
	static const struct symbolize_settings settings = {0};
	struct search symbols = {.settings = &settings, .binary = *binary};
	struct search functions = symbols;
	struct name_source source = {0};

	*ret_names = (struct kept_names){.id.length = binary->build_id_bytes};
	memcpy(ret_names->id.bytes, binary->build_id, binary->build_id_bytes);
	if (!strcmp(binary->path, "[vdso]")) {
		load_vdso(symbols, &source);
	} else {
		source.is_file = find_image(&symbols);
		if (source.is_file)
			load_symbols(&symbols, &source);
		search_release(&symbols);
		read_functions(&functions, &ret_names->functions);
		search_release(&functions);
	}
	ret_names->symbols = source.owned;
	ret_names->is_linkage = source.is_linkage;
	return source.is_file ? 0 : -ENOENT;
}

int binary_finder_read_given(const int *fds, size_t fd_count, const struct build_id *id,
			     struct kept_names *ret_names)
{
	static const struct symbolize_settings settings = {0};
	CLEANUP(search_release)
	struct search search = {
		.settings = &settings,
		.path = must_copy(""),
		.debug_fds = fds + 1,
		.debug_fd_count = fd_count - 1,
		.is_given = true,
		.id = *id,
	};
	CLEANUP(file_unmap) struct bytes frames = {0};
	struct name_source source = {0};
	struct elf_digest digest;
	int error = elf_image_read(fds[0], &search.image);

	if (error)
		return error;
	*ret_names = (struct kept_names){.id = *id};
	load_symbols(&search, &source);
	ret_names->symbols = source.owned;
	ret_names->is_linkage = source.is_linkage;
	if (!elf_image_frames(fds[0], &frames, &digest))
		(void)function_places_read(frames, &ret_names->functions);
	return 0;
}
