/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names for locations: each distinct one once, after counting, or when somebody asks.
 *
 * Each binary has one source of names, loaded when its first location is asked for and kept as long
 * as the symbolizer lives, under (kind, path, build id or inode, start): the next profile finds it
 * again. A symbol becomes a function row, demangled, when the first location in it is named.
 */
#include "symbolize/symbolize.h"

#include "base/memory.h"
#include "base/text.h"
#include "base/vec.h"
#include "binary/binary.h"
#include "symbolize/finder.h"
#include "symbolize/source_places.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ANONYMOUS_NAME_BYTES = 32 };

/* What is known of one binary of the profile at hand. */
struct binary_names {
	u32 source; /* index in `sources`, plus 1; 0: not looked for */
	/* The row in the profile's `lines`, 0: none yet. */
	u32 *lines;		 /* by symbol */
	VEC(u32) function_lines; /* by number among the source's functions */
};

/* A file whose names were read. */
struct read_file {
	char *path; /* owned */
	struct build_id id;
	u32 owner_pid;
	u64 rows;
};

struct symbolizer {
	struct symbolize_settings settings;
	struct kernel_names *kernel;
	struct missing_files missing;
	struct text warnings;
	struct intern keys; /* id: index in `sources`, plus 1 */
	VEC(struct name_source) sources;
	VEC(struct read_file) read; /* if they are to be kept */
	bool has_kernel;
	u64 profile; /* serial of the one whose rows `binaries` is about */
	VEC(struct binary_names) binaries;
};

struct symbolizer *symbolizer_new(const struct symbolize_settings *settings)
{
	struct symbolizer *symbolizer = must_alloc(sizeof(*symbolizer));

	symbolizer->settings = *settings;
	symbolizer->kernel = kernel_names_new();
	return symbolizer;
}

static void forget_binary(struct binary_names *names)
{
	free(names->lines);
	vec_release(&names->function_lines);
	*names = (struct binary_names){0};
}

static void forget_profile(struct symbolizer *symbolizer)
{
	for (size_t i = 0; i < symbolizer->binaries.count; i++)
		forget_binary(&symbolizer->binaries.items[i]);
	symbolizer->binaries.count = 0;
}

static void begin_profile(struct symbolizer *symbolizer, const struct profile *profile)
{
	if (symbolizer->profile == profile->serial)
		return;
	forget_profile(symbolizer);
	symbolizer->profile = profile->serial;
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	forget_profile(symbolizer);
	for (size_t i = 0; i < symbolizer->sources.count; i++) {
		symbols_free(symbolizer->sources.items[i].owned);
		functions_release(&symbolizer->sources.items[i].functions);
	}
	vec_release(&symbolizer->sources);
	for (size_t i = 0; i < symbolizer->read.count; i++)
		free(symbolizer->read.items[i].path);
	vec_release(&symbolizer->read);
	vec_release(&symbolizer->missing.ids);
	text_release(&symbolizer->warnings);
	vec_release(&symbolizer->binaries);
	intern_release(&symbolizer->keys);
	kernel_names_free(symbolizer->kernel);
	free(symbolizer);
}

void symbolizer_expect_kernel(struct symbolizer *symbolizer)
{
	const struct symbolize_settings *settings = &symbolizer->settings;

	if (!settings->kallsyms && !settings->vmlinux && !settings->symfs && !settings->skip_kernel)
		kernel_names_expect(symbolizer->kernel, settings);
}

void symbolizer_freep(struct symbolizer **symbolizer)
{
	symbolizer_free(*symbolizer);
}

/* Nothing of a binary that has no names. */
static void load_none(const struct finder_context *context, const struct binary_row *binary,
		      struct name_source *ret_source)
{
	(void)context;
	(void)binary;
	*ret_source = (struct name_source){.unnamed = UNNAMED_NO_SYMBOLS};
}

static void load_source(const struct finder_context *context, const struct binary_row *binary,
			struct name_source *ret_source)
{
	static void (*const finders[])(const struct finder_context *, const struct binary_row *,
				       struct name_source *) = {
		[BINARY_NONE] = load_none,
		[BINARY_FILE] = binary_finder_load,
		[BINARY_VDSO] = binary_finder_load,
		[BINARY_JIT] = perf_map_finder_load,
		[BINARY_KERNEL] = kernel_finder_load,
		[BINARY_MODULE] = kernel_finder_load,
		[BINARY_KSYMBOL] = load_none,
		[BINARY_OTHER] = load_none,
	};

