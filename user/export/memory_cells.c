/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys of memory accesses as text.
 *
 * Source of the layout: output of perf 6.1; tools/perf/util/hist.c for widths.
 */
#include "export/memory_cells.h"

#include "export/memory_words.h"

#include <inttypes.h>
#include <string.h>

enum {
	ADDRESS_DIGITS = 16,
	LEVEL_WIDTH = 4,				/* "[.] " */
	PLACE_WIDTH = ADDRESS_DIGITS + LEVEL_WIDTH + 2, /* of what has no name */
};

static const struct detail_row *details_of_entry(const struct entry_list *list,
						 const struct entry *entry)
{
	return &list->fold->profile->details.items[entry->detail];
}

/* Whose name a place has; NULL: none. */
static const struct function_row *function_at(const struct profile *profile, u64 place)
{
	function_id function = profile_outer_function(profile, (location_id)place);

	return function ? &profile->functions.items[function] : NULL;
}

static void append_level(struct text *text, char level)
{
	char letters[] = {'[', level, ']', ' '};

	text_append_bytes(text, letters, sizeof(letters));
}

/* A name, of variables with the distance from where they begin; or else an address. */
static void append_place(struct text *text, const struct profile *profile, u64 place,
			 u64 unnamed_address, u64 address_in_file)
{
	const struct function_row *function = function_at(profile, place);
	s64 distance;

	if (!function) {
		text_append_address(text, ADDRESS_DIGITS, unnamed_address);
		return;
	}
	text_append_printable(text, profile_text(profile, function->name));
	distance = (s64)(address_in_file - function->start);
	if (function->is_data)
		text_appendf(text, "%c0x%" PRIx64, distance < 0 ? '-' : '+',
			     (u64)(distance < 0 ? -distance : distance));
}

/* The letter is that of the code; memory that is shared, and what is nowhere, have one of their
 * own. */
static char line_level(const struct profile *profile, const struct detail_row *details, char level)
{
	const struct location_row *place = memory_place(profile, details);

	if (!place->binary)
		return 'X';
	if (details->values[DETAIL_DATA_PLACE] & PLACE_IS_SHARED && place->space != SPACE_KERNEL)
		return 's';
	return level;
}

/* A line may begin in front of the variable that the data is in. */
static void append_line(struct text *text, const struct entry_list *list, const struct entry *entry)
{
	const struct profile *profile = list->fold->profile;
	const struct detail_row *details = details_of_entry(list, entry);
	const struct location_row *place = memory_place(profile, details);
	u64 line = memory_line_address(profile, details);

	append_level(text, line_level(profile, details, entry->level));
	append_place(text, profile, details->values[DETAIL_DATA_PLACE], line,
		     place->address & ~(u64)(MEMORY_LINE_BYTES - 1));
}

static void append_data(struct text *text, const struct entry_list *list, const struct entry *entry)
{
	const struct profile *profile = list->fold->profile;
	const struct detail_row *details = details_of_entry(list, entry);

	append_level(text, entry->level);
	append_place(text, profile, details->values[DETAIL_DATA_PLACE],
		     details->values[DETAIL_DATA_ADDRESS], memory_place(profile, details)->address);
}

static void append_code(struct text *text, const struct entry_list *list, const struct entry *entry)
{
	const struct profile *profile = list->fold->profile;
	const struct detail_row *details = details_of_entry(list, entry);
	u64 place = details->values[DETAIL_CODE_PLACE];

	append_level(text, entry->level);
	append_place(text, profile, place, details->values[DETAIL_CODE_ADDRESS],
		     profile->locations.items[(location_id)place].address);
}

static const char *file_of(const struct entry_list *list, const struct entry *entry)
{
	const struct profile *profile = list->fold->profile;
	binary_id binary = memory_place(profile, details_of_entry(list, entry))->binary;

	return binary ? profile_text(profile, entry_binary_name(list, binary)) : "[unknown]";
}

