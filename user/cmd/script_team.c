/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples printed by several threads, and written in order.
 *
 * Each thread has a printer, takes the next few samples as a block, prints them, and hands in the
 * text. The caller's thread prints too, but writes first what can be written. So that memory is
 * bounded, only so many blocks are on their way at a time, each is of as many samples as have made
 * a text of a certain size so far, and one that becomes much larger nonetheless waits until it is
 * written in pieces.
 *
 * A block may have to wait for all before it, too, if what it needs depends on the order in which
 * things are met. The first of those that are not printed yet waits for nobody but the writer, and
 * the writer writes while he waits.
 */
#include "cmd/script_team.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "cmd/script_names.h"
#include "perfdata/perfdata.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

enum {
	BLOCK_BYTES = 1 << 18, /* of text, about: so that it is still near the CPU when written */
	MOST_BYTES = 1 << 22,
	FIRST_EVENTS = 1 << 8, /* of a block, until it is known what they make */
	LEAST_EVENTS = 1 << 5,
	MOST_EVENTS = 1 << 12,
	BLOCKS_EACH = 3, /* on their way, for each thread */
};

enum stage { PRINTING, FULL, PRINTED };

struct block {
	struct text text; /* that was handed in */
	u8 stage;	  /* enum stage */
};

/* One thread. */
struct worker {
	struct script_outlet outlet; /* first */
	struct team *team;
	struct script_printer *printer;
	struct event_sink *both, *sink;
	struct perfdata_slice slice;
	struct perfdata_part *part;
	size_t block;	 /* its number */
	size_t from, to; /* events of it */
	bool writes;	 /* it is the caller's */
};

struct team {
	const struct script_work *work;
	struct worker *workers;
	u32 width;
	size_t events;		/* of the recording */
	pthread_mutex_t mutex;	/* of all that follows */
	pthread_cond_t changed; /* some of it has */
	struct block *blocks;	/* by number, modulo `room` */
	size_t room;
	size_t taken, printed, written; /* blocks; of the latter all before are, too */
	size_t next;			/* event to be taken */
	size_t made_events, made_bytes; /* so far */
	bool is_over;			/* it was given up */
	int error;			/* then why … */
	char *sentence;			/* … in words, owned */
};

static struct block *block_at(struct team *team, size_t number)
{
	return &team->blocks[number % team->room];
}

/* --- under the mutex --- */

static void wait_for_change(struct team *team)
{
	pthread_cond_wait(&team->changed, &team->mutex);
}

static void tell_change(struct team *team)
{
	pthread_cond_broadcast(&team->changed);
}

static bool can_take(const struct team *team)
{
	return team->next < team->events && team->taken - team->written < team->room;
}

static bool can_write(struct team *team)
{
	return team->written < team->taken && block_at(team, team->written)->stage != PRINTING;
}

/* How many events are to make a block. */
static size_t block_events(const struct team *team)
{
	size_t count = FIRST_EVENTS;

	if (team->made_bytes)
		count = (size_t)((double)team->made_events / (double)team->made_bytes *
				 BLOCK_BYTES);
	else if (team->made_events)
		count = MOST_EVENTS;
	if (count < LEAST_EVENTS)
		count = LEAST_EVENTS;
	return count < MOST_EVENTS ? count : MOST_EVENTS;
}

static void take(struct worker *worker)
{
	struct team *team = worker->team;
	size_t left = team->events - team->next, count = block_events(team);

	worker->from = team->next;
	worker->to = team->next = worker->from + (count < left ? count : left);
	worker->block = team->taken++;
	block_at(team, worker->block)->stage = PRINTING;
}

/* Gives the text to the block, which has none, for an empty one. */
static void hand_in(struct worker *worker, struct text *text)
{
	struct block *block = block_at(worker->team, worker->block);
	struct text empty = block->text;

	worker->team->made_bytes += text->length;
	block->text = *text;
	*text = empty;
}

static void give_up(struct team *team, int error)
{
	if (!team->is_over) {
		team->error = error;
		team->sentence = must_copy(fail_sentence()); /* of this thread */
	}
	team->is_over = true;
	tell_change(team);
}

/* --- */

static int write_text(struct team *team, struct text *text)
{
	FILE *out = team->work->out;
	int error = 0;

	fwrite(text_view(text), 1, text->length, out);
	text_truncate(text, 0);
	if (ferror(out))
		error = fail(-errno, NULL, "cannot write to standard output");
	return error;
}

/* Who reads a large binary shows that. */
static void show_progress(struct team *team, size_t events)
{
	struct script_names *names = team->work->names;

	if (pthread_mutex_trylock(&names->mutex))
		return;
	perfdata_tell_progress(team->work->data, events);
	pthread_mutex_unlock(&names->mutex);
}

/* Writes what the next block has so far; the mutex is let go meanwhile. */
static void write_next(struct team *team)
{
	struct block *block = block_at(team, team->written);
	struct text text = block->text;
	size_t events = team->made_events;
	int error;

	pthread_mutex_unlock(&team->mutex);
	error = write_text(team, &text);
	show_progress(team, events);
	pthread_mutex_lock(&team->mutex);
	block->text = text;
	if (block->stage == PRINTED)
		team->written++;
	else
		block->stage = PRINTING;
	if (error)
		give_up(team, error);
	tell_change(team);
}

/* Writes, or waits until there is something to be written. */
static void write_or_wait(struct team *team)
{
	if (can_write(team))
		write_next(team);
	else
		wait_for_change(team);
}

