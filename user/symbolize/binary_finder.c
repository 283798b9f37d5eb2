/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names from ELF files, wherever the file that ran can still be had.
 *
 * A file counts only if it has the build id that was recorded.
 */
#include "symbolize/finder.h"

#include "base/file.h"
#include "base/memory.h"
#include "host/host.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MAPS_MAX_BYTES = 64 << 20,
	VDSO_MAX_BYTES = 64 << 10,
	LARGE_FILE_BYTES = 64 << 20, /* about where reading takes a noticeable time */
};

/* What a file that was found is opened for. */
enum search_wanted { WANT_SYMBOLS, WANT_FUNCTIONS, WANT_SOURCE };

/* The search for one file. */
struct search {
	const struct symbolize_settings *settings;
	const struct binary_row *binary;
	struct missing_files *missing; /* NULL: nothing is fetched for it */
	const char *recorded;	       /* its path */
	u8 wanted;		       /* enum search_wanted */
	/* Of the file that was found; both owned. */
	char *path; /* as recorded, but without " (deleted)" */
	char *root; /* below which it was found: "" or a folder */
	struct build_id id;
	struct bytes image;	   /* with symbols, or with call frame information */
	struct source_file source; /* if that is wanted instead */
	u8 unnamed;		   /* the best reason so far why there is none */
};

static void tell_large(const struct symbolize_settings *settings, const char *path, u64 bytes)
{
	if (bytes >= LARGE_FILE_BYTES && settings->on_large_file)
		settings->on_large_file(path);
}

static int open_source(struct search *search, const struct found_binary *found)
{
	int error = load_map_read(found->fd, &search->source.map);

	/* Without DWARF it still is the file that was looked for. */
	if (!error)
		(void)source_lines_open(found->fd, found->root, found->path, &found->id,
					&search->source.lines);
	return error;
}

/* Takes of the file what is wanted. */
static int take_file(struct search *search, const struct found_binary *found)
{
	struct elf_digest digest;
	struct stat status;

	if (search->wanted == WANT_SOURCE)
		return open_source(search, found);
	if (search->wanted == WANT_FUNCTIONS)
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
	const struct binary_row *binary = search->binary;
	struct binary_search places = {
		.symfs = search->settings->symfs,
		.path = search->recorded,
		.build_id = binary->build_id,
		.build_id_bytes = binary->build_id_bytes,
		.cache_name = "elf",
		.owner_pid = binary->owner_pid,
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

/* The symbols of the image that was found, with its debug file or its packed one. */
static void load_symbols(const struct search *search, struct name_source *source)
{
	CLEANUP(file_unmap) struct bytes debug = {0};
	CLEANUP(freep) u8 *unpacked = NULL;
	struct bytes image = search->image, mini = {0};
	int error;

	if (debug_file_read(search->root, search->path, image, &search->id, &debug) &&
	    !has_symbol_table(image)) {
		miss_debug_file(search);
		if (!debug_data_unpack(image, &mini))
			unpacked = (u8 *)(uintptr_t)mini.start;
	}
	tell_large(search->settings, search->path, debug.length);
	source->owned = symbols_new();
	error = symbols_add_elf(source->owned, image, unpacked ? mini : debug);
	if (error == -ENODATA && !search->settings->only_symbols)
		error = symbols_add_linkage(source->owned, image);
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
	return (struct search){
		.settings = context->settings,
		.missing = context->missing,
		.binary = binary,
		.recorded = profile_text(context->profile, binary->path),
		.unnamed = UNNAMED_NO_FILE,
	};
}

static void search_release(struct search *search)
{
	file_unmap(&search->image);
	source_file_close(&search->source);
	free(search->root);
	free(search->path);
}

static void load_file(const struct finder_context *context, const struct binary_row *binary,
		      struct name_source *source)
{
	CLEANUP(search_release) struct search search = search_of(context, binary);

	if (find_image(&search))
		load_symbols(&search, source);
	else
		source->unnamed = search.unnamed;
}

void binary_finder_functions(const struct finder_context *context, const struct binary_row *binary,
			     struct function_places *ret_functions)
{
	CLEANUP(search_release) struct search search = search_of(context, binary);

	*ret_functions = (struct function_places){0};
	search.wanted = WANT_FUNCTIONS;
	/* What stands before a malformed entry is there. */
	if (binary->kind == BINARY_FILE && find_image(&search))
		(void)function_places_read(search.image, ret_functions);
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

/* Our own, as long as its mapping. */
static struct bytes own_vdso(void)
{
	const u8 *start = (const u8 *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	CLEANUP(freep) char *maps = NULL;
	char path[MAPS_PATH_BYTES];
	struct bytes text;
	struct mapping mapping;

	if (!start || file_read("/proc/self/maps", MAPS_MAX_BYTES, &maps, &text.length))
		return (struct bytes){0};
	text.start = (const u8 *)maps;
	while (proc_maps_next(&text, 0, path, &mapping) == 1) {
		if (mapping.start == (u64)(uintptr_t)start && mapping.bytes <= VDSO_MAX_BYTES)
			return (struct bytes){start, mapping.bytes};
	}
	return (struct bytes){0};
}

/* The kernel gives all processes of one kind the same image; ours is at hand. */
static void load_vdso(const struct finder_context *context, const struct binary_row *binary,
		      struct name_source *source)
{
	char root[] = "", path[] = "[vdso]";
	struct search search = {
		.settings = context->settings, .path = path, .root = root, .image = own_vdso()};
	struct build_id id = {0};

	if (!search.image.length) {
		source->unnamed = UNNAMED_NO_FILE;
		return;
	}
	if (binary->build_id_bytes &&
	    (build_id_of_image(search.image, &id) ||
	     !build_id_is(&id, binary->build_id, binary->build_id_bytes))) {
		source->unnamed = UNNAMED_REPLACED;
		return;
	}
	load_symbols(&search, source);
}

void binary_finder_load(const struct finder_context *context, const struct binary_row *binary,
			struct name_source *ret_source)
{
	struct name_source source = {0};

	if (binary->kind == BINARY_VDSO)
		load_vdso(context, binary, &source);
	else
		load_file(context, binary, &source);
	*ret_source = source;
}
