/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads and processes by id; processes share address spaces until they change them.
 */
#include "event/process_table.h"

#include "base/idmap.h"
#include "base/intern.h"
#include "base/vec.h"
#include "event/address_space.h"

#include <string.h>
#include <sys/mman.h>

/* How long an ended thread is still known: its last samples may be stamped a little later. */
static const u64 grace_ns = 1000000000;

struct thread_row {
	u32 pid, name; /* name: interned, 0: none was seen */
	u64 ended_ns;  /* 0: it lives */
};

struct process_row {
	struct address_space *space;
	u32 threads; /* that are known and not forgotten */
};

struct ended {
	u64 time_ns;
	u32 tid;
};

struct process_table {
	struct event_sink sink;
	struct idmap thread_of, process_of; /* tid → row, pid → row */
	VEC(struct thread_row) threads;	    /* row 0 unused, as in the next */
	VEC(struct process_row) processes;
	VEC(u32) free_threads, free_processes; /* rows to use again */
	VEC(struct ended) ended;	       /* in order of time; from `ended_first` on */
	size_t ended_first;
	struct address_space *kernel;
	struct intern names;
	struct intern file_keys; /* id → files row */
	VEC(struct mapped_file *) files;
	size_t files_stayed; /* when some were forgotten last */
	u64 generation;
	bool is_of_code;
	struct process_watcher *watcher; /* NULL: nobody */
};

/* What makes a file another file; interned as bytes, the path behind it. */
struct file_key {
	u64 inode;
	u32 major, minor, inode_generation;
	u8 space, is_kernel_symbol, build_id_bytes;
	u8 build_id[BUILD_ID_MAX_BYTES];
	char path[];
};

static struct mapped_file *file_new(const struct file_key *key, const char *path, u32 id)
{
	struct mapped_file *file = must_alloc(sizeof(*file));

	file->path = path;
	file->inode = key->inode;
	file->major = key->major;
	file->minor = key->minor;
	file->inode_generation = key->inode_generation;
	file->id = id;
	file->space = key->space;
	file->is_kernel_symbol = key->is_kernel_symbol;
	file->build_id_bytes = key->build_id_bytes;
	memcpy(file->build_id, key->build_id, sizeof(file->build_id));
	return file;
}

static const struct mapped_file *file_of(struct process_table *table, const struct file_key *head,
					 const char *path)
{
	size_t head_bytes = offsetof(struct file_key, path), bytes = head_bytes + strlen(path);
	CLEANUP(freep) struct file_key *key = must_alloc(bytes + 1);
	const char *kept;
	u32 id;

	memcpy(key, head, head_bytes);
	strcpy(key->path, path);
	id = intern_bytes(&table->file_keys, key, bytes);
	kept = intern_view(&table->file_keys, id); /* anywhere, so no struct to look into */
	if (id > table->files.count)
		*vec_add(&table->files) = file_new(head, kept + head_bytes, id);
	return table->files.items[id - 1];
}

static void mark_file(void *is_used, const struct mapped *mapped)
{
	((bool *)is_used)[mapped->file->id - 1] = true;
}

/* By id - 1, owned by the caller: whether a process, or the kernel, has it mapped. */
static bool *find_used_files(const struct process_table *table)
{
	bool *is_used = must_alloc_array(table->files.count, sizeof(*is_used));

	address_space_each(table->kernel, mark_file, is_used);
	for (size_t i = 0; i < table->processes.count; i++)
		if (table->processes.items[i].space)
			address_space_each(table->processes.items[i].space, mark_file, is_used);
	return is_used;
}

/* The file goes on under the id that its key gets in the new table of keys. */
static void renumber(struct mapped_file *file, const struct intern *old, struct intern *keys)
{
	const struct file_key *key = (const void *)intern_view(old, file->id);

	file->id = intern_bytes(keys, key, offsetof(struct file_key, path) + strlen(key->path));
	file->path = ((const struct file_key *)(const void *)intern_view(keys, file->id))->path;
}

