/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording counted in parts is the recording counted at once, row by row; and what was counted
 * comes back from bytes as it was, or not at all.
 */
#include "unit/unit.h"

#include "base/memory.h"
#include "base/text.h"
#include "profile/profile.h"

#include <errno.h>
#include <inttypes.h>

enum { EVENTS = 3000, MOST_PARTS = 7, THREADS = 12, MOST_FRAMES = 6 };

static const struct event_source source = {.name = "cpu-clock"};

/* Numbers that are the same each time. */
static u32 next_number(u64 *state, u32 below)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (u32)(*state >> 33) % below;
}

static void happen_map(u64 *state, u32 pid, struct event_sink *sink)
{
	static const char *const paths[] = {"/bin/one", "/lib/two.so", "//anon", "[vdso]",
					    "[kernel.kallsyms]_text"};
	u32 path = next_number(state, ARRAY_COUNT(paths));
	bool is_kernel = path == ARRAY_COUNT(paths) - 1;
	struct mapping mapping = {
		.pid = is_kernel ? ~0u : pid,
		.tid = pid,
		.space = is_kernel ? SPACE_KERNEL : SPACE_USER,
		.start = 0x1000 * (u64)next_number(state, 4),
		.bytes = 0x1800,
		.path = paths[path],
	};

	sink_call(sink, on_mapping, &mapping);
}

static void happen_sample(u64 *state, u64 time_ns, u32 tid, struct event_sink *sink)
{
	struct frame frames[MOST_FRAMES];
	struct sample sample = {
		.time_ns = time_ns,
		.weight = 1 + next_number(state, 5),
		.address = 0x100 * (u64)next_number(state, 64),
		.space = next_number(state, 2) ? SPACE_USER : SPACE_KERNEL,
		.pid = tid / 2,
		.tid = tid,
		.has_chain = true,
		.cut = next_number(state, 3) ? CUT_COMPLETE : CUT_NO_TABLE,
		.walked = WALK_FRAME_POINTER,
		.frames = frames,
		.frame_count = (u16)next_number(state, MOST_FRAMES + 1),
	};

	for (u32 i = 0; i < sample.frame_count; i++)
		frames[i] = (struct frame){
			.address = 0x100 * (u64)next_number(state, 64),
			.space = i < 2 ? sample.space : SPACE_USER,
			.origin = (u8)next_number(state, ORIGIN_COUNT),
		};
	sink_call(sink, on_sample, &sample);
}

/* What is no sample. */
static void happen_other(u64 *state, u64 time_ns, u32 tid, struct event_sink *sink)
{
	static const char *const names[] = {"one", "two", "three"};
	struct thread_life life = {.time_ns = time_ns * 100000000,
				   .pid = tid / 2,
				   .tid = tid,
				   .parent_pid = (tid + 2) / 2,
				   .parent_tid = tid + 2};
	struct thread_name name = {.pid = tid / 2, .tid = tid, .name = names[time_ns % 3]};
	struct kernel_symbol symbol = {
		.start = 0x100 * (time_ns % 64), .bytes = 0x80, .name = names[time_ns % 3]};

	switch (next_number(state, 5)) {
	case 0:
		sink_call(sink, on_fork, &life);
		break;
	case 1:
		sink_call(sink, on_exit, &life);
		break;
	case 2:
		sink_call(sink, on_name, &name);
		break;
	case 3:
		sink_call(sink, on_kernel_symbol, &symbol);
		break;
	default:
		happen_map(state, tid / 2, sink);
	}
}

/* The events [from, to) of a recording; those before it go to `before`, but for its samples. */
static void happen(u64 seed, u32 from, u32 to, struct event_sink *before, struct event_sink *sink)
{
	static struct event_sink nobody;
	u64 state = seed;

	for (u32 i = 0; i < to; i++) {
		u32 tid = next_number(&state, THREADS);
		bool is_sample = next_number(&state, 4) != 0;

		if (is_sample)
			happen_sample(&state, i + 1, tid, i < from ? &nobody : sink);
		else
			happen_other(&state, i + 1, tid, i < from ? before : sink);
	}
}

/* The same without those before it. */
static void happen_between(u64 seed, u32 from, u32 to, struct event_sink *sink)
{
	static struct event_sink nobody;

	happen(seed, from, to, &nobody, sink);
}

static bool has_odd_address(void *context, struct profile *profile, location_id location)
{
	(void)context;
	return profile->locations.items[location].address & 0x100;
}

