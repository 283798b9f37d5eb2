/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fields of script that only the record of a sample tells: registers, weights, raw bytes.
 */
#include "cmd/script_printer.h"

#include "base/hex.h"
#include "export/export.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* --- registers --- */

static void print_registers(struct script_printer *printer, const struct registers *registers)
{
	const u8 *word = registers->words;
	struct text *text = &printer->text;

	if (!word)
		return;
	text_appendf(text, " ABI:%" PRIu64 " ", registers->abi);
	for (u32 number = 0; number < 64; number++) {
		u64 value;

		if (!(registers->mask & (1ull << number)))
			continue;
		memcpy(&value, word, sizeof(value));
		word += sizeof(value);
		text_appendf(text, "%5s:0x%" PRIx64 " ",
			     perfdata_register_name(printer->data, number), value);
	}
}

void script_print_interrupt_registers(struct script_printer *printer,
				      const struct script_line *line)
{
	print_registers(printer, &line->details->interrupt_registers);
}

void script_print_user_registers(struct script_printer *printer, const struct script_line *line)
{
	print_registers(printer, &line->details->user_registers);
}

/* --- numbers --- */

/* What a branch of a hardware trace was; samples have none of these. */
void script_print_flags(struct script_printer *printer, const struct script_line *line)
{
	enum { FLAGS_BYTES = 24 };

	text_append_padded(&printer->text, NULL, FLAGS_BYTES);
	(void)line;
}

/* As wide as the longest so far, up to where perf cuts, which this does not. */
void script_print_data_source(struct script_printer *printer, const struct script_line *line)
{
	enum { PERF_CUTS_AT = 99 };
	struct text *text = &printer->text;
	size_t start = text->length, width;

	text_appendf(text, "%16" PRIx64 " ", line->details->data_source);
	memory_append_all(text, line->details->data_source);
	width = text->length - start;
	if (width > printer->widest_source)
		printer->widest_source = width < PERF_CUTS_AT ? width : PERF_CUTS_AT;
	if (width < printer->widest_source)
		text_append_padded(text, NULL, printer->widest_source - width);
}

void script_print_weight(struct script_printer *printer, const struct script_line *line)
{
	text_appendf(&printer->text, "%16" PRIu64, line->details->weight);
}

void script_print_latency(struct script_printer *printer, const struct script_line *line)
{
	text_appendf(&printer->text, "%16u", line->details->instruction_latency);
}

void script_print_physical_address(struct script_printer *printer, const struct script_line *line)
{
	text_appendf(&printer->text, "%16" PRIx64, line->details->physical_address);
}

static void print_page_size(struct script_printer *printer, u64 bytes)
{
	text_append(&printer->text, " ");
	memory_append_page(&printer->text, bytes);
}

void script_print_data_page(struct script_printer *printer, const struct script_line *line)
{
	print_page_size(printer, line->details->data_page_bytes);
}

void script_print_code_page(struct script_printer *printer, const struct script_line *line)
{
	print_page_size(printer, line->details->code_page_bytes);
}

/* --- what BPF programs send --- */

enum { BYTES_A_ROW = 8 };

static void print_row(FILE *out, struct bytes bytes, size_t at)
{
	fprintf(out, "%17s %04zx:", at ? "           " : "BPF output:", at);
	hex_write_row(out, bytes, at, BYTES_A_ROW);
}

/* Text and nothing but zeroes behind it. */
static bool is_string(struct bytes bytes)
{
	size_t length = 0;

	while (length < bytes.length && isprint(bytes.start[length]))
		length++;
	for (size_t i = length; i < bytes.length; i++)
		if (bytes.start[i])
			return false;
	return length < bytes.length;
}

void script_print_bpf_output(struct script_printer *printer, const struct script_line *line)
{
	struct bytes bytes = line->details->raw;

	script_write(printer);
	fputc('\n', printer->out);
	for (size_t at = 0; at < bytes.length; at += BYTES_A_ROW)
		print_row(printer->out, bytes, at);
	if (is_string(bytes))
		fprintf(printer->out, "%17s \"%s\"\n", "BPF string:", (const char *)bytes.start);
}
