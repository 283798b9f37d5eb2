/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A record as perf dumps it: its bytes, then when and what, then all that a sample holds.
 */
#include "base/hex.h"
#include "event/event.h"
#include "perfdata/records.h"
#include "perfdata/session.h"

#include <inttypes.h>

enum { BYTES_A_ROW = 16 };

/* What all samples of the recording have, one event or the other. */
static u64 combined_type(const struct perfdata *data)
{
	u64 type = 0;

	for (size_t i = 0; i < data->decoder.kinds.count; i++)
		type |= data->decoder.kinds.items[i].attr.sample_type;
	return type;
}

/* CPU and time, as far as the recording has them. */
static void dump_stamp(const struct perfdata *data, const struct perfdata_record *record, FILE *out)
{
	u64 type = combined_type(data);
	bool is_ours_to_tell = record->type < RECORD_USER_FIRST;

	if (!record->has_events ||
	    (record->type != RECORD_SAMPLE &&
	     !(data->decoder.kinds.items[0].attr.flags & ATTR_BIT(sample_id_all)))) {
		fputs("-1 -1 ", out);
		return;
	}
	if (type & SAMPLE_CPU)
		fprintf(out, "%u ", is_ours_to_tell ? record->cpu : 0);
	if (type & SAMPLE_TIME)
		fprintf(out, "%" PRIu64 " ", record->time_ns);
}

/* --- samples --- */

struct dumped_sample {
	const struct perfdata *data;
	const struct perfdata_record *record;
	const struct event_kind *kind;
	const struct sample *sample;
	const struct sample_details *details;
	FILE *out;
};

static u64 chain_word(const struct dumped_sample *dumped, struct bytes chain, size_t index)
{
	return decode_word(&dumped->data->decoder, chain.start + index * sizeof(u64));
}

/* What perf takes for the chain where the CPU remembers calls: the kernel's part of it, then the
 * calls. */
static void dump_call_stack(const struct dumped_sample *dumped, struct bytes chain)
{
	size_t count = chain.length / sizeof(u64), user = 0;
	const struct sample *sample = dumped->sample;

	while (user < count && chain_word(dumped, chain, user) != CONTEXT_USER)
		user++;
	if (user == count || !sample->branch_count)
		return;
	fprintf(dumped->out, "... LBR call chain: nr:%zu\n", user + 1 + sample->branch_count + 1);
	for (size_t i = 0; i <= user; i++)
		fprintf(dumped->out, "..... %2zu: %016" PRIx64 "\n", i,
			chain_word(dumped, chain, i));
	fprintf(dumped->out, "..... %2zu: %016" PRIx64 "\n", user + 1, sample->branches[0].to);
	for (u16 i = 0; i < sample->branch_count; i++)
		fprintf(dumped->out, "..... %2zu: %016" PRIx64 "\n", user + 2 + i,
			sample->branches[i].from);
}

static void dump_chain(const struct dumped_sample *dumped)
{
	struct bytes chain = dumped->details->chain;

	if (dumped->kind->attr.branch_sample_type & BRANCH_CALL_STACK)
		dump_call_stack(dumped, chain);
	fprintf(dumped->out, "... FP chain: nr:%zu\n", chain.length / sizeof(u64));
	for (size_t i = 0; i < chain.length / sizeof(u64); i++)
		fprintf(dumped->out, "..... %2zu: %016" PRIx64 "\n", i,
			chain_word(dumped, chain, i));
}

static void dump_branch(const struct branch *branch, u16 index, FILE *out)
{
	u64 flags = branch->flags;

	fprintf(out, "..... %2u: %016" PRIx64 " -> %016" PRIx64 " %hu cycles %s%s%s%s %x %s\n",
		index, branch->from, branch->to,
		(unsigned short)((flags & BRANCH_CYCLES) >> BRANCH_CYCLES_SHIFT),
		flags & BRANCH_MISPREDICTED ? "M" : " ", flags & BRANCH_PREDICTED ? "P" : " ",
		flags & BRANCH_ABORTED ? "A" : " ", flags & BRANCH_IN_TRANSACTION ? "T" : " ",
		(unsigned int)(flags >> 33), branch_type_word(flags));
}

