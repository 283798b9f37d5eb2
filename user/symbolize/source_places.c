/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines and inlined functions for the locations of a profile.
 *
 * A caller's address is where it goes on after the call, which may belong to the next line, or not
 * to the inlined function any more that made the call. So it is looked up one byte before, unless
 * the same address was a sample's own: then that is exact.
 *
 * Caches are asked first, as DWARF takes much longer. What they do not have is looked up
 * in the file, and kept.
 */
#include "symbolize/source_places.h"

#include "symbolize/names_cache_files.h"

#include "base/memory.h"

#include <string.h>

/* The locations of one binary. */
struct wanted_places {
	VEC(location_id) locations;
};

struct placing {
	const struct finder_context *context;
	struct profile *profile;
	u8 *is_caller;		      /* by location */
	struct wanted_places *wanted; /* by binary */
	u64 done, total;	      /* locations */
	/* By the place of a borrowed string: its row. Of the file at hand. */
	struct idmap functions, files;
};

/* Marks the locations that are only return addresses. */
static void find_callers(const struct profile *profile, u8 *is_caller)
{
	for (stack_id id = 1; id < profile->stacks.count; id++) {
		const struct stack_row *callee = &profile->stacks.items[id];
		const struct stack_row *caller = &profile->stacks.items[callee->caller];

		/* Interrupted code has not called the kernel, and branches are exact. */
		if (callee->caller && !caller->mark &&
		    profile->locations.items[callee->location].space ==
			    profile->locations.items[caller->location].space)
			is_caller[caller->location] = true;
	}
	for (size_t i = 0; i < profile->counts.count; i++)
		is_caller[profile->counts.items[i].leaf] = false;
}

static void collect(struct placing *placing)
{
	const struct profile *profile = placing->profile;

	for (location_id id = 1; id < profile->locations.count; id++) {
		const struct location_row *location = &profile->locations.items[id];
		u8 kind = profile->binaries.items[location->binary].kind;

		if (kind != BINARY_FILE || location->line_count != 1 ||
		    profile->lines.items[location->first_line].file)
			continue;
		*vec_add(&placing->wanted[location->binary].locations) = id;
		placing->total++;
	}
}

/* --- one file --- */

static string_id file_of(struct placing *placing, const struct source_frame *frame)
{
	u32 *place;

	if (!frame->file)
		return 0;
	place = idmap_place(&placing->files, (u64)(uintptr_t)frame->file);
	if (!*place)
		*place = intern_text(&placing->profile->strings, frame->file);
	return *place;
}

static function_id inlined_function(struct placing *placing, binary_id binary, const char *name)
{
	struct profile *profile = placing->profile;
	u32 *place = idmap_place(&placing->functions, (u64)(uintptr_t)name);
	CLEANUP(freep) char *shown = NULL;
	struct function_row function = {.binary = binary, .is_inlined = true};

	if (*place)
		return *place;
	if (!placing->context->settings->raw_names)
		shown = demangle(name);
	function.raw_name = intern_text(&profile->strings, name);
	function.name = shown ? intern_text(&profile->strings, shown) : function.raw_name;
	*place = profile_function(profile, &function);
	return *place;
}

static void add_line(struct placing *placing, function_id function,
		     const struct source_frame *frame)
{
	struct line_row line = {
		.function = function, .file = file_of(placing, frame), .line = frame->line};

	*vec_add(&placing->profile->lines) = line;
}

/* Replaces a location's only line by what was found, innermost first. */
static void set_lines(struct placing *placing, location_id id, const struct source_frame *frames,
		      u32 count)
{
	struct profile *profile = placing->profile;
	struct location_row *location = &profile->locations.items[id];
	function_id outermost = profile->lines.items[location->first_line].function;
	bool has_inlined = placing->context->settings->source == SOURCE_INLINED;

	if (!count)
		return;
	location->first_line = (u32)profile->lines.count;
	for (u32 i = 0; has_inlined && i + 1 < count; i++)
		add_line(placing, inlined_function(placing, location->binary, frames[i].function),
			 &frames[i]);
	add_line(placing, outermost, &frames[has_inlined ? count - 1 : 0]);
	location->line_count = (u32)profile->lines.count - location->first_line;
}

/* Whether the call before a location is what is wanted. */
static bool is_return(const struct placing *placing, location_id id)
{
	return placing->profile->locations.items[id].is_call ||
	       (placing->is_caller[id] && !placing->context->settings->returns_are_exact);
}

static u64 key_of(const struct placing *placing, location_id id)
{
	return kept_places_key(placing->profile->locations.items[id].address,
			       is_return(placing, id));
}

/* Looks up the locations that are wanted in the file; keeps what is found, if `kept` is not NULL.
 */
