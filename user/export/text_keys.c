/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cells of keys, to the byte as perf report --stdio prints them.
 *
 * Source of the layout: output of perf 6.1; tools/perf/util/hist.c and sort.c for widths. One thing
 * differs: perf cuts a name that is longer than the last name of its thread ("perf-ex"), we don't.
 */
#include "export/text_keys.h"

#include "export/detail_text.h"
#include "export/memory_cells.h"
#include "export/text_graph.h"

#include <inttypes.h>
#include <string.h>

enum {
	UNNAMED_DIGITS = 16, /* of an address */
	UNNAMED_WIDTH = 22,  /* "[k] 0x" and the digits */
	PID_WIDTH = 8,	     /* "1234567:" */
	CPU_WIDTH = 3,
	SOCKET_WIDTH = 6,
	WEIGHT_WIDTH = 12,
	TIME_WIDTH = 12,
	TIME_NS_WIDTH = 16,
	TRANSACTION_WIDTH = 32, /* if there are any */
};

static const char *const titles[FIELD_COUNT] = {
	[FIELD_PID] = "    Pid:Command",
	[FIELD_COMM] = "Command",
	[FIELD_DSO] = "Shared Object",
	[FIELD_SYMBOL] = "Symbol",
	[FIELD_CPU] = "CPU",
	[FIELD_SOCKET] = "Socket",
	[FIELD_CGROUP] = "Cgroup",
	[FIELD_CONTAINER] = "Container",
	[FIELD_UNIT] = "Unit",
	[FIELD_TIME] = "Time",
	[FIELD_LOCAL_WEIGHT] = "Local Weight",
	[FIELD_WEIGHT] = "Weight",
	[FIELD_TRANSACTION] = "Transaction                ",
	[FIELD_CODE_PAGE_SIZE] = "Code Page Size",
	[FIELD_LOCAL_INS_LAT] = "Local INSTR Latency",
	[FIELD_INS_LAT] = "INSTR Latency",
	[FIELD_PARENT] = "Parent symbol",
	[FIELD_TRACE] = "Trace output",
	[FIELD_SYMBOL_SIZE] = "Symbol size",
	[FIELD_SRCLINE] = "Source:Line",
	[FIELD_SRCFILE] = "Source File",
	[FIELD_MEM] = "Memory access",
	[FIELD_SYMBOL_DADDR] = "Data Symbol",
	[FIELD_DSO_DADDR] = "Data Object",
	[FIELD_LOCKED] = "Locked",
	[FIELD_TLB] = "TLB access",
	[FIELD_SNOOP] = "Snoop",
	[FIELD_DCACHELINE] = "Data Cacheline",
	[FIELD_SYMBOL_IADDR] = "Code Symbol",
	[FIELD_PHYS_DADDR] = "Data Physical Address",
	[FIELD_DATA_PAGE_SIZE] = "Data Page Size",
	[FIELD_BLOCKED] = "Blocked",
	[FIELD_DSO_FROM] = "Source Shared Object",
	[FIELD_DSO_TO] = "Target Shared Object",
	[FIELD_SYMBOL_FROM] = "Source Symbol",
	[FIELD_SYMBOL_TO] = "Target Symbol",
	[FIELD_SRCLINE_FROM] = "From Source:Line",
	[FIELD_SRCLINE_TO] = "To Source:Line",
	[FIELD_MISPREDICT] = "Branch Mispredicted",
	[FIELD_IN_TX] = "Branch in transaction",
	[FIELD_ABORT] = "Transaction abort",
	[FIELD_CYCLES] = "Basic Block Cycles",
};

const char *key_column_title(u8 field)
{
	return titles[field];
}

/* --- cells --- */

static string_id last_name(const struct entry_list *list, const struct entry *entry)
{
	return list->fold->profile->threads.items[entry->thread].comm;
}

static void append_symbol(const struct key_columns *columns, struct text *cell,
			  const struct entry *entry, u8 field)
{
	const struct fold *fold = columns->list->fold;
	frame_id frame = entry_key_frame(columns->list, entry, field);

	char level[] = {'[', entry_key_level(columns->list, entry, field), ']', ' '};

	text_append_bytes(cell, level, sizeof(level));
	if (fold->frames.items[frame].function)
		text_append_frame(cell, fold, frame);
	else
		text_append_address(cell, UNNAMED_DIGITS, fold_frame_start(fold, frame));
}

