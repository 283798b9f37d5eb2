/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names of fields and keys, and the order that -s and -F make of them.
 *
 * Source: Linux 6.1, tools/perf/util/sort.c, setup_sorting().
 */
#include "profile/entry_layout.h"

#include "profile/builder.h"
#include "profile/memory_keys.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/cli.h"
#include "event/event.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

static const char default_sort[] = "comm,dso,symbol";
static const char default_trace_sort[] = "trace";
static const char default_branch_sort[] = "comm,dso_from,symbol_from,symbol_to,cycles";
static const char default_memory_sort[] = "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,"
					  "tlb,locked,blocked,local_ins_lat";

struct field_name {
	const char *name;
	u8 field;
};

/* In the order in which perf tries them: "s" is symbol, "o" is overhead. */
static const struct field_name field_names[] = {
	{"pid", FIELD_PID},
	{"tid", FIELD_PID},
	{"comm", FIELD_COMM},
	{"dso", FIELD_DSO},
	{"symbol", FIELD_SYMBOL},
	{"parent", FIELD_PARENT},
	{"cpu", FIELD_CPU},
	{"socket", FIELD_SOCKET},
	{"local_weight", FIELD_LOCAL_WEIGHT},
	{"weight", FIELD_WEIGHT},
	{"transaction", FIELD_TRANSACTION},
	{"trace", FIELD_TRACE},
	{"symbol_size", FIELD_SYMBOL_SIZE},
	{"cgroup", FIELD_CGROUP},
	{"time", FIELD_TIME},
	{"code_page_size", FIELD_CODE_PAGE_SIZE},
	{"container", FIELD_CONTAINER},
	{"unit", FIELD_UNIT},
	{"local_ins_lat", FIELD_LOCAL_INS_LAT},
	{"ins_lat", FIELD_INS_LAT},
	{"srcline", FIELD_SRCLINE},
	{"srcfile", FIELD_SRCFILE},
	{"overhead", FIELD_OVERHEAD},
	{"overhead_sys", FIELD_OVERHEAD_SYS},
	{"overhead_us", FIELD_OVERHEAD_US},
	{"overhead_guest_sys", FIELD_OVERHEAD_GUEST_SYS},
	{"overhead_guest_us", FIELD_OVERHEAD_GUEST_US},
	{"overhead_children", FIELD_CHILDREN},
	{"sample", FIELD_SAMPLE},
	{"period", FIELD_PERIOD},
	{"dso_from", FIELD_DSO_FROM},
	{"dso_to", FIELD_DSO_TO},
	{"symbol_from", FIELD_SYMBOL_FROM},
	{"symbol_to", FIELD_SYMBOL_TO},
	{"sym_from", FIELD_SYMBOL_FROM},
	{"sym_to", FIELD_SYMBOL_TO},
	{"srcline_from", FIELD_SRCLINE_FROM},
	{"srcline_to", FIELD_SRCLINE_TO},
	{"mispredict", FIELD_MISPREDICT},
	{"in_tx", FIELD_IN_TX},
	{"abort", FIELD_ABORT},
	{"cycles", FIELD_CYCLES},
	{"symbol_daddr", FIELD_SYMBOL_DADDR},
	{"dso_daddr", FIELD_DSO_DADDR},
	{"locked", FIELD_LOCKED},
	{"tlb", FIELD_TLB},
	{"mem", FIELD_MEM},
	{"snoop", FIELD_SNOOP},
	{"dcacheline", FIELD_DCACHELINE},
	{"symbol_iaddr", FIELD_SYMBOL_IADDR},
	{"phys_daddr", FIELD_PHYS_DADDR},
	{"data_page_size", FIELD_DATA_PAGE_SIZE},
	{"blocked", FIELD_BLOCKED},
};

