/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables to bytes and back, column by column: what stands in one column differs little from row to
 * row, so a number is written as its difference to the one before, seven bits a byte. A list of
 * columns says for each table what there is, and what a number from outside may be.
 *
 *	strings   how many; of each its length; all bytes
 *	tables    of each how many rows, and then its columns
 *	totals    as a table of one row
 */
#include "profile/packed.h"

#include "base/memory.h"

#include <errno.h>

/* What the numbers of a column may be. */
enum column_kind {
	ANY_NUMBER,
	BELOW,	/* `limit` */
	STRING, /* id of one */
	ROW,	/* of the table `limit` */
	EARLIER /* row of the same table; its row 0 is of itself */
};

struct column {
	u32 offset;
	u8 bytes; /* 1, 2, 4 or 8 */
	u8 kind;
	u32 limit;
};

enum table {
	TABLE_SOURCES,
	TABLE_BINARIES,
	TABLE_LOCATIONS,
	TABLE_STACKS,
	TABLE_THREADS,
	TABLE_LABELS,
	TABLE_COUNTS,
	TABLE_ENDS,
	TABLE_COUNT,
};

#define COLUMN(type, field, its_kind, its_limit)                                           \
	{                                                                                  \
		offsetof(struct type, field), sizeof(((struct type *)0)->field), its_kind, \
			its_limit                                                          \
	}
/* Columns have one number; what is longer is several. */
#define BUILD_ID_COLUMN(at)                                                              \
	{                                                                                \
		offsetof(struct binary_row, build_id) + (at) * sizeof(u32), sizeof(u32), \
			ANY_NUMBER, 0                                                    \
	}

static const struct column source_columns[] = {
	COLUMN(event_source, type, ANY_NUMBER, 0),
	COLUMN(event_source, config, ANY_NUMBER, 0),
	COLUMN(event_source, config1, ANY_NUMBER, 0),
	COLUMN(event_source, config2, ANY_NUMBER, 0),
	COLUMN(event_source, rate, ANY_NUMBER, 0),
	COLUMN(event_source, is_frequency, BELOW, 2),
	COLUMN(event_source, exclude_user, BELOW, 2),
	COLUMN(event_source, exclude_kernel, BELOW, 2),
	COLUMN(event_source, exclude_idle, BELOW, 2),
	COLUMN(event_source, precise, BELOW, 4),
	COLUMN(event_source, has_chain, BELOW, 2),
	COLUMN(event_source, has_time, BELOW, 2),
	COLUMN(event_source, has_cpu, BELOW, 2),
	COLUMN(event_source, has_period, BELOW, 2),
	COLUMN(event_source, is_counted, BELOW, 2),
	COLUMN(event_source, sample_bits, ANY_NUMBER, 0),
};

static const struct column binary_columns[] = {
	COLUMN(binary_row, path, STRING, 0),
	COLUMN(binary_row, short_name, STRING, 0),
	COLUMN(binary_row, owner_pid, ANY_NUMBER, 0),
	COLUMN(binary_row, mapped_order, ANY_NUMBER, 0),
	COLUMN(binary_row, kind, BELOW, BINARY_OTHER + 1),
	COLUMN(binary_row, space, BELOW, SPACE_GUEST_USER + 1),
	COLUMN(binary_row, build_id_bytes, BELOW, BUILD_ID_MAX_BYTES + 1),
	BUILD_ID_COLUMN(0),
	BUILD_ID_COLUMN(1),
	BUILD_ID_COLUMN(2),
	BUILD_ID_COLUMN(3),
	BUILD_ID_COLUMN(4),
	COLUMN(binary_row, inode, ANY_NUMBER, 0),
	COLUMN(binary_row, major, ANY_NUMBER, 0),
	COLUMN(binary_row, minor, ANY_NUMBER, 0),
	COLUMN(binary_row, inode_generation, ANY_NUMBER, 0),
	COLUMN(binary_row, start, ANY_NUMBER, 0),
	COLUMN(binary_row, end, ANY_NUMBER, 0),
	COLUMN(binary_row, reference, ANY_NUMBER, 0),
};
_Static_assert(BUILD_ID_MAX_BYTES == 5 * sizeof(u32), "a build id is five columns");

static const struct column location_columns[] = {
	COLUMN(location_row, binary, ROW, TABLE_BINARIES),
	COLUMN(location_row, address, ANY_NUMBER, 0),
	COLUMN(location_row, seen_at, ANY_NUMBER, 0),
	COLUMN(location_row, space, BELOW, SPACE_GUEST_USER + 1),
};

static const struct column stack_columns[] = {
	COLUMN(stack_row, caller, EARLIER, 0),
	COLUMN(stack_row, location, ROW, TABLE_LOCATIONS),
	COLUMN(stack_row, origin, BELOW, ORIGIN_COUNT),
};

static const struct column thread_columns[] = {
	COLUMN(thread_row, pid, ANY_NUMBER, 0),
	COLUMN(thread_row, tid, ANY_NUMBER, 0),
	COLUMN(thread_row, comm, STRING, 0),
};

