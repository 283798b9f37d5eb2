/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From virtual addresses to locations, by the rules of perf's reader (tools/perf/util/map.c,
 * map__new() and machine.c of Linux 6.1).
 *
 * Answers are cached by (address, state of the mappings), so processes that share their mappings
 * after a fork share the answers too. The cache is a plain table of fixed size: what collides is
 * found anew.
 */
#include "profile/locator.h"

#include "base/memory.h"
#include "base/text.h"

#include <string.h>

enum { CACHE_BITS = 16, CACHE_SLOTS = 1 << CACHE_BITS };

struct cached_location {
	u64 address, generation;
	location_id location;
	u8 space;
	bool is_used;
};

struct locator {
	struct passing_sink passing; /* first; on to the processes */
	struct process_table *processes;
	u64 kernel_start;	 /* of the kernel's text; 0: unknown */
	u64 kernel_reference;	 /* address of its reference symbol */
	struct profile *profile; /* whose rows are cached, with its serial */
	u64 profile_serial;
	VEC(binary_id) binaries; /* by id of the mapped file; 0: not made yet */
	VEC(u8) kinds;		 /* the same: enum binary_kind; BINARY_NONE: not looked at yet */
	struct cached_location *cache; /* NULL: nobody has asked for what it would hold */
};

static int take_mapping(struct event_sink *sink, const struct mapping *mapping)
{
	struct locator *locator = (struct locator *)sink;

	if (mapping->space == SPACE_KERNEL && strstr(mapping->path, "kernel.kallsyms")) {
		locator->kernel_start = mapping->start;
		locator->kernel_reference = mapping->file_offset;
	}
	return sink_call(locator->passing.next, on_mapping, mapping);
}

/* Samples are of no matter here. */
static bool wants_no_chain(struct event_sink *sink, const struct sample *sample)
{
	(void)sink, (void)sample;
	return true;
}

struct locator *locator_new(void)
{
	struct locator *locator = must_alloc(sizeof(*locator));

	locator->processes = process_table_new();
	passing_sink_init(&locator->passing, process_table_sink(locator->processes));
	locator->passing.sink.on_mapping = take_mapping;
	locator->passing.sink.knows_chain = wants_no_chain;
	return locator;
}

void locator_free(struct locator *locator)
{
	if (!locator)
		return;
	process_table_free(locator->processes);
	vec_release(&locator->binaries);
	vec_release(&locator->kinds);
	free(locator->cache);
	free(locator);
}

struct event_sink *locator_sink(struct locator *locator)
{
	return &locator->passing.sink;
}

void locator_watch(struct locator *locator, struct process_watcher *watcher)
{
	process_table_watch(locator->processes, watcher);
}

u64 locator_generation(const struct locator *locator, u32 pid, u8 space)
{
	return process_table_generation(locator->processes, pid, space);
}

const char *locator_thread_name(struct locator *locator, u32 tid)
{
	return process_table_name(locator->processes, tid);
}

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

bool path_is_anonymous(const char *path)
{
	static const char *const starts[] = {"/dev/zero", "/anon_hugepage", "[stack",
					     "[heap",	  "[anon",	    "/SYSV"};

	if (!strcmp(path, "//anon") || !*path)
		return true;
	for (size_t i = 0; i < ARRAY_COUNT(starts); i++)
		if (starts_with(path, starts[i]))
			return true;
	return false;
}

static u8 user_kind(const char *path)
{
	if (path_is_anonymous(path))
		return BINARY_JIT;
	if (!strcmp(path, "[vdso]"))
		return BINARY_VDSO;
	return path[0] == '[' ? BINARY_OTHER : BINARY_FILE;
}

static u8 kernel_kind(const struct mapped_file *file)
{
	if (file->is_kernel_symbol)
		return BINARY_KSYMBOL;
	return strstr(file->path, "kernel.kallsyms") ? BINARY_KERNEL : BINARY_MODULE;
}

static u8 kind_of(struct locator *locator, const struct mapped *mapped)
{
	const struct mapped_file *file = mapped->file;
	u8 *kind;

	while (locator->kinds.count <= file->id)
		*vec_add(&locator->kinds) = BINARY_NONE;
	kind = &locator->kinds.items[file->id];
	if (*kind == BINARY_NONE)
		*kind = space_is_kernel(file->space) ? kernel_kind(file) : user_kind(file->path);
	return *kind == BINARY_JIT && mapped->is_data ? BINARY_OTHER : *kind;
}

/* "/lib/modules/…/snd-pcm.ko.xz" is shown as "[snd_pcm]", as the kernel calls it. */
static string_id module_name(struct profile *profile, const char *path)
{
	struct text name = {0};
	string_id id;

	if (path[0] == '[')
		return intern_text(&profile->strings, path);
	text_append(&name, "[");
	text_append(&name, base_name(path));
	for (size_t i = 0; i < name.length; i++) {
		if (starts_with(name.bytes + i, ".ko"))
			text_truncate(&name, i);
		else if (name.bytes[i] == '-')
			name.bytes[i] = '_';
	}
	text_append(&name, "]");
	id = intern_text(&profile->strings, text_view(&name));
	text_release(&name);
	return id;
}

