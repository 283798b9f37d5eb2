/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules that are read when somebody asks, against the tables that hold all of them.
 */
#include "unit/cfi_reading.h"
#include "unit/map_file.h"
#include "unit/unit.h"

#include <string.h>

enum { PROBES = 20000 };

static const char *const binaries[] = {
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib64/ld-linux-x86-64.so.2",
	"/usr/bin/perl",
	"/usr/bin/bash",
};

/* Of what no rule can express, a table keeps only that. */
static void assert_same(const struct unwind_rule *rule, const struct unwind_rule *wanted)
{
	assert_int_equal(rule->cfa_kind, wanted->cfa_kind);
	if (wanted->cfa_kind != CFA_UNSUPPORTED)
		assert_memory_equal(rule, wanted, sizeof(*rule));
}

/* Where a rule is said to hold, it does. */
static void assert_holds_around(struct function_rules *rules, u64 address)
{
	struct function_bound span, other;
	struct unwind_rule rule = *function_rules_find_span(rules, address, &span);

	if (!span.end)
		return;
	assert_true(span.start <= address && address < span.end);
	assert_same(function_rules_find_span(rules, span.start, &other), &rule);
	assert_same(function_rules_find_span(rules, span.end - 1, &other), &rule);
	assert_true(other.start == span.start && other.end == span.end);
}

/* Returns how many places were compared, spread over all functions. */
static u64 compare(struct bytes image)
{
	struct function_rules *rules = function_rules_new(image);
	struct function_places places = {0};
	struct unwind_table *table;
	struct rule_set set;
	u64 compared = 0, text_bytes = 0, step;

	rule_set_init(&set);
	assert_int_equal(unwind_table_read(image, &set, RULES_MAX, &table), 0);
	assert_int_equal(function_places_read(image, &places), 0);
	for (size_t i = 0; i < places.items.count; i++)
		text_bytes += places.items.items[i].end - places.items.items[i].start;
	step = text_bytes / PROBES | 1;
	for (size_t i = 0; i < places.items.count; i++) {
		const struct function_place *place = &places.items.items[i];
		u64 end = i + 1 < places.items.count && place[1].start < place->end ? place[1].start
										    : place->end;

		for (u64 at = place->start; at < end; at += step, compared++) {
			u64 address = at - place->start + place->address;

			assert_same(function_rules_find(rules, address),
				    &set.rules.items[unwind_table_find(table, at)]);
			assert_holds_around(rules, address);
		}
	}
	vec_release(&places.items);
	unwind_table_free(table);
	rule_set_release(&set);
	function_rules_free(rules);
	return compared;
}

static void rules_are_those_of_the_table(void **state)
{
	u32 compared = 0;

	for (size_t i = 0; i < ARRAY_COUNT(binaries); i++) {
		CLEANUP(file_unmap) struct bytes image = {0};

		if (map_file(binaries[i], &image))
			continue; /* not on this machine */
		assert_true(compare(image) > 500);
		compared++;
	}
	assert_true(compared > 0);
	(void)state;
}

static void the_last_of_equal_starts_holds_and_inner_functions_end_outer_ones(void **state)
{
	static const u64 outer[2] = {START, START + 0x100}, inner[2] = {START + 0x40, START + 0x60};
	static const u64 late[2] = {START + 0x200, START + 0x210};
	struct reading reading = reading_new();
	u64 section = made_begin(reading.made, false), cie = made_usual_cie(reading.made);
	struct function_rules *rules;
	size_t count;

	made_fde(reading.made, cie, late, MADE_BYTES(0x0e, 32));
	made_fde(reading.made, cie, outer, MADE_BYTES(0x0e, 16));
	made_fde(reading.made, cie, inner, MADE_BYTES(0x0e, 24));
	made_fde(reading.made, cie, late, MADE_BYTES(0x0e, 40));
	made_end(reading.made, section, SHF_ALLOC);
	assert_int_equal(reading_read(&reading), 0);
	rules = function_rules_new(made_image(reading.made));
	assert_int_equal(function_rules_bounds(rules, &count)[1].start, inner[0]);
	assert_int_equal(count, 3);
	for (u64 at = START; at < START + 0x300; at++) {
		struct unwind_rule wanted = rule_at(&reading, at);

		assert_same(function_rules_find(rules, at), &wanted);
		assert_holds_around(rules, at);
	}
	assert_int_equal(function_rules_find(rules, late[0])->cfa_offset, 40);
	function_rules_free(rules);
	reading_release(&reading);
	(void)state;
}

static void what_is_no_image_has_no_rules(void **state)
{
	static const u8 text[] = "no ELF file";
	struct function_rules *rules = function_rules_new((struct bytes){text, sizeof(text)});
	size_t count;

	function_rules_bounds(rules, &count);
	assert_int_equal(count, 0);
	assert_int_equal(function_rules_find(rules, 0)->cfa_kind, CFA_NONE);
	function_rules_free(rules);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_those_of_the_table),
		cmocka_unit_test(the_last_of_equal_starts_holds_and_inner_functions_end_outer_ones),
		cmocka_unit_test(what_is_no_image_has_no_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