/* Keys of perf report that are not here, with what serves instead. */
static const struct {
	const char *name, *instead;
} keys_of_perf[] = {
	{"dso_size", NULL},
	{"cgroup_id", "use -s cgroup"},
	{"ipc_null", "perf has no figures for it either"},
	{"addr", "use -g address"},
	{"local_p_stage_cyc", "perf has it on POWER alone"},
	{"p_stage_cyc", "perf has it on POWER alone"},
	{"addr_from", "use bpfprof script -F +brstack"},
	{"addr_to", "use bpfprof script -F +brstack"},
	{"ipc_lbr", "use --total-cycles"},
};

bool entry_field_is_key(u8 field)
{
	return field >= FIELD_PID;
}

bool entry_field_is_of_branches(u8 field)
{
	return field >= FIELD_DSO_FROM;
}

bool entry_field_is_of_memory(u8 field)
{
	return field >= FIELD_MEM && field <= FIELD_BLOCKED;
}

static const char *default_keys(const struct entry_layout_settings *settings)
{
	if (settings->has_memory)
		return default_memory_sort;
	if (settings->has_branches)
		return default_branch_sort;
	return settings->is_of_tracepoints && settings->has_traces ? default_trace_sort
								   : default_sort;
}

char *entry_layout_sort_text(const struct entry_layout_settings *settings)
{
	const char *sort = settings->sort;

	if (sort && *sort != '+')
		return must_copy(sort);
	return must_format("%s%s%s", default_keys(settings), sort ? "," : "", sort ? sort + 1 : "");
}

static bool list_has(const u8 *list, u32 count, u8 field)
{
	return count && memchr(list, field, count);
}

static void list_add(u8 *list, u32 *count, u8 field)
{
	if (!list_has(list, *count, field))
		list[(*count)++] = field;
}

bool entry_layout_has_key(const struct entry_layout *layout, u8 field)
{
	return list_has(layout->order, layout->order_count, field);
}

u32 entry_layout_labels(const struct entry_layout *layout, const struct filter_settings *chosen)
{
	u32 keep = 0;

	if (chosen->pid_count)
		keep |= KEEP_PID;
	if (entry_layout_has_key(layout, FIELD_DCACHELINE))
		keep |= KEEP_PID;
	if (chosen->tid_count || entry_layout_has_key(layout, FIELD_PID))
		keep |= KEEP_TID;
	if (entry_layout_has_key(layout, FIELD_CPU))
		keep |= KEEP_CPU;
	return keep;
}

bool entry_layout_has_source(const struct entry_layout *layout)
{
	static const u8 fields[] = {FIELD_SRCLINE, FIELD_SRCFILE, FIELD_SRCLINE_FROM,
				    FIELD_SRCLINE_TO};

	for (size_t i = 0; i < sizeof(fields); i++)
		if (entry_layout_has_key(layout, fields[i]))
			return true;
	return false;
}

u32 entry_field_branch_flags(u8 field)
{
	static const u32 flags[FIELD_COUNT] = {
		[FIELD_MISPREDICT] = BRANCH_MISPREDICTED | BRANCH_PREDICTED,
		[FIELD_IN_TX] = BRANCH_IN_TRANSACTION,
		[FIELD_ABORT] = BRANCH_ABORTED,
		[FIELD_CYCLES] = BRANCH_CYCLES,
	};

	return flags[field];
}

enum sample_detail entry_field_detail(u8 field)
{
	static const struct {
		u8 field, detail;
	} rows[] = {
		{FIELD_SOCKET, DETAIL_SOCKET},
		{FIELD_CGROUP, DETAIL_CGROUP},
		{FIELD_CONTAINER, DETAIL_CONTAINER},
		{FIELD_UNIT, DETAIL_UNIT},
		{FIELD_TIME, DETAIL_TIME},
		{FIELD_LOCAL_WEIGHT, DETAIL_COST},
		{FIELD_WEIGHT, DETAIL_COST},
		{FIELD_TRANSACTION, DETAIL_TRANSACTION},
		{FIELD_CODE_PAGE_SIZE, DETAIL_CODE_PAGE},
		{FIELD_LOCAL_INS_LAT, DETAIL_INSTRUCTION_CYCLES},
		{FIELD_INS_LAT, DETAIL_INSTRUCTION_CYCLES},
		{FIELD_PARENT, DETAIL_PARENT},
		{FIELD_TRACE, DETAIL_TRACE},
	};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		if (rows[i].field == field)
			return rows[i].detail;
	return DETAIL_COUNT;
}

