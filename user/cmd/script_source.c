/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Source files are what the DWARF of a stranger's file names: anything that is no regular file
 * stays closed, and what is written to meanwhile is read once, not mapped.
 */
#include "cmd/script_source.h"

#include "base/file.h"
#include "base/idmap.h"
#include "base/memory.h"
#include "base/vec.h"
#include "binary/binary.h"
#include "cmd/script_printer.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

enum {
	FILE_MOST_BYTES = 16 << 20,
	ALL_MOST_BYTES = 64 << 20, /* beyond that, files are forgotten and read again */
};

struct read_source {
	char *bytes; /* NUL behind the end; NULL: it is not there */
	size_t length;
	VEC(u32) starts; /* of lines */
};

struct source_code {
	struct idmap files; /* string_id → row of `read`, from 1 */
	VEC(struct read_source) read;
	size_t bytes;	      /* of all that was read */
	struct idmap threads; /* tid + 1 → row of `shown`, from 1 */
	VEC(struct source_place) shown;
};

struct source_code *source_code_new(void)
{
	return must_alloc(sizeof(struct source_code));
}

static void forget_files(struct source_code *code)
{
	for (size_t i = 0; i < code->read.count; i++) {
		free(code->read.items[i].bytes);
		vec_release(&code->read.items[i].starts);
	}
	vec_release(&code->read);
	idmap_release(&code->files);
	code->bytes = 0;
}

void source_code_free(struct source_code *code)
{
	if (!code)
		return;
	forget_files(code);
	idmap_release(&code->threads);
	vec_release(&code->shown);
	free(code);
}

/* The bytes of a file, NUL behind them; NULL: it cannot be read. */
static char *read_bytes(const char *path, size_t *ret_length)
{
	CLEANUP(closep) int fd = -1;
	CLEANUP(freep) char *bytes = NULL;
	struct stat status;
	size_t length = 0;

	if (open_below("", path, LINKS_FOLLOWED, &fd) || fstat(fd, &status) ||
	    status.st_size > FILE_MOST_BYTES)
		return NULL;
	bytes = must_alloc((size_t)status.st_size + 1);
	while (length < (size_t)status.st_size) {
		ssize_t got = pread(fd, bytes + length, (size_t)status.st_size - length,
				    (off_t)length);

		if (got < 0 && errno != EINTR)
			return NULL;
		if (!got)
			break; /* it was cut short */
		length += got > 0 ? (size_t)got : 0;
	}
	*ret_length = length;
	return TAKE(bytes);
}

static void read_source(struct source_code *code, const char *path, struct read_source *source)
{
	const char *next;

	source->bytes = read_bytes(path, &source->length);
	if (!source->bytes)
		return;
	code->bytes += source->length;
	for (next = source->bytes; next && next < source->bytes + source->length;) {
		*vec_add(&source->starts) = (u32)(next - source->bytes);
		next = memchr(next, '\n', source->length - (size_t)(next - source->bytes));
		next += next ? 1 : 0;
	}
}

static const struct read_source *source_at(struct source_code *code,
					   const struct source_place *place)
{
	u32 *row;

	if (code->bytes > ALL_MOST_BYTES)
		forget_files(code);
	row = idmap_place(&code->files, place->file);
	if (!*row) {
		struct read_source *source = vec_add(&code->read);

		*source = (struct read_source){0};
		*row = (u32)code->read.count;
		read_source(code, place->path, source);
	}
	return &code->read.items[*row - 1];
}

/* What the thread was shown last; no file: nothing. */
static struct source_place *shown_to(struct source_code *code, u32 tid)
{
	u32 *row = idmap_place(&code->threads, (u64)tid + 1);

	if (!*row) {
		*vec_add(&code->shown) = (struct source_place){0};
		*row = (u32)code->shown.count;
	}
	return &code->shown.items[*row - 1];
}

void source_code_forget(struct source_code *code, u32 tid)
{
	u32 row = idmap_get(&code->threads, (u64)tid + 1);

	if (row)
		code->shown.items[row - 1] = (struct source_place){0};
}

void source_code_append(struct source_code *code, struct text *text, u32 tid,
			const struct source_place *place)
{
	struct source_place *shown = shown_to(code, tid);
	const struct read_source *source;
	const char *start;
	char *line;

	if (shown->file == place->file && shown->line == place->line)
		return;
	source = source_at(code, place);
	if (!place->line || place->line > source->starts.count)
		return;
	*shown = *place;
	start = source->bytes + source->starts.items[place->line - 1];
	line = must_copy_bytes(start, strcspn(start, "\n"));
	text_appendf(text, "|%-8" PRIu32 " ", place->line);
	text_append_words(text, line);
	text_append(text, "\n");
	free(line);
}

void script_append_source(struct script_printer *printer, struct text *text, u32 tid,
			  location_id location)
{
	const struct location_row *at;
	const struct line_row *row;

	symbolizer_name(printer->symbolizer, printer->profile, location);
	at = &printer->profile->locations.items[location];
	if (!at->line_count)
		return;
	row = &printer->profile->lines.items[at->first_line];
	if (row->file)
		source_code_append(printer->source_code, text, tid,
				   &(struct source_place){script_text_of(printer, row->file),
							  row->file, row->line});
}

void script_print_source(struct script_printer *printer, const struct script_line *line)
{
	const struct sample *sample = line->sample;

	script_append_source(printer, &printer->text, sample->tid,
			     script_locate(printer, sample->pid, sample->address, sample->space));
}