static void dump_branches(const struct dumped_sample *dumped)
{
	const struct sample *sample = dumped->sample;

	if (!(dumped->kind->attr.branch_sample_type & BRANCH_CALL_STACK)) {
		fprintf(dumped->out, "... branch stack: nr:%u\n", sample->branch_count);
		for (u16 i = 0; i < sample->branch_count; i++)
			dump_branch(&sample->branches[i], i, dumped->out);
		return;
	}
	fprintf(dumped->out, "... branch callstack: nr:%d\n", sample->branch_count + 1);
	for (u16 i = 0; i < sample->branch_count; i++) {
		if (!i)
			fprintf(dumped->out, "..... %2u: %016" PRIx64 "\n", i,
				sample->branches[i].to);
		fprintf(dumped->out, "..... %2d: %016" PRIx64 "\n", i + 1,
			sample->branches[i].from);
	}
}

static void dump_registers(const struct dumped_sample *dumped, const char *whose,
			   const struct registers *registers)
{
	static const char *const abis[] = {"none", "32-bit", "64-bit"};
	const u8 *word = registers->words;

	if (!word)
		return;
	fprintf(dumped->out, "... %s regs: mask 0x%" PRIx64 " ABI %s\n", whose, registers->mask,
		registers->abi < ARRAY_COUNT(abis) ? abis[registers->abi] : "unknown");
	for (u32 number = 0; number < 64; number++) {
		u64 value;

		if (!(registers->mask & (1ull << number)))
			continue;
		memcpy(&value, word, sizeof(value));
		word += sizeof(value);
		fprintf(dumped->out, ".... %-5s 0x%016" PRIx64 "\n",
			perfdata_register_name(dumped->data, number), value);
	}
}

/* "N/A", "4K", "2M". */
static void dump_page_size(FILE *out, const char *what, u64 bytes)
{
	static const char units[] = "KMGT";
	size_t unit = 0;

	fprintf(out, " .. %s page size: ", what);
	if (!bytes) {
		fputs("N/A\n", out);
		return;
	}
	for (bytes >>= 10; bytes >= 1024 && units[unit + 1]; unit++)
		bytes >>= 10;
	fprintf(out, "%" PRIu64 "%c\n", bytes, units[unit]);
}

static void dump_weight(const struct dumped_sample *dumped)
{
	u64 type = dumped->kind->attr.sample_type;
	const struct sample_details *details = dumped->details;

	if (!(type & (SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT)))
		return;
	fprintf(dumped->out, "... weight: %" PRIu64, details->weight);
	if (type & SAMPLE_WEIGHT_STRUCT)
		fprintf(dumped->out, ",0x%x,0x%x", details->instruction_latency,
			details->pipeline_stage_cycles);
	fputc('\n', dumped->out);
}

static void dump_numbers(const struct dumped_sample *dumped)
{
	const struct sample_details *details = dumped->details;
	u64 type = dumped->kind->attr.sample_type;

	if (type & SAMPLE_DATA_SRC)
		fprintf(dumped->out, " . data_src: 0x%" PRIx64 "\n", details->data_source);
	if (type & SAMPLE_PHYS_ADDR)
		fprintf(dumped->out, " .. phys_addr: 0x%" PRIx64 "\n", details->physical_address);
	if (type & SAMPLE_DATA_PAGE_SIZE)
		dump_page_size(dumped->out, "data", details->data_page_bytes);
	if (type & SAMPLE_CODE_PAGE_SIZE)
		dump_page_size(dumped->out, "code", details->code_page_bytes);
	if (type & SAMPLE_TRANSACTION)
		fprintf(dumped->out, "... transaction: %" PRIx64 "\n", details->transaction);
}