static void append_branch_flags(struct text *cell, u32 flags, u8 field)
{
	u32 cycles = (flags & BRANCH_CYCLES) >> BRANCH_CYCLES_SHIFT;

	if (field == FIELD_MISPREDICT)
		text_append(cell, flags & BRANCH_PREDICTED	? "N"
				  : flags & BRANCH_MISPREDICTED ? "Y"
								: "N/A");
	else if (field == FIELD_IN_TX)
		text_append(cell, flags & BRANCH_IN_TRANSACTION ? "T" : ".");
	else if (field == FIELD_ABORT)
		text_append(cell, flags & BRANCH_ABORTED ? "A" : ".");
	else if (cycles)
		text_appendf(cell, "%" PRIu32, cycles);
	else
		text_append(cell, "-");
}

static bool separates(const struct key_columns *columns, char byte)
{
	return columns->style->separator && byte == *columns->style->separator;
}

/* The printable name of what a key says, into columns->cell; the symbol with its level. */
static const char *key_text(struct key_columns *columns, const struct entry *entry, u8 field)
{
	const struct entry_list *list = columns->list;
	const struct profile *profile = list->fold->profile;
	struct text *cell = &columns->cell;

	text_truncate(cell, 0);
	switch (field) {
	case FIELD_COMM:
		text_append_printable(cell, profile_text(profile, entry->comm));
		break;
	case FIELD_PID:
		text_append_printable(cell, profile_text(profile, last_name(list, entry)));
		break;
	case FIELD_DSO:
	case FIELD_DSO_FROM:
	case FIELD_DSO_TO:
		text_append_printable(cell, entry_dso(list, entry, field));
		break;
	case FIELD_SYMBOL:
	case FIELD_SYMBOL_FROM:
	case FIELD_SYMBOL_TO:
		append_symbol(columns, cell, entry, field);
		break;
	case FIELD_SRCLINE:
	case FIELD_SRCFILE:
	case FIELD_SRCLINE_FROM:
	case FIELD_SRCLINE_TO:
		text_append_printable(cell, entry_source(list, entry, field));
		break;
	case FIELD_MISPREDICT:
	case FIELD_IN_TX:
	case FIELD_ABORT:
	case FIELD_CYCLES:
		append_branch_flags(cell, entry_branch_flags(list, entry), field);
		break;
	case FIELD_MEM ... FIELD_BLOCKED:
		memory_cell_append(cell, list, entry, field);
		break;
	default:
		detail_append(cell, list, entry, field, columns->style->has_nanoseconds);
		break;
	}
	/* A separator inside a value would make another column. */
	for (size_t i = 0; i < cell->length; i++)
		if (separates(columns, cell->bytes[i]))
			cell->bytes[i] = '.';
	return text_view(cell);
}

/* Not padded, if it is the last column. */
static bool is_bare(u8 field)
{
	static const u8 fields[] = {FIELD_SYMBOL,     FIELD_SYMBOL_FROM,  FIELD_SYMBOL_TO,
				    FIELD_CGROUP,     FIELD_TIME,	  FIELD_SRCLINE,
				    FIELD_SRCFILE,    FIELD_SYMBOL_DADDR, FIELD_SYMBOL_IADDR,
				    FIELD_DCACHELINE, FIELD_LOCKED,	  FIELD_BLOCKED,
				    FIELD_TRACE};

	return memchr(fields, field, sizeof(fields));
}

static void append_cell(struct key_columns *columns, struct text *line, const struct entry *entry,
			u8 field)
{
	const char *text = key_text(columns, entry, field);
	int width = (int)columns->widths[field];
	u32 tid = columns->list->fold->profile->threads.items[entry->thread].tid;

	if (field == FIELD_CPU)
		text_appendf(line, "%*.*d", width, width, (int)entry->cpu);
	else if (field == FIELD_PID)
		text_appendf(line, "%7d%c%-*s", (int)tid, separates(columns, ':') ? '.' : ':',
			     width - PID_WIDTH, text);
	else if (field == FIELD_SOCKET || field == FIELD_SYMBOL_SIZE)
		text_appendf(line, "%*s", width, text);
	else if (is_bare(field))
		text_append(line, text);
	else
		text_append_padded(line, text, columns->widths[field]);
}

