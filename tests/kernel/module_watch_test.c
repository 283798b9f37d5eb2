/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Modules that come and go while somebody watches. None of this machine really does: the kernel's
 * list and its count of uevents are covered; the list by a whole /proc, for kernels without modules
 * have none.
 */
#include "capture/module_watch.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "host/host.h"
#include "kernel/cover.h"

#include <stdio.h>

static const char vfat[] = "vfat 24576 1 fat, Live 0xffffffffc0900000\n";
static const char snd[] = "snd 4096 0 - Live 0xffffffffc0901000\n";

/* What is told, a line for each event. */
struct telling {
	struct event_sink sink;
	struct text text;
	u64 mapped_ns, gone_ns; /* the last one */
};

static int tell_mapping(struct event_sink *self, const struct mapping *mapping)
{
	struct telling *telling = (struct telling *)self;

	telling->mapped_ns = mapping->time_ns;
	text_appendf(&telling->text, "map %llx ", (unsigned long long)mapping->start);
	return 0;
}

static int tell_symbol(struct event_sink *self, const struct kernel_symbol *symbol)
{
	struct telling *telling = (struct telling *)self;

	telling->gone_ns = symbol->time_ns;
	text_appendf(&telling->text, "%s %llx ", symbol->flags & 1 ? "gone" : "came",
		     (unsigned long long)symbol->start);
	return 0;
}

struct fixture {
	struct cover uevents;
	struct module_watch *watch;
	struct telling telling;
	u64 started_ns;
};

static int begin(void **state)
{
	static struct fixture fixture;

	fixture = (struct fixture){
		.telling.sink = {.on_mapping = tell_mapping, .on_kernel_symbol = tell_symbol}};
	*state = &fixture;
	return 0;
}

static void list(const char *modules)
{
	FILE *file = fopen("/proc/modules", "w");

	assert_non_null(file);
	fputs(modules, file);
	assert_int_equal(fclose(file), 0);
}

/* Skips where nothing can be covered. */
static void watch(struct fixture *fixture)
{
	if (geteuid())
		skip();
	fixture->uevents = cover_file(UEVENT_COUNT, "820\n");
	assert_int_equal(mount("none", "/proc", "tmpfs", 0, NULL), 0);
	list(vfat);
	fixture->watch = module_watch_new();
	fixture->started_ns = clock_ns(CLOCK_MONOTONIC);
}

static const char *look(struct fixture *fixture)
{
	text_truncate(&fixture->telling.text, 0);
	assert_int_equal(module_watch_look(fixture->watch, &fixture->telling.sink), 0);
	return text_view(&fixture->telling.text);
}

static int end(void **state)
{
	struct fixture *fixture = *state;

	bool has_begun = fixture->watch;

	module_watch_free(fixture->watch); /* what is open cannot be uncovered */
	if (has_begun) {
		umount("/proc");
		uncover(&fixture->uevents);
	}
	text_release(&fixture->telling.text);
	return 0;
}

static void the_list_is_read_when_the_kernel_has_told_of_something(void **state)
{
	struct fixture *fixture = *state;

	watch(fixture);
	list(snd);
	assert_string_equal(look(fixture), "");
	cover_write(&fixture->uevents, "821\n");
	assert_string_equal(look(fixture), "gone ffffffffc0900000 map ffffffffc0901000 ");
	cover_write(&fixture->uevents, "822\n");
	assert_string_equal(look(fixture), "");
}

static void between_two_looks_a_place_is_nobodys(void **state)
{
	struct fixture *fixture = *state;
	u64 looked_ns;

	watch(fixture);
	look(fixture);
	looked_ns = clock_ns(CLOCK_MONOTONIC);
	list(snd);
	cover_write(&fixture->uevents, "821\n");
	look(fixture);
	assert_true(fixture->telling.gone_ns >= fixture->started_ns);
	assert_true(fixture->telling.gone_ns < looked_ns);
	assert_true(fixture->telling.mapped_ns > looked_ns);
}

static void one_on_its_way_is_looked_for_again(void **state)
{
	struct fixture *fixture = *state;

	watch(fixture);
	list("snd 4096 0 - Loading 0xffffffffc0a00000 (+)\n");
	cover_write(&fixture->uevents, "821\n");
	assert_string_equal(look(fixture), "gone ffffffffc0900000 ");
	list("snd 4096 0 - Live 0xffffffffc0a00000\n");
	assert_string_equal(look(fixture), "map ffffffffc0a00000 ");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_list_is_read_when_the_kernel_has_told_of_something),
		TEST(between_two_looks_a_place_is_nobodys),
		TEST(one_on_its_way_is_looked_for_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
