/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records that are no samples, in script: those that --show-… asks for, and all of them in a dump.
 */
#include "cmd/script_printer.h"

enum { FINISHED_ROUND = 68 };

static const struct {
	u32 type; /* PERF_RECORD_* */
	u32 shown_by;
} rows[] = {
	{3 /* COMM */, SHOW_TASKS},
	{4 /* EXIT */, SHOW_TASKS},
	{7 /* FORK */, SHOW_TASKS},
	{1 /* MMAP */, SHOW_MAPPINGS},
	{10 /* MMAP2 */, SHOW_MAPPINGS},
	{14 /* SWITCH */, SHOW_SWITCHES},
	{15 /* SWITCH_CPU_WIDE */, SHOW_SWITCHES},
	{16 /* NAMESPACES */, SHOW_NAMESPACES},
	{19 /* CGROUP */, SHOW_CGROUPS},
	{2 /* LOST */, SHOW_LOSSES},
	{17 /* KSYMBOL */, SHOW_BPF},
	{18 /* BPF_EVENT */, SHOW_BPF},
	{FINISHED_ROUND, SHOW_ROUNDS},
};

static struct script_printer *printer_of(struct perfdata_listener *listener)
{
	return (struct script_printer *)((char *)listener -
					 offsetof(struct script_printer, listener));
}

static bool is_shown(const struct script_printer *printer, u32 type)
{
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		if (rows[i].type == type)
			return printer->layout.shows & rows[i].shown_by;
	return false;
}

static int dump(struct perfdata_listener *self, const struct perfdata_record *record)
{
	struct script_printer *printer = printer_of(self);

	script_write(printer);
	perfdata_dump_record(printer->data, record, printer->out);
	return 0;
}

/* After the record has taken effect: a new name is shown as such. */
static int show(struct perfdata_listener *self, const struct perfdata_record *record)
{
	struct script_printer *printer = printer_of(self);
	u32 thread = perfdata_record_thread(printer->data, record);
	struct script_line line = {
		.time_ns = record->time_ns,
		.pid = record->pid,
		.tid = record->tid,
		.cpu = record->cpu,
		.record_type = record->type,
		.misc = record->misc,
	};
	const char *comm;

	if (!is_shown(printer, record->type))
		return 0;
	script_write(printer);
	if (record->type == FINISHED_ROUND)
		perfdata_print_record(printer->data, record, printer->out);
	if (record->source == ~0u)
		return 0;
	comm = thread == ~0u ? ":-1" : locator_thread_name(printer->locator, thread);
	line.comm = script_printable(printer, comm);
	line.source = &printer->sources[record->source];
	line.fields = printer->plans.items[record->source].fields;
	line.shows_chain = line.source->has_chain && !printer->layout.hide_chains;
	script_print_start(printer, &line);
	script_write(printer);
	perfdata_print_record(printer->data, record, printer->out);
	return 0;
}

void script_listen(struct script_printer *printer)
{
	printer->listener = (struct perfdata_listener){
		.before = printer->layout.dumps ? dump : NULL,
		.after = printer->layout.shows ? show : NULL,
	};
}