static void name_jit(struct profile *profile, struct binary_row *binary, u32 pid)
{
	struct text text = {0};

	text_appendf(&text, "/tmp/perf-%u.map", pid);
	binary->path = intern_text(&profile->strings, text_view(&text));
	text_truncate(&text, 0);
	text_appendf(&text, "[JIT] tid %u", pid);
	binary->short_name = intern_text(&profile->strings, text_view(&text));
	text_release(&text);
}

/* Of files in memory each process has its own, and no names. */
static void tell_inode(const struct mapped_file *file, struct binary_row *binary)
{
	if (binary->kind != BINARY_FILE || binary->build_id_bytes)
		return;
	binary->inode = file->inode;
	binary->major = file->major;
	binary->minor = file->minor;
	binary->inode_generation = file->inode_generation;
}

static binary_id make_binary(struct locator *locator, const struct mapped *mapped)
{
	struct profile *profile = locator->profile;
	const struct mapped_file *file = mapped->file;
	struct binary_row binary = {
		.owner_pid = mapped->owner_pid,
		.mapped_order = file->id,
		.kind = kind_of(locator, mapped),
		.space = file->space,
		.build_id_bytes = file->build_id_bytes,
	};

	memcpy(binary.build_id, file->build_id, sizeof(binary.build_id));
	tell_inode(file, &binary);
	binary.path = intern_text(&profile->strings, file->path);
	binary.short_name = intern_text(&profile->strings, base_name(file->path));
	if (space_is_kernel(file->space)) {
		binary.owner_pid = ~0u;
		binary.start = mapped->start;
		binary.end = mapped->end;
	}
	if (binary.kind == BINARY_KERNEL) {
		binary.path = binary.short_name = intern_bytes(&profile->strings, file->path,
							       mapping_name_bytes(file->path));
		binary.reference = mapped->file_offset;
	}
	if (binary.kind == BINARY_MODULE) {
		binary.short_name = module_name(profile, file->path);
		binary.reference = locator->kernel_reference;
	}
	if (binary.kind == BINARY_JIT)
		name_jit(profile, &binary, mapped->owner_pid);
	return profile_binary(profile, &binary);
}

static binary_id binary_of(struct locator *locator, const struct mapped *mapped);

/* Whether a module can be named depends on which kernel it was loaded into: that row comes first.
 */
static void make_kernel_of(struct locator *locator, const struct mapped *module)
{
	const struct mapped *kernel = process_table_find(locator->processes, 0,
							 locator->kernel_start, SPACE_KERNEL);

	if (kernel && kernel->file != module->file && kind_of(locator, kernel) == BINARY_KERNEL)
		binary_of(locator, kernel);
}

static binary_id binary_of(struct locator *locator, const struct mapped *mapped)
{
	u32 id = mapped->file->id;
	u8 kind = kind_of(locator, mapped);

	if (kind == BINARY_MODULE && mapped->file->space == SPACE_KERNEL && locator->kernel_start)
		make_kernel_of(locator, mapped);
	/* One "file", but another binary in each process or at each address: a module that is
	 * loaded again lies elsewhere. */
	if (kind == BINARY_KSYMBOL || kind == BINARY_JIT ||
	    (kind == BINARY_MODULE && mapped->file->space == SPACE_KERNEL))
		return make_binary(locator, mapped);
	while (locator->binaries.count <= id)
		*vec_add(&locator->binaries) = 0;
	if (!locator->binaries.items[id])
		locator->binaries.items[id] = make_binary(locator, mapped);
	return locator->binaries.items[id];
}

static u64 address_in(const struct mapped *mapped, u8 kind, u64 address)
{
	if (kind == BINARY_FILE || kind == BINARY_OTHER)
		return address - mapped->start + mapped->file_offset;
	if (kind == BINARY_VDSO)
		return address - mapped->start;
	return address;
}

static const struct mapped *find_mapping(const struct locator *locator, u32 pid, u64 address,
					 u8 space)
{
	const struct mapped *mapped = NULL;

	if (space != SPACE_UNKNOWN && space != SPACE_HYPERVISOR)
		mapped = process_table_find(locator->processes, pid, address, space);
	/* The kernel's mapping ends where its text does, but code of its start-up lies behind that;
	 * whether an address there is the kernel's shows when it is named: see fold.c. */
	if (!mapped && space == SPACE_KERNEL && locator->kernel_start &&
	    address > locator->kernel_start)
		mapped = process_table_find(locator->processes, pid, locator->kernel_start, space);
	return mapped;
}

static struct location_row row_of(struct locator *locator, const struct virtual_place *place)
{
	const struct mapped *mapped = find_mapping(locator, place->pid, place->address,
						   place->space);
	struct location_row row = {.address = place->address, .space = place->space};

