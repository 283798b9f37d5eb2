/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What script keeps of the texts that it made: of frames, and of chains that come again. */
#include "unit/unit.h"

#include "base/memory.h"
#include "cmd/script_chains.h"
#include "cmd/script_frames.h"

static const struct frame here = {.address = 0x1234, .space = SPACE_USER};
static const struct frame_states states = {.user = 5, .kernel = 7, .source = 1};

static const char *kept_text(struct frame_texts *texts, struct frame frame,
			     struct frame_states of_process)
{
	return frame_texts_place(texts, &frame, &of_process)->text;
}

static void a_frame_has_its_text_where_all_is_the_same(void **state)
{
	struct frame_texts *texts = frame_texts_new();

	frame_texts_place(texts, &here, &states)->text = "here";
	assert_string_equal(kept_text(texts, here, states), "here");
	/* of no matter to a frame of user space */
	assert_string_equal(
		kept_text(texts, here, (struct frame_states){.user = 5, .kernel = 8, .source = 1}),
		"here");
	frame_texts_free(texts);
	(void)state;
}

static void a_frame_of_anything_else_has_no_text(void **state)
{
	static const struct frame others[] = {
		{.address = 0x1235, .space = SPACE_USER},
		{.address = 0x1234, .space = SPACE_KERNEL},
		{.address = 0x1234, .space = SPACE_USER, .origin = ORIGIN_LIKELY},
	};
	static const struct frame_states other_states[] = {
		{.user = 6, .kernel = 7, .source = 1},
		{.user = 5, .kernel = 7, .source = 2},
	};
	struct frame_texts *texts = frame_texts_new();

	for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
		frame_texts_place(texts, &here, &states)->text = "here";
		assert_null(kept_text(texts, others[i], states));
	}
	for (size_t i = 0; i < ARRAY_COUNT(other_states); i++) {
		frame_texts_place(texts, &here, &states)->text = "here";
		assert_null(kept_text(texts, here, other_states[i]));
	}
	frame_texts_free(texts);
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
		cmocka_unit_test(a_frame_has_its_text_where_all_is_the_same),
		cmocka_unit_test(a_frame_of_anything_else_has_no_text),
		cmocka_unit_test(a_chain_is_kept_when_it_comes_again),
		cmocka_unit_test(a_chain_without_a_key_is_never_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
