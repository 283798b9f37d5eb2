/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Symbols and functions in columns: what is alike stands together, which packs best.
 */
#include "symbolize/kept_names.h"

#include "base/memory.h"

#include <errno.h>
#include <string.h>

enum {
	ROWS_MAX = 16 << 20, /* twice what is read of an ELF file */
	SYMBOL_BYTES = 4,    /* at least: start, size, data or not, NUL */
	FUNCTION_BYTES = 3,  /* at least: start, size, address */
};

void kept_names_release(struct kept_names *names)
{
	symbols_free(names->symbols);
	vec_release(&names->functions.items);
	*names = (struct kept_names){0};
}

static size_t count_of(const struct symbols *symbols)
{
	return symbols ? symbols_count(symbols) : 0;
}

u64 kept_names_rows(const struct kept_names *names)
{
	return count_of(names->symbols) + names->functions.items.count;
}

/* --- writing --- */

static void put_symbols(const struct symbols *symbols, struct text *block)
{
	size_t count = count_of(symbols);
	u64 last = 0;

	/* A symbol at the last of all addresses holds none. */
	while (count &&
	       symbols_at(symbols, count - 1)->end == symbols_at(symbols, count - 1)->start)
		count--;
	kept_put(block, count);
	for (size_t i = 0; i < count; i++) {
		kept_put(block, symbols_at(symbols, i)->start - last);
		last = symbols_at(symbols, i)->start;
	}
	for (size_t i = 0; i < count; i++)
		kept_put(block, symbols_at(symbols, i)->end - symbols_at(symbols, i)->start);
	for (size_t i = 0; i < count; i++)
		kept_put(block, symbols_at(symbols, i)->is_data);
	for (size_t i = 0; i < count; i++)
		kept_put_text(block, symbols_at(symbols, i)->name);
}

/* The distance of the addresses from the places in the file hardly ever changes. */
static void put_functions(const struct function_places *functions, struct text *block)
{
	const struct function_place *items = functions->items.items;
	size_t count = functions->items.count;
	u64 last = 0;

	kept_put(block, count);
	for (size_t i = 0; i < count; i++) {
		kept_put(block, items[i].start - last);
		last = items[i].start;
	}
	for (size_t i = 0; i < count; i++)
		kept_put(block, items[i].end - items[i].start);
	for (size_t i = 0; i < count; i++)
		kept_put(block, items[i].address - items[i].start);
}

void kept_names_put(const struct kept_names *names, struct text *block)
{
	kept_put(block, names->id.length);
	text_append_bytes(block, names->id.bytes, names->id.length);
	kept_put(block, names->reference);
	kept_put(block, names->is_linkage);
	put_symbols(names->symbols, block);
	put_functions(&names->functions, block);
}

/* --- reading --- */

/* What symbols_finish() leaves alone: starts ascend, and each symbol holds addresses. */
static bool is_settled(const struct symbol *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].end <= rows[i].start || (i && rows[i].start <= rows[i - 1].start))
			return false;
	return true;
}

static void take_symbols(struct cursor *cursor, struct kept_names *names)
{
	size_t count = kept_take_count(cursor, SYMBOL_BYTES);
	CLEANUP(freep) struct symbol *rows = NULL;
	u64 last = 0;

	cursor->overrun |= count > ROWS_MAX;
	if (!count || cursor->overrun)
		return;
	rows = must_alloc_array(count, sizeof(*rows));
	for (size_t i = 0; i < count; i++)
		rows[i].start = last += kept_take(cursor);
	for (size_t i = 0; i < count; i++)
		rows[i].end = rows[i].start + kept_take(cursor);
	for (size_t i = 0; i < count; i++)
		rows[i].is_data = kept_take(cursor) != 0;
	cursor->overrun |= !is_settled(rows, count);
	names->symbols = symbols_new();
	for (size_t i = 0; i < count && !cursor->overrun; i++) {
		rows[i].name = kept_take_text(cursor);
		symbols_add(names->symbols, &rows[i]);
	}
	symbols_finish(names->symbols);
}

/* What ascends and ends behind its start, as function_places_find() needs it. */
static bool is_in_order(const struct function_places *functions)
{
	const struct function_place *items = functions->items.items;

	for (size_t i = 0; i < functions->items.count; i++)
		if (items[i].end <= items[i].start || (i && items[i].start <= items[i - 1].start))
			return false;
	return true;
}

static void take_functions(struct cursor *cursor, struct function_places *functions)
{
	size_t count = kept_take_count(cursor, FUNCTION_BYTES);
	u64 last = 0;

	cursor->overrun |= count > ROWS_MAX;
	if (!count || cursor->overrun)
		return;
	vec_reserve(&functions->items, count);
	functions->items.count = count;
	for (size_t i = 0; i < count; i++)
		functions->items.items[i].start = last += kept_take(cursor);
	for (size_t i = 0; i < count; i++)
		functions->items.items[i].end = functions->items.items[i].start + kept_take(cursor);
	for (size_t i = 0; i < count; i++)
		functions->items.items[i].address = functions->items.items[i].start +
						    kept_take(cursor);
	cursor->overrun |= !is_in_order(functions);
}

int kept_names_take(struct bytes block, struct kept_names *ret_names)
{
	CLEANUP(kept_names_release) struct kept_names names = {0};
	struct cursor cursor = cursor_of(block);
	u64 length = kept_take(&cursor);
	const u8 *id = length <= BUILD_ID_MAX_BYTES ? cursor_take(&cursor, length) : NULL;

	if (!id)
		return -EBADMSG;
	memcpy(names.id.bytes, id, length);
	names.id.length = (u8)length;
	names.reference = kept_take(&cursor);
	names.is_linkage = kept_take(&cursor) != 0;
	take_symbols(&cursor, &names);
	take_functions(&cursor, &names.functions);
	if (cursor.overrun || cursor_left(&cursor))
		return -EBADMSG;
	*ret_names = names;
	names = (struct kept_names){0};
	return 0;
}
