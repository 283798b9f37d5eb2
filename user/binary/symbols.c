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
#include "base/file.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/vec.h"
#include "binary/demangle.h"

#include <string.h>

enum {
	PAGE_BYTES = 4096,
	/* How many symbols can hold one address; real code nests two or three deep. A bound, so
	 * that a made-up file cannot make finding slow. */
	NESTING_MAX = 64,
	NOT_NESTED = UINT32_MAX,
	/* Bytes of names that are compared where several have one address: again a bound. */
	COMPARED_MAX = 256 << 20,
};

struct symbols {
	VEC(struct symbol) rows;
	size_t settled; /* rows at the front that symbols_settle() has been over */
	bool is_steady; /* settling those again changes nothing */
	struct arena names;
	VEC(struct bytes) images; /* that names are borrowed from */
	size_t compared;	  /* bytes of names so far */
	u64 *starts;		  /* of the rows, packed for the search */
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
	for (size_t i = 0; i < symbols->images.count; i++)
		file_unmap(&symbols->images.items[i]);
	vec_release(&symbols->images);
	vec_release(&symbols->rows);
	free(symbols->starts);
	free(symbols->enclosing);
	free(symbols);
}

void symbols_freep(struct symbols **symbols)
{
	symbols_free(*symbols);
}

void symbols_add_borrowed(struct symbols *symbols, const struct symbol *symbol)
{
	struct symbol *row = vec_add(&symbols->rows);

	*row = *symbol;
	if (row->end < row->start)
		row->end = row->start;
}

void symbols_add(struct symbols *symbols, const struct symbol *symbol)
{
	struct symbol copy = *symbol;

	copy.name = arena_copy(&symbols->names, symbol->name, strlen(symbol->name));
	symbols_add_borrowed(symbols, &copy);
}

void symbols_expect(struct symbols *symbols, size_t count)
{
	size_t wanted = symbols->rows.count + count;

	/* Not more than that, as a vec would: a large table is the most that a command needs. */
	if (wanted <= symbols->rows.capacity)
		return;
	symbols->rows.items = must_resize_array(symbols->rows.items, wanted,
						sizeof(*symbols->rows.items));
	symbols->rows.capacity = wanted;
}

void symbols_own(struct symbols *symbols, struct bytes *image)
{
	*vec_add(&symbols->images) = *image;
	*image = (struct bytes){0};
}

static bool is_sorted(const struct symbol *rows, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (rows[i - 1].start > rows[i].start)
			return false;
	}
	return true;
}

/* The rows from `from` on, sorted, in a new array with room for `capacity` rows. None of the memory
 * is zeroed first: to touch it takes longer than to sort. */
static struct symbol *sorted_rows(const struct symbol *rows, size_t count, size_t capacity)
{
	struct symbol *sorted = must_resize_array(NULL, capacity, sizeof(*sorted));
	struct sort_key *keys, *other, *in_order;

	keys = must_resize_array(NULL, count, sizeof(*keys));
	other = must_resize_array(NULL, count, sizeof(*other));
	for (size_t i = 0; i < count; i++)
		keys[i] = (struct sort_key){rows[i].start, (u32)i};
	in_order = sort_by_key(keys, other, count);
	for (size_t i = 0; i < count; i++)
		sorted[i] = rows[in_order[i].row];
	free(keys);
	free(other);
	return sorted;
}

/* Merges sorted rows into those before them, which stay in front of what starts where they do. */
static void merge_rows(struct symbol *rows, size_t count, const struct symbol *more,
		       size_t more_count)
{
	size_t to = count + more_count;

	while (more_count)
		if (count && rows[count - 1].start > more[more_count - 1].start)
			rows[--to] = rows[--count];
		else
			rows[--to] = more[--more_count];
}

/* By start, those of one start in the order in which they came. What is settled is in order. */
static void put_in_order(struct symbols *symbols)
{
	size_t settled = symbols->settled, more = symbols->rows.count - settled;
	struct symbol *rows = symbols->rows.items, *sorted;

	/* Without rows there is no place to begin at, either. */
	if (!more || is_sorted(rows + (settled ? settled - 1 : 0), more + (settled ? 1 : 0)))
		return;
	sorted = sorted_rows(rows + settled, more, settled ? more : symbols->rows.capacity);
	if (settled) {
		merge_rows(rows, settled, sorted, more);
		free(sorted);
		return;
	}
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
static bool is_better(struct symbols *symbols, const struct symbol *a, const struct symbol *b)
{
	bool a_empty = a->end == a->start, b_empty = b->end == b->start;

	if (a_empty != b_empty)
		return b_empty;
	if ((a->binding == SYMBOL_WEAK) != (b->binding == SYMBOL_WEAK))
		return b->binding == SYMBOL_WEAK;
	if ((a->binding == SYMBOL_GLOBAL) != (b->binding == SYMBOL_GLOBAL))
		return a->binding == SYMBOL_GLOBAL;
	if (symbols->compared > COMPARED_MAX)
		return true;
	symbols->compared += strlen(a->name) + strlen(b->name);
	return reads_better_demangled(a->name, b->name);
}

static void drop_duplicates(struct symbols *symbols)
{
	struct symbol *rows = symbols->rows.items;
	size_t kept = 0;

	for (size_t i = 1; i < symbols->rows.count; i++) {
		if (rows[i].start == rows[kept].start) {
			/* If one without a size stays, the next settling gives it an end. */
			symbols->is_steady = false;
			if (!is_better(symbols, &rows[kept], &rows[i]))
				rows[kept] = rows[i];
		} else if (++kept != i) {
			rows[kept] = rows[i];
		}
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

void symbols_settle(struct symbols *symbols)
{
	if (symbols->is_steady && symbols->settled == symbols->rows.count)
		return;
	symbols->is_steady = true;
	put_in_order(symbols);
	set_ends(symbols);
	drop_duplicates(symbols);
	symbols->settled = symbols->rows.count;
}

void symbols_finish(struct symbols *symbols)
{
	symbols_settle(symbols);
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