bool process_table_forget_files(struct process_table *table)
{
	enum { FEW_FILES = 4096 };
	struct intern old = table->file_keys;
	size_t count = table->files.count;
	CLEANUP(freep) bool *is_used = NULL;

	if (count < FEW_FILES || count < 2 * table->files_stayed)
		return false;
	is_used = find_used_files(table);
	table->file_keys = (struct intern){0};
	table->files.count = 0;
	for (size_t i = 0; i < count; i++) {
		struct mapped_file *file = table->files.items[i];

		if (!is_used[i]) {
			free(file);
			continue;
		}
		renumber(file, &old, &table->file_keys);
		*vec_add(&table->files) = file;
	}
	intern_release(&old);
	table->files_stayed = table->files.count;
	return true;
}

static void tell_space(struct process_table *table, u32 pid)
{
	if (table->watcher)
		table->watcher->before_space(table->watcher, pid);
}

static void tell_name(struct process_table *table, u32 tid)
{
	if (table->watcher)
		table->watcher->before_name(table->watcher, tid);
}

static struct process_row *process_row(struct process_table *table, u32 pid)
{
	u32 row = idmap_get(&table->process_of, pid);

	return row ? &table->processes.items[row] : NULL;
}

static u32 row_from(struct process_table *table, bool is_process)
{
	if (is_process) {
		if (table->free_processes.count)
			return table->free_processes.items[--table->free_processes.count];
		*vec_add(&table->processes) = (struct process_row){0};
		return (u32)table->processes.count - 1;
	}
	if (table->free_threads.count)
		return table->free_threads.items[--table->free_threads.count];
	*vec_add(&table->threads) = (struct thread_row){0};
	return (u32)table->threads.count - 1;
}

/* The process's row, made with an empty address space if it is new. */
static struct process_row *process_made(struct process_table *table, u32 pid)
{
	u32 *place = idmap_place(&table->process_of, pid);

	if (!*place) {
		*place = row_from(table, true);
		table->processes.items[*place] = (struct process_row){.space = address_space_new()};
	}
	return &table->processes.items[*place];
}

static void process_forget(struct process_table *table, u32 pid)
{
	u32 row = idmap_get(&table->process_of, pid);

	tell_space(table, pid);
	address_space_drop(table->processes.items[row].space);
	table->processes.items[row] = (struct process_row){0};
	*vec_add(&table->free_processes) = row;
	idmap_remove(&table->process_of, pid);
}

static void thread_forget(struct process_table *table, u32 tid)
{
	u32 row = idmap_get(&table->thread_of, tid);
	u32 pid = table->threads.items[row].pid;
	struct process_row *process = process_row(table, pid);

	tell_name(table, tid);
	*vec_add(&table->free_threads) = row;
	idmap_remove(&table->thread_of, tid);
	if (process && --process->threads == 0)
		process_forget(table, pid);
}

/* The thread's row, made if it is new; a tid that is now another process's is taken over. */
static struct thread_row *thread_made(struct process_table *table, u32 pid, u32 tid)
{
	u32 row = idmap_get(&table->thread_of, tid);

	if (row && table->threads.items[row].pid == pid)
		return &table->threads.items[row];
	process_made(table, pid)->threads++;
	if (row)
		thread_forget(table, tid);
	row = row_from(table, false);
	*idmap_place(&table->thread_of, tid) = row;
	table->threads.items[row] = (struct thread_row){.pid = pid};
	return &table->threads.items[row];
}

/* Forgets threads that ended more than the grace time before `time_ns`. */
static void forget_ended(struct process_table *table, u64 time_ns)
{
	while (table->ended_first < table->ended.count) {
		const struct ended *oldest = &table->ended.items[table->ended_first];
		u32 row = idmap_get(&table->thread_of, oldest->tid);

		if (oldest->time_ns + grace_ns > time_ns)
			break;
		/* It may have been forked again since. */
		if (row && table->threads.items[row].ended_ns == oldest->time_ns)
			thread_forget(table, oldest->tid);
		table->ended_first++;
	}
	if (table->ended_first < 1024 || 2 * table->ended_first < table->ended.count)
		return;
	table->ended.count -= table->ended_first;
	memmove(table->ended.items, table->ended.items + table->ended_first,
		table->ended.count * sizeof(*table->ended.items));
	table->ended_first = 0;
}

