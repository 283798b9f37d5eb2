/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records a command with the capture of bpfprof and, for each sample, walks the same registers and
 * the same bytes of the stack with libdw: both must find the same frames.
 *
 * usage: live_check [-F HZ] [-n LEAST] [-w WHOLE] [-d DIFFERENCES] [-N NAME] COMMAND [ARGS...]
 *
 *        live_check -i FILE [...]    with what perf record --call-graph dwarf has recorded
 *
 * Prints one line of figures under NAME, and up to DIFFERENCES (3) stacks of each kind that differ
 * with their registers, each frame as FILE+OFFSET. Status 1 if any differs, or fewer than LEAST (1)
 * samples could be compared, or less than WHOLE (99) percent of the stacks are whole.
 */
#include "kernel/copied_file.h"
#include "kernel/event_queue.h"
#include "kernel/libdw_walk.h"

#include "base/fail.h"
#include "base/idmap.h"
#include "base/memory.h"
#include "base/vec.h"
#include "capture/capture.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

enum { RING_BYTES = 256 << 20, CUTS = CUT_NO_MAPPING + 1 };

enum verdict {
	EQUAL,
	LIBDW_OUT_OF_COPY, /* it needed stack that was not copied; as far as it came, equal */
	LIBDW_GAVE_UP,	   /* it found no way on; as far as it came, equal */
	OURS_SHORTER,	   /* as far as we came, equal */
	LIBDW_GUESSED,	   /* they differ where libdw followed a frame pointer without knowing */
	DIFFERENT,
	VERDICTS
};

static const char *const verdict_names[VERDICTS] = {
	[EQUAL] = "equal",
	[LIBDW_OUT_OF_COPY] = "libdw out of stack copy",
	[LIBDW_GAVE_UP] = "libdw gave up",
	[OURS_SHORTER] = "ours shorter",
	[LIBDW_GUESSED] = "libdw guessed",
	[DIFFERENT] = "different",
};

static const char *const cut_names[CUTS] = {
	[CUT_UNKNOWN] = "unknown",	   [CUT_COMPLETE] = "complete",
	[CUT_NONE] = "no stack",	   [CUT_TOO_DEEP] = "too deep",
	[CUT_UNREADABLE] = "unreadable",   [CUT_NO_TABLE] = "no table",
	[CUT_UNSUPPORTED] = "unsupported", [CUT_NOT_ANALYSED] = "not analysed",
	[CUT_BROKEN] = "broken",	   [CUT_OVERWRITTEN] = "overwritten",
	[CUT_COPY_ENDS] = "copy ends",	   [CUT_NO_FILE] = "no file",
	[CUT_32_BIT] = "32 bits",	   [CUT_NO_MAPPING] = "no mapping",
};

struct check {
	struct event_sink sink;
	struct process_table *table;
	struct libdw_walker *walker;
	struct libdw_stack theirs;
	struct idmap proof_rows; /* by time and thread, from 1 */
	VEC(struct proof_record *) proofs;
	u64 verdicts[VERDICTS], shorter[CUTS], cuts[CUTS];
	u64 samples, frames, unproven;
	u32 shown[VERDICTS][CUTS];
	/* What was asked for. */
	u32 most_shown;
	u64 rate_hz, least_samples;
	double least_whole;
	const char *name, *file; /* file: NULL: a command is recorded */
};

static u64 proof_key(u64 time_ns, u32 tid)
{
	return time_ns ^ (u64)tid << 44;
}

static void keep_proof(void *context, const struct proof_record *proof)
{
	size_t bytes = offsetof(struct proof_record, stack) + proof->stack_bytes;
	struct check *check = context;

	*vec_add(&check->proofs) = (void *)must_copy_bytes(proof, bytes);
	*idmap_place(&check->proof_rows,
		     proof_key(proof->time_ns, proof->tid)) = (u32)check->proofs.count;
}

/* The proof of a sample, NULL if there is none. Freed by the caller. */
static struct proof_record *take_proof(struct check *check, const struct sample *sample)
{
	u64 key = proof_key(sample->time_ns, sample->tid);
	u32 row = idmap_get(&check->proof_rows, key);

	if (!row)
		return NULL;
	idmap_remove(&check->proof_rows, key);
	return TAKE(check->proofs.items[row - 1]);
}

/* Of copied stacks ours has where the call is, libdw where it returns to. */
static bool is_equal(const struct check *check, u64 ours, u64 theirs)
{
	return ours == theirs || (check->file && ours + 1 == theirs);
}

/* --- showing --- */

