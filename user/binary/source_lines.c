/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Source lines and inlined functions of one ELF file.
 *
 * Addresses are sorted into units, and each unit is read once for all of its addresses, by
 * whichever thread is free. Every thread has libdw handles of its own on the same bytes.
 */
#include "binary/source_lines.h"

#include "base/file.h"
#include "base/memory.h"
#include "binary/debug_file.h"
#include "binary/dwarf_reader.h"
#include "binary/dwarf_units.h"
#include "binary/elf_image.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

enum { THREADS_MAX = 256 };

struct source_lines {
	struct bytes image, common_image; /* owned */
	char *root, *path;		  /* where split units are looked for; owned */
	struct dwarf_file file;
	struct dwarf_units units;
	bool has_no_unit; /* for an address, and it may be one that cannot be read */
	struct dwarf_reader *readers[THREADS_MAX]; /* one for each thread, made when needed */
};

/* One address that is asked for. */
struct wanted {
	u64 unit, address;
	size_t index; /* in the question */
};

/* Addresses of one unit: wanted[first] … wanted[first + count - 1]. */
struct job {
	u64 unit;
	size_t first;
	u32 count;
};

/* A question to all threads. */
struct search {
	struct source_lines *lines;
	VEC(struct wanted) wanted;
	VEC(struct job) jobs;
	u64 *addresses; /* of `wanted` */
	struct answer *answers;
	u32 *answered_by; /* which thread's frames, for each of `wanted` */
	size_t next_job;  /* atomic */
};

struct search_thread {
	struct search *search;
	u32 number;
	pthread_t thread;
	struct frames frames;
};

static struct dwarf_reader *reader_of(struct source_lines *lines, u32 thread)
{
	struct dwarf_reader *reader = lines->readers[thread];

	if (reader)
		return reader;
	reader = must_alloc(sizeof(*reader));
	if (dwarf_reader_open(&lines->file, reader)) {
		free(reader);
		return NULL;
	}
	return lines->readers[thread] = reader;
}

static u64 ranges_max(const struct dwarf_sections *sections)
{
	/* An entry of .debug_aranges, .debug_ranges or .debug_rnglists takes two bytes or more. */
	return (sections->parts[DWARF_aranges].length + sections->parts[DWARF_ranges].length +
		sections->parts[DWARF_rnglists].length + sections->parts[DWARF_info].length) /
	       2;
}

/* file  as dwarf_sections.file */
static int open_images(struct bytes image, struct bytes alternate, int file,
		       struct source_lines **ret_lines)
{
	CLEANUP(source_lines_closep)
	struct source_lines *lines = must_alloc(sizeof(*lines));
	struct dwarf_reader *reader;
	int error = dwarf_sections_read(image, "", &lines->file.sections);

	if (error)
		return error;
	if (lines->file.sections.type == ET_REL)
		return -ENOTSUP;
	/* Without it names are missing, but lines are there. */
	if (alternate.length)
		dwarf_sections_read(alternate, "", &lines->file.alternate);
	lines->file.sections.file = lines->file.alternate.file = file;
	reader = reader_of(lines, 0);
	if (!reader)
		return -EBADMSG;
	dwarf_units_read(reader->handle.dwarf, ranges_max(&lines->file.sections), &lines->units);
	*ret_lines = TAKE(lines);
	return 0;
}

int source_lines_of_images(struct bytes image, struct bytes alternate,
			   struct source_lines **ret_lines)
{
	return open_images(image, alternate, 0, ret_lines);
}

/* Lines of images that they own from now on. */
static int own_images(struct bytes *image, struct bytes *common, int file,
		      struct source_lines **ret_lines)
{
	int error = open_images(*image, *common, file, ret_lines);

	if (error)
		return error;
	(*ret_lines)->image = *image;
	(*ret_lines)->common_image = *common;
	*image = *common = (struct bytes){0};
	return 0;
}

int source_lines_open(int fd, const char *root, const char *path, const struct build_id *id,
		      struct source_lines **ret_lines)
{
	CLEANUP(file_unmap) struct bytes image = {0}, common = {0};
	struct bytes separate;
	int error = elf_image_debug(fd, &image);

