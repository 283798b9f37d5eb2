/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files are found and opened here, and read over there: first a build id, which says whether it is
 * the file, then the names, with all files that may be its debug file. Both are done by one
 * process, and never two files by the same one.
 *
 * What comes back is as foreign as the file itself, so it is checked as a file of the cache is.
 * Source lines are asked for like names, with the places that are wanted in a file of memory.
 */
#include "symbolize/confined_names.h"

#include "base/file.h"
#include "base/memory.h"
#include "symbolize/finder.h"
#include "symbolize/kept_names.h"
#include "symbolize/kept_places.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum work { IDENTIFY, READ_NAMES, READ_JIT, READ_PLACES };

/* --- over there --- */

/* Answers with the length of the build id, its bytes, and the name of the debug file. */
static int identify(const int *fds, size_t fd_count, struct bytes question, struct text *answer)
{
	CLEANUP(file_unmap) struct bytes image = {0};
	char link[DEBUG_LINK_BYTES] = "";
	struct build_id id = {0};
	int error = fd_count ? build_id_of_fd(fds[0], &id) : -EINVAL;

	(void)question;
	if (error)
		return error;
	/* Mapped: if somebody cuts the file meanwhile, that ends this process only. */
	if (!file_map_fd(fds[0], &image))
		(void)debug_file_link(image, link);
	text_append_bytes(answer, &id.length, sizeof(id.length));
	text_append_bytes(answer, id.bytes, id.length);
	text_append_bytes(answer, link, strlen(link));
	return 0;
}

static int read_names(const int *fds, size_t fd_count, struct bytes question, struct text *answer)
{
	CLEANUP(kept_names_release) struct kept_names names = {0};
	struct build_id id = {.length = (u8)question.length};
	int error;

	if (!fd_count || question.length > sizeof(id.bytes))
		return -EINVAL;
	memcpy(id.bytes, question.start, question.length);
	error = binary_finder_read_given(fds, fd_count, &id, &names);
	if (!error)
		kept_names_put(&names, answer);
	return error;
}

/* The map, and the addresses, which may be more than a question holds. */
static int read_jit(const int *fds, size_t fd_count, struct bytes question, struct text *answer)
{
	CLEANUP(kept_names_release) struct kept_names names = {0};
	CLEANUP(file_unmap) struct bytes addresses = {0};
	struct jit_code code = {.map = fds[0], .id.length = (u8)question.length};
	int error;

	if (fd_count < 2 || question.length > sizeof(code.id.bytes))
		return -EINVAL;
	memcpy(code.id.bytes, question.start, question.length);
	error = file_map_fd(fds[1], &addresses);
	if (error)
		return error;
	code.addresses = (const u64 *)(const void *)addresses.start;
	code.count = addresses.length / sizeof(u64);
	error = jit_code_read(&code, &names);
	if (!error)
		kept_names_put(&names, answer);
	return error;
}

/* The binary, what may be its debug file, and at last the places. */
static int read_places(const int *fds, size_t fd_count, struct bytes question, struct text *answer)
{
	CLEANUP(kept_places_release)
	struct kept_places places = {.id.length = (u8)question.length};
	CLEANUP(file_unmap) struct bytes keys = {0};
	int error;

	if (fd_count < 2 || question.length > sizeof(places.id.bytes))
		return -EINVAL;
	memcpy(places.id.bytes, question.start, question.length);
	error = file_map_fd(fds[fd_count - 1], &keys);
	if (error)
		return error;
	error = source_places_read(fds, fd_count - 1, (const u64 *)(const void *)keys.start,
				   keys.length / sizeof(u64), &places);
	if (error && !names_cache_rest_is_kept(error))
		return error;
	kept_put(answer, (u64)-error);
	kept_places_put(&places, answer);
	return 0;
}

confined_work *const confined_names_works[CONFINED_NAMES_WORKS] = {
	[IDENTIFY] = identify,
	[READ_NAMES] = read_names,
	[READ_JIT] = read_jit,
	[READ_PLACES] = read_places,
};

/* --- here --- */

