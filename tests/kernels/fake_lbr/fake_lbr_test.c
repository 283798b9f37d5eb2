/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Branch stacks that a PMU delivers through the kernel, inside a guest that has the module: what
 * our BPF programs take, and what is in the file, is what was scripted.
 */
#include "fake_lbr.h"

#include "base/fail.h"
#include "bpfprof/branch_stack.h"
#include "kernel/recording.h"
#include "kernel/scripted_branches.h"
#include "perfdata/perfdata.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>

enum { SAMPLES = 10000, DRAIN_EACH = 500 };

static const char *own_path;

/* Overflow `number`: each depth in turn; each tenth register of the newest is unknown. */
static void script_overflow(u32 number, struct fake_lbr_overflow *ret_script)
{
	u64 seed = (number + 1) * 0x9e3779b97f4a7c15ULL;

	*ret_script = (struct fake_lbr_overflow){
		.nr = number % (FAKE_LBR_DEPTH + 1),
		.hw_idx = number % 10 ? random_word(&seed) % FAKE_LBR_DEPTH : ~0ULL,
	};
	for (u32 i = 0; i < FAKE_LBR_ENTRIES; i++) {
		ret_script->entries[i].from = random_word(&seed) >> 17;
		ret_script->entries[i].to = random_word(&seed) >> 17;
		ret_script->entries[i].flags = random_word(&seed) >> 40;
	}
}

static int open_device(void)
{
	return open("/dev/fake_lbr", O_WRONLY | O_CLOEXEC);
}

/* Whether the overflow came. An event that runs on another CPU only is none. */
static bool overflow(int device, const struct fake_lbr_overflow *script)
{
	return write(device, script, sizeof(*script)) == sizeof(*script);
}

static int load_module(void **state)
{
	int fd = open("/modules/fake_lbr.ko", O_RDONLY | O_CLOEXEC);
	long error = fd < 0 ? 0 : syscall(SYS_finit_module, fd, "", 0);

	if (error && errno != EEXIST)
		fprintf(stderr, "# cannot load the module: %s\n", strerror(errno));
	close(fd);
	(void)state;
	return 0;
}

/* A recording of this thread's overflows. */
static int start_recording(struct recording *recording, const char *event, struct event_sink *sink)
{
	static struct parsed_event *events;
	static u32 tid;
	size_t count;
	struct capture_settings settings = {
		.max_stack = 127,
		.branch_bits = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK,
		.branch_extras = PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES |
				 PERF_SAMPLE_BRANCH_HW_INDEX,
		.targets = {.tids = &tid, .tid_count = 1},
	};

	if (access("/dev/fake_lbr", W_OK))
		skip();
	tid = (u32)gettid();
	*recording = (struct recording){0};
	assert_int_equal(events_parse(event, "/sys", &events, &count), 0);
	events[0].rate = 1; /* each */
	settings.events = events;
	settings.event_count = count;
	int error = capture_open(&settings, &recording->capture);

	return error ? error : capture_start(recording->capture, sink);
}

/* Compares each sample with its script. */
struct comparer {
	struct event_sink sink;
	void (*script)(u32 number, struct fake_lbr_overflow *ret_script);
	u32 count, entries;
	bool has_index;
	u64 leaf; /* where the thread was: the same in all */
};

static int compare(struct event_sink *self, const struct sample *sample)
{
	struct comparer *comparer = (struct comparer *)self;
	struct fake_lbr_overflow script;
	bool has_stack;
	u64 entries;

	comparer->script(comparer->count++, &script);
	has_stack = script.trick == FAKE_LBR_PLAIN && script.nr <= BRANCH_STACK_BELIEVED;
	entries = !has_stack ? 0 : script.nr < FAKE_LBR_DEPTH ? script.nr : FAKE_LBR_DEPTH;
	assert_int_equal(sample->branch_count, entries);
	assert_true(sample->hw_idx == (has_stack && comparer->has_index ? script.hw_idx : ~0ULL));
	if (entries)
		assert_memory_equal(sample->branches, script.entries,
				    entries * sizeof(*sample->branches));
	comparer->entries += entries;
	assert_int_equal(sample->space, SPACE_USER);
	assert_true(sample->frame_count >= 1 && sample->frames[0].address == sample->address);
	if (!comparer->leaf)
		comparer->leaf = sample->address;
	assert_int_equal(sample->address, comparer->leaf);
	return 0;
}

