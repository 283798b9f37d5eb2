/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What tracepoints say, in script.
 */
#include "cmd/script_printer.h"

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
	if (!script_tells_tracepoints(&printer->layout.fields, printer->data))
		return 0;
	return trace_words_open(printer->data, printer->symbolizer, &printer->trace);
}

void script_print_trace(struct script_printer *printer, const struct script_line *line)
{
	const struct trace_place place = {printer->profile, printer->locator};

	if (!printer->trace)
		return;
	script_write(printer); /* what the library cannot take with it when it crashes */
	text_append(&printer->text,
		    trace_words_tell(printer->trace, &place, line->source, line->details->raw));
}
