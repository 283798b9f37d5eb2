/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What script keeps of the texts that it made: of frames, and of chains that come again. */
#include "unit/unit.h"

#include "base/memory.h"
#include "cmd/script_chains.h"
#include "cmd/script_frames.h"
#include "event/event.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const struct frame_key here = {.address = 0x1234, .state = 5, .form = 1};

/* The text at the place of a key, if it is this key's. */
static const struct place_text *kept_text(struct frame_texts *texts, struct frame_key key)
{
	const struct frame_text *place = frame_texts_place(texts, &key);

	return frame_text_is(place, &key) ? place->text : NULL;
}

static void a_frame_has_its_text_only_where_all_is_the_same(void **state)
{
	static const struct frame_key others[] = {
		{.address = 0x1235, .state = 5, .form = 1},
		{.address = 0x1234, .state = 6, .form = 1},
		{.address = 0x1234, .state = 5, .form = 2},
	};
	struct frame_texts *texts = frame_texts_new();
	struct place_text text = {0};

	assert_null(kept_text(texts, here));
	*frame_texts_place(texts, &here) = (struct frame_text){here, &text};
	assert_ptr_equal(kept_text(texts, here), &text);
	for (size_t i = 0; i < ARRAY_COUNT(others); i++)
		assert_null(kept_text(texts, others[i]));
	free(texts);
	(void)state;
}

static void spaces_and_generations_are_different_states(void **state)
{
	assert_true(frame_state(5, SPACE_USER) != frame_state(5, SPACE_KERNEL));
	assert_true(frame_state(5, SPACE_USER) != frame_state(6, SPACE_USER));
	(void)state;
}

static const struct place_text *add(struct place_texts *texts, struct text_key key,
				    const char *bytes)
{
	return place_texts_add(texts, &key, bytes, strlen(bytes));
}

static void a_place_has_its_text_only_where_all_is_the_same(void **state)
{
	static const struct text_key key = {
		.place = {.address = 0x10, .part = 1, .file = 2, .space = 1}, .form = 4};
	struct text_key others[] = {key, key, key, key, key};
	struct place_texts *texts = place_texts_new();
	const struct place_text *text;

	others[0].place.address++;
	others[1].place.part++;
	others[2].place.file++;
	others[3].place.space++;
	others[4].form++;
	assert_null(place_texts_find(texts, &key));
	text = add(texts, key, "here");
	assert_ptr_equal(place_texts_find(texts, &key), text);
	assert_int_equal(text->length, 4);
	assert_memory_equal(text->bytes, "here", 4);
	for (size_t i = 0; i < ARRAY_COUNT(others); i++)
		assert_null(place_texts_find(texts, &others[i]));
	place_texts_free(texts);
	(void)state;
}

enum { MANY = 50000 };

static struct text_key many_key(u64 i)
{
	return (struct text_key){.place = {.address = i * 16, .file = (u32)(i % 7)}};
}

/* What one thread looks for while another one adds: each is whole, or not there yet. */
static void *look_for_all(void *context)
{
	const struct place_texts *texts = context;

	for (u64 i = 0; i < MANY;) {
		struct text_key key = many_key(i);
		const struct place_text *text = place_texts_find(texts, &key);
		char expected[24];

		if (!text)
			continue;
		snprintf(expected, sizeof(expected), "%llu", (unsigned long long)i++);
		if (text->length != strlen(expected) ||
		    memcmp(text->bytes, expected, text->length) != 0)
			return "wrong";
	}
	return NULL;
}

static void texts_are_found_while_others_are_added(void **state)
{
	struct place_texts *texts = place_texts_new();
	pthread_t thread;
	void *wrong;

	assert_int_equal(pthread_create(&thread, NULL, look_for_all, texts), 0);
	for (u64 i = 0; i < MANY; i++) {
		char bytes[24];

		snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)i);
		add(texts, many_key(i), bytes);
	}
	assert_int_equal(pthread_join(thread, &wrong), 0);
	assert_null(wrong);
	place_texts_free(texts);
	(void)state;
}

static void a_chain_is_kept_when_it_comes_again(void **state)
{
	struct chain_identity chain = {.key = 99, .user_state = 3, .kernel_state = 1};
	struct chain_identity other = {.key = 99, .user_state = 4, .kernel_state = 1};
	struct chain_texts *texts = chain_texts_new();

	chain_texts_keep(texts, &chain, "frames\n", 7);
	assert_null(chain_texts_find(texts, &chain));
	chain_texts_keep(texts, &chain, "frames\n", 7);
	assert_string_equal(text_view(chain_texts_find(texts, &chain)), "frames\n");
	assert_null(chain_texts_find(texts, &other));
	chain_texts_free(texts);
	(void)state;
}

static void a_chain_without_a_key_is_never_kept(void **state)
{
	struct chain_identity chain = {.user_state = 3};
	struct chain_texts *texts = chain_texts_new();

	chain_texts_keep(texts, &chain, "frames\n", 7);
	chain_texts_keep(texts, &chain, "frames\n", 7);
	assert_null(chain_texts_find(texts, &chain));
	chain_texts_free(texts);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_has_its_text_only_where_all_is_the_same),
		cmocka_unit_test(spaces_and_generations_are_different_states),
		cmocka_unit_test(a_place_has_its_text_only_where_all_is_the_same),
		cmocka_unit_test(texts_are_found_while_others_are_added),
		cmocka_unit_test(a_chain_is_kept_when_it_comes_again),
		cmocka_unit_test(a_chain_without_a_key_is_never_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
