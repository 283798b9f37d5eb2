/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Instructions in script: of the sample, and of what ran between the branches of its branch stack.
 *
 * The layout is that of perf script without a disassembler, Linux 6.1.
 */
#include "cmd/script_code.h"

#include <inttypes.h>

enum {
	MISSING_JUMP_BYTES = 128, /* how far to look for a branch that was not recorded */
	CODE_PADDING = CODE_STEP_MAX_BYTES,
};

/* What is being printed of one sample. */
struct walk {
	struct script_printer *printer;
	const struct sample *sample;
	struct text *text;
	u64 fields;
	int branches;	     /* how many are looked at, the newest */
	binary_id binary;    /* of the function that was named last … */
	u64 start, end;	     /* … and where it lies in it */
	unsigned int cycles; /* so far */
	struct script_code code;
};

void script_print_instruction(struct script_printer *printer, const struct script_line *line)
{
	struct text *text = &printer->text;
	struct script_code code;
	struct code_step step = {0};

	script_code_read(printer, line->sample->pid, line->sample->address, CODE_STEP_MAX_BYTES,
			 &code);
	code_step_read((struct bytes){code.bytes, code.length}, code.is_wide, &step);
	if (line->fields & PRINT_insnlen)
		text_appendf(text, " ilen: %u", step.length);
	if ((line->fields & PRINT_insn) && step.length)
		text_append(text, " insn:");
	for (u8 i = 0; (line->fields & PRINT_insn) && i < step.length; i++)
		text_appendf(text, " %02x", code.bytes[i]);
}

/* --- lines --- */

static location_id locate(const struct walk *walk, u64 address)
{
	return script_locate(walk->printer, walk->sample->pid, address, address_space_of(address));
}

static void append_place(struct walk *walk, const struct location_row *at)
{
	size_t length = walk->text->length;

	text_append(walk->text, "\t");
	if (!script_append_source_place(walk->printer, walk->text, at, 0))
		text_truncate(walk->text, length);
}

/* The line of the source of an instruction, below it. */
static void append_source(struct walk *walk, u64 address)
{
	if (walk->fields & PRINT_srccode)
		script_append_source(walk->printer, walk->text, walk->sample->tid,
				     locate(walk, address));
}

/* A line with the function's name wherever another one begins. */
static void append_function(struct walk *walk, u64 address)
{
	struct script_printer *printer = walk->printer;
	location_id location = locate(walk, address);
	const struct location_row *at = &printer->profile->locations.items[location];
	const struct function_row *function;

	if (at->binary == walk->binary && at->address >= walk->start && at->address < walk->end)
		return;
	symbolizer_name(printer->symbolizer, printer->profile, location);
	at = &printer->profile->locations.items[location];
	function = script_outer_function(printer, at);
	if (!function)
		return;
	walk->binary = at->binary;
	walk->start = function->start;
	walk->end = function->end;
	text_append(walk->text, "\t");
	text_append_printable(walk->text, script_text_of(printer, function->name));
	if (at->address != function->start)
		text_appendf(walk->text, "%+d", (int)(at->address - function->start));
	text_append(walk->text, ":");
	if (walk->fields & PRINT_srcline)
		append_place(walk, at);
	text_append(walk->text, "\n");
}

static struct code_step append_instruction(struct walk *walk, size_t offset)
{
	struct code_step step;

	text_appendf(walk->text, "\t%016" PRIx64 "\t", walk->code.address + offset);
	step = script_code_append(walk->text, &walk->code, offset);
	if (walk->fields & PRINT_brstackinsnlen)
		text_appendf(walk->text, "\tilen: %d", step.length);
	text_append(walk->text, "\n");
	return step;
}

/* The instruction that branched, the `count`th of its block; 0: that is not known. */
static void append_jump(struct walk *walk, size_t offset, const struct branch *branch,
			unsigned int count)
{
	unsigned int cycles = (unsigned int)((branch->flags & BRANCH_CYCLES) >>
					     BRANCH_CYCLES_SHIFT);
	struct text *text = walk->text, *scratch = &walk->printer->scratch;
	struct code_step step;

	text_truncate(scratch, 0);
	step = script_code_append(scratch, &walk->code, offset);
	text_appendf(text, "\t%016" PRIx64 "\t%-30s\t", walk->code.address + offset,
		     text_view(scratch));
	if (walk->fields & PRINT_brstackinsnlen)
		text_appendf(text, "ilen: %d\t", step.length);
	text_appendf(text, "#%s%s%s%s", branch->flags & BRANCH_PREDICTED ? " PRED" : "",
		     branch->flags & BRANCH_MISPREDICTED ? " MISPRED" : "",
		     branch->flags & BRANCH_IN_TRANSACTION ? " INTX" : "",
		     branch->flags & BRANCH_ABORTED ? " ABORT" : "");
	if (cycles) {
		walk->cycles += cycles;
		text_appendf(text, " %u cycles [%u]", cycles, walk->cycles);
		if (count)
			text_appendf(text, " %.2f IPC", (double)((float)count / (float)cycles));
	}
	text_append(text, "\n");
}