static struct profile_builder *new_builder(void)
{
	const struct builder_settings settings = {.keep = KEEP_TID,
						  .names = {has_odd_address, NULL}};

	return profile_builder_new(&settings, &source, 1);
}

static struct profile *count_parts(u64 seed, u32 parts)
{
	struct profile_builder *builders[MOST_PARTS];
	struct profile *profile;

	for (u32 i = 0; i < parts; i++) {
		builders[i] = new_builder();
		happen(seed, EVENTS * i / parts, EVENTS * (i + 1) / parts,
		       profile_builder_follower(builders[i]), profile_builder_sink(builders[i]));
		profile_builder_note_uses(builders[i]);
		if (i)
			profile_builder_append(builders[0], builders[i]);
	}
	profile = profile_builder_take(builders[0]);
	for (u32 i = 0; i < parts; i++)
		profile_builder_free(builders[i]);
	return profile;
}

static void write_places(const struct profile *profile, struct text *text)
{
	for (u32 i = 0; i < profile->binaries.count; i++) {
		const struct binary_row *row = &profile->binaries.items[i];

		text_appendf(text, "binary %s %s %u %u %u %" PRIx64 "\n",
			     profile_text(profile, row->path),
			     profile_text(profile, row->short_name), row->owner_pid,
			     row->mapped_order, row->kind, row->start);
	}
	for (u32 i = 0; i < profile->locations.count; i++) {
		const struct location_row *row = &profile->locations.items[i];

		text_appendf(text, "location %u %" PRIx64 " %" PRIx64 " %u %u\n", row->binary,
			     row->address, row->seen_at, row->space, row->uses);
	}
	for (u32 i = 0; i < profile->stacks.count; i++) {
		const struct stack_row *row = &profile->stacks.items[i];

		text_appendf(text, "stack %u %u %u\n", row->caller, row->location, row->depth);
	}
}

static void write_counts(const struct profile *profile, struct text *text)
{
	for (u32 i = 0; i < profile->threads.count; i++) {
		const struct thread_row *row = &profile->threads.items[i];

		text_appendf(text, "thread %u %u %s\n", row->pid, row->tid,
			     profile_text(profile, row->comm));
	}
	for (u32 i = 0; i < profile->labels.count; i++) {
		const struct label_row *row = &profile->labels.items[i];

		text_appendf(text, "label %s %u %u\n", profile_text(profile, row->comm), row->pid,
			     row->tid);
	}
	for (u32 i = 0; i < profile->counts.count; i++) {
		const struct count_row *row = &profile->counts.items[i];

		text_appendf(text, "count %u %u %u %u %" PRIu64 " %" PRIu64 "\n", row->stack,
			     row->leaf, row->labels, row->first_thread, row->weight, row->samples);
	}
	for (u32 i = 0; i < profile->early_ends.count; i++) {
		const struct early_end_row *row = &profile->early_ends.items[i];

		text_appendf(text, "early end %u %u %" PRIu64 "\n", row->binary, row->cut,
			     row->stacks);
	}
	text_appendf(text, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		     profile->totals.samples, profile->totals.weight, profile->totals.first_ns,
		     profile->totals.last_ns);
}

/* All rows, as text; frees the profile. */
static char *rows_of(struct profile *profile)
{
	struct text text = {0};
	char *rows;

	write_places(profile, &text);
	write_counts(profile, &text);
	rows = must_copy(text_view(&text));
	text_release(&text);
	profile_free(profile);
	return rows;
}

static void parts_are_counted_as_the_whole(void **state)
{
	for (u64 seed = 1; seed <= 20; seed++) {
		CLEANUP(freep) char *whole = rows_of(count_parts(seed, 1));

		for (u32 parts = 2; parts <= MOST_PARTS; parts++) {
			CLEANUP(freep) char *together = rows_of(count_parts(seed, parts));

			assert_string_equal(together, whole);
		}
	}
	(void)state;
}

static void who_settled_is_appended_and_counts_on(void **state)
{
	for (u64 seed = 1; seed <= 5; seed++) {
		CLEANUP(freep) char *whole = rows_of(count_parts(seed, 1));
		CLEANUP(freep) char *together = NULL;
		struct profile_builder *first = new_builder(), *next = new_builder();
		struct event_sink *sink = profile_builder_sink(first);

		happen(seed, 0, EVENTS / 4, sink, sink);
		profile_builder_settle(first);
		happen_between(seed, EVENTS / 4, EVENTS / 2, sink);
		happen(seed, EVENTS / 2, EVENTS, profile_builder_follower(next),
		       profile_builder_sink(next));
		profile_builder_settle(next);
		profile_builder_note_uses(first);
		profile_builder_note_uses(next);
		profile_builder_append(first, next);
		together = rows_of(profile_builder_take(first));
		profile_builder_free(first);
		profile_builder_free(next);
		assert_string_equal(together, whole);
	}
	(void)state;
}

