/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sorted symbol arrays: adding, settling (order, ends, one name an address), finding.
 *
 * Which name wins and where a symbol without a size ends are perf's rules, so that both tools name
 * an address alike. Source: tools/perf/util/symbol.c, Linux 6.1 (symbols__fixup_end,
 * symbols__fixup_duplicate, choose_best_symbol).
 */
#include "binary/symbols.h"

#include "base/arena.h"
#include "base/memory.h"
#include "base/vec.h"
#include "binary/demangle.h"

#include <string.h>

enum {
	PAGE_BYTES = 4096,
	/* How many symbols can hold one address; real code nests two or three deep. A bound, so
	 * that a made-up file cannot make finding slow. */
	NESTING_MAX = 64,
	NOT_NESTED = UINT32_MAX,
};

/* What a row is sorted by. */
struct sort_key {
	u64 start;
	u32 row;
};

struct symbols {
	VEC(struct symbol) rows;
	struct arena names;
	u64 *starts; /* of the rows, packed for the search */
	/* Per row: the nearest row before it that ends behind it, NOT_NESTED if there is none. */
	u32 *enclosing;
};

struct symbols *symbols_new(void)
{
	return must_alloc(sizeof(struct symbols));
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	arena_release(&symbols->names);
	vec_release(&symbols->rows);
	free(symbols->starts);
	free(symbols->enclosing);
	free(symbols);
}

void symbols_freep(struct symbols **symbols)
{
	symbols_free(*symbols);
}

void symbols_add(struct symbols *symbols, const struct symbol *symbol)
{
	struct symbol *row = vec_add(&symbols->rows);

	*row = *symbol;
	row->name = arena_copy(&symbols->names, symbol->name, strlen(symbol->name));
	if (row->end < row->start)
		row->end = row->start;
}

static bool is_sorted(const struct symbol *rows, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (rows[i - 1].start > rows[i].start)
			return false;
	}
	return true;
}

/* Puts `from` into `to` by the byte of the key at bit `shift`; equal ones keep their order. */
static void sort_by_byte(const struct sort_key *from, struct sort_key *to, size_t count, int shift)
{
	size_t places[256] = {0}, next = 0;

	for (size_t i = 0; i < count; i++)
		places[from[i].start >> shift & 0xff]++;
	for (size_t i = 0; i < ARRAY_COUNT(places); i++) {
		size_t here = places[i];

		places[i] = next;
		next += here;
	}
	for (size_t i = 0; i < count; i++)
		to[places[from[i].start >> shift & 0xff]++] = from[i];
}

/* By start, those of one start in the order in which they came: a radix sort, which takes three
 * rounds for a big library and never more than eight. */
static void sort_rows(struct symbols *symbols)
{
	size_t count = symbols->rows.count;
	struct symbol *rows = symbols->rows.items, *sorted;
	struct sort_key *keys, *other, *taken;
	u64 differing = 0;

	if (is_sorted(rows, count))
		return;
	keys = must_alloc_array(count, sizeof(*keys));
	other = must_alloc_array(count, sizeof(*other));
	sorted = must_alloc_array(symbols->rows.capacity, sizeof(*sorted));
	for (size_t i = 0; i < count; i++) {
		keys[i] = (struct sort_key){rows[i].start, (u32)i};
		differing |= rows[i].start ^ rows[0].start;
	}
	for (int shift = 0; shift < 64; shift += 8) {
		if (!(differing >> shift & 0xff))
			continue;
		sort_by_byte(keys, other, count, shift);
		taken = keys;
		keys = other;
		other = taken;
	}
	for (size_t i = 0; i < count; i++)
		sorted[i] = rows[keys[i].row];
	free(keys);
	free(other);
	free(rows);
	symbols->rows.items = sorted;
}

/* The page boundary above `address`, and a page more; it must not wrap. */
static u64 page_behind(u64 address)
{
	u64 page = (address + PAGE_BYTES - 1) & ~(u64)(PAGE_BYTES - 1);

	return page + PAGE_BYTES > address ? page + PAGE_BYTES : UINT64_MAX;
}

/* A symbol without a size ends where the next begins. */
static void set_ends(struct symbols *symbols)
{
	struct symbol *rows = symbols->rows.items;
	size_t count = symbols->rows.count;

	for (size_t i = 0; i < count; i++) {
		if (rows[i].end != rows[i].start)
			continue;
		if (i + 1 < count && rows[i].group == rows[i + 1].group)
			rows[i].end = rows[i + 1].start;
		else
			rows[i].end = page_behind(rows[i].start);
	}
}

static size_t leading_underscores(const char *name)
{
	return strspn(name, "_");
}

/* C++ constructors and destructors have several symbols that read alike: _ZN1AC1Ev, _ZN1AC2Ev. */
static bool is_same_structor(const char *a, const char *b)
{
	size_t same = 0;

	while (a[same] && a[same] == b[same])
		same++;
	return same > 0 && a[same] && b[same] && (a[same - 1] == 'C' || a[same - 1] == 'D') &&
	       !strcmp(a + same + 1, b + same + 1);
}

