/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process table, and for each of its files what was found of it.
 *
 * A file is the one that ran if it has the build id that was recorded. Where none was, the one that
 * is there now has to be the inode that was mapped.
 */
#include "unwind/code_files.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/vec.h"
#include "binary/binary.h"
#include "host/host.h"
#include "unwind/rows.h"
#include "unwind/table_words.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
	RULES_MAX = 1 << 16, /* of one file; real ones have some hundreds */
	OPEN_MAX = 512,	     /* files that are kept open for their code */
	RECENT = 256,	     /* mappings that are remembered, by address */
	RECENT_SHIFT = 12,
	NS_PER_S = 1000000000,
};

struct code_file {
	bool is_looked_for;
	u8 state; /* enum code_state */
	bool is_vdso;
	int fd; /* -1: its code cannot be read */
	struct unwind_place place;
	u32 *words; /* owned; whole chunks */
};

struct recent_mapping {
	u64 generation, start, end, file_offset;
	u32 file; /* id, 0: none */
};

struct code_files {
	struct code_files_settings settings;
	struct process_table *table;
	VEC(struct code_file) files; /* by id of their rows in the table */
	u32 open_count;
	u32 pid; /* of the world that was asked for last */
	u64 generation;
	const u32 *words; /* of the table that find_code() told last */
	struct recent_mapping recent[RECENT];
};

/* --- processes --- */

struct event_sink *code_files_sink(struct code_files *files)
{
	return process_table_sink(files->table);
}

/* --- reading a file --- */

static int make_table(struct bytes image, struct code_file *file)
{
	CLEANUP(unwind_table_freep) struct unwind_table *table = NULL;
	CLEANUP(table_words_release) struct table_words words = {0};
	CLEANUP(rule_set_release) struct rule_set rules;
	u32 chunks;
	int error;

	rule_set_init(&rules);
	error = unwind_table_read(image, &rules, RULES_MAX, &table);
	if (!error)
		error = table_words_make(table, &rules, &words);
	if (error)
		return error;
	chunks = (words.word_count + UNWIND_CHUNK_WORDS - 1) / UNWIND_CHUNK_WORDS;
	file->words = must_resize_array(TAKE(words.words), (size_t)chunks * UNWIND_CHUNK_WORDS,
					sizeof(u32));
	file->place = words.place;
	return 0;
}

/* What is looked for, and what is made of it. */
struct file_search {
	struct code_files *files;
	const struct mapped_file *row;
	struct code_file *file;
	bool is_found;
};

/* Whether a file without a build id that was recorded, of which inodes have not told, may be the
 * one that was mapped. */
static bool is_old_enough(const struct file_search *search, const struct stat *status)
{
	const struct code_files_settings *settings = &search->files->settings;
	const struct mapped_file *row = search->row;
	u64 modified_ns = (u64)status->st_mtim.tv_sec * NS_PER_S + (u64)status->st_mtim.tv_nsec;

	if (row->build_id_bytes || !row->inode)
		return true;
	return !settings->recorded_until_ns || modified_ns <= settings->recorded_until_ns;
}

/* Tables of either machine can be made; only those of one are of use. */
static bool is_of_machine(struct bytes image, enum unwind_machine machine)
{
	Elf64_Half found = 0;

	if (image.length >= sizeof(Elf64_Ehdr))
		memcpy(&found, image.start + offsetof(Elf64_Ehdr, e_machine), sizeof(found));
	return found == (machine == UNWIND_ARM64 ? EM_AARCH64 : EM_X86_64);
}

static bool take_file(void *context, const struct found_binary *found)
{
	struct file_search *search = context;
	struct code_files *files = search->files;
	CLEANUP(file_unmap) struct bytes image = {0};
	struct elf_digest digest;
	struct stat status;

	if (fstat(found->fd, &status) ||
	    (!files->settings.symfs && !is_old_enough(search, &status)))
		return false;
	if (elf_image_frames(found->fd, &image, &digest) ||
	    !is_of_machine(image, files->settings.machine))
		return false;
	search->file->state = make_table(image, search->file) ? CODE_WITHOUT_TABLE : CODE_READY;
	if (files->open_count < OPEN_MAX)
		search->file->fd = fcntl(found->fd, F_DUPFD_CLOEXEC, 0);
	files->open_count += search->file->fd >= 0;
	return true;
}

static bool take_own_vdso(const struct file_search *search)
{
	struct bytes image = own_vdso();
	const struct mapped_file *row = search->row;
	struct build_id id;
	bool is_ours = search->files->settings.has_our_vdso;

	if (row->build_id_bytes)
		is_ours = image.length && !build_id_of_image(image, &id) &&
			  build_id_is(&id, row->build_id, row->build_id_bytes);
	if (!is_ours || !image.length || make_table(image, search->file))
		return false;
	search->file->state = CODE_READY;
	return true;
}

