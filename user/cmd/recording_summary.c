/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a person reads about a recording: while it runs, and when it has ended.
 */
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "bpfprof/counters.h"
#include "cmd/live_stitching.h"
#include "cmd/recording.h"

#include <inttypes.h>
#include <string.h>

void recording_say(const char *sentence)
{
	CLEANUP(text_release) struct text line = {0};

	progress_clear();
	text_append_printable(&line, sentence);
	fprintf(stderr, "bpfprof: %s\n", text_view(&line));
}

static u64 sum_of(const struct capture_totals *totals, enum counter_kind kind)
{
	u64 sum = 0;

	for (u32 row = 0; row < COUNTER_COUNT; row++)
		if (counter_rows[row].kind == kind)
			sum += totals->counters[row];
	return sum;
}

/* What recording itself takes, without the start, which does not grow with the time. */
static double percent_of_cpu(const struct recording_result *result)
{
	u64 spent_ns = result->cpu_ns - result->start_cpu_ns + result->totals.bpf_ns;

	return result->wall_ns ? 100.0 * (double)spent_ns / (double)result->wall_ns : 0;
}

char *recording_status(const struct recording_result *so_far)
{
	char samples[NUMBER_TEXT_BYTES], lost[NUMBER_TEXT_BYTES];

	return must_format("recording %.0f s: %s samples, %s lost, %.1f%% of a CPU (Ctrl-C ends)",
			   (double)so_far->wall_ns / 1e9,
			   number_format_count(sum_of(&so_far->totals, SENT), samples),
			   number_format_count(sum_of(&so_far->totals, LOST), lost),
			   percent_of_cpu(so_far));
}

static void append_events(struct text *text, const struct record_plan *plan)
{
	for (size_t i = 0; i < plan->event_count; i++) {
		text_append(text, i ? "," : "");
		text_append_printable(text, plan->events[i].name);
	}
}

/* One line, if there is something to say: "12 lost: why". */
static void print_row(const struct capture_totals *totals, u32 row, const char *words)
{
	char count[NUMBER_TEXT_BYTES];

	if (totals->counters[row])
		fprintf(stderr, "bpfprof: %8s %s: %s\n",
			number_format_count(totals->counters[row], count), words,
			counter_rows[row].sentence);
}

/* One line for each thing of that kind that went wrong, but `passed_over`. */
static void print_rows(const struct capture_totals *totals, enum counter_kind kind,
		       const char *words, u32 passed_over)
{
	for (u32 row = 0; row < COUNTER_COUNT; row++)
		if (counter_rows[row].kind == kind && row != passed_over)
			print_row(totals, row,
				  kind == OTHER && totals->counters[row] == 1 ? "time" : words);
}

static void print_counters(const struct capture_totals *totals)
{
	for (u32 row = 0; row < COUNTER_COUNT; row++)
		fprintf(stderr, "bpfprof: %-24s %12" PRIu64 "  %s\n", counter_rows[row].name,
			totals->counters[row], counter_rows[row].sentence);
	fprintf(stderr, "bpfprof: %-24s %12" PRIu64 "  %s\n", "overflows_expected",
		totals->overflows_expected, "events by the counters themselves");
}

static void print_samples(const struct record_plan *plan, const struct recording_result *result)
{
	CLEANUP(text_release) struct text line = {0};
	char count[NUMBER_TEXT_BYTES], time[NUMBER_TEXT_BYTES];
	u64 samples = sum_of(&result->totals, SENT), lost = sum_of(&result->totals, LOST);

	text_appendf(&line, "%s samples of ", number_format_count(samples, count));
	append_events(&line, plan);
	text_appendf(&line, " in %s, ", number_format_duration(result->wall_ns, time));
	if (lost)
		text_appendf(&line, "%s lost (%.1f%%)", number_format_count(lost, count),
			     100.0 * (double)lost / (double)(samples + lost));
	else
		text_append(&line, "none lost");
	if (!samples && !lost)
		text_append(&line, "; nothing that was asked for ran on a CPU");
	fprintf(stderr, "bpfprof: %s\n", text_view(&line));
}

/* User stacks of which the kernel, which walked them, does not say whether they are whole. */
static u64 unknown_stacks(const u64 *counters)
{
	return counters[COUNTER_user_stacks] - counters[COUNTER_user_stacks_whole] -
	       counters[COUNTER_user_stack_failed] - counters[COUNTER_user_stack_too_deep] -
	       counters[COUNTER_user_stack_broken] - counters[COUNTER_user_stack_no_table] -
	       counters[COUNTER_user_stack_unsupported] - counters[COUNTER_user_stack_not_analysed];
}

