/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules by address, merged and cut into pages.
 *
 * 1. Every rule of .eh_frame, and then of .debug_frame, becomes (file offset, rule number),
 * function by function.
 * 2. Functions are sorted, not rules: sections have them in nearly any order, but a function's
 * rules ascend. One that begins inside another ends that one. .debug_frame, and that a program's
 * first instruction has no caller, count only where .eh_frame has nothing.
 * 3. What repeats the rule before it, and gaps too short to be anything but padding, are left out.
 * 4. A page that begins in the middle of a rule gets a row of its own for it, so that a look-up
 * reads one page only. That costs one row in 4 KiB of text and saves every look-up a step back.
 */
#include "unwind/rows.h"

#include "unwind/cfi_sections.h"

#include <errno.h>

enum {
	PADDING_MAX = 15, /* bytes between functions that are alignment only */
	PAGE_BYTES = 1 << UNWIND_PAGE_BITS,
	DIGIT_BITS = 11, /* of the sort */
	DIGITS = 1 << DIGIT_BITS,
	/* What a program begins with, at most. glibc's dynamic linker: 61 bytes on x86-64. */
	ENTRY_BYTES = 128,
	PUSHED_BYTES = 16, /* stp x16, x30, [sp, #-16]! */
};

/* Offsets are of the file and below 4 GiB. */
struct place {
	u32 offset, rule;
};

struct function {
	u32 start, end;
	u32 first, count; /* its places */
};

struct making {
	struct rule_set *rules;
	u32 most_rules;
	const struct cfi_sections *sections;
	struct cfi_result result;
	u64 difference; /* from addresses to offsets, in the function being read */
	VEC(struct place) places;
	VEC(struct function) functions; /* as read */
	size_t eh_frame_functions;	/* so many are from .eh_frame */
};

static int take_function(void *context, u64 start, u64 end)
{
	struct making *making = context;
	const struct cfi_sections *sections = making->sections;
	const struct cfi_segment *segment = sections->text;
	const struct cfi_segment *behind = sections->text + sections->text_count;

	while (segment < behind && start - segment->address >= segment->bytes)
		segment++;
	if (segment == behind)
		return 1; /* text that is not loaded */
	if (end - segment->address > segment->bytes)
		end = segment->address + segment->bytes;
	making->difference = segment->offset - segment->address;
	if ((end + making->difference) >> 32)
		return -EFBIG;
	*vec_add(&making->functions) = (struct function){
		.start = (u32)(start + making->difference),
		.end = (u32)(end + making->difference),
		.first = (u32)making->places.count,
	};
	return 0;
}

/* Whether a rule has the return address above the CFA, where it cannot be. So it is in glibc's
 * dynamic linker for Arm (dl-trampoline.S), where it binds a function
 * late: the stub that leads there has pushed two words, the second is the return address. */
static bool forgets_push(const struct making *making, const struct unwind_rule *rule)
{
	return rule->pc_kind == SAVED_AT_CFA && rule->pc_offset == sizeof(u64) &&
	       rule->cfa_kind == CFA_REGISTER && making->sections->eh_frame.machine == CFI_AARCH64;
}

static u32 add_rule_with_push(struct making *making, struct unwind_rule rule)
{
	rule.cfa_offset += PUSHED_BYTES;
	rule.pc_offset -= PUSHED_BYTES;
	if (rule.fp_kind == SAVED_AT_CFA)
		rule.fp_offset -= PUSHED_BYTES;
	return rule_set_add(making->rules, &rule, making->most_rules);
}

static void take_rule(void *context, u64 start, const struct unwind_rule *rule)
{
	struct making *making = context;
	struct function *function = &making->functions.items[making->functions.count - 1];
	bool has_push = forgets_push(making, rule);
	u64 offset = start + making->difference;
	u32 number;

	if (offset >= function->end)
		return;
	number = has_push ? add_rule_with_push(making, *rule)
			  : rule_set_add(making->rules, rule, making->most_rules);
	if (number == RULE_UNSUPPORTED && rule->cfa_kind != CFA_UNSUPPORTED)
		making->result.unsupported[CFI_TOO_MANY_RULES]++;
	/* What stands before it, a landing pad, has left the stack alone. */
	if (has_push && function->count == 1)
		making->places.items[making->places.count - 1].rule = number;
	function->count++;
	*vec_add(&making->places) = (struct place){.offset = (u32)offset, .rule = number};
}

