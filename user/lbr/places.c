/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Places by address, the binaries they are in, and which code goes on in which.
 */
#include "lbr/places.h"

#include "base/idmap.h"
#include "lbr/places_reach.h"

#include <string.h>

enum {
	ADDRESSES_MAX = 1 << 22, /* remembered at once, of all processes */
	NOT_LOOKED_FOR = 0,
};

static const u64 none = ~0ULL;

static u64 mix(u64 a, u64 b)
{
	u64 mixed = (a ^ b * 0x9e3779b97f4a7c15ULL) * 0xff51afd7ed558ccdULL;

	return mixed ^ mixed >> 32;
}

struct places *places_new(const struct process_table *processes, const char *symfs)
{
	struct places *places = must_alloc(sizeof(*places));

	places->processes = processes;
	places->symfs = symfs;
	*vec_add(&places->rows) = (struct place){0};
	*vec_add(&places->binaries) = NULL;
	return places;
}

void places_set_processes(struct places *places, const struct process_table *processes)
{
	places->processes = processes;
	places->generation = 0;
}

void places_free(struct places *places)
{
	if (!places)
		return;
	for (size_t i = 0; i < places->binaries.count; i++)
		code_facts_free(places->binaries.items[i]);
	vec_release(&places->rows);
	vec_release(&places->binaries);
	vec_release(&places->bodies);
	vec_release(&places->shifts);
	idmap_release(&places->of_address);
	idmap_release(&places->of_place);
	idmap_release(&places->of_file);
	idmap_release(&places->of_body);
	idmap_release(&places->shift_of);
	idmap_release(&places->reached);
	free(places);
}

/* --- binaries --- */

/* The dynamic linker: the only file that binds functions late. */
static bool is_loader(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && (!strncmp(name, "/ld-linux", 9) || !strncmp(name, "/ld-2.", 6) ||
			!strncmp(name, "/ld-musl", 8));
}

/* Else it is "[vdso]", or memory as "//anon". */
static bool is_file(const char *path)
{
	return path[0] == '/' && path[1] != '/';
}

/* NULL: there is none, or not this one. */
static struct code_facts *read_binary(const struct places *places, const struct mapped_file *file)
{
	struct build_id id = {.length = file->build_id_bytes};
	struct code_image image = {0};

	memcpy(id.bytes, file->build_id, sizeof(id.bytes));
	if ((!places->symfs || code_image_read(places->symfs, file->path, &id, &image)) &&
	    code_image_read("", file->path, &id, &image))
		return NULL;
	return code_facts_new(&image, is_loader(file->path));
}

static u32 binary_of(struct places *places, const struct mapped_file *file)
{
	u32 *row = idmap_place(&places->of_file, file->id);
	struct code_facts *facts;

	if (!*row) {
		facts = is_file(file->path) ? read_binary(places, file) : NULL;
		places->missing += is_file(file->path) && !facts;
		*row = (u32)places->binaries.count;
		*vec_add(&places->binaries) = facts;
	}
	return *row;
}

u64 places_missing(const struct places *places)
{
	return places->missing;
}

/* --- places --- */

u32 places_body(struct places *places, u32 binary, u32 function)
{
	u32 *body = idmap_place(&places->of_body, (u64)binary << 32 | function);

	if (!*body) {
		*vec_add(&places->bodies) = (struct place_body){binary, function};
		*body = (u32)places->bodies.count;
	}
	return *body;
}

static void describe(struct places *places, struct place *place)
{
	const struct code_facts *facts = places->binaries.items[place->binary];
	struct instruction instruction;

	place->function = code_facts_function(facts, place->address);
	if (place->function == NO_FUNCTION)
		return;
	if (!(facts->functions.items[place->function].flags & FUNCTION_IS_GAP))
		place->body = places_body(places, place->binary, place->function);
	if (code_facts_instruction(facts, place->address, &instruction)) {
		place->call = instruction.kind;
		place->call_bytes = instruction.length;
		place->call_target = instruction.target;
	}
	place->pointer = code_facts_frame_pointer(facts, place->address);
	place->is_outermost = code_facts_is_outermost(facts, place->address);
	place->is_signal = code_facts_is_signal(facts, place->address);
}

static place_id place_of(struct places *places, u32 binary, u64 address)
{
	u32 *id = idmap_place(&places->of_place, mix(address, binary));
	struct place place = {.address = address, .binary = binary, .function = NO_FUNCTION};

	if (*id && places->rows.items[*id].address == address &&
	    places->rows.items[*id].binary == binary)
		return *id;
	*id = (place_id)places->rows.count;
	if (binary)
		describe(places, &place);
	*vec_add(&places->rows) = place;
	return (place_id)places->rows.count - 1;
}

static void keep_shift(struct places *places, u32 pid, u32 binary, u64 shift)
{
	u32 *row = idmap_place(&places->shift_of, (u64)pid << 32 | binary);

	if (!*row) {
		*vec_add(&places->shifts) = shift;
		*row = (u32)places->shifts.count;
	}
	places->shifts.items[*row - 1] = shift;
}

static place_id look_up(struct places *places, u32 pid, u64 address)
{
	const struct mapped *mapped = process_table_find(places->processes, pid, address,
							 SPACE_USER);
	u32 binary = mapped ? binary_of(places, mapped->file) : 0;
	const struct code_facts *facts = places->binaries.items[binary];
	u64 linked;

	if (!mapped || !facts)
		return place_of(places, 0, address);
	linked = code_image_address(&facts->image, address - mapped->start + mapped->file_offset);
	if (linked == ~0ULL)
		return place_of(places, 0, address);
	keep_shift(places, pid, binary, address - linked);
	return place_of(places, binary, linked);
}