	if (!mapped)
		return row;
	row.binary = binary_of(locator, mapped);
	row.address = address_in(mapped, locator->profile->binaries.items[row.binary].kind,
				 place->address);
	return row;
}

static location_id find_anew(struct locator *locator, const struct virtual_place *place,
			     binary_id *ret_binary)
{
	struct location_row row = row_of(locator, place);

	*ret_binary = row.binary;
	return profile_location(locator->profile, row.binary, row.address, row.space);
}

struct place_identity locator_identify(struct locator *locator, const struct virtual_place *place)
{
	const struct mapped *mapped = find_mapping(locator, place->pid, place->address,
						   place->space);
	struct place_identity identity = {.address = place->address, .space = place->space};
	u8 kind;

	if (!mapped)
		return identity;
	kind = kind_of(locator, mapped);
	identity.file = mapped->file->id;
	identity.address = address_in(mapped, kind, place->address);
	if (kind == BINARY_KSYMBOL)
		identity.part = mapped->start;
	else if (kind == BINARY_JIT)
		identity.part = mapped->owner_pid + 1ull;
	return identity;
}

void locator_expect(const struct locator *locator, const struct profile *profile,
		    const struct virtual_place *place)
{
	const struct mapped *mapped;
	u64 address = place->address;
	binary_id binary = 0;

	if (profile->serial != locator->profile_serial)
		return;
	mapped = find_mapping(locator, place->pid, place->address, place->space);
	if (mapped && mapped->file->id < locator->binaries.count)
		binary = locator->binaries.items[mapped->file->id];
	if (binary)
		address = address_in(mapped, profile->binaries.items[binary].kind, address);
	profile_expect_location(profile, binary, address, place->space);
}

static void use_profile(struct locator *locator, struct profile *profile)
{
	if (profile->serial == locator->profile_serial)
		return;
	if (locator->cache)
		memset(locator->cache, 0, CACHE_SLOTS * sizeof(*locator->cache));
	locator->profile = profile;
	locator->profile_serial = profile->serial;
	locator->binaries.count = 0;
}

binary_id locator_binary(struct locator *locator, struct profile *profile, u32 pid, u64 address,
			 u8 space)
{
	const struct mapped *mapped = find_mapping(locator, pid, address, space);

	use_profile(locator, profile);
	return mapped ? binary_of(locator, mapped) : 0;
}

location_id locator_find_anew(struct locator *locator, struct profile *profile,
			      const struct virtual_place *place, binary_id *ret_binary)
{
	use_profile(locator, profile);
	return find_anew(locator, place, ret_binary);
}

struct location_row locator_row(struct locator *locator, struct profile *profile,
				const struct virtual_place *place)
{
	use_profile(locator, profile);
	return row_of(locator, place);
}

location_id locator_find_in_state(struct locator *locator, struct profile *profile,
				  const struct virtual_place *place, u64 generation)
{
	u64 hash = (place->address ^ generation * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
	struct cached_location *slot;
	binary_id binary;

	use_profile(locator, profile);
	if (!locator->cache)
		locator->cache = must_alloc_table(CACHE_SLOTS, sizeof(*locator->cache));
	slot = &locator->cache[hash >> (64 - CACHE_BITS)];
	if (slot->is_used && slot->address == place->address && slot->generation == generation &&
	    slot->space == place->space)
		return slot->location;
	*slot = (struct cached_location){
		.address = place->address,
		.generation = generation,
		.space = place->space,
		.is_used = true,
		.location = find_anew(locator, place, &binary),
	};
	return slot->location;
}

location_id locator_find(struct locator *locator, struct profile *profile, u32 pid, u64 address,
			 u8 space)
{
	const struct virtual_place place = {.pid = pid, .address = address, .space = space};

	return locator_find_in_state(locator, profile, &place,
				     process_table_generation(locator->processes, pid, space));
}

u64 locator_find_data(struct locator *locator, struct profile *profile,
		      const struct virtual_place *place)
{
	const struct mapped *mapped = NULL;

	if (place->space != SPACE_UNKNOWN && place->space != SPACE_HYPERVISOR)
		mapped = process_table_find(locator->processes, place->pid, place->address,
					    place->space);
	return locator_find(locator, profile, place->pid, place->address, place->space) |
	       (mapped && mapped->is_shared ? PLACE_IS_SHARED : 0);
}

void locator_match(const struct locator *known, const struct locator *next, binary_id *binaries)
{
	for (size_t id = 0; id < known->binaries.count && id < next->binaries.count; id++)
		if (known->binaries.items[id] && next->binaries.items[id])
			binaries[next->binaries.items[id]] = known->binaries.items[id];
}

void locator_continue(struct locator *known, const struct locator *next, const binary_id *binaries)
{
	for (size_t id = 0; id < next->binaries.count; id++) {
		if (known->binaries.count <= id)
			*vec_add(&known->binaries) = 0;
		if (!known->binaries.items[id])
			known->binaries.items[id] = binaries[next->binaries.items[id]];
	}
}