/* One pass of a radix sort: by a digit, keeping the order of equal ones. */
static void sort_by_digit(const u64 *from, u64 *to, size_t count, u32 shift)
{
	size_t places[DIGITS] = {0}, next = 0;

	for (size_t i = 0; i < count; i++)
		places[from[i] >> shift & (DIGITS - 1)]++;
	for (size_t digit = 0; digit < DIGITS; digit++) {
		size_t here = places[digit];

		places[digit] = next;
		next += here;
	}
	for (size_t i = 0; i < count; i++)
		to[places[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

/* The functions by start, those with the same start as read: start << 32 | row. The caller's to
 * free(). */
static u64 *functions_in_order(const struct making *making)
{
	size_t count = making->functions.count;
	u64 *keys = must_alloc_array(count + 1, sizeof(*keys)), *swap;
	bool is_sorted = true;

	for (size_t i = 0; i < count; i++) {
		keys[i] = (u64)making->functions.items[i].start << 32 | i;
		is_sorted &= !i || keys[i - 1] < keys[i];
	}
	if (is_sorted)
		return keys;
	swap = must_alloc_array(count + 1, sizeof(*swap));
	/* Three digits are more than 32 bits: the third pass moves what two have left. */
	for (u32 shift = 32; shift < 64; shift += DIGIT_BITS) {
		u64 *sorted = swap;

		sort_by_digit(keys, sorted, count, shift);
		swap = keys;
		keys = sorted;
	}
	free(swap);
	return keys;
}

/* Keeps one function of those with the same start, and of .debug_frame's what .eh_frame does not
 * cover. Returns how many are left. */
static size_t leave_out_covered(const struct making *making, u64 *keys)
{
	const struct function *functions = making->functions.items;
	size_t kept = 0;
	u32 covered = 0; /* by .eh_frame, up to here */

	for (size_t i = 0; i < making->functions.count; i++) {
		u32 row = (u32)keys[i], start = functions[row].start;
		bool is_eh_frame = row < making->eh_frame_functions;

		if (!is_eh_frame && start < covered)
			continue;
		if (is_eh_frame)
			covered = functions[row].end;
		if (kept && functions[(u32)keys[kept - 1]].start == start)
			kept--; /* the last wins */
		keys[kept++] = keys[i];
	}
	return kept;
}

/* Writes rows, with page_rows of each page that has begun. */
struct row_writer {
	struct unwind_table *table;
	u32 begun; /* pages */
	u32 rule;  /* of the last row */
};

static void write_row(struct row_writer *writer, u32 offset, u32 rule)
{
	struct unwind_table *table = writer->table;
	u32 page = (offset >> UNWIND_PAGE_BITS) - table->first_page;
	u32 in_page = offset & (PAGE_BYTES - 1);

	if (rule == writer->rule)
		return;
	while (writer->begun <= page) {
		table->page_rows[writer->begun++] = table->row_count;
		if (table->row_count && (writer->begun <= page || in_page))
			table->rows[table->row_count++] = unwind_row_make(0, writer->rule);
	}
	table->rows[table->row_count++] = unwind_row_make(in_page, rule);
	writer->rule = rule;
}

/* The rows of functions in order. */
static void write_functions(const struct making *making, const u64 *keys, size_t count,
			    struct unwind_table *table)
{
	const struct function *functions = making->functions.items;
	struct row_writer writer = {.table = table};
	u32 end = 0;

	for (size_t i = 0; i < count; i++) {
		const struct function *function = &functions[(u32)keys[i]];
		const struct place *place = making->places.items + function->first;
		const struct place *behind = place + function->count;
		u32 next = i + 1 < count ? functions[(u32)keys[i + 1]].start : function->end;

		if (i && function->start - end > PADDING_MAX)
			write_row(&writer, end, RULE_NONE);
		end = function->end < next ? function->end : next;
		for (; place < behind && place->offset < end; place++)
			write_row(&writer, place->offset, place->rule);
	}
	write_row(&writer, end, RULE_NONE);
	while (writer.begun <= table->page_count)
		table->page_rows[writer.begun++] = table->row_count;
}

static struct unwind_table *table_of(const struct making *making)
{
	struct unwind_table *table = must_alloc(sizeof(*table));
	CLEANUP(freep) u64 *keys = functions_in_order(making);
	size_t count = leave_out_covered(making, keys);
	u32 last = 0;

	table->result = making->result;
	for (size_t i = 0; i < count; i++) {
		u32 end = making->functions.items[(u32)keys[i]].end;

		last = end > last ? end : last;
	}
	if (!count)
		return table;
	table->first_page = (u32)(keys[0] >> 32) >> UNWIND_PAGE_BITS;
	table->page_count = (last >> UNWIND_PAGE_BITS) - table->first_page + 1;
	table->page_rows = must_alloc_array(table->page_count + 1, sizeof(u32));
	/* One for each place, one where a function ends, one where a page begins. */
	table->rows = must_resize_array(NULL, making->places.count + count + table->page_count + 1,
					sizeof(*table->rows));
	write_functions(making, keys, count, table);
	table->rows = must_resize_array(table->rows, table->row_count, sizeof(*table->rows));
	return table;
}

/* Where a program begins nobody has called. That code is written by hand, and often has no call
 * frame information that would say so; it reaches to the next function. */
static int take_entry(struct making *making)
{
	static const struct unwind_rule end = {.cfa_kind = CFA_END};
	u64 entry = making->sections->entry;
	int error = entry ? take_function(making, entry, entry + ENTRY_BYTES) : 1;

	if (!error)
		take_rule(making, entry, &end);
	return error < 0 ? error : 0;
}

static int read_rules(struct making *making)
{
	struct cfi_taker taker = {take_function, take_rule, making};
	const struct cfi_sections *sections = making->sections;
	int error;

	making->result.broken += sections->is_broken;
	if (!sections->eh_frame.bytes.length && !sections->debug_frame.bytes.length)
		return -ENODATA;
	error = cfi_read(&sections->eh_frame, &taker, &making->result);
	making->eh_frame_functions = making->functions.count;
	if (!error)
		error = take_entry(making);
	return error ? error : cfi_read(&sections->debug_frame, &taker, &making->result);
}

int unwind_table_read(struct bytes image, struct rule_set *rules, u32 most_rules,
		      struct unwind_table **ret_table)
{
	struct cfi_sections sections;
	struct making making = {.rules = rules, .most_rules = most_rules, .sections = &sections};
	int error = cfi_sections_open(image, &sections);

	if (!error)
		error = read_rules(&making);
	if (!error)
		*ret_table = table_of(&making);
	vec_release(&making.places);
	vec_release(&making.functions);
	cfi_sections_close(&sections);
	return error;
}

void unwind_table_free(struct unwind_table *table)
{
	if (!table)
		return;
	free(table->page_rows);
	free(table->rows);
	free(table);
}

void unwind_table_freep(struct unwind_table **table)
{
	unwind_table_free(*table);
}

u32 unwind_table_find(const struct unwind_table *table, u64 file_offset)
{
	u64 page = (file_offset >> UNWIND_PAGE_BITS) - table->first_page;
	u32 in_page = file_offset & (PAGE_BYTES - 1), low, high;

	if (page >= table->page_count)
		return 0;
	low = table->page_rows[page];
	high = table->page_rows[page + 1];
	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (table->rows[middle] >> UNWIND_RULE_BITS <= in_page)
			low = middle + 1;
		else
			high = middle;
	}
	return low == table->page_rows[page] ? 0 : unwind_row_rule(table->rows[low - 1]);
}
