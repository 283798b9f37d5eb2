/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code by the file that it was loaded from. Files are kept open once they were looked for; before
 * descriptors could run out all are closed, and looked for again.
 */
#include "cmd/script_code.h"

#include "cmd/input.h"
#include "host/host.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

enum { OPEN_MAX_FILES = 256 }; /* a quarter of what a process usually may open */

enum { NOT_LOOKED = 0, NOT_THERE = 1, FIRST_FILE = 2 }; /* else a descriptor, from here on */

static bool keep_file(void *context, const struct found_binary *found)
{
	*(int *)context = dup(found->fd);
	return true;
}

static int find_file(struct script_printer *printer, const struct binary_row *binary)
{
	int fd = -1;
	struct binary_search search = {
		.symfs = printer->layout.symfs,
		.path = script_text_of(printer, binary->path),
		.build_id = binary->build_id,
		.build_id_bytes = binary->build_id_bytes,
		.cache_name = "elf",
		.owner_pid = binary->owner_pid,
		.accept = keep_file,
		.context = &fd,
	};

	if (!input_is_from_elsewhere(printer->data))
		search.inode = (struct mapped_inode){binary->inode, binary->major, binary->minor,
						     binary->inode_generation};
	return binary->kind == BINARY_FILE && binary_search_run(&search) ? fd : -1;
}

static void close_files(struct script_printer *printer)
{
	for (size_t i = 0; i < printer->code_files.count; i++) {
		int *kept = &printer->code_files.items[i];

		if (*kept < FIRST_FILE)
			continue;
		close(*kept - FIRST_FILE);
		*kept = NOT_LOOKED;
	}
	printer->code_files_open = 0;
}

static int file_of(struct script_printer *printer, binary_id binary)
{
	int *kept;

	while (printer->code_files.count <= binary)
		*vec_add(&printer->code_files) = NOT_LOOKED;
	kept = &printer->code_files.items[binary];
	if (*kept == NOT_LOOKED) {
		int fd;

		if (printer->code_files_open >= OPEN_MAX_FILES)
			close_files(printer);
		fd = find_file(printer, &printer->profile->binaries.items[binary]);
		*kept = fd < 0 ? NOT_THERE : fd + FIRST_FILE;
		printer->code_files_open += fd >= 0;
	}
	return *kept - FIRST_FILE;
}

/* Whether the file is one of x86, and of which kind. */
static bool is_x86(int fd, bool *ret_is_wide)
{
	Elf64_Ehdr header; /* what is looked at stands in the same place for 32 bits */

	if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return false;
	*ret_is_wide = header.e_ident[EI_CLASS] == ELFCLASS64;
	return header.e_machine == EM_X86_64 || header.e_machine == EM_386;
}

void script_code_read(struct script_printer *printer, u32 pid, u64 address, size_t wanted,
		      struct script_code *ret_code)
{
	location_id location = script_locate(printer, pid, address, address_space_of(address));
	const struct location_row *at = &printer->profile->locations.items[location];
	u64 offset = at->address;
	int fd = file_of(printer, at->binary);
	ssize_t got;

	ret_code->address = address;
	ret_code->length = 0;
	ret_code->is_wide = false;
	if (fd < 0 || !is_x86(fd, &ret_code->is_wide))
		return;
	got = pread(fd, ret_code->bytes, wanted < SCRIPT_CODE_BYTES ? wanted : SCRIPT_CODE_BYTES,
		    (off_t)offset);
	ret_code->length = got > 0 ? (size_t)got : 0;
}

struct code_step script_code_append(struct text *text, const struct script_code *code,
				    size_t offset)
{
	struct bytes rest = {code->bytes + offset, code->length - offset};
	struct code_step step = {0};

	if (!code_step_read(rest, code->is_wide, &step)) {
		text_append(text, "<bad>");
		return step;
	}
	text_append(text, "insn: ");
	for (u8 i = 0; i < step.length; i++)
		text_appendf(text, "%02x ", rest.start[i]);
	return step;
}

void script_code_release(struct script_printer *printer)
{
	close_files(printer);
	vec_release(&printer->code_files);
}
