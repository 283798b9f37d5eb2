/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names from ELF files, wherever the file that ran can still be had.
 *
 * In this order: below --symfs; as its process sees it, while that lives and has other files than
 * we do; at its path; the very file that a living process maps, though it was deleted or replaced;
 * in perf's cache of binaries. A file counts only if it has the build id that was recorded.
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

static const char deleted[] = " (deleted)";

/* What a file that was found is opened for. */
enum search_wanted { WANT_SYMBOLS, WANT_FUNCTIONS, WANT_SOURCE };

/* The search for one file. */
struct search {
	const struct symbolize_settings *settings;
	const struct binary_row *binary;
	char *path;	 /* as recorded, but without " (deleted)"; owned */
	bool is_deleted; /* it had that */
	u8 wanted;	 /* enum search_wanted */
	char *root;	 /* where the file was found: "" or a folder; owned */
	struct build_id id;
	struct bytes image;	   /* with symbols, or with call frame information */
	struct source_file source; /* if that is wanted instead */
	u8 unnamed;		   /* the best reason so far why there is none */
};

static bool has_recorded_id(const struct search *search)
{
	return search->binary->build_id_bytes > 0;
}

static void tell_large(const struct symbolize_settings *settings, const char *path, u64 bytes)
{
	if (bytes >= LARGE_FILE_BYTES && settings->on_large_file)
		settings->on_large_file(path);
}

static int open_source(struct search *search, int fd, const char *root)
{
	int error = load_map_read(fd, &search->source.map);

	/* Without DWARF it still is the file that was looked for. */
	if (!error)
		(void)source_lines_open(fd, root, search->path, &search->id, &search->source.lines);
	return error;
}

/* Takes of the file what is wanted. */
static int take_file(struct search *search, int fd, const char *root)
{
	struct elf_digest digest;
	struct stat status;

	if (search->wanted == WANT_SOURCE)
		return open_source(search, fd, root);
	if (search->wanted == WANT_FUNCTIONS)
		return elf_image_frames(fd, &search->image, &digest);
	if (!fstat(fd, &status))
		tell_large(search->settings, search->path, (u64)status.st_size);
	return elf_image_read(fd, &search->image);
}

/* Takes the file if it is the one that ran. */
static bool accept(struct search *search, int fd, const char *root)
{
	const struct binary_row *binary = search->binary;
	struct build_id id = {0};
	int error = build_id_of_fd(fd, &id);

	if (error && error != -ENODATA) {
		search->unnamed = UNNAMED_NOT_ELF;
		return false;
	}
	if (has_recorded_id(search) &&
	    !build_id_is(&id, binary->build_id, binary->build_id_bytes)) {
		search->unnamed = UNNAMED_REPLACED;
		return false;
	}
	search->id = id;
	if (take_file(search, fd, root)) {
		search->unnamed = UNNAMED_NOT_ELF;
		return false;
	}
	search->root = must_copy(root);
	return true;
}

static bool try_path(struct search *search, const char *root, const char *path)
{
	CLEANUP(closep) int fd = -1;

	return !open_below(root, path, LINKS_FOLLOWED, &fd) && accept(search, fd, root);
}

/* Whether two links of /proc lead to the same thing. */
static bool is_same(const char *a, const char *b)
{
	struct stat first, second;

	return !stat(a, &first) && !stat(b, &second) && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino;
}

static bool has_other_files(u32 pid)
{
	CLEANUP(freep) char *root = must_format("/proc/%u/root", pid);
	CLEANUP(freep) char *mounts = must_format("/proc/%u/ns/mnt", pid);

	return access(root, F_OK) == 0 &&
	       !(is_same(root, "/") && is_same(mounts, "/proc/self/ns/mnt"));
}

/* "path" and "path (deleted)" are the same file before and after somebody replaced it. */
static bool is_mapping_of(const struct search *search, const char *mapped)
{
	size_t length = strlen(search->path);

	return !strncmp(mapped, search->path, length) &&
	       (!mapped[length] || !strcmp(mapped + length, deleted));
}