/* Plays overflows 0 … count - 1, and compares what comes of them. */
static void play_and_compare(struct comparer *comparer, u32 count,
			     struct capture_totals *ret_totals)
{
	/* A stack that waits for a table comes later than those after it. */
	struct event_sink *sorter = sorter_new(&comparer->sink);
	CLEANUP(closep) int device = -1;
	struct fake_lbr_overflow script;
	struct recording recording;

	comparer->sink.on_sample = compare;
	assert_int_equal(start_recording(&recording, "fake_lbr//", sorter), 0);
	device = open_device();
	for (u32 number = 0; number < count; number++) {
		comparer->script(number, &script);
		assert_true(overflow(device, &script));
		if (number % DRAIN_EACH == 0)
			assert_int_equal(capture_drain(recording.capture), 0);
	}
	assert_int_equal(capture_stop(recording.capture), 0);
	capture_totals(recording.capture, ret_totals);
	assert_int_equal(capture_branch_depth(recording.capture), FAKE_LBR_DEPTH);
	recording_release(&recording);
	sorter_free(sorter);
	assert_int_equal(comparer->count, count);
}

static void bytes_and_index_are_those_that_were_scripted(void **state)
{
	struct comparer comparer = {.script = script_overflow, .has_index = true};
	struct capture_totals totals;

	play_and_compare(&comparer, SAMPLES, &totals);
	assert_int_equal(totals.counters[COUNTER_samples_sent], SAMPLES);
	assert_int_equal(totals.counters[COUNTER_branches_missing], 0);
	assert_int_equal(totals.counters[COUNTER_branches_truncated], 0);
	assert_int_equal(totals.counters[COUNTER_branches_garbage], 0);
	assert_int_equal(totals.counters[COUNTER_branches_no_index], 0);
	print_message("# %u samples with %u entries are as scripted\n", comparer.count,
		      comparer.entries);
	(void)state;
}

/* Each fourth is one that is beyond the registers, none at all, none and not said, or no number. */
static void script_odd_overflow(u32 number, struct fake_lbr_overflow *ret_script)
{
	script_overflow(number, ret_script);
	if (number % 4 == 0)
		ret_script->nr = FAKE_LBR_DEPTH + 1 + number % (FAKE_LBR_ENTRIES - FAKE_LBR_DEPTH);
	else if (number % 4 == 1)
		ret_script->trick = FAKE_LBR_NULL;
	else if (number % 4 == 2)
		ret_script->trick = FAKE_LBR_UNSAID;
	else
		ret_script->nr = 573463052421;
}

static void odd_stacks_are_cut_or_left_out_and_counted(void **state)
{
	struct comparer comparer = {.script = script_odd_overflow, .has_index = true};
	struct capture_totals totals;

	play_and_compare(&comparer, 1000, &totals);
	assert_int_equal(totals.counters[COUNTER_branches_truncated], 250);
	assert_int_equal(totals.counters[COUNTER_branches_missing], 500);
	assert_int_equal(totals.counters[COUNTER_branches_garbage], 250);
	(void)state;
}

/* An event of one CPU, on which this thread then stays, without our programs. */
static int open_event(void)
{
	static const char type_path[] = "/sys/bus/event_source/devices/fake_lbr/type";
	FILE *file = fopen(type_path, "re");
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK,
	};
	cpu_set_t cpus;
	long fd;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	assert_int_equal(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%u", &attr.type), 1);
	fclose(file);
	fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	assert_true(fd >= 0);
	return (int)fd;
}