static const struct column label_columns[] = {
	COLUMN(label_row, comm, STRING, 0),
	COLUMN(label_row, pid, ANY_NUMBER, 0),
	COLUMN(label_row, tid, ANY_NUMBER, 0),
	COLUMN(label_row, cpu, ANY_NUMBER, 0),
};

static const struct column count_columns[] = {
	COLUMN(count_row, stack, ROW, TABLE_STACKS),
	COLUMN(count_row, leaf, ROW, TABLE_LOCATIONS),
	COLUMN(count_row, labels, ROW, TABLE_LABELS),
	COLUMN(count_row, source, ROW, TABLE_SOURCES),
	COLUMN(count_row, first_thread, ROW, TABLE_THREADS),
	COLUMN(count_row, space, BELOW, SPACE_GUEST_USER + 1),
	COLUMN(count_row, weight, ANY_NUMBER, 0),
	COLUMN(count_row, samples, ANY_NUMBER, 0),
};

static const struct column end_columns[] = {
	COLUMN(early_end_row, binary, ROW, TABLE_BINARIES),
	COLUMN(early_end_row, cut, BELOW, STACK_ENDS),
	COLUMN(early_end_row, stacks, ANY_NUMBER, 0),
};

#define TABLE(member, its_columns, row_zero)                                                    \
	{                                                                                       \
		offsetof(struct profile, member), sizeof(*((struct profile *)0)->member.items), \
			its_columns, ARRAY_COUNT(its_columns), row_zero                         \
	}

static const struct {
	size_t offset, row_bytes;
	const struct column *columns;
	u32 column_count;
	bool has_row_zero;
} tables[] = {
	[TABLE_SOURCES] = TABLE(sources, source_columns, false),
	[TABLE_BINARIES] = TABLE(binaries, binary_columns, true),
	[TABLE_LOCATIONS] = TABLE(locations, location_columns, true),
	[TABLE_STACKS] = TABLE(stacks, stack_columns, true),
	[TABLE_THREADS] = TABLE(threads, thread_columns, true),
	[TABLE_LABELS] = TABLE(labels, label_columns, true),
	[TABLE_COUNTS] = TABLE(counts, count_columns, false),
	[TABLE_ENDS] = TABLE(early_ends, end_columns, false),
};

/* A VEC() of rows that are not looked into. */
struct rows {
	void *items;
	size_t count, capacity;
};

static struct rows rows_of(const struct profile *profile, enum table table)
{
	struct rows rows;

	memcpy(&rows, (const u8 *)profile + tables[table].offset, sizeof(rows));
	return rows;
}

/* --- packing --- */

static void put_number(struct text *out, u64 value)
{
	u8 bytes[10];
	size_t count = 0;

	do {
		bytes[count++] = (u8)(value & 0x7f) | (value > 0x7f ? 0x80 : 0);
		value >>= 7;
	} while (value);
	text_append_bytes(out, bytes, count);
}

/* Small for numbers near each other, whichever is larger. */
static u64 step_between(u64 before, u64 value)
{
	u64 step = value - before;

	return step << 1 ^ (0 - (step >> 63));
}

static void put_column(struct text *out, const struct rows *rows, size_t row_bytes,
		       const struct column *column)
{
	const u8 *at = (const u8 *)rows->items + column->offset;
	u64 before = 0;

	for (size_t i = 0; i < rows->count; i++, at += row_bytes) {
		u64 value = 0;

		memcpy(&value, at, column->bytes);
		put_number(out, step_between(before, value));
		before = value;
	}
}

static void put_strings(struct text *out, const struct intern *strings)
{
	put_number(out, strings->count);
	for (u32 id = 1; id <= strings->count; id++)
		put_number(out, strlen(intern_view(strings, id)));
	for (u32 id = 1; id <= strings->count; id++)
		text_append(out, intern_view(strings, id));
}

static bool can_be_packed(const struct profile *profile)
{
	return profile->functions.count <= 1 && profile->branches.count <= 1 &&
	       profile->details.count <= 1;
}

int profile_pack(const struct profile *profile, struct text *out)
{
	const u64 *totals = (const u64 *)(const void *)&profile->totals;

	if (!can_be_packed(profile))
		return -EINVAL;
	put_strings(out, &profile->strings);
	for (u32 table = 0; table < TABLE_COUNT; table++) {
		struct rows rows = rows_of(profile, table);

		put_number(out, rows.count);
		for (u32 i = 0; i < tables[table].column_count; i++)
			put_column(out, &rows, tables[table].row_bytes, &tables[table].columns[i]);
	}
	for (size_t i = 0; i < profile->sources.count; i++)
		put_number(out, intern_find(&profile->strings, profile->sources.items[i].name,
					    strlen(profile->sources.items[i].name)));
	for (size_t i = 0; i < sizeof(profile->totals) / sizeof(u64); i++)
		put_number(out, totals[i]);
	return 0;
}
_Static_assert(sizeof(struct profile_totals) % sizeof(u64) == 0, "totals are words");

/* --- unpacking --- */