static struct process_table *table_of(struct event_sink *sink)
{
	return (struct process_table *)sink; /* the sink is its first member */
}

static void tell_inode(const struct mapping *mapping, struct file_key *key)
{
	key->inode = mapping->inode;
	key->major = mapping->major;
	key->minor = mapping->minor;
	key->inode_generation = mapping->inode_generation;
}

static int take_mapping(struct event_sink *sink, const struct mapping *mapping)
{
	struct process_table *table = table_of(sink);
	struct file_key key = {.space = mapping->space};
	struct address_space **space = &table->kernel;
	struct mapped mapped = {
		.start = mapping->start,
		.end = mapping->start + mapping->bytes,
		.file_offset = mapping->file_offset,
		.owner_pid = mapping->pid,
		.is_data = mapping->is_data,
		.is_shared = mapping->flags & MAP_SHARED,
	};

	if (mapped.end < mapped.start)
		mapped.end = ~0ULL;
	if (mapped.end == mapped.start)
		return 0;
	if (mapping->space != SPACE_KERNEL && mapping->space != SPACE_USER)
		return 0; /* guests: nothing here could name their addresses */
	if (table->is_of_code && (mapping->space != SPACE_USER || mapping->is_data))
		return 0;
	if (table->is_of_code || (!mapping->build_id_bytes && mapping->space == SPACE_USER))
		tell_inode(mapping, &key);
	if (mapping->build_id_bytes <= BUILD_ID_MAX_BYTES) {
		key.build_id_bytes = mapping->build_id_bytes;
		memcpy(key.build_id, mapping->build_id, mapping->build_id_bytes);
	}
	mapped.file = file_of(table, &key, mapping->path);
	if (mapping->space == SPACE_USER) {
		tell_space(table, mapping->pid);
		space = &process_made(table, mapping->pid)->space;
	}
	address_space_map(space, &mapped, ++table->generation);
	/* Which kernel was told of last decides over what lies behind its text. */
	if (mapping->space == SPACE_KERNEL)
		address_space_renew(table->kernel, table->generation);
	return 0;
}

static int take_kernel_symbol(struct event_sink *sink, const struct kernel_symbol *symbol)
{
	struct process_table *table = table_of(sink);
	struct file_key key = {.space = SPACE_KERNEL, .is_kernel_symbol = 1};
	struct mapped mapped = {
		.start = symbol->start,
		.end = symbol->start + symbol->bytes,
		.file_offset = symbol->start,
		.owner_pid = ~0U,
	};

	if (symbol->flags & 1) {
		address_space_unmap(&table->kernel, symbol->start, ++table->generation);
		return 0;
	}
	if (mapped.end <= mapped.start || address_space_find(table->kernel, symbol->start))
		return 0; /* inside text that is known already */
	mapped.file = file_of(table, &key, symbol->name);
	address_space_map(&table->kernel, &mapped, ++table->generation);
	return 0;
}

static int take_name(struct event_sink *sink, const struct thread_name *name)
{
	struct process_table *table = table_of(sink);
	struct thread_row *thread = thread_made(table, name->pid, name->tid);

	tell_name(table, name->tid);
	/* While exec() runs, samples still have the registers of the old program, so its mappings
	 * stay until new ones cover them. */
	if (!table->is_of_code)
		thread->name = intern_text(&table->names, name->name);
	thread->ended_ns = 0;
	if (name->is_exec)
		address_space_leave_behind(&process_row(table, name->pid)->space);
	return 0;
}