/* Compares each sample with its script, but for the number of the register. */
static int compare_without_index(struct event_sink *self, const struct sample *sample)
{
	struct comparer *comparer = (struct comparer *)self;
	struct fake_lbr_overflow script;

	script_overflow(comparer->count++, &script);
	assert_int_equal(sample->branch_count, script.nr);
	assert_true(sample->hw_idx == ~0ULL);
	if (script.nr)
		assert_memory_equal(sample->branches, script.entries,
				    script.nr * sizeof(*sample->branches));
	return 0;
}

static void the_helper_tells_the_same_entries_without_hw_idx(void **state)
{
	struct comparer comparer = {.sink.on_sample = compare_without_index};
	CLEANUP(player_release) struct player player = {0};
	CLEANUP(closep) int device = open_device();
	struct fake_lbr_overflow script;
	struct bpf_link *link;

	if (device < 0)
		skip();
	player_prepare(&player, FAKE_LBR_DEPTH);
	bpf_program__set_autoload(player.skeleton->progs.play_scripts, false);
	assert_int_equal(branch_stack_bpf__load(player.skeleton), 0);
	assert_int_equal(ring_open(bpf_map__fd(player.skeleton->maps.ring), true, &player.ring), 0);
	link = bpf_program__attach_perf_event(player.skeleton->progs.take_by_helper, open_event());
	assert_non_null(link);
	for (u32 number = 0; number < SAMPLES; number++) {
		script_overflow(number, &script);
		assert_true(overflow(device, &script));
		if (number % DRAIN_EACH == 0)
			assert_int_equal(ring_drain(player.ring, &comparer.sink), 0);
	}
	assert_int_equal(ring_drain(player.ring, &comparer.sink), 0);
	bpf_link__destroy(link);
	assert_int_equal(comparer.count, SAMPLES);
	assert_int_equal(counter_of(&player, COUNTER_branches_no_index), SAMPLES);
	(void)state;
}

static u64 bits_with(const char *event)
{
	struct event_sink sink = {0};
	struct recording recording;
	u32 count;
	u64 bits;

	assert_int_equal(start_recording(&recording, event, &sink), 0);
	bits = capture_sources(recording.capture, &count)->branch_bits;
	recording_release(&recording);
	return bits;
}

static void fewer_bits_are_asked_for_where_some_are_refused(void **state)
{
	static const u64 needed = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK;
	static const u64 shorter = PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES;

	assert_int_equal(bits_with("fake_lbr//"), needed | shorter | PERF_SAMPLE_BRANCH_HW_INDEX);
	assert_int_equal(bits_with("fake_lbr/config=1/"), needed | shorter);
	assert_int_equal(bits_with("fake_lbr/config=3/"), needed);
	(void)state;
}

static void what_the_pmu_cannot_do_is_said_with_what_to_use(void **state)
{
	struct event_sink sink = {0};
	struct recording recording;

	assert_int_equal(start_recording(&recording, "fake_lbr/config=4/", &sink), -EOPNOTSUPP);
	assert_non_null(strstr(fail_sentence(), "LBR"));
	assert_non_null(strstr(fail_sentence(), "use --call-graph auto"));
	recording_release(&recording);
	(void)state;
}

/* Runs bpfprof on ourselves as `play`, and reads what it wrote into `sink`. */
static struct perfdata *record_file(const char *options, struct event_sink *sink)
{
	static const char path[] = "/tmp/fake_lbr.data";
	CLEANUP(freep)
	char *command = must_format("%s record -q %s -c 1 -e fake_lbr// -o %s -- "
				    "%s play",
				    getenv("BPFPROF") ? getenv("BPFPROF") : "bpfprof", options,
				    path, own_path);
	struct perfdata *data;

	if (access("/dev/fake_lbr", W_OK))
		skip();
	assert_int_equal(system(command), 0);
	assert_int_equal(perfdata_open(path, &data), 0);
	assert_int_equal(perfdata_read(data, sink), 0);
	assert_string_equal(perfdata_warnings(data), "");
	return data;
}

