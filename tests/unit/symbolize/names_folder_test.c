/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whose names are believed. */
#include "symbolize/names_cache_files.h"
#include "unit/unit.h"

#include "base/memory.h"

#include <errno.h>
#include <unistd.h>

static struct kept_names small_names(void)
{
	struct kept_names names = {.id = {{1, 2, 3, 4}, 4}, .symbols = symbols_new()};

	symbols_add(names.symbols, &(struct symbol){.start = 16, .end = 32, .name = "first"});
	symbols_finish(names.symbols);
	return names;
}

static void names_in_a_store_are_read_if_they_are_its_owners(void **state)
{
	char store[] = "/tmp/names-folder-XXXXXX";
	CLEANUP(freep) char *folder = NULL, *path = NULL, *command = NULL;
	CLEANUP(kept_names_release) struct kept_names names = small_names(), kept = {0};
	CLEANUP(names_cache_closep) struct names_cache *cache = NULL;
	struct names_cache_settings settings = {0};

	if (geteuid())
		skip(); /* needs root: gives files away */
	assert_non_null(mkdtemp(store));
	folder = must_format("%s/names", store);
	path = must_format("%s/01/020304.names", folder);
	settings.directory = folder;
	assert_int_equal(names_cache_open(&settings, &cache), 0);
	assert_int_equal(names_cache_add(cache, &names), 0);
	names_cache_close(TAKE(cache));
	assert_int_equal(chown(store, 12345, 12345), 0);
	assert_int_equal(chown(folder, 12345, 12345), 0);
	assert_int_equal(chown(path, 12345, 12345), 0);

	settings.is_read_only = true;
	assert_int_equal(names_cache_open(&settings, &cache), -EPERM);
	settings.store = store;
	assert_int_equal(names_cache_open(&settings, &cache), 0);
	assert_int_equal(names_cache_find(cache, &names.id, &kept), 0);

	/* a file of somebody else in it, and who would write there */
	kept_names_release(&kept);
	assert_int_equal(chown(path, 23456, 23456), 0);
	assert_int_equal(names_cache_find(cache, &names.id, &kept), -ENOENT);
	settings.is_read_only = false;
	names_cache_close(TAKE(cache));
	assert_int_equal(names_cache_open(&settings, &cache), -EPERM);
	command = must_format("rm -rf %s", store);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_in_a_store_are_read_if_they_are_its_owners),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