void key_columns_append(struct key_columns *columns, struct text *line, const struct entry *entry,
			u8 field)
{
	size_t begin = line->length;

	append_cell(columns, line, entry, field);
	if (columns->is_cut[field])
		text_truncate(line, begin + columns->widths[field]);
}

/* --- widths --- */

static void widen(struct key_columns *columns, u8 field, size_t width)
{
	if (width > columns->widths[field])
		columns->widths[field] = (u32)width;
}

/* Whether columns of files are made as wide as an address. */
static bool leaves_room(const struct key_columns *columns)
{
	return !columns->style->separator && !columns->style->width_count &&
	       !columns->list->settings.dsos.count;
}

static void widen_for_frame(struct key_columns *columns, const struct entry *entry, u8 dso,
			    u8 symbol)
{
	const struct fold *fold = columns->list->fold;
	const struct folded_frame *frame =
		&fold->frames.items[entry_key_frame(columns->list, entry, symbol)];

	/* No address is wider, and most of many entries are addresses. */
	if (frame->function || columns->widths[symbol] < UNNAMED_WIDTH)
		widen(columns, symbol, strlen(key_text(columns, entry, symbol)));
	if (frame->binary)
		widen(columns, dso, strlen(key_text(columns, entry, dso)));
	if (!frame->function && leaves_room(columns))
		widen(columns, dso, UNNAMED_DIGITS);
}

static void widen_for_source(struct key_columns *columns, const struct entry *entry, u8 field)
{
	if (entry_layout_has_key(&columns->list->settings.layout, field))
		widen(columns, field, strlen(key_text(columns, entry, field)));
}

static void widen_for_detail(struct key_columns *columns, const struct entry *entry, u8 field)
{
	widen(columns, field, strlen(key_text(columns, entry, field)));
	if (field == FIELD_TRANSACTION && entry_detail(columns->list, entry, field))
		widen(columns, field, TRANSACTION_WIDTH);
}

void key_columns_widen(struct key_columns *columns, const struct entry *entry)
{
	const struct entry_layout *layout = &columns->list->settings.layout;
	size_t name = strlen(key_text(columns, entry, FIELD_PID));

	widen_for_source(columns, entry, FIELD_SRCLINE);
	widen_for_source(columns, entry, FIELD_SRCFILE);
	widen(columns, FIELD_PID, name + PID_WIDTH);
	widen(columns, FIELD_COMM, name);
	widen(columns, FIELD_COMM, strlen(key_text(columns, entry, FIELD_COMM)));
	widen_for_frame(columns, entry, FIELD_DSO, FIELD_SYMBOL);
	for (u32 i = 0; i < layout->order_count; i++) {
		u8 field = layout->order[i];

		if (entry_field_is_of_memory(field))
			widen(columns, field,
			      memory_cell_width(columns->list, entry, field, leaves_room(columns)));
		else if (entry_field_detail(field) != DETAIL_COUNT)
			widen_for_detail(columns, entry, field);
	}
	if (!entry->branch)
		return;
	widen_for_frame(columns, entry, FIELD_DSO_FROM, FIELD_SYMBOL_FROM);
	widen_for_frame(columns, entry, FIELD_DSO_TO, FIELD_SYMBOL_TO);
	widen_for_source(columns, entry, FIELD_SRCLINE_FROM);
	widen_for_source(columns, entry, FIELD_SRCLINE_TO);
}

void key_columns_begin(struct key_columns *columns)
{
	for (unsigned int field = 0; field < FIELD_COUNT; field++)
		if (titles[field])
			widen(columns, (u8)field, strlen(titles[field]));
	widen(columns, FIELD_CPU, CPU_WIDTH);
	widen(columns, FIELD_SOCKET, SOCKET_WIDTH);
	widen(columns, FIELD_LOCAL_WEIGHT, WEIGHT_WIDTH);
	widen(columns, FIELD_WEIGHT, WEIGHT_WIDTH);
	widen(columns, FIELD_TIME, columns->style->has_nanoseconds ? TIME_NS_WIDTH : TIME_WIDTH);
}

void key_columns_release(struct key_columns *columns)
{
	text_release(&columns->cell);
}