static int take_fork(struct event_sink *sink, const struct thread_life *life)
{
	struct process_table *table = table_of(sink);
	u32 parent = idmap_get(&table->thread_of, life->parent_tid);
	u32 name = parent ? table->threads.items[parent].name : 0;
	struct process_row *parent_process;
	struct thread_row *thread;

	forget_ended(table, life->time_ns);
	if (idmap_get(&table->thread_of, life->tid))
		thread_forget(table, life->tid);
	thread = thread_made(table, life->pid, life->tid);
	tell_name(table, life->tid);
	thread->name = name;
	if (life->pid == life->parent_pid || life->is_synthesized)
		return 0;
	parent_process = process_row(table, life->parent_pid);
	if (parent_process) {
		struct process_row *process = process_row(table, life->pid);

		tell_space(table, life->pid);
		address_space_drop(process->space);
		process->space = address_space_share(parent_process->space);
	}
	return 0;
}

static int take_exit(struct event_sink *sink, const struct thread_life *life)
{
	struct process_table *table = table_of(sink);
	u32 row = idmap_get(&table->thread_of, life->tid);

	forget_ended(table, life->time_ns);
	if (!row || !life->time_ns)
		return 0;
	table->threads.items[row].ended_ns = life->time_ns;
	*vec_add(&table->ended) = (struct ended){life->time_ns, life->tid};
	return 0;
}

struct process_table *process_table_new(void)
{
	struct process_table *table = must_alloc(sizeof(*table));
	u32 *swapper = NULL;

	table->sink = (struct event_sink){
		.on_mapping = take_mapping,
		.on_kernel_symbol = take_kernel_symbol,
		.on_name = take_name,
		.on_fork = take_fork,
		.on_exit = take_exit,
	};
	*vec_add(&table->threads) = (struct thread_row){0};
	*vec_add(&table->processes) = (struct process_row){0};
	table->kernel = address_space_new();
	swapper = &thread_made(table, 0, 0)->name;
	*swapper = intern_text(&table->names, "swapper");
	return table;
}

struct process_table *process_table_new_of_code(void)
{
	struct process_table *table = process_table_new();

	table->is_of_code = true;
	table->sink.on_kernel_symbol = NULL;
	return table;
}

void process_table_free(struct process_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->processes.count; i++)
		address_space_drop(table->processes.items[i].space);
	for (size_t i = 0; i < table->files.count; i++)
		free(table->files.items[i]);
	address_space_drop(table->kernel);
	idmap_release(&table->thread_of);
	idmap_release(&table->process_of);
	vec_release(&table->threads);
	vec_release(&table->processes);
	vec_release(&table->free_threads);
	vec_release(&table->free_processes);
	vec_release(&table->ended);
	vec_release(&table->files);
	intern_release(&table->names);
	intern_release(&table->file_keys);
	free(table);
}

void process_table_watch(struct process_table *table, struct process_watcher *watcher)
{
	table->watcher = watcher;
}

struct event_sink *process_table_sink(struct process_table *table)
{
	return &table->sink;
}

static const struct address_space *space_of(const struct process_table *table, u32 pid, u8 space)
{
	u32 row;

	if (space == SPACE_KERNEL)
		return table->kernel;
	if (space != SPACE_USER)
		return NULL;
	row = idmap_get(&table->process_of, pid);
	return row ? table->processes.items[row].space : NULL;
}

const struct mapped *process_table_find(const struct process_table *table, u32 pid, u64 address,
					u8 space)
{
	const struct address_space *mappings = space_of(table, pid, space);

	return mappings ? address_space_find(mappings, address) : NULL;
}

struct address_space *process_table_hold(const struct process_table *table, u32 pid)
{
	u32 row = idmap_get(&table->process_of, pid);

	return row ? address_space_share(table->processes.items[row].space) : NULL;
}

const char *process_table_name(struct process_table *table, u32 tid)
{
	u32 row = idmap_get(&table->thread_of, tid);
	u32 name = row ? table->threads.items[row].name : 0;
	char nameless[16];

	if (!name) {
		snprintf(nameless, sizeof(nameless), ":%d", (int)tid);
		name = intern_text(&table->names, nameless);
	}
	return intern_view(&table->names, name);
}

u64 process_table_generation(const struct process_table *table, u32 pid, u8 space)
{
	const struct address_space *mappings = space_of(table, pid, space);

	return 1 + (mappings ? address_space_generation(mappings) : 0);
}