	if (error)
		return error;
	if (!has_source_lines(image) && !debug_file_read_lines(root, path, image, id, &separate)) {
		file_unmap(&image);
		image = separate;
	}
	debug_file_read_common(root, path, image, &common);
	error = own_images(&image, &common, 0, ret_lines);
	if (error)
		return error;
	(*ret_lines)->root = must_copy(root);
	(*ret_lines)->path = must_copy(path);
	(*ret_lines)->file.split.root = (*ret_lines)->root;
	(*ret_lines)->file.split.path = (*ret_lines)->path;
	dwarf_split_find_package(&(*ret_lines)->file.split);
	return 0;
}

int source_lines_open_given(const int *fds, size_t fd_count, const struct build_id *id,
			    struct source_lines **ret_lines)
{
	CLEANUP(file_unmap) struct bytes image = {0}, common = {0};
	struct bytes separate;
	int error = elf_image_debug(fds[0], &image);

	if (error)
		return error;
	if (!has_source_lines(image) &&
	    !debug_file_lines_among(fds + 1, fd_count - 1, image, id, &separate)) {
		file_unmap(&image);
		image = separate;
	}
	if (has_source_lines(image) &&
	    debug_file_common_among(fds + 1, fd_count - 1, image, &common) == -ENOENT)
		return -EXDEV;
	error = own_images(&image, &common, fds[0] + 1, ret_lines);
	if (!error)
		(*ret_lines)->file.only_whole = true;
	return error;
}

bool source_lines_has_left_out(const struct source_lines *lines)
{
	for (u32 i = 0; i < THREADS_MAX && lines->readers[i]; i++)
		if (lines->readers[i]->has_left_out)
			return true;
	return false;
}

bool source_lines_is_damaged(const struct source_lines *lines)
{
	for (u32 i = 0; i < THREADS_MAX && lines->readers[i]; i++)
		if (lines->readers[i]->is_damaged)
			return true;
	return lines->has_no_unit;
}

/* The range of a unit that has the address; NULL: none. */
static const struct unit_range *find_unit(struct source_lines *lines, u64 address)
{
	const struct unit_range *range = dwarf_units_find(&lines->units, address);

	lines->has_no_unit |= !range && lines->units.is_damaged;
	return range;
}

void source_lines_close(struct source_lines *lines)
{
	if (!lines)
		return;
	for (u32 i = 0; i < THREADS_MAX && lines->readers[i]; i++) {
		dwarf_reader_close(lines->readers[i]);
		free(lines->readers[i]);
	}
	dwarf_units_release(&lines->units);
	dwarf_sections_release(&lines->file.sections);
	dwarf_sections_release(&lines->file.alternate);
	dwarf_split_release(&lines->file.split);
	free(lines->root);
	free(lines->path);
	file_unmap(&lines->image);
	file_unmap(&lines->common_image);
	free(lines);
}

void source_lines_closep(struct source_lines **lines)
{
	source_lines_close(*lines);
}

u32 source_lines_find(struct source_lines *lines, u64 address, struct source_frame *frames,
		      u32 room)
{
	const struct unit_range *range = find_unit(lines, address);
	const struct unit_addresses wanted = {&address, 1};
	struct frames found = {0};
	struct answer answer;
	u32 count;

	if (!range)
		return 0;
	dwarf_reader_read(lines->readers[0], range->unit, &wanted, &found, &answer);
	count = answer.count < room ? answer.count : room;
	if (count)
		memcpy(frames, &found.items.items[answer.first], count * sizeof(*frames));
	vec_release(&found.items);
	return count;
}

static int compare_wanted(const void *a, const void *b)
{
	const struct wanted *first = a, *second = b;

	if (first->unit != second->unit)
		return first->unit < second->unit ? -1 : 1;
	return first->address < second->address ? -1 : first->address > second->address;
}

static void add_wanted(struct search *search, const u64 *addresses, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct unit_range *range = find_unit(search->lines, addresses[i]);

		if (range)
			*vec_add(&search->wanted) = (struct wanted){range->unit, addresses[i], i};
	}
	if (search->wanted.count)
		qsort(search->wanted.items, search->wanted.count, sizeof(struct wanted),
		      compare_wanted);
}