	finders[binary->kind < ARRAY_COUNT(finders) ? binary->kind : 0](context, binary,
									ret_source);
}

/* What tells one source from another. */
static u32 key_of(struct symbolizer *symbolizer, const struct profile *profile,
		  const struct binary_row *binary)
{
	struct text key = {0};
	u32 id;

	text_append_bytes(&key, &binary->kind, sizeof(binary->kind));
	text_append_bytes(&key, &binary->start, sizeof(binary->start));
	text_append_bytes(&key, &binary->reference, sizeof(binary->reference));
	text_append_bytes(&key, &binary->inode, sizeof(binary->inode));
	text_append_bytes(&key, &binary->major, sizeof(binary->major));
	text_append_bytes(&key, &binary->minor, sizeof(binary->minor));
	text_append_bytes(&key, &binary->inode_generation, sizeof(binary->inode_generation));
	text_append_bytes(&key, binary->build_id, binary->build_id_bytes);
	text_append(&key, profile_text(profile, binary->path));
	id = intern_bytes(&symbolizer->keys, key.bytes, key.length);
	text_release(&key);
	return id;
}

/* The cache that new names go to; NULL: none. */
static struct names_cache *cache_of(const struct symbolizer *symbolizer)
{
	const struct symbolize_settings *settings = &symbolizer->settings;
	bool is_elsewhere = settings->symfs && settings->symfs[0];

	return is_elsewhere ? NULL : settings->caches[NAMES_CACHES_MAX - 1];
}

/* Notes what symbolizer_keep() is to keep. */
static void note_read(struct symbolizer *symbolizer, const struct profile *profile,
		      const struct binary_row *binary, const struct name_source *source)
{
	struct read_file *read;

	if (!cache_of(symbolizer))
		return;
	symbolizer->has_kernel |= binary->kind == BINARY_KERNEL && source->symbols;
	if (!source->is_file || !binary->build_id_bytes)
		return;
	read = vec_add(&symbolizer->read);
	*read = (struct read_file){.path = must_copy(profile_text(profile, binary->path)),
				   .id.length = binary->build_id_bytes,
				   .owner_pid = binary->owner_pid,
				   .rows = source->symbols ? symbols_count(source->symbols) : 0};
	memcpy(read->id.bytes, binary->build_id, sizeof(read->id.bytes));
}

void symbolizer_keep(struct symbolizer *symbolizer)
{
	struct names_cache *cache = cache_of(symbolizer);

	kernel_names_settle(symbolizer->kernel);
	/* What cannot be kept has left a warning with the cache. */
	for (size_t i = 0; i < symbolizer->read.count && cache; i++) {
		const struct read_file *read = &symbolizer->read.items[i];
		struct running_binary binary = {
			.path = read->path,
			.build_id = read->id.bytes,
			.build_id_bytes = read->id.length,
			.owner_pid = read->owner_pid,
		};

		(void)names_keep(cache, &binary, read->rows);
	}
	if (cache && symbolizer->has_kernel)
		(void)names_cache_keep_kernel(cache);
}

static struct finder_context context_of(struct symbolizer *symbolizer,
					const struct profile *profile)
{
	return (struct finder_context){&symbolizer->settings, profile, symbolizer->kernel,
				       &symbolizer->missing, &symbolizer->warnings};
}

static struct binary_names *names_of(struct symbolizer *symbolizer, struct profile *profile,
				     binary_id id)
{
	struct binary_row *binary = &profile->binaries.items[id];
	struct finder_context context = context_of(symbolizer, profile);
	struct binary_names *names;

	while (symbolizer->binaries.count <= id)
		*vec_add(&symbolizer->binaries) = (struct binary_names){0};
	names = &symbolizer->binaries.items[id];
	if (names->source)
		return names;
	names->source = key_of(symbolizer, profile, binary);
	if (names->source > symbolizer->sources.count) {
		struct name_source *source = vec_add(&symbolizer->sources);

		load_source(&context, binary, source);
		note_read(symbolizer, profile, binary, source);
	}
	binary->unnamed = symbolizer->sources.items[names->source - 1].unnamed;
	return names;
}