struct reading {
	struct confined *confined;
	u8 work; /* enum work: what is to be read … */
	struct kept_names *names;
	struct kept_places *places; /* … and where to */
	size_t wanted_count;	    /* of the places … */
	int wanted_fd;		    /* … which are here */
	int known_fd;		    /* of a file that was identified before; -1: of none */
	struct confined_identity known;
	struct confined_identity identity; /* of the file that was looked at last */
	int error;			   /* of the file that was taken */
	const struct found_binary *found;
	int fds[CONFINED_FILES_MAX]; /* it, then what may be its debug file: owned */
	size_t fd_count;
};

/* A name in some folder; anything else is none. */
static void take_link(struct bytes text, char link[static DEBUG_LINK_BYTES])
{
	link[0] = 0;
	if (text.length >= DEBUG_LINK_BYTES || memchr(text.start, '/', text.length) ||
	    memchr(text.start, 0, text.length))
		return;
	memcpy(link, text.start, text.length);
	link[text.length] = 0;
}

static int take_identity(struct bytes answer, struct confined_identity *ret_identity)
{
	struct cursor cursor = cursor_of(answer);
	struct build_id id = {.length = cursor_u8(&cursor)};
	const u8 *bytes = id.length <= sizeof(id.bytes) ? cursor_take(&cursor, id.length) : NULL;

	if (!bytes || cursor.overrun)
		return -EOWNERDEAD;
	memcpy(id.bytes, bytes, id.length);
	ret_identity->id = id;
	take_link((struct bytes){cursor.next, cursor_left(&cursor)}, ret_identity->link);
	return 0;
}

int confined_names_identify(struct confined *confined, int fd,
			    struct confined_identity *ret_identity)
{
	struct confined_job job = {.work = IDENTIFY, .fds = &fd, .fd_count = 1, .wants_new = true};
	struct bytes answer;
	int error = confined_run(confined, &job, &answer);

	if (error)
		return error;
	error = take_identity(answer, ret_identity);
	free((void *)(uintptr_t)answer.start);
	return error;
}

static int identify_found(void *context, int fd, struct build_id *ret_id)
{
	struct reading *reading = context;
	int error = 0;

	if (fd == reading->known_fd)
		reading->identity = reading->known;
	else
		error = confined_names_identify(reading->confined, fd, &reading->identity);
	if (!error)
		*ret_id = reading->identity.id;
	if (error == -EOWNERDEAD || error == -ETIME || error == -EPIPE)
		reading->error = error;
	return error;
}

static void open_candidate(struct reading *reading, const char *root, const char *path)
{
	int *fd = &reading->fds[reading->fd_count];

	/* There is room for what is asked, too. */
	if (reading->fd_count < CONFINED_FILES_MAX - 1 &&
	    !open_below(root, path, LINKS_FOLLOWED, fd))
		reading->fd_count++;
}

static bool open_place(void *context, const char *path)
{
	struct reading *reading = context;

	open_candidate(reading, reading->found->root, path);
	if (reading->found->root[0])
		open_candidate(reading, "", path);
	return false; /* all of them */
}

/* The names over there are of this build id, if they are sound. */
static int take_names(struct bytes answer, const struct build_id *id, struct kept_names *ret_names)
{
	CLEANUP(kept_names_release) struct kept_names names = {0};

	if (kept_names_take(answer, &names) || !build_id_is(&names.id, id->bytes, id->length))
		return -EOWNERDEAD;
	names.reference = 0; /* no kernel's */
	*ret_names = names;
	names = (struct kept_names){0};
	return 0;
}

/* So are the places, and no more of them than were asked for; in front of them stands why these are
 * not all: an errno. */
static int take_places(struct bytes answer, const struct build_id *id, size_t most,
		       struct kept_places *places)
{
	struct cursor cursor = cursor_of(answer);
	u64 reason = kept_take(&cursor);

	answer = (struct bytes){cursor.next, cursor_left(&cursor)};
	if (kept_places_take(answer, places) || !build_id_is(&places->id, id->bytes, id->length) ||
	    places->places.count > most)
		return -EOWNERDEAD;
	return reason == EXDEV ? -EXDEV : reason == EUCLEAN ? -EUCLEAN : 0;
}