static void place_all(struct placing *placing, const struct source_file *file,
		      const struct wanted_places *wanted, struct kept_places *kept)
{
	size_t count = wanted->locations.count;
	CLEANUP(freep) u64 *addresses = must_alloc_array(count, sizeof(*addresses));
	CLEANUP(source_chains_release) struct source_chains chains = {0};

	for (size_t i = 0; i < count; i++)
		addresses[i] = source_file_address(file,
						   key_of(placing, wanted->locations.items[i]));
	source_lines_find_all(file->lines, addresses, count, 0, &chains);
	for (size_t i = 0; i < count; i++) {
		location_id id = wanted->locations.items[i];
		const struct source_frame *frames = chains.frames + chains.starts[i];
		u32 frame_count = chains.starts[i + 1] - chains.starts[i];

		set_lines(placing, id, frames, frame_count);
		if (kept)
			kept_places_add(kept, key_of(placing, id), frames, frame_count);
	}
	idmap_release(&placing->functions);
	idmap_release(&placing->files);
}

/* --- caches --- */

/* Gives the locations their lines that are kept; those that are not stay wanted. */
static void place_kept(struct placing *placing, const struct kept_places *kept,
		       struct wanted_places *wanted)
{
	VEC(struct source_frame) frames = {0};
	size_t left = 0;

	for (size_t i = 0; i < wanted->locations.count; i++) {
		location_id id = wanted->locations.items[i];
		const struct kept_place *place = kept_places_find(kept, key_of(placing, id));

		if (!place) {
			wanted->locations.items[left++] = id;
			continue;
		}
		frames.count = 0;
		for (u32 row = place->first; row < place->first + place->count; row++)
			*vec_add(&frames) = kept_places_frame(kept, row);
		set_lines(placing, id, frames.items, (u32)frames.count);
	}
	wanted->locations.count = left;
	vec_release(&frames);
	idmap_release(&placing->functions);
	idmap_release(&placing->files);
}

/* The cache that has, or is to have, the places of a binary; NULL: none. */
static struct names_cache *cache_at(const struct placing *placing, size_t index,
				    const struct binary_row *binary)
{
	const struct symbolize_settings *settings = placing->context->settings;
	bool is_elsewhere = settings->symfs && settings->symfs[0];

	return is_elsewhere || !binary->build_id_bytes ? NULL : settings->caches[index];
}

static void place_from_caches(struct placing *placing, const struct binary_row *binary,
			      struct wanted_places *wanted)
{
	struct build_id id = {.length = binary->build_id_bytes};

	memcpy(id.bytes, binary->build_id, sizeof(id.bytes));
	for (size_t i = 0; i < NAMES_CACHES_MAX && wanted->locations.count; i++) {
		CLEANUP(kept_places_release) struct kept_places kept = {0};
		struct names_cache *cache = cache_at(placing, i, binary);

		if (!cache)
			continue;
		names_cache_places(cache, &id, &kept);
		place_kept(placing, &kept, wanted);
	}
}

/* Once for each file. */
static void warn_of_damage(const struct placing *placing, const struct binary_row *binary)
{
	struct text *warnings = placing->context->warnings;
	struct text warning = {0};

	text_append(&warning, "source lines of ");
	text_append_printable(&warning, profile_text(placing->profile, binary->path));
	text_append(&warning, " are missing: its debug information could not be read; install or "
			      "build it again\n");
	if (warnings && !strstr(text_view(warnings), text_view(&warning)))
		text_append(warnings, text_view(&warning));
	text_release(&warning);
}

static void place_from_file(struct placing *placing, const struct binary_row *binary,
			    const struct wanted_places *wanted)
{
	struct names_cache *cache = cache_at(placing, NAMES_CACHES_MAX - 1, binary);
	CLEANUP(kept_places_release) struct kept_places kept = {0};
	CLEANUP(source_file_close) struct source_file file = {0};

	binary_finder_source(placing->context, binary, &file);
	if (file.is_damaged)
		warn_of_damage(placing, binary);
	if (!file.lines)
		return;
	kept.id.length = binary->build_id_bytes;
	memcpy(kept.id.bytes, binary->build_id, sizeof(kept.id.bytes));
	place_all(placing, &file, wanted, cache ? &kept : NULL);
	if (source_lines_is_damaged(file.lines))
		warn_of_damage(placing, binary);
	else if (cache)
		(void)names_cache_add_places(cache, &kept);
}

static void place_binary(struct placing *placing, binary_id id)
{
	const struct symbolize_settings *settings = placing->context->settings;
	const struct binary_row *binary = &placing->profile->binaries.items[id];
	struct wanted_places *wanted = &placing->wanted[id];
	u64 count = wanted->locations.count;

	place_from_caches(placing, binary, wanted);
	if (wanted->locations.count)
		place_from_file(placing, binary, wanted);
	placing->done += count;
	if (count && settings->on_progress)
		settings->on_progress("source lines", placing->done, placing->total);
}

void source_places_find(const struct finder_context *context, struct profile *profile)
{
	size_t binaries = profile->binaries.count;
	struct placing placing = {
		.context = context,
		.profile = profile,
		.is_caller = must_alloc_array(profile->locations.count, 1),
		.wanted = must_alloc_array(binaries, sizeof(*placing.wanted)),
	};

	find_callers(profile, placing.is_caller);
	collect(&placing);
	for (binary_id id = 1; id < binaries; id++) {
		place_binary(&placing, id);
		vec_release(&placing.wanted[id].locations);
	}
	free(placing.is_caller);
	free(placing.wanted);
}
