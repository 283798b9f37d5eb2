/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Source lines as bytes: what comes back, and what does not of bytes that somebody changed.
 */
#include "symbolize/kept_places.h"

#include "base/memory.h"
#include "unit/unit.h"

#include <errno.h>
#include <string.h>

enum { PLACES = 50, STEP = 7 };

/* In no order, as they come of several windows. */
static void add_places(struct kept_places *places)
{
	const struct source_frame frames[] = {{.function = "inlined", .file = "a.h", .line = 3},
					      {.file = "a.c", .line = 70000}};

	places->id = (struct build_id){{1, 2, 3, 4}, 4};
	for (u64 i = 0; i < PLACES; i++)
		kept_places_add(places, kept_places_key(4096 + i * STEP % PLACES, i % 2), frames,
				i % 3);
}

static struct bytes bytes_of(const struct text *block)
{
	return (struct bytes){(const u8 *)block->bytes, block->length};
}

static void assert_same_place(const struct kept_places *places, const struct kept_place *place,
			      const struct kept_places *others)
{
	const struct kept_place *other = kept_places_find(others, place->key);

	assert_non_null(other);
	assert_int_equal(other->count, place->count);
	for (u32 i = 0; i < place->count; i++) {
		struct source_frame one = kept_places_frame(places, place->first + i);
		struct source_frame same = kept_places_frame(others, other->first + i);

		assert_int_equal(one.line, same.line);
		assert_string_equal(one.file, same.file);
		assert_string_equal(one.function ? one.function : "-",
				    same.function ? same.function : "-");
	}
}

static void places_come_back_in_order(void **state)
{
	CLEANUP(kept_places_release) struct kept_places places = {0}, again = {0};
	CLEANUP(text_release) struct text block = {0};

	(void)state;
	add_places(&places);
	kept_places_put(&places, &block);
	assert_int_equal(kept_places_take(bytes_of(&block), &again), 0);
	assert_int_equal(again.places.count, PLACES);
	for (size_t i = 0; i < PLACES; i++)
		assert_same_place(&places, &places.places.items[i], &again);
	for (size_t i = 1; i < PLACES; i++)
		assert_true(again.places.items[i - 1].key < again.places.items[i].key);
}

/* What is taken of foreign bytes can be looked at, whatever it is. */
static void look_at_all(const struct kept_places *places)
{
	for (size_t i = 0; i < places->places.count; i++) {
		const struct kept_place *place = &places->places.items[i];

		for (u32 row = place->first; row < place->first + place->count; row++) {
			struct source_frame frame = kept_places_frame(places, row);

			assert_true(!frame.file || strlen(frame.file) < 4096);
			assert_true(!frame.function || strlen(frame.function) < 4096);
		}
	}
}

static void blocks_that_are_cut_are_refused(void **state)
{
	CLEANUP(kept_places_release) struct kept_places places = {0};
	CLEANUP(text_release) struct text block = {0};

	(void)state;
	add_places(&places);
	kept_places_put(&places, &block);
	for (size_t length = 0; length < block.length; length++) {
		CLEANUP(freep) u8 *copy = must_alloc(length);
		CLEANUP(kept_places_release) struct kept_places cut = {0};

		memcpy(copy, block.bytes, length);
		assert_int_equal(kept_places_take((struct bytes){copy, length}, &cut), -EBADMSG);
	}
}

static void changed_bytes_lead_nowhere_else(void **state)
{
	CLEANUP(kept_places_release) struct kept_places places = {0};
	CLEANUP(text_release) struct text block = {0};

	(void)state;
	add_places(&places);
	kept_places_put(&places, &block);
	for (size_t at = 0; at < block.length; at++)
		for (u32 bit = 0; bit < 8; bit++) {
			CLEANUP(kept_places_release) struct kept_places changed = {0};

			block.bytes[at] = (char)(block.bytes[at] ^ (1 << bit));
			if (!kept_places_take(bytes_of(&block), &changed))
				look_at_all(&changed);
			block.bytes[at] = (char)(block.bytes[at] ^ (1 << bit));
		}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_come_back_in_order),
		cmocka_unit_test(blocks_that_are_cut_are_refused),
		cmocka_unit_test(changed_bytes_lead_nowhere_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