u32 entry_layout_details(const struct entry_layout *layout)
{
	u32 details = 0;

	for (u32 i = 0; i < layout->order_count; i++) {
		u8 field = layout->order[i];

		if (entry_field_is_of_memory(field))
			details |= memory_key_details(field);
		else if (entry_field_detail(field) < DETAIL_COUNT)
			details |= 1u << entry_field_detail(field);
	}
	return details;
}

u32 entry_layout_branch_flags(const struct entry_layout *layout)
{
	u32 flags = 0;

	for (u32 i = 0; i < layout->order_count; i++)
		flags |= entry_field_branch_flags(layout->order[i]);
	return flags;
}

static int refuse(const char *name, const char *option)
{
	const char *names[ARRAY_COUNT(field_names) + 1] = {NULL};
	const char *nearest;

	for (size_t i = 0; i < ARRAY_COUNT(keys_of_perf); i++)
		if (!strcasecmp(name, keys_of_perf[i].name))
			return fail_plain(-EINVAL, keys_of_perf[i].instead,
					  "%s %s: perf's \"%s\" is not supported", option, name,
					  keys_of_perf[i].name);
	for (size_t i = 0; i < ARRAY_COUNT(field_names); i++)
		names[i] = field_names[i].name;
	nearest = nearest_name(name, names);
	if (nearest)
		return fail_plain(-EINVAL, NULL, "%s %s: no such field; did you mean \"%s\"?",
				  option, name, nearest);
	return fail_plain(
		-EINVAL,
		"there are pid, comm, dso, symbol, cpu, socket, cgroup, container, unit, "
		"time, parent, srcline, srcfile, overhead, overhead_children, overhead_sys, "
		"overhead_us, sample, period",
		"%s %s: no such field", option, name);
}

static int find_field(const char *name, const char *option, u8 *ret_field)
{
	for (size_t i = 0; i < ARRAY_COUNT(field_names); i++) {
		if (strncasecmp(name, field_names[i].name, strlen(name)) != 0)
			continue;
		*ret_field = field_names[i].field;
		return 0;
	}
	return refuse(name, option);
}

static int check_keys(const struct entry_layout *layout,
		      const struct entry_layout_settings *settings)
{
	for (u32 i = 0; i < layout->column_count; i++) {
		u8 field = layout->columns[i];

		if (entry_field_is_of_branches(field) && !settings->has_branches)
			return fail_plain(-EINVAL, "use -b with a recording of branches",
					  "a key of branches was given, and samples are counted");
		if (field == FIELD_TRACE && !settings->has_traces)
			return fail_plain(-EINVAL,
					  "use bpfprof report with a recording of tracepoints",
					  "a key of tracepoints was given");
		if (entry_field_is_of_memory(field) && !settings->has_memory)
			return fail_plain(-EINVAL, "use bpfprof report --mem-mode",
					  "a key of memory accesses was given");
	}
	return 0;
}

/* Adds the fields of a list like "comm, dso" to `list`. */
static int parse_list(const char *text, const char *option, u8 *list, u32 *count)
{
	CLEANUP(freep) char *copy = must_copy(text);
	char *rest = copy;
	const char *name;

	while ((name = strsep(&rest, ", ")) != NULL) {
		u8 field = FIELD_COUNT;
		int error;

		if (!*name)
			continue;
		error = find_field(name, option, &field);
		if (error)
			return error;
		list_add(list, count, field);
	}
	return 0;
}