void places_changed(struct places *places)
{
	places->generation = 0;
}

u64 places_generation(struct places *places, u32 pid)
{
	if (!places->generation || places->pid != pid) {
		places->pid = pid;
		places->generation = process_table_generation(places->processes, pid, SPACE_USER);
	}
	return places->generation;
}

static place_id find_known(struct places *places, u32 pid, u64 generation, u64 address)
{
	u64 key = mix(address, generation << 1 | 1);
	u32 id = idmap_get(&places->of_address, key);

	if (id)
		return id;
	if (places->of_address.count >= ADDRESSES_MAX)
		idmap_release(&places->of_address);
	id = look_up(places, pid, address);
	*idmap_place(&places->of_address, key) = id;
	return id;
}

place_id places_find(struct places *places, u32 pid, u64 address)
{
	u64 generation = places_generation(places, pid);
	struct recent_place *recent =
		&places->recent[(address ^ address >> 12 ^ generation) % RECENT_PLACES];

	if (!recent->id || recent->address != address || recent->generation != generation)
		*recent = (struct recent_place){address, generation,
						find_known(places, pid, generation, address)};
	return recent->id;
}

const struct place *places_at(const struct places *places, place_id id)
{
	return &places->rows.items[id];
}

u64 places_address(struct places *places, u32 pid, place_id id)
{
	const struct place *place = places_at(places, id);
	u32 row;
	u64 address;

	if (!place->binary)
		return places_find(places, pid, place->address) == id ? place->address : 0;
	row = idmap_get(&places->shift_of, (u64)pid << 32 | place->binary);
	if (!row)
		return 0;
	address = place->address + places->shifts.items[row - 1];
	/* The process may have mapped something else there since. */
	return places_find(places, pid, address) == id ? address : 0;
}

/* --- what the code says --- */

bool places_can_call(const struct places *places, place_id from, place_id to)
{
	const struct place *call = places_at(places, from);
	const struct place *target = places_at(places, to);

	if (!call->binary)
		return true;
	if (call->call == INSTRUCTION_CALL_INDIRECT)
		return true;
	return call->call == INSTRUCTION_CALL && call->binary == target->binary &&
	       call->call_target == target->address;
}

bool places_can_contain(struct places *places, place_id entry, place_id now)
{
	u32 from = places_at(places, entry)->body, to = places_at(places, now)->body;
	struct recent_reach *recent = &places->recent_reaches[(from * 31 + to) % RECENT_REACHES];
	u32 *known;
	bool is_reached;

	if (from == to || !from || !to)
		return true;
	if (recent->from == from && recent->to == to)
		return recent->is_reached;
	known = idmap_place(&places->reached, (u64)from << 32 | to);
	if (*known) {
		is_reached = *known == 2;
	} else {
		*known = 1;
		is_reached = places_reach(places, from, to);
		*idmap_place(&places->reached, (u64)from << 32 | to) = is_reached ? 2 : 1;
	}
	*recent = (struct recent_reach){from, to, is_reached};
	return is_reached;
}

/* As far as processes get without asking for five-level page tables. */
static bool is_user_address(u64 address)
{
	return address && !(address >> 47);
}

static void look_at_step(struct places *places, u32 pid, place_id now, struct place_step *step)
{
	if (!is_user_address(step->from) || !is_user_address(step->to))
		return;
	step->from_place = places_find(places, pid, step->from);
	step->to_place = places_find(places, pid, step->to);
	step->fits = places_can_call(places, step->from_place, step->to_place) &&
		     places_can_contain(places, step->to_place, now);
}

struct place_step *places_step(struct places *places, u32 pid, place_id now,
			       const struct branch *entry)
{
	u64 generation = places_generation(places, pid);
	u32 body = places_at(places, now)->body;
	struct place_step *step =
		&places->recent_steps[mix(entry->from ^ (u64)body << 48 ^ body, entry->to) %
				      RECENT_STEPS];

	if (step->body == body && step->from == entry->from && step->to == entry->to &&
	    step->generation == generation)
		return step;
	*step = (struct place_step){
		.from = entry->from, .to = entry->to, .generation = generation, .body = body};
	look_at_step(places, pid, now, step);
	return step;
}

place_id places_call_before(struct places *places, place_id return_place)
{
	struct place *place = &places->rows.items[return_place];

	if (!place->binary)
		return 0;
	if (place->call_before == NOT_LOOKED_FOR) {
		u64 call = code_facts_call_before(places->binaries.items[place->binary],
						  place->address);

		place->call_before = call ? call : none;
	}
	return place->call_before == none ? 0 : place_of(places, place->binary, place->call_before);
}

u32 places_calls(struct places *places, place_id now)
{
	struct place *place = &places->rows.items[now];

	if (!place->body)
		return CALLS_UNKNOWN;
	if (place->calls == NOT_LOOKED_FOR) {
		u32 calls = code_facts_calls(places->binaries.items[place->binary],
					     place->function);

		place->calls = calls ? calls : CALLS_UNKNOWN;
	}
	return place->calls;
}

place_id places_only_call(struct places *places, place_id now)
{
	struct place *place = &places->rows.items[now];

	if (!place->body)
		return 0;
	if (place->only_call == NOT_LOOKED_FOR) {
		u64 call = code_facts_only_call(places->binaries.items[place->binary],
						place->function);

		place->only_call = call ? call : none;
	}
	return place->only_call == none ? 0 : place_of(places, place->binary, place->only_call);
}