static bool is_mangled(const char *name)
{
	return !strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2);
}

/* Whether the name of `a` is to be preferred, as people will read it; perf compares names after
 * demangling. */
static bool reads_better(const char *a, const char *b)
{
	size_t a_underscores = leading_underscores(a), b_underscores = leading_underscores(b);
	size_t a_length = strlen(a), b_length = strlen(b);

	if (a_underscores != b_underscores)
		return a_underscores < b_underscores;
	if (a_length != b_length)
		return a_length > b_length;
	/* Kernel system calls before 4.17 had these aliases. */
	return strncmp(a, "SyS", 3) != 0 && strncmp(a, "compat_SyS", 10) != 0;
}

static bool reads_better_demangled(const char *a, const char *b)
{
	CLEANUP(freep) char *a_shown = NULL, *b_shown = NULL;

	if (!is_mangled(a) && !is_mangled(b))
		return reads_better(a, b);
	if (is_same_structor(a, b))
		return true;
	a_shown = demangle(a);
	b_shown = demangle(b);
	return reads_better(a_shown ? a_shown : a, b_shown ? b_shown : b);
}

/* Of two symbols at one address, whether the first is to stay. */
static bool is_better(const struct symbol *a, const struct symbol *b)
{
	bool a_empty = a->end == a->start, b_empty = b->end == b->start;

	if (a_empty != b_empty)
		return b_empty;
	if ((a->binding == SYMBOL_WEAK) != (b->binding == SYMBOL_WEAK))
		return b->binding == SYMBOL_WEAK;
	if ((a->binding == SYMBOL_GLOBAL) != (b->binding == SYMBOL_GLOBAL))
		return a->binding == SYMBOL_GLOBAL;
	return reads_better_demangled(a->name, b->name);
}

static void drop_duplicates(struct symbols *symbols)
{
	struct symbol *rows = symbols->rows.items;
	size_t kept = 0;

	for (size_t i = 1; i < symbols->rows.count; i++) {
		if (rows[i].start != rows[kept].start)
			rows[++kept] = rows[i];
		else if (!is_better(&rows[kept], &rows[i]))
			rows[kept] = rows[i];
	}
	if (symbols->rows.count)
		symbols->rows.count = kept + 1;
}

/* Links each row to the nearest earlier one that ends behind it: where the search goes on if the
 * row itself has ended before the address. */
static void link_nested(struct symbols *symbols)
{
	const struct symbol *rows = symbols->rows.items;
	size_t count = symbols->rows.count;

	symbols->starts = must_resize_array(symbols->starts, count + 1, sizeof(u64));
	symbols->enclosing = must_resize_array(symbols->enclosing, count + 1, sizeof(u32));
	for (size_t i = 0; i < count; i++) {
		u32 outer = i ? (u32)i - 1 : NOT_NESTED;

		while (outer != NOT_NESTED && rows[outer].end <= rows[i].end)
			outer = symbols->enclosing[outer];
		symbols->starts[i] = rows[i].start;
		symbols->enclosing[i] = outer;
	}
}

/* Gives back what growing reserved: tables are kept as long as the program runs. */
static void shrink(struct symbols *symbols)
{
	if (symbols->rows.capacity == symbols->rows.count || !symbols->rows.count)
		return;
	symbols->rows.capacity = symbols->rows.count;
	symbols->rows.items = must_resize_array(symbols->rows.items, symbols->rows.count,
						sizeof(*symbols->rows.items));
}

void symbols_finish(struct symbols *symbols)
{
	sort_rows(symbols);
	set_ends(symbols);
	drop_duplicates(symbols);
	shrink(symbols);
	for (size_t i = 0; i < symbols->rows.count; i++)
		symbols->rows.items[i].order = (u32)i;
	link_nested(symbols);
}

const struct symbol *symbols_find(const struct symbols *symbols, u64 address)
{
	size_t left = symbols->rows.count;
	const u64 *base = symbols->starts;
	u32 row;

	if (!left || !base || address < base[0])
		return NULL;
	/* The last start that is not above `address`, without branches to mispredict. */
	while (left > 1) {
		size_t half = left / 2;

		base += base[half] <= address ? half : 0;
		left -= half;
	}
	row = (u32)(base - symbols->starts);
	for (u32 depth = 0; row != NOT_NESTED && depth < NESTING_MAX; depth++) {
		if (address < symbols->rows.items[row].end)
			return &symbols->rows.items[row];
		row = symbols->enclosing[row];
	}
	return NULL;
}

size_t symbols_count(const struct symbols *symbols)
{
	return symbols->rows.count;
}

const struct symbol *symbols_at(const struct symbols *symbols, size_t index)
{
	return &symbols->rows.items[index];
}
