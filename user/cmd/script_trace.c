/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What tracepoints say, in script.
 */
#include "cmd/guarded.h"
#include "cmd/script_printer.h"

#include <string.h>

/* Name and start of the kernel's function at an address. To read all names is our own work, which
 * may take longer than the library. */
static const char *find_kernel_function(void *context, u64 *address)
{
	struct script_printer *printer = context;
	location_id location = script_locate(printer, 0, *address, SPACE_KERNEL);
	const struct function_row *function;
	const struct location_row *at;

	guarded_leave();
	symbolizer_name(printer->symbolizer, printer->profile, location);
	guarded_enter();
	at = &printer->profile->locations.items[location];
	function = script_outer_function(printer, at);
	if (!function)
		return NULL;
	*address -= at->address - function->start;
	return script_text_of(printer, function->name);
}

bool script_tells_tracepoints(const struct script_fields *fields, const struct perfdata *data)
{
	u32 count;
	const struct event_source *sources = perfdata_sources(data, &count);
	u64 printed = 0;

	for (u32 i = 0; i < count; i++)
		printed |= script_fields_of(fields, &sources[i]);
	return (printed & PRINT_trace) && tracepoints_are_told(data);
}

int script_printer_read_formats(struct script_printer *printer)
{
	struct tracepoint_names names = {find_kernel_function, printer};
	int error;

	if (!script_tells_tracepoints(&printer->layout.fields, printer->data))
		return 0;
	guarded_enter();
	error = tracepoints_open(printer->data, names, &printer->tracepoints);
	guarded_leave();
	return error;
}

void script_append_words(struct text *text, char *words)
{
	while (words) {
		text_append_printable(text, strsep(&words, "\t"));
		text_append(text, words ? "\t" : NULL);
	}
}

void script_print_trace(struct script_printer *printer, const struct script_line *line)
{
	char *words;

	if (!printer->tracepoints)
		return;
	guarded_enter();
	words = tracepoints_tell(printer->tracepoints, line->source, line->details->raw);
	guarded_leave();
	text_truncate(&printer->line, 0);
	script_append_words(&printer->line, words);
	fputs(text_view(&printer->line), printer->out);
}