/* The file was identified just before. */
static int ask(struct reading *reading)
{
	const struct build_id *id = &reading->found->id;
	struct confined_job job = {
		.work = reading->work,
		.fds = reading->fds,
		.fd_count = reading->fd_count,
		.question = {id->bytes, id->length},
	};
	struct bytes answer;
	int error;

	if (reading->work == READ_PLACES)
		reading->fds[job.fd_count++] = reading->wanted_fd;
	error = confined_run(reading->confined, &job, &answer);
	if (error)
		return error;
	error = reading->work == READ_PLACES
			? take_places(answer, id, reading->wanted_count, reading->places)
			: take_names(answer, id, reading->names);
	free((void *)(uintptr_t)answer.start);
	return error;
}

/* It is the file that ran, whatever comes of reading it. */
static bool accept(void *context, const struct found_binary *found)
{
	struct reading *reading = context;
	struct debug_places places = {
		.path = found->path,
		.id = &found->id,
		.link = reading->identity.link[0] ? reading->identity.link : NULL,
		.take = open_place,
		.context = reading,
	};

	reading->found = found;
	reading->fds[0] = found->fd;
	reading->fd_count = 1;
	debug_file_places(&places);
	reading->error = ask(reading);
	for (size_t i = 1; i < reading->fd_count; i++)
		close(reading->fds[i]);
	return true;
}

/* Looks for the file, and has it read. */
static int read_binary(struct reading *reading, const struct running_binary *binary)
{
	struct binary_search search = {
		.path = binary->path,
		.build_id = binary->build_id,
		.build_id_bytes = binary->build_id_bytes,
		.cache_name = "elf",
		.owner_pid = binary->owner_pid,
		.is_open = binary->is_open,
		.fd = binary->fd,
		.identify = identify_found,
		.accept = accept,
		.context = reading,
	};

	if (!binary_search_run(&search) && !reading->error)
		return -ENOENT;
	return reading->error;
}

int confined_names_read(struct confined *confined, const struct running_binary *binary,
			const struct confined_identity *known, struct kept_names *ret_names)
{
	struct reading reading = {
		.confined = confined, .work = READ_NAMES, .names = ret_names, .known_fd = -1};

	if (known && binary->is_open) {
		reading.known_fd = binary->fd;
		reading.known = *known;
	}
	/* Our own, which the kernel made. */
	if (!strcmp(binary->path, "[vdso]"))
		return binary_finder_read(binary, ret_names);
	return read_binary(&reading, binary);
}

int confined_names_read_places(struct confined *confined, const struct running_binary *binary,
			       const struct code_places *wanted, struct kept_places *ret_places)
{
	CLEANUP(closep) int keys = memfd_create("places", MFD_CLOEXEC);
	struct reading reading = {
		.confined = confined,
		.work = READ_PLACES,
		.places = ret_places,
		.wanted_count = wanted->count,
		.wanted_fd = keys,
		.known_fd = -1,
	};
	int error = keys < 0 ? -errno
			     : file_write_all(keys, wanted->keys, wanted->count * sizeof(u64));

	return error ? error : read_binary(&reading, binary);
}

int confined_names_read_jit(struct confined *confined, const struct jit_code *code,
			    struct kept_names *ret_names)
{
	CLEANUP(closep) int addresses = memfd_create("addresses", MFD_CLOEXEC);
	int fds[] = {code->map, addresses};
	struct confined_job job = {
		.work = READ_JIT,
		.fds = fds,
		.fd_count = ARRAY_COUNT(fds),
		.question = {code->id.bytes, code->id.length},
		.wants_new = true,
	};
	struct bytes answer;
	int error = addresses < 0
			    ? -errno
			    : file_write_all(addresses, code->addresses, code->count * sizeof(u64));

	error = error ? error : confined_run(confined, &job, &answer);
	if (error)
		return error;
	error = take_names(answer, &code->id, ret_names);
	free((void *)(uintptr_t)answer.start);
	return error;
}