static u32 add_function(struct profile *profile, const struct function_row *function)
{
	struct line_row line = {.function = profile_function(profile, function)};

	*vec_add(&profile->lines) = line;
	return (u32)(profile->lines.count - 1);
}

/* Kernel symbols are C, and perf leaves JIT names as their runtime wrote them. */
static bool has_mangled_names(u8 kind)
{
	return kind == BINARY_FILE || kind == BINARY_VDSO;
}

static u32 add_symbol(struct symbolizer *symbolizer, struct profile *profile, binary_id id,
		      const struct symbol *symbol, u64 shift)
{
	bool is_raw = symbolizer->settings.raw_names ||
		      !has_mangled_names(profile->binaries.items[id].kind);
	CLEANUP(freep) char *shown = is_raw ? NULL : demangle(symbol->name);
	struct function_row function = {
		.binary = id,
		.start = symbol->start - shift,
		.end = symbol->end - shift,
		.is_data = symbol->is_data,
	};

	function.raw_name = intern_text(&profile->strings, symbol->name);
	function.name = shown ? intern_text(&profile->strings, shown) : function.raw_name;
	return add_function(profile, &function);
}

/* A BPF program has one name for all of its code, which the recording knew. */
static u32 kernel_symbol_line(struct profile *profile, binary_id id)
{
	const struct binary_row *binary = &profile->binaries.items[id];
	struct function_row function = {.name = binary->path,
					.raw_name = binary->path,
					.binary = id,
					.start = binary->start,
					.end = binary->end};

	return add_function(profile, &function);
}

static u32 add_place(struct profile *profile, binary_id binary, const struct function_place *place)
{
	struct function_row function = {
		.binary = binary, .start = place->start, .end = place->end, .is_anonymous = true};
	char name[ANONYMOUS_NAME_BYTES];

	snprintf(name, sizeof(name), "[fn 0x%" PRIx64 "]", place->address);
	function.name = function.raw_name = intern_text(&profile->strings, name);
	return add_function(profile, &function);
}

/* The file that ran is at hand, so that its call frame information can be looked at. */
static bool may_have_functions(const struct symbolizer *symbolizer,
			       const struct name_source *source)
{
	return !symbolizer->settings.only_symbols &&
	       (source->symbols || source->unnamed == UNNAMED_NO_SYMBOLS);
}

static u64 named_address(const struct location_row *location)
{
	return location->address - (location->is_call && location->address);
}

/* Code without symbol is named by where its function begins. */
static u32 function_line(struct symbolizer *symbolizer, struct profile *profile,
			 const struct location_row *location, struct binary_names *names)
{
	const struct binary_row *binary = &profile->binaries.items[location->binary];
	struct name_source *source = &symbolizer->sources.items[names->source - 1];
	struct finder_context context = context_of(symbolizer, profile);
	const struct function_place *place;
	size_t number;
	u32 *line;

	if (!may_have_functions(symbolizer, source))
		return 0;
	if (!source->functions_are_read)
		binary_finder_functions(&context, binary, &source->functions);
	source->functions_are_read = true;
	place = functions_find(&source->functions, named_address(location), &number);
	if (!place)
		return 0;
	while (names->function_lines.count <= number)
		*vec_add(&names->function_lines) = 0;
	line = &names->function_lines.items[number];
	if (!*line)
		*line = add_place(profile, location->binary, place);
	return *line;
}

static u32 symbol_line(struct symbolizer *symbolizer, struct profile *profile,
		       struct location_row *location)
{
	struct binary_names *names = names_of(symbolizer, profile, location->binary);
	const struct name_source *source = &symbolizer->sources.items[names->source - 1];
	const struct symbol *symbol = NULL;
	u32 *line, function = 0;

