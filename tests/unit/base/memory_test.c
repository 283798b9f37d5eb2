/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How often the kernel is asked for memory.
 */
#include "base/memory.h"
#include "unit/unit.h"

#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { IS_MALLOC_OF_LIBC = false }; /* but the sanitizer's */
#else
enum { IS_MALLOC_OF_LIBC = true };
#endif

/* And only to who asks for them. */
static bool has_huge_pages(void)
{
	char line[64] = "";
	FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");

	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		*line = '\0';
	fclose(file);
	return strstr(line, "[madvise]");
}

static long faults_until_now(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

enum { BYTES = 64 << 20, PAGE_BYTES = 1 << 12, PAGES = BYTES / PAGE_BYTES };

static long faults_of_small_pieces(void)
{
	enum { PIECE_BYTES = PAGE_BYTES - 16 };
	long before = faults_until_now();

	for (size_t i = 0; i < PAGES; i++)
		memset(must_alloc(PIECE_BYTES), 1, PIECE_BYTES);
	return faults_until_now() - before;
}

static long faults_of_one_that_grows(void)
{
	long before = faults_until_now();
	char *bytes = NULL;

	for (size_t had = 0, has = PAGE_BYTES; has <= BYTES; had = has, has *= 2) {
		bytes = must_resize_array(bytes, has, 1);
		memset(bytes + had, 1, has - had);
	}
	free(bytes);
	return faults_until_now() - before;
}

static void speed_takes_fewer_faults(void **state)
{
	if (!IS_MALLOC_OF_LIBC || !has_huge_pages())
		skip();
	assert_true(faults_of_small_pieces() > PAGES / 2);
	memory_prefer_speed();
	assert_true(faults_of_small_pieces() < PAGES / 4);
	assert_true(faults_of_one_that_grows() < PAGES / 4);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(speed_takes_fewer_faults)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
