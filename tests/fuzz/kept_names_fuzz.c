/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes the reading of caches of names. The first byte says what the rest is: the block of names,
 * that of places, or a whole file of names or (3) of places. What has been read is written and read
 * again.
 */
#include "symbolize/kept_names.h"
#include "symbolize/kept_places.h"

#include "base/memory.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static struct bytes bytes_of(const struct text *text)
{
	return (struct bytes){(const u8 *)text->bytes, text->length};
}

static void read_names(struct bytes block)
{
	CLEANUP(kept_names_release) struct kept_names names = {0}, again = {0};
	CLEANUP(text_release) struct text written = {0};

	if (kept_names_take(block, &names))
		return;
	for (size_t i = 0; names.symbols && i < symbols_count(names.symbols); i++)
		if (!symbols_find(names.symbols, symbols_at(names.symbols, i)->start))
			abort();
	for (size_t i = 0; i < names.functions.items.count; i++)
		if (!function_places_find(&names.functions, names.functions.items.items[i].start))
			abort();
	kept_names_put(&names, &written);
	if (kept_names_take(bytes_of(&written), &again) ||
	    kept_names_rows(&names) != kept_names_rows(&again))
		abort();
}

static void read_places(struct bytes block)
{
	CLEANUP(kept_places_release) struct kept_places places = {0}, again = {0};
	CLEANUP(text_release) struct text written = {0};

	if (kept_places_take(block, &places))
		return;
	for (size_t i = 0; i < places.places.count; i++) {
		const struct kept_place *place = &places.places.items[i];

		if (kept_places_find(&places, place->key) != place)
			abort();
		for (u32 row = place->first; row < place->first + place->count; row++)
			(void)kept_places_frame(&places, row);
	}
	kept_places_put(&places, &written);
	if (kept_places_take(bytes_of(&written), &again) ||
	    places.places.count != again.places.count || places.frames.count != again.frames.count)
		abort();
	for (size_t i = 0; i < again.places.count; i++)
		if ((i && again.places.items[i].key <= again.places.items[i - 1].key) ||
		    kept_places_find(&places, again.places.items[i].key)->count !=
			    again.places.items[i].count)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct bytes rest = {bytes + 1, length ? length - 1 : 0}, block;

	if (!length)
		return 0;
	if (bytes[0] == 0) {
		read_names(rest);
	} else if (bytes[0] == 1) {
		read_places(rest);
	} else if (bytes[0] == 3) {
		if (kept_file_read(KEPT_PLACES, rest, &block))
			return 0;
		read_places(block);
		free((void *)(uintptr_t)block.start);
	} else if (!kept_file_read(KEPT_NAMES, rest, &block)) {
		read_names(block);
		free((void *)(uintptr_t)block.start);
	}
	return 0;
}
