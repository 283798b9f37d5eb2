/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes the making of rows and their look-up: against the plainest way to find a rule.
 *
 * An input that is an ELF file is read as it is. Of any other the first byte says what it is: it
 * becomes the .eh_frame, the .debug_frame or both of a binary.
 */
#include "base/vec.h"
#include "unit/cfi_maker.h"
#include "unwind/cfi_sections.h"
#include "unwind/unwind.h"

enum { HAS_EH_FRAME = 1, HAS_DEBUG_FRAME = 2, IS_AARCH64 = 4, SPLIT_IS_LATE = 8, PADDING = 15 };

struct function {
	u64 start, end;
	bool is_debug_frame;
	size_t first, count;
};

struct one_rule {
	u64 start;
	struct unwind_rule rule;
};

/* All that was read, unsorted. Addresses of a made binary are its file offsets. */
struct model {
	VEC(struct function) functions;
	VEC(struct one_rule) rules;
	bool is_debug_frame;
};

/* The fuzz target: 0, whatever the bytes are. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static int model_function(void *context, u64 start, u64 end)
{
	struct model *model = context;

	if (start >= MADE_IMAGE_BYTES)
		return 1;
	*vec_add(&model->functions) = (struct function){
		.start = start,
		.end = end < MADE_IMAGE_BYTES ? end : MADE_IMAGE_BYTES,
		.is_debug_frame = model->is_debug_frame,
		.first = model->rules.count,
	};
	return 0;
}

static void model_rule(void *context, u64 start, const struct unwind_rule *rule)
{
	struct model *model = context;

	model->functions.items[model->functions.count - 1].count++;
	*vec_add(&model->rules) = (struct one_rule){start, *rule};
}

/* The function of one section that begins last at or before an offset; of several the last read. */
static const struct function *last_before(const struct model *model, u64 offset,
					  bool is_debug_frame)
{
	const struct function *found = NULL;

	for (size_t i = 0; i < model->functions.count; i++) {
		const struct function *one = &model->functions.items[i];

		if (one->is_debug_frame == is_debug_frame && one->start <= offset &&
		    (!found || one->start >= found->start))
			found = one;
	}
	return found;
}

/* Whether .eh_frame covers the start of a function of .debug_frame. */
static bool is_covered(const struct model *model, const struct function *function)
{
	const struct function *other = last_before(model, function->start, false);

	return other && function->start < other->end;
}

/* The function that holds at an offset, or ended last before it. */
static const struct function *function_at(const struct model *model, u64 offset)
{
	const struct function *found = last_before(model, offset, false), *best = NULL;

	for (size_t i = 0; i < model->functions.count; i++) {
		const struct function *one = &model->functions.items[i];

		if (one->is_debug_frame && one->start <= offset && !is_covered(model, one) &&
		    (!best || one->start >= best->start))
			best = one;
	}
	return best && (!found || best->start >= found->start) ? best : found;
}

static struct unwind_rule model_find(const struct model *model, u64 offset)
{
	const struct function *function = function_at(model, offset);
	struct unwind_rule rule = {.cfa_kind = CFA_NONE};

	if (!function || offset >= function->end)
		return rule;
	for (size_t i = 0; i < function->count; i++) {
		const struct one_rule *one = &model->rules.items[function->first + i];

		if (one->start <= offset)
			rule = one->rule;
	}
	return rule;
}

static void check_table(const struct unwind_table *table)
{
	for (u32 page = 0; page < table->page_count; page++) {
		u32 row = table->page_rows[page], behind = table->page_rows[page + 1];

		if (row > behind || behind > table->row_count)
			abort();
		for (; row + 1 < behind; row++)
			if (table->rows[row] >> UNWIND_RULE_BITS >= table->rows[row + 1] >>
			    UNWIND_RULE_BITS)
				abort();
	}
}

/* Where rules begin and functions end, and one byte before. */
/* Whether padding at `at` may have a rule: the one before it goes on, or a function shorter than
 * the padding follows, and ends again. */