void memory_cell_append(struct text *text, const struct entry_list *list, const struct entry *entry,
			u8 field)
{
	const u64 *values = details_of_entry(list, entry)->values;

	switch (field) {
	case FIELD_SYMBOL_DADDR:
		append_data(text, list, entry);
		break;
	case FIELD_DCACHELINE:
		append_line(text, list, entry);
		break;
	case FIELD_SYMBOL_IADDR:
		append_code(text, list, entry);
		break;
	case FIELD_DSO_DADDR:
		text_append_printable(text, file_of(list, entry));
		break;
	case FIELD_PHYS_DADDR:
		append_level(text, entry->level);
		text_append_address(text, ADDRESS_DIGITS, values[DETAIL_PHYSICAL_ADDRESS]);
		break;
	case FIELD_DATA_PAGE_SIZE:
		memory_append_page(text, values[DETAIL_DATA_PAGE]);
		break;
	case FIELD_MEM:
		memory_append_level(text, values[DETAIL_DATA_SOURCE]);
		break;
	case FIELD_SNOOP:
		memory_append_snoop(text, values[DETAIL_DATA_SOURCE]);
		break;
	case FIELD_TLB:
		memory_append_tlb(text, values[DETAIL_DATA_SOURCE]);
		break;
	case FIELD_LOCKED:
		memory_append_lock(text, values[DETAIL_DATA_SOURCE]);
		break;
	default:
		memory_append_blocked(text, values[DETAIL_DATA_SOURCE]);
		break;
	}
}

/* perf leaves room for an address behind the name. */
static size_t place_width(const struct profile *profile, u64 place)
{
	const struct function_row *function = function_at(profile, place);

	return PLACE_WIDTH + (function ? strlen(profile_text(profile, function->name)) : 0);
}

size_t memory_cell_width(const struct entry_list *list, const struct entry *entry, u8 field,
			 bool names_are_wide)
{
	static const u8 widths[FIELD_COUNT] = {
		[FIELD_LOCKED] = 6, [FIELD_TLB] = 22,	  [FIELD_SNOOP] = 12,
		[FIELD_MEM] = 24,   [FIELD_BLOCKED] = 10,
	};
	const struct profile *profile = list->fold->profile;
	const struct detail_row *details = details_of_entry(list, entry);
	u64 place = details->values[DETAIL_DATA_PLACE];

	switch (field) {
	case FIELD_SYMBOL_DADDR:
		return place_width(profile, place);
	case FIELD_DCACHELINE:
		return place_width(profile, place) + (function_at(profile, place) != NULL);
	case FIELD_SYMBOL_IADDR:
		return place_width(profile, details->values[DETAIL_CODE_PLACE]);
	case FIELD_PHYS_DADDR:
	case FIELD_DATA_PAGE_SIZE:
		return PLACE_WIDTH;
	case FIELD_DSO_DADDR:
		if (!memory_place(profile, details)->binary)
			return names_are_wide ? ADDRESS_DIGITS : 0;
		return strlen(file_of(list, entry));
	default:
		return widths[field];
	}
}

/* Numbers stay numbers; the rest is worded as in the table. */
void memory_cell_write_json(struct json_writer *json, const struct entry_list *list,
			    const struct entry *entry, u8 field)
{
	static const char *const names[FIELD_COUNT] = {
		[FIELD_MEM] = "memory_level",
		[FIELD_SYMBOL_DADDR] = "data_symbol",
		[FIELD_DSO_DADDR] = "data_dso",
		[FIELD_LOCKED] = "locked",
		[FIELD_TLB] = "tlb",
		[FIELD_SNOOP] = "snoop",
		[FIELD_DCACHELINE] = "data_line",
		[FIELD_SYMBOL_IADDR] = "code_symbol",
		[FIELD_PHYS_DADDR] = "physical_address",
		[FIELD_BLOCKED] = "blocked",
	};
	struct text text = {0};
	const char *words;

	if (field == FIELD_DATA_PAGE_SIZE) {
		json_u64(json, "data_page_bytes",
			 details_of_entry(list, entry)->values[DETAIL_DATA_PAGE]);
		return;
	}
	memory_cell_append(&text, list, entry, field);
	words = text_view(&text);
	/* without the letter in front of places, which is the line's "level", and without the room
	 * in front of what blocked it */
	words += *words == '[' && words[2] == ']' ? LEVEL_WIDTH : *words == ' ';
	json_text(json, names[field], words);
	text_release(&text);
}
