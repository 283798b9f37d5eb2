/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which cgroups are told of, and when: over folders that stand for a tree of them.
 */
#include "base/memory.h"
#include "base/text.h"
#include "capture/cgroup_teller.h"
#include "unit/unit.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct scene {
	struct event_sink told; /* first */
	char *top, *child;
	struct cgroup_teller *teller;
	struct event_sink *sink;
	struct text text;
};

static int tell_sample(struct event_sink *sink, const struct sample *sample)
{
	text_appendf(&((struct scene *)sink)->text, "%llu sample; ",
		     (unsigned long long)sample->time_ns);
	return 0;
}

static int tell_cgroup(struct event_sink *sink, const struct cgroup_name *cgroup)
{
	text_appendf(&((struct scene *)sink)->text, "%llu %s; ",
		     (unsigned long long)cgroup->time_ns, cgroup->path);
	return 0;
}

static u64 id_of(const char *folder)
{
	struct stat status;

	assert_int_equal(stat(folder, &status), 0);
	return status.st_ino;
}

static int begin(void **state)
{
	struct scene *scene = must_alloc(sizeof(*scene));
	char top[] = "/tmp/teller-test-XXXXXX";

	assert_non_null(mkdtemp(top));
	*scene = (struct scene){.told = {.on_sample = tell_sample, .on_cgroup = tell_cgroup},
				.top = must_copy(top),
				.child = must_format("%s/a", top)};
	assert_int_equal(mkdir(scene->child, 0700), 0);
	scene->teller = cgroup_teller_new(CGROUP_TREE_V2, must_copy(top), 0);
	scene->sink = cgroup_teller_sink(scene->teller, &scene->told);
	*state = scene;
	return 0;
}

static int end(void **state)
{
	struct scene *scene = *state;

	cgroup_teller_free(scene->teller);
	rmdir(scene->child);
	rmdir(scene->top);
	free(scene->child);
	free(scene->top);
	text_release(&scene->text);
	free(scene);
	return 0;
}

static void sample(const struct scene *scene, u64 cgroup, u64 time_ns)
{
	sink_call(scene->sink, on_sample, &(struct sample){.time_ns = time_ns, .cgroup = cgroup});
}

static void one_is_told_with_its_first_sample_only(void **state)
{
	struct scene *scene = *state;

	sample(scene, id_of(scene->child), 10);
	sample(scene, id_of(scene->child), 11);
	sample(scene, 0, 12); /* unknown */
	assert_string_equal(text_view(&scene->text), "10 /a; 10 sample; 11 sample; 12 sample; ");
}

static void one_that_is_gone_keeps_its_path(void **state)
{
	struct scene *scene = *state;
	u64 id = id_of(scene->child);

	rmdir(scene->child);
	sample(scene, id, 10);
	assert_string_equal(text_view(&scene->text), "10 /a; 10 sample; ");
}

static void each_is_told_again_after_a_turn(void **state)
{
	struct scene *scene = *state;

	sample(scene, id_of(scene->child), 10);
	cgroup_teller_turn(scene->teller);
	sample(scene, id_of(scene->child), 11);
	assert_string_equal(text_view(&scene->text), "10 /a; 10 sample; 11 /a; 11 sample; ");
}

static void the_kernel_may_tell_of_it_after_its_sample(void **state)
{
	struct scene *scene = *state;
	struct cgroup_name made = {.time_ns = 5, .id = 1ULL << 40, .path = "/made"};
	struct cgroup_name other = {.time_ns = 6, .id = 1ULL << 41, .path = "/other"};

	sample(scene, made.id, 10);
	sink_call(scene->sink, on_cgroup, &made);
	sink_call(scene->sink, on_cgroup, &other); /* without samples */
	assert_string_equal(text_view(&scene->text), "10 sample; 5 /made; ");
	assert_int_equal(cgroup_teller_unnamed(scene->teller), 0);
}

static void one_nobody_told_of_is_looked_for_at_the_end(void **state)
{
	struct scene *scene = *state;
	CLEANUP(freep) char *late = must_format("%s/b", scene->top);

	assert_int_equal(mkdir(late, 0700), 0);
	sample(scene, id_of(late), 10);
	sample(scene, 1ULL << 40, 11); /* there is none */
	sink_call(scene->sink, on_round, ~0ULL);
	rmdir(late);
	assert_string_equal(text_view(&scene->text), "10 sample; 11 sample; 10 /b; ");
	assert_int_equal(cgroup_teller_unnamed(scene->teller), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_is_told_with_its_first_sample_only),
		TEST(one_that_is_gone_keeps_its_path),
		TEST(each_is_told_again_after_a_turn),
		TEST(the_kernel_may_tell_of_it_after_its_sample),
		TEST(one_nobody_told_of_is_looked_for_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
