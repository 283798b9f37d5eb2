/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The text of /proc/PID/maps as mappings.
 *
 * A line: "start-end rwxp offset major:minor inode   path". The kernel writes the path last, with
 * newlines as \012, and nothing else escaped.
 * Source: fs/proc/task_mmu.c (show_map_vma), Linux 6.18.
 */
#include "host/proc_maps.h"

#include "base/words.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* "rwxp" */
static bool read_protection(struct bytes word, struct mapping *mapping)
{
	const u8 *letters = word.start;

	if (word.length != 4 || (letters[3] != 'p' && letters[3] != 's'))
		return false;
	mapping->protection = (letters[0] == 'r' ? PROT_READ : 0) |
			      (letters[1] == 'w' ? PROT_WRITE : 0) |
			      (letters[2] == 'x' ? PROT_EXEC : 0);
	mapping->flags = letters[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	return true;
}

/* The rest of the line, with \012 undone. */
static void read_path(struct bytes line, char path[static MAPS_PATH_BYTES])
{
	size_t length = 0;

	word_drop_blanks(&line);
	while (line.length && length < MAPS_PATH_BYTES - 1) {
		if (word_drop(&line, "\\012")) {
			path[length++] = '\n';
			continue;
		}
		path[length++] = (char)*line.start++;
		line.length--;
	}
	path[length] = 0;
	if (!path[0])
		strcpy(path, "//anon");
}

static bool read_line(struct bytes line, char path[static MAPS_PATH_BYTES], struct mapping *mapping)
{
	u64 end, major, minor;

	if (!word_number(word_take(&line, '-'), 16, &mapping->start) ||
	    !word_number(word_take(&line, ' '), 16, &end) || end <= mapping->start ||
	    !read_protection(word_take(&line, ' '), mapping) ||
	    !word_number(word_take(&line, ' '), 16, &mapping->file_offset) ||
	    !word_number(word_take(&line, ':'), 16, &major) ||
	    !word_number(word_take(&line, ' '), 16, &minor) ||
	    !word_number(word_take(&line, ' '), 10, &mapping->inode))
		return false;
	mapping->major = (u32)major;
	mapping->minor = (u32)minor;
	mapping->bytes = end - mapping->start;
	mapping->is_data = !(mapping->protection & PROT_EXEC);
	read_path(line, path);
	mapping->path = path;
	return true;
}

int proc_maps_next(struct bytes *text, u32 pid, char path[static MAPS_PATH_BYTES],
		   struct mapping *ret_mapping)
{
	while (text->length) {
		struct mapping mapping = {.pid = pid, .tid = pid, .space = SPACE_USER};

		if (!read_line(word_take(text, '\n'), path, &mapping))
			return -EBADMSG;
		if (mapping.is_data)
			continue;
		*ret_mapping = mapping;
		return 1;
	}
	return 0;
}
