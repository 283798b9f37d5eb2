/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of features: rows that can be found, with all that a person needs to read.
 */
#include "base/memory.h"
#include "capture/features.h"
#include "unit/unit.h"

#include <string.h>

static void every_row_says_what_for_and_what_to_do(void **state)
{
	size_t count;
	const struct feature *features = features_all(&count);

	assert_true(count > 10);
	for (size_t i = 0; i < count; i++) {
		assert_true(strlen(features[i].id) && !strchr(features[i].id, ' '));
		assert_true(strlen(features[i].name));
		assert_true(strlen(features[i].needed_for));
		assert_true(strlen(features[i].remedy));
		assert_non_null(features[i].probe);
	}
	(void)state;
}

static void a_row_is_found_by_its_id(void **state)
{
	size_t count;
	const struct feature *features = features_all(&count);

	for (size_t i = 0; i < count; i++)
		assert_ptr_equal(feature_find(features[i].id), &features[i]);
	assert_null(feature_find("no-such-feature"));
	(void)state;
}

static void probes_answer_with_an_errno_and_a_text_that_fits(void **state)
{
	size_t count;
	const struct feature *features = features_all(&count);

	for (size_t i = 0; i < count; i++) {
		char found[FEATURE_FOUND_BYTES] = "";
		int error = features[i].probe(found);

		assert_true(error <= 0 && error > -4096);
		assert_non_null(memchr(found, 0, sizeof(found)));
	}
	(void)state;
}

static void probing_leaves_no_descriptor_open(void **state)
{
	size_t count;
	const struct feature *features = features_all(&count);
	int before = dup(0), after;

	close(before);
	for (size_t i = 0; i < count; i++) {
		char found[FEATURE_FOUND_BYTES] = "";

		features[i].probe(found);
	}
	after = dup(0);
	close(after);
	assert_int_equal(before, after);
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_says_what_for_and_what_to_do),
		cmocka_unit_test(a_row_is_found_by_its_id),
		cmocka_unit_test(probes_answer_with_an_errno_and_a_text_that_fits),
		cmocka_unit_test(probing_leaves_no_descriptor_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