static void print_whole_stacks(const u64 *counters)
{
	u64 all = counters[COUNTER_user_stacks], whole = counters[COUNTER_user_stacks_whole];
	u64 per_mille = whole * 1000 / all; /* rounded down: 100.0% is all of them */
	char stacks[NUMBER_TEXT_BYTES], part[NUMBER_TEXT_BYTES];

	fprintf(stderr, "bpfprof: %s of %s user stacks whole (%.1f%%)",
		number_format_count(whole, part), number_format_count(all, stacks),
		(double)per_mille / 10);
	if (unknown_stacks(counters))
		fprintf(stderr, ", of %s the kernel does not say",
			number_format_count(unknown_stacks(counters), part));
	fputc('\n', stderr);
}

static void print_stacks(const struct record_plan *plan, const struct capture_totals *totals)
{
	const u64 *counters = totals->counters;
	bool by_tables = plan->capture.call_graph != CALL_GRAPH_FP;
	char stacks[NUMBER_TEXT_BYTES], part[NUMBER_TEXT_BYTES];

	if (counters[COUNTER_user_stacks] && by_tables)
		print_whole_stacks(counters);
	else if (counters[COUNTER_user_stacks]) /* rarely through libc, which is nothing to mend */
		fprintf(stderr, "bpfprof: %s user stacks, %s end in code without frame pointers\n",
			number_format_count(counters[COUNTER_user_stacks], stacks),
			number_format_count(counters[COUNTER_user_stack_broken], part));
	print_rows(totals, CUT, "cut", by_tables ? COUNTER_COUNT : COUNTER_user_stack_broken);
}

/* What was walked is only a part of these stacks, whose ends are told with them. */
static void print_stitched(const struct live_stitching *stitching,
			   const struct capture_totals *totals)
{
	live_stitching_print(stitching);
	print_row(totals, COUNTER_kernel_stack_failed, "cut");
	print_row(totals, COUNTER_kernel_stack_too_deep, "cut");
}

static void print_tables(const struct unwind_totals *unwind)
{
	char rows[NUMBER_TEXT_BYTES];

	fprintf(stderr,
		"bpfprof: unwind tables: %" PRIu64 " of %" PRIu64 " files, %s rows, %" PRIu64
		" MiB in the kernel, %" PRIu64 " evicted\n",
		unwind->tables, unwind->files, number_format_count(unwind->rows, rows),
		unwind->kernel_bytes >> 20, unwind->evicted);
}

static void print_cost(const struct record_plan *plan, const struct recording_result *result)
{
	CLEANUP(text_release) struct text line = {0};
	char bytes[NUMBER_TEXT_BYTES], own[NUMBER_TEXT_BYTES], begin[NUMBER_TEXT_BYTES];
	char bpf[NUMBER_TEXT_BYTES] = "an unknown time";
	const char *path = plan->settings->output;

	if (result->totals.bpf_ns)
		number_format_duration(result->totals.bpf_ns, bpf);
	text_append_printable(&line, strcmp(path, "-") ? path : "stream");
	text_appendf(&line, ": %s; cost: %s CPU (%s to start, %s in BPF)",
		     number_format_bytes(result->file_bytes, bytes),
		     number_format_duration(result->cpu_ns + result->totals.bpf_ns, own),
		     number_format_duration(result->start_cpu_ns, begin), bpf);
	/* Of a moment, a share would say nothing. */
	if (result->wall_ns >= 100000000)
		text_appendf(&line, ", %.1f%% of one CPU", percent_of_cpu(result));
	fprintf(stderr, "bpfprof: %s\n", text_view(&line));
}

void recording_print_summary(const struct record_plan *plan, const struct recording_result *result)
{
	if (plan->settings->quiet)
		return;
	print_samples(plan, result);
	print_rows(&result->totals, LOST, "lost", COUNTER_COUNT);
	print_rows(&result->totals, OTHER, "times", COUNTER_COUNT);
	if (result->stitching)
		print_stitched(result->stitching, &result->totals);
	else
		print_stacks(plan, &result->totals);
	if (plan->settings->verbose)
		print_counters(&result->totals);
	if (plan->settings->verbose && result->totals.unwind.kernel_bytes)
		print_tables(&result->totals.unwind);
	print_cost(plan, result);
}