static void show_frame(const struct check *check, u32 pid, const char *whose, u64 address)
{
	const struct mapped *mapped = process_table_find(check->table, pid, address, SPACE_USER);

	if (mapped)
		printf("    %-6s %#16lx %s+%#lx\n", whose, address, mapped->file->path,
		       address - mapped->start + mapped->file_offset);
	else
		printf("    %-6s %#16lx\n", whose, address);
}

static void show(struct check *check, const struct sample *sample, const struct frame *ours,
		 const struct proof_record *proof, enum verdict verdict)
{
	const struct libdw_stack *theirs = &check->theirs;
	u32 count = sample->frame_count - (u32)(ours - sample->frames);

	/* Likewise many of each kind. */
	if (check->shown[verdict][sample->cut % CUTS]++ >= check->most_shown)
		return;
	printf("  %s, pid %u tid %u, ours %s after %u frames, libdw after %u: %s, missed %#lx\n",
	       verdict_names[verdict], sample->pid, sample->tid, cut_names[sample->cut], count,
	       theirs->count, theirs->why ? theirs->why : "end", theirs->missed);
	for (u32 i = 0; i <= UNWIND_REGISTERS; i++)
		if (i < 16 || i == UNWIND_REGISTERS || proof->registers[i])
			printf("    r%u=%#lx%s", i, proof->registers[i],
			       i % 4 == 3 || i == UNWIND_REGISTERS ? "\n" : "");
	for (u32 i = 0; i < count || i < theirs->count; i++) {
		if (i < count)
			show_frame(check, sample->pid, "ours", ours[i].address);
		if (i < theirs->count &&
		    (i >= count || !is_equal(check, ours[i].address, theirs->frames[i])))
			show_frame(check, sample->pid, "libdw", theirs->frames[i]);
	}
}

/* --- comparing --- */

/* Whether libdw walked over one of its first `count` frames without knowing. What it makes of the
 * stack pointer then may also mislead it later. */
static bool has_guessed(struct check *check, u32 count)
{
	for (u32 i = 0; i < count;
	     i++) /* of a return address it is the call before it that counts */
		if (!libdw_has_rule(check->walker, check->theirs.frames[i] - (i > 0)))
			return true;
	return false;
}

static enum verdict compare(struct check *check, const struct frame *ours, u32 count)
{
	const struct libdw_stack *theirs = &check->theirs;

	for (u32 i = 0; i < count && i < theirs->count; i++) {
		if (is_equal(check, ours[i].address, theirs->frames[i]))
			continue;
		return has_guessed(check, i) ? LIBDW_GUESSED : DIFFERENT;
	}
	if (count == theirs->count)
		return EQUAL;
	if (count < theirs->count)
		return OURS_SHORTER;
	return theirs->missed ? LIBDW_OUT_OF_COPY : LIBDW_GAVE_UP;
}

static int check_sample(struct event_sink *self, const struct sample *sample)
{
	struct check *check = (struct check *)self;
	CLEANUP(freep) struct proof_record *proof = take_proof(check, sample);
	const struct frame *ours = sample->frames;
	u32 count = sample->frame_count;
	enum verdict verdict;

	while (count && ours->space != SPACE_USER)
		ours++, count--;
	if (!count)
		return 0;
	check->samples++;
	check->frames += count;
	check->cuts[sample->cut % CUTS]++;
	if (!proof) {
		check->unproven++;
		return 0;
	}
	libdw_walk(check->walker, proof, &check->theirs);
	verdict = compare(check, ours, count);
	check->verdicts[verdict]++;
	if (verdict == OURS_SHORTER)
		check->shorter[sample->cut % CUTS]++;
	if (verdict >= LIBDW_GAVE_UP || sample->cut != CUT_COMPLETE)
		show(check, sample, ours, proof, verdict);
	return 0;
}

/* --- what is compared --- */

static int read_file(struct check *check)
{
	struct event_sink *sinks[] = {process_table_sink(check->table), &check->sink};
	struct event_sink *both = tee_new(sinks, ARRAY_COUNT(sinks));
	int error = copied_file_read(check->file, both, keep_proof, check);

	tee_free(both);
	return error;
}