	if (source->symbols)
		symbol = symbols_find(source->symbols, named_address(location) + source->shift);
	if (!symbol)
		function = function_line(symbolizer, profile, location, names);
	if (!symbol && !function)
		location->unnamed = source->symbols ? UNNAMED_NO_SYMBOLS : source->unnamed;
	if (!symbol)
		return function;
	if (!names->lines)
		names->lines = must_alloc_array(symbols_count(source->symbols), sizeof(u32));
	line = &names->lines[symbol->order];
	if (!*line)
		*line = add_symbol(symbolizer, profile, location->binary, symbol, source->shift);
	return *line;
}

static bool is_kernel(u8 space)
{
	return space == SPACE_KERNEL || space == SPACE_GUEST_KERNEL || space == SPACE_HYPERVISOR;
}

void symbolizer_name(struct symbolizer *symbolizer, struct profile *profile, location_id id)
{
	struct location_row *location = &profile->locations.items[id];
	u32 line;

	if (location->line_count || location->unnamed || !id)
		return;
	if (symbolizer->settings.skip_kernel && is_kernel(location->space))
		return;
	if (!location->binary) {
		location->unnamed = UNNAMED_NO_MAPPING;
		return;
	}
	begin_profile(symbolizer, profile);
	if (profile->binaries.items[location->binary].kind == BINARY_KSYMBOL)
		line = kernel_symbol_line(profile, location->binary);
	else
		line = symbol_line(symbolizer, profile, location);
	location->first_line = line;
	location->line_count = line != 0;
}

bool symbolizer_has_name(struct symbolizer *symbolizer, struct profile *profile,
			 location_id location)
{
	symbolizer_name(symbolizer, profile, location);
	return profile->locations.items[location].line_count != 0;
}

/* JIT maps grow while their process runs: what has changed is read again. */
static void drop_outdated(struct symbolizer *symbolizer, const struct profile *profile)
{
	struct finder_context context = context_of(symbolizer, profile);

	for (size_t i = 1; i < profile->binaries.count; i++) {
		const struct binary_row *binary = &profile->binaries.items[i];
		struct name_source *source;
		u32 key = binary->kind == BINARY_JIT ? key_of(symbolizer, profile, binary) : 0;

		if (!key)
			continue;
		if (key > symbolizer->sources.count) {
			load_source(&context, binary, vec_add(&symbolizer->sources));
			continue;
		}
		source = &symbolizer->sources.items[key - 1];
		if (source->stamp == perf_map_stamp(&context, binary))
			continue;
		symbols_free(source->owned);
		load_source(&context, binary, source);
		if (i < symbolizer->binaries.count)
			forget_binary(&symbolizer->binaries.items[i]);
	}
}

/* Behind a CALL that never returns another function may begin, which perf does not name either: it
 * shows the CALLs of branch records. What was met otherwise, too, keeps the name of its own. */
static void find_calls(struct profile *profile)
{
	for (location_id id = 1; id < profile->locations.count; id++) {
		struct location_row *location = &profile->locations.items[id];

		if (location->uses != LOCATION_IS_CALL || location->is_call)
			continue;
		location->is_call = true;
		location->line_count = 0; /* a name from before, while counting */
		location->unnamed = 0;
	}
}

void symbolizer_run_noted(struct symbolizer *symbolizer, struct profile *profile)
{
	struct finder_context context = context_of(symbolizer, profile);

	begin_profile(symbolizer, profile);
	drop_outdated(symbolizer, profile);
	find_calls(profile);
	for (location_id id = 1; id < profile->locations.count; id++) {
		symbolizer_name(symbolizer, profile, id);
		if (symbolizer->settings.on_progress)
			symbolizer->settings.on_progress("naming", id, profile->locations.count);
	}
	if (symbolizer->settings.source)
		source_places_find(&context, profile);
}

void symbolizer_run(struct symbolizer *symbolizer, struct profile *profile)
{
	location_uses_note(profile);
	symbolizer_run_noted(symbolizer, profile);
}

const char *symbolizer_warnings(const struct symbolizer *symbolizer)
{
	return text_view(&symbolizer->warnings);
}

size_t symbolizer_missing(const struct symbolizer *symbolizer)
{
	return symbolizer->missing.ids.count;
}

int symbolizer_fetch_missing(const struct symbolizer *symbolizer)
{
	return debug_server_fetch(symbolizer->missing.ids.items, symbolizer->missing.ids.count);
}