/* --- blocks --- */

/* Reads what lies between two addresses, and the instruction behind it. False: it is not to be had,
 * or too much. */
static bool read_block(struct walk *walk, u64 start, u64 end)
{
	if (!start || !end || end - start > SCRIPT_CODE_BYTES - CODE_PADDING)
		return false;
	script_code_read(walk->printer, walk->sample->pid, start, end - start + CODE_PADDING,
			 &walk->code);
	return walk->code.length;
}

static bool crosses_kernel(u64 start, u64 end)
{
	return start && end && address_space_of(start) != address_space_of(end);
}

/* From where a branch led to the next one. */
static void append_block(struct walk *walk, u64 start, const struct branch *branch)
{
	u64 last = branch->from - start, offset = 0;
	unsigned int count = 0;

	while (offset < walk->code.length) {
		struct code_step step;

		append_function(walk, start + offset);
		if (offset == last) {
			append_jump(walk, offset, branch, count + 1);
			append_source(walk, branch->from);
			break;
		}
		step = append_instruction(walk, offset);
		if (!step.length)
			break;
		append_source(walk, start + offset);
		offset += step.length;
		count++;
	}
	if (offset != last)
		text_append(walk->text, "\tmismatch of LBR data and executable\n");
}

/* Branches stand newest first. Ways into the kernel may not have been recorded, only those out of
 * it: the block then ends with the branch after the next. */
static void append_blocks(struct walk *walk)
{
	const struct branch *branches = walk->sample->branches;

	for (int i = walk->branches - 2; i >= 0; i--) {
		u64 start = branches[i + 1].to;

		if (i > 0 && crosses_kernel(start, branches[i].from))
			i--;
		if (!crosses_kernel(start, branches[i].from) &&
		    read_block(walk, start, branches[i].from))
			append_block(walk, start, &branches[i]);
	}
}

static bool records_all_branches(const struct event_source *source)
{
	enum { ANY = 1 << 3 };

	return !source->branch_bits || (source->branch_bits & ANY);
}

/* From the last branch to the sample. */
static void append_end(struct walk *walk, const struct event_source *source)
{
	u64 start = walk->sample->branches[0].to, sampled = walk->sample->address;
	u64 end = sampled < start ? start + MISSING_JUMP_BYTES : sampled;
	bool is_there = !crosses_kernel(start, end) && read_block(walk, start, end);
	struct code_step step;

	append_function(walk, start);
	if (!is_there) {
		if (!read_block(walk, sampled, sampled))
			return;
		append_instruction(walk, 0);
		append_source(walk, sampled);
		return;
	}
	for (u64 offset = 0; offset <= end - start; offset += step.length) {
		step = append_instruction(walk, offset);
		if (!step.length)
			return;
		if (step.is_branch && start + offset != sampled && records_all_branches(source)) {
			text_append(walk->text, "\t... not reaching sample ...\n");
			return;
		}
		append_source(walk, start + offset);
	}
}

void script_print_blocks(struct script_printer *printer, const struct script_line *line)
{
	const struct sample *sample = line->sample;
	u32 most = printer->layout.max_blocks;
	const struct branch *oldest;
	struct walk walk = {
		.printer = printer,
		.sample = sample,
		.text = &printer->text,
		.fields = line->fields,
		.branches = sample->branch_count,
	};

	if (!sample->branch_count)
		return;
	if (most && most < sample->branch_count)
		walk.branches = (int)most + 1;
	oldest = &sample->branches[walk.branches - 1];
	text_append(walk.text, "\n");
	if (read_block(&walk, oldest->from, oldest->from)) {
		append_function(&walk, oldest->from);
		append_jump(&walk, 0, oldest, 0);
		append_source(&walk, oldest->from);
	}
	append_blocks(&walk);
	if (sample->branches[0].from != sample->address &&
	    !(sample->branches[0].flags & BRANCH_ABORTED))
		append_end(&walk, line->source);
}