static void print_block(struct worker *worker)
{
	struct team *team = worker->team;
	int error = perfdata_part_read(worker->part, worker->from, worker->to);

	pthread_mutex_lock(&team->mutex);
	hand_in(worker, script_printer_text(worker->printer));
	block_at(team, worker->block)->stage = PRINTED;
	team->made_events += worker->to - worker->from;
	while (team->printed < team->taken && block_at(team, team->printed)->stage == PRINTED)
		team->printed++;
	if (error)
		give_up(team, error);
	tell_change(team);
	pthread_mutex_unlock(&team->mutex);
}

/* --- what printers ask for --- */

static int write_as_writer(struct worker *worker, struct text *text)
{
	struct team *team = worker->team;
	int error;

	while (!team->is_over && team->written < worker->block)
		write_or_wait(team);
	if (team->is_over)
		return -ECANCELED;
	pthread_mutex_unlock(&team->mutex);
	error = write_text(team, text);
	pthread_mutex_lock(&team->mutex);
	if (error)
		give_up(team, error);
	return error;
}

static int have_written(struct worker *worker, struct text *text)
{
	struct team *team = worker->team;
	struct block *block = block_at(team, worker->block);

	hand_in(worker, text);
	block->stage = FULL;
	tell_change(team);
	while (!team->is_over && block->stage == FULL)
		wait_for_change(team);
	return team->is_over ? -ECANCELED : 0;
}

/* There is too much of a block to be kept. */
static int write_full(struct script_outlet *self, struct text *text)
{
	struct worker *worker = (struct worker *)self;
	struct team *team = worker->team;
	int error;

	pthread_mutex_lock(&team->mutex);
	error = worker->writes ? write_as_writer(worker, text) : have_written(worker, text);
	pthread_mutex_unlock(&team->mutex);
	return error;
}

static void wait_for_turn(struct script_outlet *self)
{
	struct worker *worker = (struct worker *)self;
	struct team *team = worker->team;

	pthread_mutex_lock(&team->mutex);
	while (!team->is_over && team->printed < worker->block) {
		if (worker->writes)
			write_or_wait(team);
		else
			wait_for_change(team);
	}
	pthread_mutex_unlock(&team->mutex);
}

/* --- threads --- */

static bool take_when_possible(struct worker *worker)
{
	struct team *team = worker->team;
	bool is_there;

	pthread_mutex_lock(&team->mutex);
	while (!team->is_over && team->next < team->events && !can_take(team))
		wait_for_change(team);
	is_there = !team->is_over && can_take(team);
	if (is_there)
		take(worker);
	pthread_mutex_unlock(&team->mutex);
	return is_there;
}

/* Of another thread than the caller's. */
static void help(void *context, size_t index)
{
	struct team *team = context;
	struct worker *worker = &team->workers[index + 1];

	while (take_when_possible(worker))
		print_block(worker);
}

static void print_and_write(struct worker *worker)
{
	struct team *team = worker->team;

	pthread_mutex_lock(&team->mutex);
	while (!team->is_over && (team->next < team->events || team->written < team->taken)) {
		if (can_write(team) || !can_take(team)) {
			write_or_wait(team);
			continue;
		}
		take(worker);
		pthread_mutex_unlock(&team->mutex);
		print_block(worker);
		pthread_mutex_lock(&team->mutex);
	}
	pthread_mutex_unlock(&team->mutex);
}

/* --- beginning and end --- */

static void worker_init(struct worker *worker, struct team *team)
{
	const struct script_work *work = team->work;
	struct event_sink *halves[2];

	worker->team = team;
	worker->outlet = (struct script_outlet){write_full, wait_for_turn};
	worker->writes = worker == team->workers;
	worker->printer = script_printer_new(work->layout, work->data, work->names, work->out);
	script_printer_divert(worker->printer, &worker->outlet, MOST_BYTES);
	halves[0] = script_printer_follower(worker->printer);
	halves[1] = script_printer_sink(worker->printer);
	worker->both = tee_new(halves, ARRAY_COUNT(halves));
	worker->sink = filter_new(work->chosen, worker->both);
	worker->slice = (struct perfdata_slice){worker->sink, worker->sink};
	worker->part = perfdata_part_new(work->data, &worker->slice);
}

static void team_init(struct team *team)
{
	team->events = perfdata_event_count(team->work->data);
	team->workers = must_alloc_array(team->width, sizeof(*team->workers));
	team->room = (size_t)team->width * BLOCKS_EACH;
	team->blocks = must_alloc_array(team->room, sizeof(*team->blocks));
	parallel_mutex_init(&team->mutex);
	pthread_cond_init(&team->changed, NULL);
	for (u32 i = 0; i < team->width; i++)
		worker_init(&team->workers[i], team);
}

/* What is damaged is said behind what was printed. */
static int team_end(struct team *team)
{
	struct perfdata_part **parts = must_alloc_array(team->width,
							sizeof(struct perfdata_part *));
	int error = 0;

	for (u32 i = 0; i < team->width; i++)
		parts[i] = team->workers[i].part;
	if (team->is_over)
		error = fail_plain(team->error, NULL, "%s", team->sentence);
	error = perfdata_parts_end(team->work->data, parts, team->width, error);
	for (u32 i = 0; i < team->width; i++) {
		filter_free(team->workers[i].sink);
		tee_free(team->workers[i].both);
		script_printer_free(team->workers[i].printer);
	}
	for (size_t i = 0; i < team->room; i++)
		text_release(&team->blocks[i].text);
	pthread_cond_destroy(&team->changed);
	pthread_mutex_destroy(&team->mutex);
	free(team->sentence);
	free(parts);
	free(team->workers);
	free(team->blocks);
	return error;
}

int script_team_print(const struct script_work *work, u32 width)
{
	struct team team = {.work = work, .width = width};
	struct parallel_crew crew = {0};

	team_init(&team);
	parallel_start(&crew, width - 1, help, &team);
	print_and_write(&team.workers[0]);
	parallel_finish(&crew);
	return team_end(&team);
}
