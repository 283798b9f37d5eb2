/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files come open, and go back as an id or a table, which is checked here.
 */
#include "capture/confined_files.h"

#include "base/file.h"
#include "base/memory.h"
#include "capture/read_table.h"

#include <errno.h>
#include <string.h>

enum work { IDENTIFY, READ_TABLE };

/* --- over there --- */

static int identify(const int *fds, size_t fd_count, struct bytes question, struct text *answer)
{
	struct build_id id = {0};
	int error = fd_count ? build_id_of_fd(fds[0], &id) : -EINVAL;

	(void)question;
	if (!error)
		text_append_bytes(answer, id.bytes, id.length);
	return error;
}

static int read_words(const int *fds, size_t fd_count, struct bytes question, struct text *answer)
{
	CLEANUP(table_words_release) struct table_words words = {0};
	CLEANUP(file_unmap) struct bytes image = {0};
	struct elf_digest digest;
	int error = fd_count ? elf_image_frames(fds[0], &image, &digest) : -EINVAL;

	(void)question;
	if (!error)
		error = read_table(image, &words);
	if (!error)
		table_bytes_put(&words, answer);
	return error;
}

confined_work *const confined_files_works[CONFINED_FILES_WORKS] = {
	[IDENTIFY] = identify,
	[READ_TABLE] = read_words,
};

/* --- here --- */

static int ask(struct confined *confined, enum work work, int fd, struct bytes *ret_answer)
{
	struct confined_job job = {.work = work, .fds = &fd, .fd_count = 1};

	return confined_run(confined, &job, ret_answer);
}

static int ask_id(void *confined, int fd, struct build_id *ret_id)
{
	CLEANUP(freep) u8 *bytes = NULL;
	struct bytes answer = {0};
	int error = ask(confined, IDENTIFY, fd, &answer);

	if (error)
		return error;
	bytes = (u8 *)(uintptr_t)answer.start;
	if (!answer.length || answer.length > sizeof(ret_id->bytes))
		return -EOWNERDEAD;
	*ret_id = (struct build_id){.length = (u8)answer.length};
	memcpy(ret_id->bytes, bytes, answer.length);
	return 0;
}

struct id_reader confined_files_ids(struct confined *confined)
{
	return (struct id_reader){.read = confined ? ask_id : NULL, .context = confined};
}

int confined_files_table(struct confined *confined, int fd, struct table_words *ret_words)
{
	struct bytes answer = {0};
	int error = ask(confined, READ_TABLE, fd, &answer);
	u8 *bytes = (u8 *)(uintptr_t)answer.start;

	if (error)
		return error;
	if (!table_bytes_take(bytes, answer.length, ret_words))
		return 0;
	free(bytes);
	return -EOWNERDEAD;
}