/* What is counted beside the sample, of a group or alone. */
static void dump_counters(const struct dumped_sample *dumped)
{
	const struct decoder *decoder = &dumped->data->second_look;
	bool has_lost = dumped->kind->attr.read_format & READ_LOST;
	u64 format = dumped->kind->attr.read_format;

	fputs("... sample_read:\n", dumped->out);
	if (format & READ_ENABLED)
		fprintf(dumped->out, "...... time enabled %016" PRIx64 "\n", decoder->time_enabled);
	if (format & READ_RUNNING)
		fprintf(dumped->out, "...... time running %016" PRIx64 "\n", decoder->time_running);
	if (format & READ_GROUP)
		fprintf(dumped->out, ".... group nr %zu\n", decoder->counters.count);
	for (size_t i = 0; i < decoder->counters.count; i++) {
		const struct counter_value *counter = &decoder->counters.items[i];

		fprintf(dumped->out, "..... id %016" PRIx64 ", value %016" PRIx64, counter->id,
			counter->value);
		if (has_lost)
			fprintf(dumped->out, ", lost %" PRIu64, counter->lost);
		fputc('\n', dumped->out);
	}
}

/* Where it stands in the record: its size, then its bytes. */
static void dump_stack(const struct dumped_sample *dumped)
{
	const u8 *stack = dumped->sample->user_stack;
	size_t offset = stack ? (size_t)(stack - dumped->record->bytes.start) - sizeof(u64) : 0;

	fprintf(dumped->out, "... ustack: size %u, offset 0x%zx\n", dumped->sample->stack_bytes,
		offset);
}

static void dump_members(const struct dumped_sample *dumped)
{
	u64 type = dumped->kind->attr.sample_type;

	if (type & SAMPLE_CALLCHAIN)
		dump_chain(dumped);
	if (type & SAMPLE_BRANCH_STACK)
		dump_branches(dumped);
	dump_registers(dumped, "user", &dumped->details->user_registers);
	dump_registers(dumped, "intr", &dumped->details->interrupt_registers);
	if (type & SAMPLE_STACK_USER)
		dump_stack(dumped);
	dump_weight(dumped);
	dump_numbers(dumped);
	if (type & SAMPLE_READ)
		dump_counters(dumped);
}

static void dump_sample(struct perfdata *data, const struct perfdata_record *record, FILE *out)
{
	struct sample sample = {.record = record->bytes.start};
	struct dumped_sample dumped = {
		.data = data, .record = record, .sample = &sample, .out = out};

	if (!session_look_again(data, &sample)) {
		fputs(": makes no sense\n", out);
		return;
	}
	dumped.kind = &data->decoder.kinds.items[sample.source];
	dumped.details = &data->second_look.details;
	fprintf(out, "(IP, 0x%x): %d/%d: %#" PRIx64 " period: %" PRIu64 " addr: %#" PRIx64 "\n",
		record->misc, (int)sample.pid, (int)sample.tid, sample.address, sample.weight,
		sample.data_address);
	dump_members(&dumped);
}

void perfdata_dump_record(struct perfdata *data, const struct perfdata_record *record, FILE *out)
{
	if (record->type == RECORD_COMPRESSED)
		return; /* what is in it follows */
	fprintf(out, "\n%#" PRIx64 "@%s [%#zx]: event: %u\n.\n. ... raw event: size %zu bytes\n",
		record->offset, data->header.is_pipe ? "pipe" : data->path, record->bytes.length,
		record->type, record->bytes.length);
	for (size_t at = 0; at < record->bytes.length; at += BYTES_A_ROW) {
		fprintf(out, ".  %04zx: ", at);
		hex_write_row(out, record->bytes, at, BYTES_A_ROW);
	}
	fputc('\n', out);
	dump_stamp(data, record, out);
	fprintf(out, "%#" PRIx64 " [%#zx]: ", record->offset, record->bytes.length);
	session_tell(data, record, true, out);
	if (record->type == RECORD_SAMPLE)
		dump_sample(data, record, out);
}