static bool may_be_padding(const struct model *model, u64 at)
{
	bool follows = false;

	for (u64 next = at; next <= at + PADDING; next++)
		follows |= model_find(model, next).cfa_kind != CFA_NONE;
	return follows;
}

static void check_places(const struct model *model, const struct unwind_table *table,
			 const struct rule_set *rules, u64 offset)
{
	for (u64 at = offset ? offset - 1 : 0; at <= offset; at++) {
		struct unwind_rule expected = model_find(model, at);
		u32 number = unwind_table_find(table, at);

		if (expected.cfa_kind == CFA_NONE && number && may_be_padding(model, at))
			continue;
		if (memcmp(&rules->rules.items[number], &expected, sizeof(expected)))
			abort();
	}
}

static void check_against_model(struct bytes image, const struct unwind_table *table,
				const struct rule_set *rules)
{
	struct model model = {0};
	struct cfi_taker taker = {model_function, model_rule, &model};
	struct cfi_result ignored = {0};
	struct cfi_sections sections;
	size_t step;

	if (cfi_sections_open(image, &sections))
		abort();
	cfi_read(&sections.eh_frame, &taker, &ignored);
	model.is_debug_frame = true;
	cfi_read(&sections.debug_frame, &taker, &ignored);
	/* The model takes time by the square: a few places of a long input. */
	step = model.rules.count / 64 + 1;
	for (size_t i = 0; i < model.rules.count; i += step)
		check_places(&model, table, rules, model.rules.items[i].start);
	step = model.functions.count / 64 + 1;
	for (size_t i = 0; i < model.functions.count; i += step)
		check_places(&model, table, rules, model.functions.items[i].end);
	vec_release(&model.functions);
	vec_release(&model.rules);
	cfi_sections_close(&sections);
}

static void check_functions(struct bytes image)
{
	struct function_places places = {0};

	(void)function_places_read(image, &places);
	for (size_t i = 0; i < places.items.count; i++) {
		const struct function_place *place = &places.items.items[i];

		if (place->end <= place->start || place->end > image.length ||
		    function_places_find(&places, place->start) != place)
			abort();
	}
	vec_release(&places.items);
}

static void check(struct bytes image, bool is_made)
{
	struct unwind_table *table = NULL;
	struct table_words words = {0};
	struct rule_set rules;

	check_functions(image);
	rule_set_init(&rules);
	if (!unwind_table_read(image, &rules, 1 << 16, &table)) {
		check_table(table);
		if (is_made)
			check_against_model(image, table, &rules);
		if (!table_words_make(table, &rules, &words))
			table_words_release(&words);
	}
	unwind_table_free(table);
	rule_set_release(&rules);
}

static void add_section(struct made_cfi *made, bool is_debug_frame, struct bytes bytes)
{
	u64 section = made_begin(made, is_debug_frame);

	made_put(made, bytes.start, bytes.length);
	made_end(made, section, SHF_ALLOC);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct made_cfi *made;
	struct bytes section;
	size_t split = 0;

	if (length > 4 && !memcmp(bytes, ELFMAG, SELFMAG))
		check((struct bytes){bytes, length}, false);
	if (!length || length > MADE_TEXT_START / 2)
		return 0;
	made = must_alloc(sizeof(*made));
	section = (struct bytes){bytes + 1, length - 1};
	made->machine = bytes[0] & IS_AARCH64 ? EM_AARCH64 : EM_X86_64;
	if (bytes[0] & HAS_EH_FRAME)
		split = !(bytes[0] & HAS_DEBUG_FRAME) ? section.length
			: bytes[0] & SPLIT_IS_LATE    ? section.length / 2
						      : section.length / 4;
	if (bytes[0] & HAS_EH_FRAME)
		add_section(made, false, (struct bytes){section.start, split});
	if (bytes[0] & HAS_DEBUG_FRAME)
		add_section(made, true,
			    (struct bytes){section.start + split, section.length - split});
	check(made_image(made), true);
	free(made);
	return 0;
}
