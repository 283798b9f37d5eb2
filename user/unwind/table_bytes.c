/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A head of numbers, and the words as they are.
 */
#include "unwind/table_bytes.h"

#include <errno.h>
#include <string.h>

struct table_head {
	u32 word_count, row_count, dense_pages;
	u32 rule_count, first_page, page_count;
};
WIRE_SIZE(struct table_head, 24);

void table_bytes_put(const struct table_words *words, struct text *bytes)
{
	struct table_head head = {
		.word_count = words->word_count,
		.row_count = words->row_count,
		.dense_pages = words->dense_pages,
		.rule_count = words->place.rule_count,
		.first_page = words->place.first_page,
		.page_count = words->place.page_count,
	};

	text_append_bytes(bytes, &head, sizeof(head));
	text_append_bytes(bytes, words->words, words->word_count * sizeof(u32));
}

static bool is_sound_rule(const u32 *words)
{
	struct unwind_rule rule;

	memcpy(&rule, words, sizeof(rule));
	return rule.cfa_kind <= CFA_PLT && rule.cfa_register < UNWIND_REGISTERS &&
	       rule.pc_kind <= SAVED_IN_REGISTER && rule.fp_kind <= SAVED_UNDEFINED &&
	       rule.is_signal <= 1;
}

static bool is_sound_page(const struct table_head *head, const u32 *words, u32 index)
{
	u32 first = index >> UNWIND_COUNT_BITS, count = index & UNWIND_PAGE_ROWS_MAX;

	if (first > head->word_count || count > head->word_count - first)
		return false;
	for (u32 i = 0; i < count; i++)
		if (unwind_row_rule(words[first + i]) >= head->rule_count)
			return false;
	return true;
}

static bool is_sound_head(const struct table_head *head, u64 bytes)
{
	u64 before_rows = (u64)head->rule_count * UNWIND_RULE_WORDS + head->page_count;

	return head->word_count <= UNWIND_TABLE_WORDS_MAX &&
	       bytes == (u64)head->word_count * sizeof(u32) && before_rows <= head->word_count &&
	       head->row_count <= head->word_count - before_rows &&
	       head->dense_pages <= head->page_count;
}

static bool is_sound(const struct table_head *head, const u32 *words)
{
	const u32 *index = words + (size_t)head->rule_count * UNWIND_RULE_WORDS;

	for (u32 i = 0; i < head->rule_count; i++)
		if (!is_sound_rule(words + (size_t)i * UNWIND_RULE_WORDS))
			return false;
	for (u32 i = 0; i < head->page_count; i++)
		if (!is_sound_page(head, words, index[i]))
			return false;
	return true;
}

int table_bytes_take(u8 *bytes, size_t length, struct table_words *ret_words)
{
	struct table_head head;
	u32 *words;

	if (length < sizeof(head))
		return -EBADMSG;
	memcpy(&head, bytes, sizeof(head));
	words = (u32 *)(void *)(bytes + sizeof(head));
	if (!is_sound_head(&head, length - sizeof(head)) || !is_sound(&head, words))
		return -EBADMSG;
	*ret_words = (struct table_words){
		.words = words,
		.memory = bytes,
		.word_count = head.word_count,
		.row_count = head.row_count,
		.dense_pages = head.dense_pages,
		.place.rule_count = head.rule_count,
		.place.first_page = head.first_page,
		.place.page_count = head.page_count,
	};
	return 0;
}