static bool is_file(const char *path)
{
	return path[0] == '/' && path[1] != '/';
}

static void look_for(struct code_files *files, const struct mapped *mapped, struct code_file *file)
{
	const struct mapped_file *row = mapped->file;
	struct file_search taking = {.files = files, .row = row, .file = file};
	struct binary_search search = {
		.symfs = files->settings.symfs,
		.path = row->path,
		.build_id = row->build_id,
		.build_id_bytes = row->build_id_bytes,
		.inode = {row->inode, row->major, row->minor, row->inode_generation},
		.cache_name = "elf",
		.owner_pid = mapped->owner_pid,
		.accept = take_file,
		.context = &taking,
	};

	*file = (struct code_file){.is_looked_for = true, .fd = -1, .state = CODE_UNREAD};
	file->is_vdso = !strcmp(row->path, "[vdso]");
	if (file->is_vdso) {
		search.cache_name = "vdso";
		if (!take_own_vdso(&taking))
			binary_search_run(&search);
	} else if (is_file(row->path)) {
		binary_search_run(&search);
	} else {
		file->state = CODE_ANONYMOUS;
	}
}

/* --- what is at an address --- */

static struct code_file *file_of(struct code_files *files, const struct mapped *mapped)
{
	struct code_file *file;

	while (files->files.count <= mapped->file->id)
		*vec_add(&files->files) = (struct code_file){.fd = -1};
	file = &files->files.items[mapped->file->id];
	if (!file->is_looked_for)
		look_for(files, mapped, file);
	return file;
}

/* What is mapped at an address, remembered by its page. */
static const struct recent_mapping *mapping_at(struct code_files *files, u64 address)
{
	u64 page = address >> RECENT_SHIFT;
	struct recent_mapping *recent =
		&files->recent[(page ^ page >> 8 ^ files->generation) % RECENT];
	const struct mapped *mapped;
	bool is_vdso;

	if (recent->generation == files->generation && address >= recent->start &&
	    address < recent->end)
		return recent;
	*recent = (struct recent_mapping){.generation = files->generation};
	mapped = process_table_find(files->table, files->pid, address, SPACE_USER);
	if (!mapped)
		return recent; /* it holds no address */
	is_vdso = file_of(files, mapped)->is_vdso;
	recent->start = mapped->start;
	recent->end = mapped->end;
	recent->file_offset = is_vdso ? 0 : mapped->file_offset;
	recent->file = mapped->file->id;
	return recent;
}

static enum code_state find_code(void *context, u64 address, struct code_place *ret_place)
{
	struct code_files *files = context;
	const struct recent_mapping *mapping = mapping_at(files, address);
	const struct code_file *file;

	if (!mapping->file)
		return CODE_NOWHERE;
	file = &files->files.items[mapping->file];
	ret_place->file_offset = address - mapping->start + mapping->file_offset;
	ret_place->table = file->place;
	files->words = file->words;
	return file->state;
}

static const u32 *read_chunk(void *context, u32 chunk)
{
	const struct code_files *files = context;

	return files->words + (size_t)chunk * UNWIND_CHUNK_WORDS;
}

static bool read_code(void *context, u64 address, struct code_around *ret_code)
{
	struct code_files *files = context;
	const struct recent_mapping *mapping = mapping_at(files, address);
	u64 offset = address - mapping->start + mapping->file_offset;
	int fd = mapping->file ? files->files.items[mapping->file].fd : -1;

	if (fd < 0 || offset < sizeof(ret_code->before))
		return false;
	return pread(fd, ret_code, sizeof(*ret_code), (off_t)(offset - sizeof(u64))) ==
	       sizeof(*ret_code);
}

struct copied_walk_world code_files_world(struct code_files *files, u32 pid)
{
	files->pid = pid;
	files->generation = process_table_generation(files->table, pid, SPACE_USER);
	return (struct copied_walk_world){
		.machine = files->settings.machine,
		.find_code = find_code,
		.read_code = read_code,
		.context = files,
		.read_chunk = read_chunk,
		.chunks = files,
	};
}

/* --- opening --- */

struct code_files *code_files_new(const struct code_files_settings *settings)
{
	struct code_files *files = must_alloc(sizeof(*files));

	files->settings = *settings;
	files->table = process_table_new_of_code();
	return files;
}

void code_files_free(struct code_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->files.count; i++) {
		closep(&files->files.items[i].fd);
		free(files->files.items[i].words);
	}
	vec_release(&files->files);
	process_table_free(files->table);
	free(files);
}