/* The figures that are shown unless -F says otherwise. */
static void add_figures(const struct entry_layout_settings *settings, struct entry_layout *layout)
{
	const struct {
		bool is_wanted;
		u8 field;
	} figures[] = {
		{settings->has_children, FIELD_CHILDREN},
		{true, FIELD_OVERHEAD},
		{settings->show_system_share, FIELD_OVERHEAD_SYS},
		{settings->show_system_share, FIELD_OVERHEAD_US},
		{settings->show_samples, FIELD_SAMPLE},
		{settings->show_period, FIELD_PERIOD},
	};

	for (size_t i = 0; i < ARRAY_COUNT(figures); i++)
		if (figures[i].is_wanted)
			list_add(layout->columns, &layout->column_count, figures[i].field);
}

/* Whether the layout has a key at its last level. */
static bool level_has_keys(const struct entry_layout *layout)
{
	for (u32 i = 0; i < layout->order_count; i++)
		if (entry_field_is_key(layout->order[i]) &&
		    layout->levels[layout->order[i]] == layout->level_count)
			return true;
	return false;
}

static int add_key(const char *name, struct entry_layout *layout)
{
	u8 field = FIELD_COUNT;
	int error = *name ? find_field(name, "-s", &field) : 0;

	if (error || !*name || entry_layout_has_key(layout, field))
		return error;
	layout->levels[field] = (u8)layout->level_count;
	list_add(layout->order, &layout->order_count, field);
	return 0;
}

/* Adds the keys of a list like "{comm, dso}, sym"; each is a level, and so are those in braces. */
static int parse_keys(const char *text, struct entry_layout *layout)
{
	CLEANUP(freep) char *copy = must_copy(text);
	char *rest = copy, *name;
	bool is_open = false;

	while ((name = strsep(&rest, ", ")) != NULL) {
		bool opens = *name == '{';
		size_t length = strlen(name += opens);
		bool closes = length && name[length - 1] == '}';
		int error;

		name[length - closes] = 0;
		error = add_key(name, layout);
		if (error)
			return error;
		is_open = (is_open || opens) && !closes;
		layout->level_count += !is_open && level_has_keys(layout);
	}
	layout->level_count += level_has_keys(layout);
	return 0;
}

static int parse_sort(const struct entry_layout_settings *settings, struct entry_layout *layout)
{
	const char *sort = settings->sort;

	if (!layout->is_strict) {
		if (settings->has_children)
			list_add(layout->order, &layout->order_count, FIELD_CHILDREN);
		list_add(layout->order, &layout->order_count, FIELD_OVERHEAD);
	}
	if (!sort && layout->is_strict)
		return 0;
	if (!sort || *sort == '+') {
		int error = parse_keys(default_keys(settings), layout);

		if (error || !sort)
			return error;
		sort++;
	}
	layout->begins_with_symbol = !settings->fields && !strncmp(sort, "sym", 3);
	return parse_keys(sort, layout);
}

int entry_layout_parse(const struct entry_layout_settings *settings,
		       struct entry_layout *ret_layout)
{
	struct entry_layout layout = {
		.is_strict = settings->fields && *settings->fields != '+',
	};
	int error = parse_sort(settings, &layout);

	if (!error && settings->adds_parent)
		error = parse_keys("parent", &layout);
	if (error)
		return error;
	if (!layout.is_strict)
		add_figures(settings, &layout);
	if (settings->fields) {
		const char *fields = settings->fields + !layout.is_strict;

		error = parse_list(fields, "-F", layout.columns, &layout.column_count);
		if (error)
			return error;
	}
	for (u32 i = 0; i < layout.order_count; i++)
		list_add(layout.columns, &layout.column_count, layout.order[i]);
	for (u32 i = 0; i < layout.column_count; i++)
		list_add(layout.order, &layout.order_count, layout.columns[i]);
	error = check_keys(&layout, settings);
	if (error)
		return error;
	*ret_layout = layout;
	return 0;
}
