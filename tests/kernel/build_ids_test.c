/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Build ids of what is mapped while we record: that they are right, and that asking for them leaves
 * the records of other tools alone.
 */
#include "kernel/recording.h"
#include "unit/build_id_at.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

/* What the storm mapped: files, and those that came with the id that is in the file. */
static u64 mapped_files, right_ids;

static int compare_id(struct event_sink *self, const struct mapping *mapping)
{
	struct build_id id;

	if (!mapping->time_ns || mapping->is_data || mapping->path[0] != '/' ||
	    build_id_at(mapping->path, &id))
		return 0;
	mapped_files++;
	right_ids += mapping->build_id_bytes == id.length &&
		     !memcmp(mapping->build_id, id.bytes, id.length);
	(void)self;
	return 0;
}

/* An event that tells what is mapped, for pid and cpu as perf_event_open(). */
static int open_watcher(pid_t pid, int cpu, bool asks_for_build_ids)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = 1,
		.mmap2 = 1,
		.build_id = asks_for_build_ids,
		.exclude_kernel = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Another tool: an event that asks for the build ids of all that is mapped on the first CPU. */
static int ask_for_build_ids(void)
{
	return open_watcher(-1, 0, true);
}

/* A storm of short-lived processes, all of whose mappings must have the right ids. */
static void record_storm(struct recording *recording, bool beside_another)
{
	int older = beside_another ? ask_for_build_ids() : -1;
	int newer = -1;
	u32 children = amount(1000);
	CLEANUP(freep) char *forky = workload("forky");
	CLEANUP(freep) char *count = must_format("%u", children);
	char *storm[] = {forky, count, "0", "/bin/true", NULL};
	struct capture_settings settings = {.targets = {.command = storm}};

	mapped_files = right_ids = 0;
	assert_int_equal(recording_open(recording, &settings), 0);
	recording->sink.on_mapping = compare_id;
	/* Its mark leaks into what the kernel tells next: either of them is before us. */
	if (beside_another)
		newer = ask_for_build_ids();
	assert_int_equal(capture_start(recording->capture, &recording->sink), 0);
	recording_run(recording, SIZE_MAX);
	recording_stop(recording);
	closep(&older);
	closep(&newer);
	/* The program, its interpreter, its library. */
	assert_true(mapped_files >= 3ULL * children);
	assert_int_equal(right_ids, mapped_files);
}

static void every_mapping_of_a_storm_carries_its_build_id(void **state)
{
	CLEANUP(recording_release) struct recording recording = {0};

	skip_without_permission();
	record_storm(&recording, false);
	(void)state;
}

static void every_mapping_carries_its_build_id_beside_a_tool_that_asks_for_them(void **state)
{
	CLEANUP(recording_release) struct recording recording = {0};

	skip_without_permission();
	record_storm(&recording, true);
	(void)state;
}

/* Whether a mapping's record of an event that did not ask for build ids is marked as holding one.
 */
static bool is_marked(void)
{
	size_t page_bytes = (size_t)getpagesize();
	int event = open_watcher(0, -1, false);
	u8 *ring = mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
	int program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const struct perf_event_header *record = (const void *)(ring + page_bytes);
	bool marked;

	assert_true(ring != MAP_FAILED);
	munmap(mmap(NULL, page_bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, program, 0), page_bytes);
	assert_int_equal(record->type, PERF_RECORD_MMAP2);
	marked = record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID;
	munmap(ring, 2 * page_bytes);
	close(program);
	close(event);
	return marked;
}

static void records_of_others_are_not_marked_while_we_record(void **state)
{
	CLEANUP(recording_release) struct recording recording = {0};
	struct capture_settings settings = {.targets = {.all = true}};
	bool marked;

	if (!may_capture() || is_marked()) /* by somebody else who records now */
		skip();
	assert_int_equal(recording_start(&recording, &settings), 0);
	marked = is_marked();
	recording_stop(&recording);
	if (marked && is_marked())
		skip();
	assert_false(marked);
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_mapping_of_a_storm_carries_its_build_id),
		cmocka_unit_test(
			every_mapping_carries_its_build_id_beside_a_tool_that_asks_for_them),
		cmocka_unit_test(records_of_others_are_not_marked_while_we_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