/* One for each unit. */
static void add_jobs(struct search *search)
{
	size_t count = search->wanted.count;
	struct job *job = NULL;

	search->addresses = must_alloc_array(count, sizeof(u64));
	search->answers = must_alloc_array(count, sizeof(struct answer));
	search->answered_by = must_alloc_array(count, sizeof(u32));
	for (size_t i = 0; i < count; i++) {
		const struct wanted *wanted = &search->wanted.items[i];

		search->addresses[i] = wanted->address;
		if (!job || job->unit != wanted->unit) {
			job = vec_add(&search->jobs);
			*job = (struct job){.unit = wanted->unit, .first = i};
		}
		job->count++;
	}
}

static void *work(void *argument)
{
	struct search_thread *thread = argument;
	struct search *search = thread->search;
	struct dwarf_reader *reader = search->lines->readers[thread->number];
	size_t next;

	while ((next = __atomic_fetch_add(&search->next_job, 1, __ATOMIC_RELAXED)) <
	       search->jobs.count) {
		const struct job *job = &search->jobs.items[next];
		const struct unit_addresses wanted = {search->addresses + job->first, job->count};

		dwarf_reader_read(reader, job->unit, &wanted, &thread->frames,
				  search->answers + job->first);
		for (u32 i = 0; i < job->count; i++)
			search->answered_by[job->first + i] = thread->number;
	}
	return NULL;
}

static u32 usable_cpus(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : (u32)CPU_COUNT(&cpus);
}

/* Runs the search on up to `count` threads, this one among them. Returns how many there were. */
static u32 run(struct search *search, struct search_thread *threads, u32 count)
{
	u32 started = 1;

	for (u32 i = 0; i < count; i++)
		threads[i] = (struct search_thread){.search = search, .number = i};
	/* A thread less is no error: the others do its work. */
	while (started < count && reader_of(search->lines, started) &&
	       !pthread_create(&threads[started].thread, NULL, work, &threads[started]))
		started++;
	work(&threads[0]);
	for (u32 i = 1; i < started; i++)
		pthread_join(threads[i].thread, NULL);
	return started;
}

/* Copies the frames of one of `wanted`; returns how many. */
static u32 copy_answer(const struct search *search, const struct search_thread *threads,
		       size_t wanted, struct source_frame *frames)
{
	const struct answer *answer = &search->answers[wanted];
	const struct frames *from = &threads[search->answered_by[wanted]].frames;

	if (answer->count)
		memcpy(frames, from->items.items + answer->first, answer->count * sizeof(*frames));
	return answer->count;
}

/* The frames of all threads in the order of the question. */
static void collect(const struct search *search, const struct search_thread *threads, size_t count,
		    struct source_chains *chains)
{
	size_t *found = must_alloc_array(count, sizeof(*found)); /* 0: not in any unit */
	size_t total = 0;
	u32 next = 0;

	for (size_t i = 0; i < search->wanted.count; i++) {
		found[search->wanted.items[i].index] = i + 1;
		total += search->answers[i].count;
	}
	chains->frames = must_alloc_array(total, sizeof(*chains->frames));
	chains->starts = must_alloc_array(count + 1, sizeof(*chains->starts));
	for (size_t i = 0; i < count; i++) {
		chains->starts[i] = next;
		if (found[i])
			next += copy_answer(search, threads, found[i] - 1, chains->frames + next);
	}
	chains->starts[count] = next;
	free(found);
}

void source_lines_find_all(struct source_lines *lines, const u64 *addresses, size_t count,
			   u32 threads, struct source_chains *ret_chains)
{
	struct search search = {.lines = lines};
	struct search_thread *workers;
	u32 started;

	add_wanted(&search, addresses, count);
	add_jobs(&search);
	if (!threads)
		threads = usable_cpus();
	if (threads > THREADS_MAX)
		threads = THREADS_MAX;
	if (threads > search.jobs.count)
		threads = search.jobs.count ? (u32)search.jobs.count : 1;
	workers = must_alloc_array(threads, sizeof(*workers));
	started = run(&search, workers, threads);
	*ret_chains = (struct source_chains){0};
	collect(&search, workers, count, ret_chains);
	for (u32 i = 0; i < started; i++)
		vec_release(&workers[i].frames.items);
	free(workers);
	vec_release(&search.wanted);
	vec_release(&search.jobs);
	free(search.addresses);
	free(search.answers);
	free(search.answered_by);
}

void source_chains_release(struct source_chains *chains)
{
	free(chains->frames);
	free(chains->starts);
	*chains = (struct source_chains){0};
}