static void the_file_of_raw_stacks_holds_what_was_scripted(void **state)
{
	struct comparer comparer = {
		.sink.on_sample = compare, .script = script_overflow, .has_index = true};
	CLEANUP(perfdata_closep)
	struct perfdata *data = record_file("--call-graph lbr --no-stitch", &comparer.sink);
	const struct event_source *source;
	u32 count;

	assert_int_equal(comparer.count, SAMPLES);
	source = perfdata_sources(data, &count);
	assert_true(source->has_branches && source->has_chain);
	assert_int_equal(source->branch_bits,
			 PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
				 PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES |
				 PERF_SAMPLE_BRANCH_HW_INDEX);
	assert_int_equal(perfdata_header(data)->branch_depth, FAKE_LBR_DEPTH);
	assert_false(perfdata_header(data)->has_branch_feature);
	(void)state;
}

/* Counts samples; each has a call chain that begins where the thread was, and no branch stack. */
static int count_chain(struct event_sink *self, const struct sample *sample)
{
	((struct comparer *)self)->count++;
	assert_int_equal(sample->branch_count, 0);
	assert_true(sample->frame_count >= 1 && sample->frames[0].address == sample->address);
	return 0;
}

static void by_default_the_file_holds_call_chains(void **state)
{
	struct comparer counter = {.sink.on_sample = count_chain};
	CLEANUP(perfdata_closep)
	struct perfdata *data = record_file("--call-graph lbr", &counter.sink);
	u32 count;
	const struct event_source *source = perfdata_sources(data, &count);

	assert_int_equal(counter.count, SAMPLES);
	assert_true(source->has_chain && !source->has_branches && !source->branch_bits);
	(void)state;
}

/* Compares the branches of each sample, which has no call chain. */
static int compare_branches(struct event_sink *self, const struct sample *sample)
{
	struct comparer *comparer = (struct comparer *)self;
	struct fake_lbr_overflow script;

	script_overflow(comparer->count++, &script);
	assert_int_equal(sample->frame_count, 0);
	assert_int_equal(sample->branch_count, script.nr);
	if (script.nr)
		assert_memory_equal(sample->branches, script.entries,
				    script.nr * sizeof(*sample->branches));
	return 0;
}

static void branches_are_recorded_without_stacks(void **state)
{
	struct comparer comparer = {.sink.on_sample = compare_branches};
	CLEANUP(perfdata_closep)
	struct perfdata *data = record_file("-j any_call,u", &comparer.sink);
	u32 count;
	const struct event_source *source = perfdata_sources(data, &count);

	assert_int_equal(comparer.count, SAMPLES);
	assert_true(source->has_branches && !source->has_chain);
	assert_int_equal(source->branch_bits,
			 PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY_CALL);
	assert_true(perfdata_header(data)->has_branch_feature);
	(void)state;
}

/* As the command of a recording. */
static int play_all(void)
{
	CLEANUP(closep) int device = open_device();
	struct fake_lbr_overflow script;

	for (u32 number = 0; number < SAMPLES; number++) {
		script_overflow(number, &script);
		if (!overflow(device, &script))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_and_index_are_those_that_were_scripted),
		cmocka_unit_test(odd_stacks_are_cut_or_left_out_and_counted),
		cmocka_unit_test(the_helper_tells_the_same_entries_without_hw_idx),
		cmocka_unit_test(fewer_bits_are_asked_for_where_some_are_refused),
		cmocka_unit_test(what_the_pmu_cannot_do_is_said_with_what_to_use),
		cmocka_unit_test(the_file_of_raw_stacks_holds_what_was_scripted),
		cmocka_unit_test(by_default_the_file_holds_call_chains),
		cmocka_unit_test(branches_are_recorded_without_stacks),
	};

	own_path = argv[0];
	if (argc > 1 && !strcmp(argv[1], "play"))
		return play_all();
	return cmocka_run_group_tests(tests, load_module, NULL);
}