/* The file itself through the mapping of a living process. */
static bool try_mapped(struct search *search, u32 pid)
{
	CLEANUP(freep) char *maps_path = must_format("/proc/%u/maps", pid);
	CLEANUP(freep) char *root = must_format("/proc/%u/root", pid);
	CLEANUP(freep) char *maps = NULL;
	char path[MAPS_PATH_BYTES];
	struct bytes text;
	struct mapping mapping;
	int found;

	if (file_read(maps_path, MAPS_MAX_BYTES, &maps, &text.length))
		return false;
	text.start = (const u8 *)maps;
	while ((found = proc_maps_next(&text, pid, path, &mapping))) {
		CLEANUP(freep) char *link = NULL;
		CLEANUP(closep) int fd = -1;

		if (found != 1 || !is_mapping_of(search, path))
			continue;
		link = must_format("/proc/%u/map_files/%llx-%llx", pid,
				   (unsigned long long)mapping.start,
				   (unsigned long long)mapping.start + mapping.bytes);
		if (!open_below("", link, LINKS_FOLLOWED, &fd) && accept(search, fd, root))
			return true;
	}
	return false;
}

/* perf keeps copies of what it recorded. */
static bool try_cache(struct search *search)
{
	const char *home = getenv("HOME");
	CLEANUP(freep) char *path = NULL;
	struct build_id id = {.length = search->binary->build_id_bytes};
	char text[BUILD_ID_TEXT_BYTES];

	if (!home || !has_recorded_id(search))
		return false;
	memcpy(id.bytes, search->binary->build_id, sizeof(id.bytes));
	build_id_text(&id, text);
	path = must_format("%s/.debug/.build-id/%.2s/%s/elf", home, text, text + 2);
	return try_path(search, "", path);
}

static bool find_image(const struct finder_context *context, struct search *search)
{
	const char *symfs = context->settings->symfs;
	u32 pid = search->binary->owner_pid;
	CLEANUP(freep) char *root = must_format("/proc/%u/root", pid);
	bool is_elsewhere = pid != ~0u && has_other_files(pid);

	if (symfs && symfs[0])
		return try_path(search, symfs, search->path);
	/* Without a build id only the living mapping tells that the pid was not used again. */
	if (is_elsewhere && has_recorded_id(search) && try_path(search, root, search->path))
		return true;
	if ((is_elsewhere || search->is_deleted) && !has_recorded_id(search) &&
	    try_mapped(search, pid))
		return true;
	if ((!search->is_deleted || has_recorded_id(search)) && try_path(search, "", search->path))
		return true;
	return (has_recorded_id(search) && pid != ~0u && try_mapped(search, pid)) ||
	       try_cache(search);
}

/* The symbols of the image that was found, with its debug file or its packed one. */
static void load_symbols(const struct search *search, struct name_source *source)
{
	CLEANUP(file_unmap) struct bytes debug = {0};
	CLEANUP(freep) u8 *unpacked = NULL;
	struct bytes image = search->image, mini = {0};
	int error;

	if (debug_file_read(search->root, search->path, image, &search->id, &debug) &&
	    !has_symbol_table(image) && !debug_data_unpack(image, &mini))
		unpacked = (u8 *)(uintptr_t)mini.start;
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
	const char *recorded = profile_text(context->profile, binary->path);
	size_t length = strlen(recorded), suffix = sizeof(deleted) - 1;
	bool is_deleted = length > suffix && !strcmp(recorded + length - suffix, deleted);

	return (struct search){
		.settings = context->settings,
		.binary = binary,
		.path = must_copy_bytes(recorded, is_deleted ? length - suffix : length),
		.is_deleted = is_deleted,
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

	if (find_image(context, &search))
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
	if (binary->kind == BINARY_FILE && find_image(context, &search))
		(void)function_places_read(search.image, ret_functions);
}

void binary_finder_source(const struct finder_context *context, const struct binary_row *binary,
			  struct source_file *ret_file)
{
	CLEANUP(search_release) struct search search = search_of(context, binary);

	*ret_file = (struct source_file){0};
	search.wanted = WANT_SOURCE;
	if (binary->kind == BINARY_FILE && find_image(context, &search)) {
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
