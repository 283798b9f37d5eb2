/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A perf.data that is whole after every system call.
 *
 * Perf looks for the table of features exactly where the records end, so the table has to move as
 * the records grow. Each commit (1) writes a new table behind the new records, which stand behind
 * the old table, (2) turns the old table into a record that every perf passes over, by putting a
 * record header over its first 8 bytes, and (3) rewrites the file's header to take all of it in.
 * Until (3) the old header describes the old state. Between (2) and (3) the first entry of the old
 * table reads as nonsense; that one is an empty list of build ids, whose place nobody looks at.
 */
#include "perfdata/output.h"

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int open_pipe(int fd, struct output *output)
{
	output->is_pipe = true;
	output->fd = fd;
	return 0;
}

static int open_stdout(struct output *output)
{
	int fd;

	if (isatty(STDOUT_FILENO))
		return fail_plain(-EINVAL, "send it to a file or a pipe",
				  "a recording can't be shown on a terminal");
	fd = dup(STDOUT_FILENO);
	if (fd < 0)
		return fail(-errno, NULL, "cannot write to standard output");
	return open_pipe(fd, output);
}

/* What can be done where it cannot be made. */
static const char *remedy(const struct output *output, int error)
{
	return error == -ENOSPC ? "free some space" : output->remedy;
}

/* A file of its own beside the final one, until there is something to read in it. */
static int open_temporary(struct output *output)
{
	output->temporary = must_format("%s.XXXXXX", output->path);
	output->fd = mkostemp(output->temporary, O_CLOEXEC); /* mode 0600 */
	if (output->fd >= 0)
		return 0;
	free(TAKE(output->temporary));
	return fail(-errno, remedy(output, -errno), "cannot create %s", output->path);
}

int output_open(const char *path, const char *path_remedy, struct output *ret_output)
{
	struct output *output = ret_output;
	struct stat status;
	int fd;

	*output = (struct output){.path = must_copy(path), .remedy = path_remedy, .fd = -1};
	if (!strcmp(path, "-"))
		return open_stdout(output);
	if (stat(path, &status) || S_ISREG(status.st_mode))
		return open_temporary(output);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return fail(-errno, path_remedy, "cannot write %s", path);
	return open_pipe(fd, output);
}

static int say_error(const struct output *output, int error)
{
	if (error == -EPIPE)
		return fail_plain(error, NULL, "the reader of the stream has gone");
	return fail(error, error == -ENOSPC ? "free some space" : NULL, "cannot write %s",
		    strcmp(output->path, "-") ? output->path : "to standard output");
}

size_t output_room(struct output *output, size_t wanted)
{
	/* for the table, the list of build ids and the last note, which must find room too */
	enum { END_BYTES = 64 << 10, SMALLEST_BYTES = 512 };

	if (output->is_pipe)
		return wanted;
	do {
		if (!fallocate(output->fd, FALLOC_FL_KEEP_SIZE, (off_t)output->end,
			       (off_t)(wanted + END_BYTES)))
			return wanted;
		if (errno != ENOSPC && errno != EDQUOT)
			return wanted; /* this file system does not reserve */
		wanted /= 2;
	} while (wanted >= SMALLEST_BYTES);
	return 0;
}

bool output_has_news(const struct output *output)
{
	return output->end != output->table.offset + output->table.size_bytes;
}

int output_append(struct output *output, const void *bytes, size_t length)
{
	int error;

	if (output->is_pipe)
		error = file_write_all(output->fd, bytes, length);
	else
		error = file_write_all_at(output->fd, bytes, length, (off_t)output->end);
	if (error)
		return say_error(output, error);
	output->end += length;
	return 0;
}

void output_add_feature(struct output *output, u32 feature, struct file_section section)
{
	output->features[output->feature_count] = feature;
	output->sections[output->feature_count++] = section;
	output->head.header.features[feature / 64] |= 1ull << feature % 64;
}

static int append_table(struct output *output, struct bytes build_ids)
{
	u64 table_bytes = output->feature_count * sizeof(output->sections[0]);
	struct text table = {0};
	int error;

	output->sections[0] = (struct file_section){0};
	if (build_ids.length)
		output->sections[0] = (struct file_section){output->end + table_bytes,
							    build_ids.length};
	text_append_bytes(&table, output->sections, table_bytes);
	text_append_bytes(&table, build_ids.start, build_ids.length);
	error = output_append(output, table.bytes, table.length);
	text_release(&table);
	return error;
}

int output_commit(struct output *output, struct bytes build_ids)
{
	struct file_section *records = &output->head.header.records;
	struct file_section table = {.offset = output->end};
	struct record_header hide = {.type = RECORD_NOTE};
	int error;

	if (output->is_pipe)
		return 0;
	table.size_bytes = output->feature_count * sizeof(output->sections[0]);
	error = append_table(output, build_ids);
	if (error)
		return error;
	if (output->table.size_bytes) {
		hide.size_bytes = (u16)output->table.size_bytes;
		error = file_write_all_at(output->fd, &hide, sizeof(hide),
					  (off_t)output->table.offset);
	}
	records->size_bytes = table.offset - records->offset;
	if (!error)
		error = file_write_all_at(output->fd, &output->head, sizeof(output->head), 0);
	if (error) {
		output->end = table.offset; /* the next commit writes over this one */
		return say_error(output, error);
	}
	output->table = table;
	return 0;
}

int output_publish(struct output *output)
{
	CLEANUP(freep) char *old = must_format("%s.old", output->path);
	struct stat status;

	if (!output->temporary)
		return 0;
	if (!stat(output->path, &status) && status.st_size && rename(output->path, old))
		return fail(-errno, remedy(output, -errno), "cannot rename %s to %s", output->path,
			    old);
	if (rename(output->temporary, output->path))
		return fail(-errno, remedy(output, -errno), "cannot create %s", output->path);
	free(TAKE(output->temporary));
	return 0;
}

/* Somebody removed the file, or its folder, under us: nobody will ever read it. */
static bool was_removed(const struct output *output)
{
	struct stat status;

	return output->fd >= 0 && !output->is_pipe && !output->temporary &&
	       !fstat(output->fd, &status) && !status.st_nlink;
}

int output_close(struct output *output)
{
	int error = 0;

	if (was_removed(output))
		error = fail_plain(-ENOENT, "record again", "%s was removed while it was written",
				   output->path);
	if (output->temporary)
		unlink(output->temporary);
	/* gives back what output_room() took behind the end */
	if (output->fd >= 0 && !output->is_pipe && ftruncate(output->fd, (off_t)output->end))
		error = say_error(output, -errno);
	if (output->fd >= 0 && close(output->fd))
		error = say_error(output, -errno);
	free(output->temporary);
	free(output->path);
	*output = (struct output){.fd = -1};
	return error;
}
