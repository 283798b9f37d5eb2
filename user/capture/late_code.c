/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process table that tells files apart as the kernel does, and the way from there to tables.
 */
#include "capture/late_code.h"

#include "base/memory.h"
#include "base/vec.h"

#include <errno.h>
#include <string.h>

#if defined(__aarch64__)
#define MACHINE UNWIND_ARM64
#else
#define MACHINE UNWIND_X86_64
#endif

/* What is known of a row of the process table's files. */
struct late_file {
	struct unwind_file_key key;
	bool is_identified, is_gone;
};

struct late_code {
	struct unwind_tables *tables;
	struct process_table *table;
	VEC(struct late_file) files; /* by id of their rows */
};

/* --- processes --- */

struct event_sink *late_code_sink(struct late_code *code)
{
	return process_table_sink(code->table);
}

void late_code_tend(struct late_code *code)
{
	if (process_table_forget_files(code->table))
		vec_release(&code->files);
}

/* --- what is at an address --- */

static bool is_file(const char *path)
{
	return path[0] == '/' && path[1] != '/';
}

/* Finds out which file a mapping is of; false if not yet, or never. */
static bool identify(struct late_code *code, const struct mapped *mapped, struct late_file *file)
{
	const struct mapped_file *row = mapped->file;
	struct mapping mapping = {
		.pid = mapped->owner_pid,
		.space = SPACE_USER,
		.start = mapped->start,
		.bytes = mapped->end - mapped->start,
		.path = row->path,
		.build_id_bytes = row->build_id_bytes,
		.inode = row->inode,
		.major = row->major,
		.minor = row->minor,
		.inode_generation = row->inode_generation,
	};
	int error;

	memcpy(mapping.build_id, row->build_id, sizeof(mapping.build_id));
	error = unwind_tables_identify(code->tables, &mapping, &file->key);
	file->is_identified = !error;
	file->is_gone = error && error != -EAGAIN;
	return file->is_identified;
}

static struct late_file *file_of(struct late_code *code, const struct mapped_file *row)
{
	while (code->files.count <= row->id)
		*vec_add(&code->files) = (struct late_file){0};
	return &code->files.items[row->id];
}

static enum code_state state_of(enum unwind_file_state state)
{
	static const enum code_state states[] = {
		[FILE_WANTED] = CODE_AWAITED,
		[FILE_READY] = CODE_READY,
		[FILE_NO_TABLE] = CODE_WITHOUT_TABLE,
		[FILE_NO_ROOM] = CODE_UNREAD,
		[FILE_GONE] = CODE_UNREAD,
	};

	return states[state];
}

static enum code_state find_code(void *context, u64 address, struct code_place *ret_place)
{
	static const struct unwind_file_key vdso = {.inode = UNWIND_VDSO_INODE};
	const struct late_process *process = context;
	struct unwind_tables *tables = process->code->tables;
	const struct mapped *mapped = process_table_find_held(process->mappings, address);
	struct late_file *file;

	if (!mapped)
		return CODE_NOWHERE;
	ret_place->file_offset = address - mapped->start;
	if (!strcmp(mapped->file->path, "[vdso]"))
		return state_of(unwind_tables_find(tables, &vdso, &ret_place->table));
	if (!is_file(mapped->file->path))
		return CODE_ANONYMOUS;
	ret_place->file_offset += mapped->file_offset;
	file = file_of(process->code, mapped->file);
	if (!file->is_identified && (file->is_gone || !identify(process->code, mapped, file)))
		return file->is_gone ? CODE_UNREAD : CODE_AWAITED;
	return state_of(unwind_tables_find(tables, &file->key, &ret_place->table));
}

/* --- processes as they were --- */

struct late_process late_process_of(struct late_code *code, u32 pid)
{
	return (struct late_process){.code = code,
				     .mappings = process_table_hold(code->table, pid)};
}

void late_process_release(struct late_process *process)
{
	process_table_let_go(process->mappings);
	*process = (struct late_process){0};
}

struct copied_walk_world late_process_world(struct late_process *process)
{
	return (struct copied_walk_world){
		.machine = MACHINE,
		.find_code = find_code,
		.context = process,
		.read_chunk = unwind_tables_read_chunk,
		.chunks = process->code->tables,
	};
}

/* --- opening --- */

struct late_code *late_code_new(struct unwind_tables *tables)
{
	struct late_code *code = must_alloc(sizeof(*code));

	code->tables = tables;
	code->table = process_table_new_of_code();
	return code;
}

void late_code_free(struct late_code *code)
{
	if (!code)
		return;
	vec_release(&code->files);
	process_table_free(code->table);
	free(code);
}