static int record(struct check *check, char **command)
{
	struct parsed_event clock = {.name = "cpu-clock",
				     .type = PERF_TYPE_SOFTWARE,
				     .config = PERF_COUNT_SW_CPU_CLOCK,
				     .rate = check->rate_hz,
				     .is_frequency = true};
	struct capture_settings settings = {.targets = {.command = command},
					    .events = &clock,
					    .event_count = 1,
					    .call_graph = CALL_GRAPH_AUTO,
					    .max_stack = 127,
					    .ring_bytes = RING_BYTES,
					    .on_proof = keep_proof,
					    .proof_context = check};
	struct event_sink *sinks[] = {process_table_sink(check->table), &check->sink};
	struct event_sink *both = tee_new(sinks, ARRAY_COUNT(sinks));
	struct event_queue *queue = event_queue_new();
	struct capture *capture = NULL;
	int error = capture_open(&settings, &capture);

	if (!error)
		error = capture_start(capture, event_queue_sink(queue));
	while (!error) {
		struct pollfd ready = {.fd = capture_fd(capture), .events = POLLIN};
		bool has_ended = waitpid(capture_command(capture), NULL, WNOHANG) != 0;

		poll(&ready, 1, 20);
		error = capture_drain(capture);
		if (has_ended)
			break;
	}
	if (!error)
		error = capture_stop(capture);
	capture_close(capture);
	/* Not before: while libdw walks nobody makes unwind tables. */
	if (!error)
		error = event_queue_hand_on(queue, both);
	event_queue_free(queue);
	tee_free(both);
	return error;
}

static double whole_percent(const struct check *check)
{
	return check->samples ? 100.0 * (double)check->cuts[CUT_COMPLETE] / (double)check->samples
			      : 0;
}

static void print_figures(const struct check *check)
{
	double frames = check->samples ? (double)check->frames / (double)check->samples : 0;

	printf("%-12s %6lu samples %6.2f%% whole %5.1f frames", check->name, check->samples,
	       whole_percent(check), frames);
	for (u32 verdict = 0; verdict < VERDICTS; verdict++)
		if (check->verdicts[verdict] || verdict == EQUAL || verdict == DIFFERENT)
			printf(", %lu %s", check->verdicts[verdict], verdict_names[verdict]);
	for (u32 cut = 0; cut < CUTS; cut++)
		if (check->shorter[cut])
			printf(", %lu shorter: %s", check->shorter[cut], cut_names[cut]);
	for (u32 cut = 0; cut < CUTS; cut++)
		if (check->cuts[cut] && cut != CUT_COMPLETE)
			printf(", %lu %s", check->cuts[cut], cut_names[cut]);
	if (check->unproven)
		printf(", %lu without proof", check->unproven);
	printf("\n");
}

/* As many as asked for, or as many fewer as happens less than once in a million times: five
 * standard deviations, and what small numbers need. */
static bool is_mostly_whole(const struct check *check)
{
	double samples = (double)check->samples, others = samples * (1 - check->least_whole / 100);
	double cut = samples - (double)check->cuts[CUT_COMPLETE];

	return cut <= others + 5 * sqrt(others) + 4;
}

static bool is_proven(const struct check *check)
{
	return check->samples - check->unproven >= check->least_samples &&
	       !check->verdicts[DIFFERENT] && is_mostly_whole(check);
}

/* Reads the options. Returns false if one is not known. */
static bool read_options(struct check *check, int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "+F:i:n:w:d:N:")) != -1) {
		if (option == 'F')
			check->rate_hz = strtoull(optarg, NULL, 10);
		else if (option == 'i')
			check->file = optarg;
		else if (option == 'n')
			check->least_samples = strtoull(optarg, NULL, 10);
		else if (option == 'w')
			check->least_whole = strtod(optarg, NULL);
		else if (option == 'd')
			check->most_shown = (u32)strtoul(optarg, NULL, 10);
		else if (option == 'N')
			check->name = optarg;
		else
			return false;
	}
	return check->file || optind < argc;
}

int main(int argc, char **argv)
{
	static struct check check = {.sink = {.on_sample = check_sample},
				     .most_shown = 3,
				     .rate_hz = 999,
				     .least_samples = 1,
				     .least_whole = 99,
				     .name = "command"};
	int error;

	if (!read_options(&check, argc, argv)) {
		fprintf(stderr, "usage: live_check [-F HZ] [-n LEAST] [-w WHOLE] [-d DIFFERENCES] "
				"[-N NAME] {-i FILE | COMMAND [ARGS...]}\n");
		return 2;
	}
	check.table = process_table_new();
	check.walker = libdw_walker_new(check.table);
	error = check.file ? read_file(&check) : record(&check, argv + optind);
	if (error)
		fprintf(stderr, "live_check: %s\n", fail_sentence());
	else
		print_figures(&check);
	for (size_t i = 0; i < check.proofs.count; i++)
		free(check.proofs.items[i]);
	vec_release(&check.proofs);
	idmap_release(&check.proof_rows);
	libdw_walker_free(check.walker);
	process_table_free(check.table);
	return error || !is_proven(&check);
}
