/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Branch stacks in script: where from, where to, and what the CPU knew of it.
 */
#include "cmd/script_printer.h"

#include <inttypes.h>

/* Which of the three forms is printed: the first that is asked for, as in perf. */
static u64 branch_form(const struct script_printer *printer)
{
	u64 asked = printer->plan->fields & PRINT_BRANCHES;

	return asked & -asked;
}

/* Where in its file, or in the kernel's text, a location is. */
static u64 branch_offset(const struct script_printer *printer, const struct location_row *at)
{
	binary_id binary = profile_location_binary(printer->profile, at);

	return at->address - printer->profile->binaries.items[binary].start;
}

void script_make_branch_end(struct script_printer *printer, const struct location_row *at)
{
	const struct function_row *outer = script_outer_function(printer, at);
	struct text *text = &printer->scratch;
	u64 form = branch_form(printer);

	if (form == PRINT_brstackoff)
		text_appendf(text, "0x%" PRIx64, branch_offset(printer, at));
	if (form == PRINT_brstacksym) {
		text_append_printable(text,
				      outer ? script_text_of(printer, outer->name) : "[unknown]");
		if (outer)
			text_appendf(text, "+0x%" PRIx64, at->address - outer->start);
	}
	if (printer->plan->fields & PRINT_dso) {
		text_append(text, "(");
		text_append_printable(text, script_binary_name(printer, at));
		text_append(text, ")");
	}
}

static void print_branch_end(struct script_printer *printer, const struct sample *sample,
			     u64 address)
{
	const struct virtual_place place = {address, sample->pid, address_space_of(address)};
	u64 form = branch_form(printer);

	if (form == PRINT_brstack) {
		text_append(&printer->text, "0x");
		text_append_hex(&printer->text, 1, address);
	}
	if (form != PRINT_brstack || (printer->plan->fields & PRINT_dso))
		script_append_text(printer, &place, TEXT_BRANCH_END);
}

void script_print_branches(struct script_printer *printer, const struct script_line *line)
{
	const struct sample *sample = line->sample;
	struct text *text = &printer->text;

	for (u16 i = 0; i < sample->branch_count; i++) {
		const struct branch *branch = &sample->branches[i];
		u64 flags = branch->flags;
		char prediction = flags & BRANCH_PREDICTED	? 'P'
				  : flags & BRANCH_MISPREDICTED ? 'M'
								: '-';

		if (branch_form(printer) != PRINT_brstacksym)
			text_append(text, " ");
		print_branch_end(printer, sample, branch->from);
		text_append(text, "/");
		print_branch_end(printer, sample, branch->to);
		text_appendf(text, "/%c/%c/%c/%u/%s ", prediction,
			     flags & BRANCH_IN_TRANSACTION ? 'X' : '-',
			     flags & BRANCH_ABORTED ? 'A' : '-',
			     (unsigned int)((flags & BRANCH_CYCLES) >> BRANCH_CYCLES_SHIFT),
			     branch_type_word(flags));
	}
}