static void details_are_not_counted_in_parts(void **state)
{
	assert_true(profile_builder_can_append(&(struct builder_settings){.keep = KEEP_PID}));
	assert_false(
		profile_builder_can_append(&(struct builder_settings){.count_branches = true}));
	assert_false(profile_builder_can_append(
		&(struct builder_settings){.details = {.kept = 1u << DETAIL_TIME}}));
	(void)state;
}

/* What is counted without names. */
static void pack_counted(u64 seed, struct text *packed, struct profile **ret_profile)
{
	const struct builder_settings settings = {.keep = KEEP_TID};
	struct profile_builder *builder = profile_builder_new(&settings, &source, 1);

	happen(seed, 0, EVENTS, profile_builder_sink(builder), profile_builder_sink(builder));
	*ret_profile = profile_builder_take(builder);
	profile_builder_free(builder);
	assert_int_equal(profile_pack(*ret_profile, packed), 0);
}

static struct bytes bytes_of(const struct text *text)
{
	return (struct bytes){(const u8 *)text->bytes, text->length};
}

static char *rows_of_merged(struct profile *profile)
{
	struct profile *merged = profile_new();

	profile_merge(merged, profile);
	assert_string_equal(merged->sources.items[0].name, source.name);
	profile_free(profile);
	return rows_of(merged);
}

static void a_packed_profile_comes_back(void **state)
{
	for (u64 seed = 1; seed <= 5; seed++) {
		CLEANUP(text_release) struct text packed = {0};
		struct profile *profile, *same, *again;
		CLEANUP(freep) char *rows = NULL;
		CLEANUP(freep) char *same_rows = NULL;
		CLEANUP(freep) char *merged = NULL;
		CLEANUP(freep) char *same_merged = NULL;

		pack_counted(seed, &packed, &profile);
		assert_int_equal(profile_unpack(bytes_of(&packed), &same), 0);
		assert_int_equal(profile_unpack(bytes_of(&packed), &again), 0);
		same_rows = rows_of(same);
		same_merged = rows_of_merged(again);
		pack_counted(seed, &packed, &again);
		merged = rows_of_merged(again);
		rows = rows_of(profile);
		assert_string_equal(same_rows, rows);
		assert_string_equal(same_merged, merged);
	}
	(void)state;
}

static void a_cut_profile_is_none(void **state)
{
	CLEANUP(text_release) struct text packed = {0};
	struct profile *profile;

	pack_counted(1, &packed, &profile);
	profile_free(profile);
	for (size_t length = 0; length < packed.length; length += 1 + packed.length / 499) {
		/* on its own, so that a look behind its end is seen */
		char *cut = must_copy_bytes(packed.bytes, length);
		struct bytes bytes = {(const u8 *)cut, length};

		assert_int_equal(profile_unpack(bytes, &profile), -EBADMSG);
		free(cut);
	}
	(void)state;
}

/* What comes out of bytes that somebody changed can be merged, whatever it means. */
static void a_damaged_profile_can_be_merged(void **state)
{
	CLEANUP(text_release) struct text packed = {0};
	struct profile *profile;

	pack_counted(2, &packed, &profile);
	profile_free(profile);
	for (size_t i = 0; i < 500; i++) {
		size_t at = i * 7919 % packed.length;
		char before = packed.bytes[at];

		packed.bytes[at] = (char)(before ^ 1 << i % 8);
		if (!profile_unpack(bytes_of(&packed), &profile))
			free(rows_of(profile));
		if (!profile_unpack(bytes_of(&packed), &profile)) {
			struct profile *merged = profile_new();

			profile_merge(merged, profile);
			profile_free(merged);
			profile_free(profile);
		}
		packed.bytes[at] = before;
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_counted_as_the_whole),
		cmocka_unit_test(who_settled_is_appended_and_counts_on),
		cmocka_unit_test(details_are_not_counted_in_parts),
		cmocka_unit_test(a_packed_profile_comes_back),
		cmocka_unit_test(a_cut_profile_is_none),
		cmocka_unit_test(a_damaged_profile_can_be_merged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
