/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The text of /proc/PID/maps as mappings.
 *
 * A line: "start-end rwxp offset major:minor inode   path". The kernel writes the path last, with
 * newlines as \012, and nothing else escaped.
 * Source: fs/proc/task_mmu.c (show_map_vma), Linux 6.18.
 */
#include "host/proc_maps.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* What is left of one line. */
struct line {
	const u8 *next, *end;
	bool is_broken;
};

static int digit_value(u8 letter)
{
	if (letter >= '0' && letter <= '9')
		return letter - '0';
	if (letter >= 'a' && letter <= 'f')
		return letter - 'a' + 10;
	return 99;
}

/* A number in `base` (at most 16), with `separator` behind it; a space may also be the line's end.
 */
static u64 take_number(struct line *line, unsigned int base, u8 separator)
{
	const u8 *start = line->next;
	u64 value = 0;

	for (; line->next < line->end && digit_value(*line->next) < (int)base; line->next++) {
		if (value > (UINT64_MAX - 15) / base)
			line->is_broken = true;
		value = value * base + (u64)digit_value(*line->next);
	}
	if (line->next > start && line->next == line->end && separator == ' ')
		return value;
	if (line->next == start || line->next == line->end || *line->next != separator) {
		line->is_broken = true;
		line->next = line->end;
		return 0;
	}
	line->next++;
	return value;
}

/* "rwxp " */
static void take_protection(struct line *line, struct mapping *mapping)
{
	const u8 *letters = line->next;

	if (line->end - line->next < 5 || letters[4] != ' ' || !strchr("ps", letters[3])) {
		line->is_broken = true;
		return;
	}
	mapping->protection = (letters[0] == 'r' ? PROT_READ : 0) |
			      (letters[1] == 'w' ? PROT_WRITE : 0) |
			      (letters[2] == 'x' ? PROT_EXEC : 0);
	mapping->flags = letters[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	line->next += 5;
}

/* The rest of the line, with \012 undone; the kernel escapes nothing else in this file. */
static void take_path(struct line *line, char path[static MAPS_PATH_BYTES])
{
	size_t length = 0;

	while (line->next < line->end && *line->next == ' ')
		line->next++;
	while (line->next < line->end && length < MAPS_PATH_BYTES - 1) {
		if (line->end - line->next >= 4 && !memcmp(line->next, "\\012", 4)) {
			path[length++] = '\n';
			line->next += 4;
			continue;
		}
		path[length++] = (char)*line->next++;
	}
	path[length] = 0;
	if (!path[0])
		strcpy(path, "//anon");
}

static bool read_line(struct line line, char path[static MAPS_PATH_BYTES], struct mapping *mapping)
{
	u64 end;

	mapping->start = take_number(&line, 16, '-');
	end = take_number(&line, 16, ' ');
	take_protection(&line, mapping);
	mapping->file_offset = take_number(&line, 16, ' ');
	mapping->major = (u32)take_number(&line, 16, ':');
	mapping->minor = (u32)take_number(&line, 16, ' ');
	mapping->inode = take_number(&line, 10, ' ');
	if (line.is_broken || end <= mapping->start)
		return false;
	mapping->bytes = end - mapping->start;
	mapping->is_data = !(mapping->protection & PROT_EXEC);
	take_path(&line, path);
	mapping->path = path;
	return true;
}

static struct line take_line(struct bytes *text)
{
	const u8 *newline = memchr(text->start, '\n', text->length);
	const u8 *end = newline ? newline : text->start + text->length;
	struct line line = {.next = text->start, .end = end};

	text->length -= (size_t)(end - text->start) + (newline != NULL);
	text->start = newline ? newline + 1 : end;
	return line;
}

int proc_maps_next(struct bytes *text, u32 pid, char path[static MAPS_PATH_BYTES],
		   struct mapping *ret_mapping)
{
	while (text->length) {
		struct mapping mapping = {.pid = pid, .tid = pid, .space = SPACE_USER};

		if (!read_line(take_line(text), path, &mapping))
			return -EBADMSG;
		if (mapping.is_data)
			continue;
		*ret_mapping = mapping;
		return 1;
	}
	return 0;
}