static u64 take_number(struct cursor *in)
{
	u64 value = 0;

	for (u32 shift = 0; shift < 64; shift += 7) {
		u8 byte = cursor_u8(in);

		value |= (u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	in->overrun = true;
	return 0;
}

/* How many things there are, each of which takes so many bytes or more. */
static u64 take_count(struct cursor *in, size_t least_bytes)
{
	u64 count = take_number(in);

	if (count <= cursor_left(in) / least_bytes)
		return count;
	in->overrun = true;
	return 0;
}

/* The first number that a column may not have; 0: it may have all. */
static u64 limit_of(const struct profile *profile, const struct column *column)
{
	switch ((enum column_kind)column->kind) {
	case BELOW:
		return column->limit;
	case STRING:
		return (u64)profile->strings.count + 1;
	case ROW:
		/* never 0: at least row 0 is there, but a source is no row 0 */
		return rows_of(profile, column->limit).count;
	case ANY_NUMBER:
	case EARLIER:
		break;
	}
	return column->bytes < sizeof(u64) ? 1ull << (8 * column->bytes) : 0;
}

static bool take_column(struct cursor *in, const struct rows *rows, size_t row_bytes,
			const struct column *column, u64 limit)
{
	u8 *at = (u8 *)rows->items + column->offset;
	u64 value = 0;

	for (size_t i = 0; i < rows->count; i++, at += row_bytes) {
		u64 step = take_number(in);

		value += step >> 1 ^ (0 - (step & 1));
		if ((limit && value >= limit) || (column->kind == EARLIER && value >= i + !i))
			return false;
		memcpy(at, &value, column->bytes);
	}
	return !in->overrun;
}

static bool take_table(struct cursor *in, struct profile *profile, enum table table)
{
	struct rows rows = {.count = take_count(in, tables[table].column_count)};

	/* Rows have 32 bits, and the last is "none". */
	if (in->overrun || rows.count >= UINT32_MAX || (tables[table].has_row_zero && !rows.count))
		return false;
	rows.capacity = rows.count + 1;
	rows.items = must_alloc_array(rows.capacity, tables[table].row_bytes);
	memcpy((u8 *)profile + tables[table].offset, &rows, sizeof(rows));
	for (u32 i = 0; i < tables[table].column_count; i++) {
		const struct column *column = &tables[table].columns[i];
		u64 limit = limit_of(profile, column);

		if (column->kind == ROW && !limit && rows.count)
			return false;
		if (!take_column(in, &rows, tables[table].row_bytes, column, limit))
			return false;
	}
	return true;
}

static bool take_strings(struct cursor *in, struct intern *strings)
{
	u64 count = take_count(in, 1);
	CLEANUP(freep) u64 *lengths = must_alloc_array(count + 1, sizeof(*lengths));

	for (u64 i = 0; i < count; i++)
		lengths[i] = take_number(in);
	for (u64 i = 0; i < count; i++) {
		const u8 *text = cursor_take(in, lengths[i]);

		/* each once, and without an end in its middle */
		if (!text || memchr(text, 0, lengths[i]) ||
		    intern_bytes(strings, text, lengths[i]) != i + 1)
			return false;
	}
	return !in->overrun;
}

static bool take_source_names(struct cursor *in, struct profile *profile)
{
	for (size_t i = 0; i < profile->sources.count; i++) {
		u64 id = take_number(in);

		if (id > profile->strings.count)
			return false;
		profile->sources.items[i].name = intern_view(&profile->strings, (u32)id);
	}
	return !in->overrun;
}

static bool take_totals(struct cursor *in, struct profile_totals *totals)
{
	u64 *words = (u64 *)(void *)totals;

	for (size_t i = 0; i < sizeof(*totals) / sizeof(u64); i++)
		words[i] = take_number(in);
	return !in->overrun;
}

/* A profile without any row, not even row 0. */
static struct profile *bare_profile(void)
{
	struct profile *profile = profile_new();

	vec_release(&profile->binaries);
	vec_release(&profile->locations);
	vec_release(&profile->stacks);
	vec_release(&profile->threads);
	vec_release(&profile->labels);
	intern_release(&profile->strings);
	return profile;
}

static void profile_freep(struct profile **profile)
{
	profile_free(*profile);
}

int profile_unpack(struct bytes packed, struct profile **ret_profile)
{
	CLEANUP(profile_freep) struct profile *profile = bare_profile();
	struct cursor in = cursor_of(packed);
	bool is_sound = take_strings(&in, &profile->strings);

	for (u32 table = 0; is_sound && table < TABLE_COUNT; table++)
		is_sound = take_table(&in, profile, table);
	is_sound = is_sound && take_source_names(&in, profile) &&
		   take_totals(&in, &profile->totals) && !cursor_left(&in);
	if (!is_sound)
		return -EBADMSG;
	for (stack_id id = 1; id < profile->stacks.count; id++) {
		struct stack_row *stack = &profile->stacks.items[id];

		stack->depth = (u16)(profile->stacks.items[stack->caller].depth + 1);
	}
	*ret_profile = TAKE(profile);
	return 0;
}
