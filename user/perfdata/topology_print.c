/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the header says of CPUs, caches and memory: long, and so only shown if all is wanted.
 */
#include "perfdata/feature_print.h"

#include <inttypes.h>

static const char *take_text(struct cursor *cursor)
{
	return cursor_text(cursor, cursor_u32(cursor));
}

static void print_named(struct printer printer, const char *label, const char *text)
{
	fputs(label, printer.out);
	print_foreign(printer.out, text);
	fputc('\n', printer.out);
}

static void print_list(struct printer printer, struct cursor *cursor, const char *label)
{
	u32 count = cursor_u32(cursor);

	for (u32 i = 0; i < count && !cursor->overrun; i++) {
		const char *text = take_text(cursor);

		if (text)
			print_named(printer, label, text);
	}
}

/* Behind the lists of packages and cores stand core and package of each CPU; since Linux 5.3 the
 * lists of dies may follow, and the die of each CPU. perf prints the dies in between. */
void print_cpu_topology(struct printer printer, struct cursor *cursor)
{
	u32 cpus = printer.data->header.cpus_available;
	struct cursor cores, ids, dies;
	bool has_dies, has_ids;

	print_list(printer, cursor, "# sibling sockets : ");
	cores = *cursor;
	for (u32 count = cursor_u32(cursor); count && !cursor->overrun; count--)
		take_text(cursor);
	ids = *cursor;
	has_ids = cursor_left(cursor) > 0;
	if (has_ids)
		cursor_take(cursor, (u64)cpus * 2 * sizeof(u32));
	has_dies = !cursor->overrun && cursor_left(cursor) >= sizeof(u32);
	dies = *cursor;
	if (has_dies)
		print_list(printer, &dies, "# sibling dies    : ");
	print_list(printer, &cores, "# sibling threads : ");
	if (!has_ids)
		fputs("# Core ID and Socket ID information is not available\n", printer.out);
	for (u32 cpu = 0; has_ids && cpu < cpus && !cursor->overrun; cpu++) {
		u32 core = cursor_u32(&ids), package = cursor_u32(&ids);

		fprintf(printer.out, "# CPU %u: Core ID %d, ", cpu, (int)core);
		if (has_dies)
			fprintf(printer.out, "Die ID %d, ", (int)cursor_u32(&dies));
		fprintf(printer.out, "Socket ID %d\n", (int)package);
	}
}

void print_numa_topology(struct printer printer, struct cursor *cursor)
{
	u32 count = cursor_u32(cursor);

	for (u32 i = 0; i < count && !cursor->overrun; i++) {
		u32 node = cursor_u32(cursor);
		u64 total_kb = cursor_u64(cursor), free_kb = cursor_u64(cursor);
		const char *cpus = take_text(cursor);

		if (!cpus)
			return;
		fprintf(printer.out,
			"# node%u meminfo  : total = %" PRIu64 " kB, free = %" PRIu64
			" kB\n# node%u cpu list : ",
			node, total_kb, free_kb, node);
		print_named(printer, "", cpus);
	}
}

void print_caches(struct printer printer, struct cursor *cursor)
{
	u32 version = cursor_u32(cursor), count = cursor_u32(cursor);

	fputs("# CPU cache info:\n", printer.out);
	for (u32 i = 0; version == 1 && i < count && !cursor->overrun; i++) {
		u32 level = cursor_u32(cursor);
		const char *type, *size, *cpus;
		struct text line = {0};

		cursor_take(cursor, 3 * sizeof(u32)); /* line size, sets, ways */
		type = take_text(cursor);
		size = take_text(cursor);
		cpus = take_text(cursor);
		if (!type || !size || !cpus)
			return;
		text_appendf(&line, "L%u %-15s %8s [%s]", level, type, size, cpus);
		print_named(printer, "#  ", text_view(&line));
		text_release(&line);
	}
}

/* Whole units, as soon as there is more than one of them. */
static void append_size(struct text *text, u64 bytes)
{
	static const char units[] = "BKMG";
	size_t unit = 0;

	for (; bytes / 1024 > 1 && units[unit + 1]; unit++)
		bytes /= 1024;
	text_appendf(text, "%" PRIu64 "%c", bytes, units[unit]);
}

struct block_list {
	struct text text;
	u64 count, first, last; /* of a run that is not written yet; first > last: none */
};

static void end_run(struct block_list *blocks)
{
	if (blocks->first > blocks->last)
		return;
	text_appendf(&blocks->text, "%s%" PRIu64, blocks->text.length ? "," : "", blocks->first);
	if (blocks->last > blocks->first)
		text_appendf(&blocks->text, "-%" PRIu64, blocks->last);
}

static void add_block(struct block_list *blocks, u64 block)
{
	blocks->count++;
	if (blocks->first <= blocks->last && block == blocks->last + 1) {
		blocks->last = block;
		return;
	}
	end_run(blocks);
	blocks->first = blocks->last = block;
}

static void read_blocks(struct cursor *cursor, struct block_list *blocks)
{
	enum { WORD_BITS = 64 };
	u64 bits, words;

	bits = cursor_u64(cursor);
	words = (bits + WORD_BITS - 1) / WORD_BITS;
	for (u64 i = 0; i < words && !cursor->overrun; i++) {
		u64 word = cursor_u64(cursor);

		for (u64 bit = 0; bit < WORD_BITS; bit++)
			if (word & 1ull << bit)
				add_block(blocks, i * WORD_BITS + bit);
	}
	end_run(blocks);
}

void print_memory_topology(struct printer printer, struct cursor *cursor)
{
	u64 version = cursor_u64(cursor), block_bytes = cursor_u64(cursor);
	u64 count = cursor_u64(cursor);

	if (version != 1 || cursor->overrun)
		return;
	fprintf(printer.out, "# memory nodes (nr %" PRIu64 ", block size 0x%" PRIx64 "):\n", count,
		block_bytes);
	for (u64 i = 0; i < count && !cursor->overrun; i++) {
		struct block_list blocks = {.first = 1};
		u64 node = cursor_u64(cursor);
		struct text size = {0};

		cursor_u64(cursor); /* the size, in blocks */
		read_blocks(cursor, &blocks);
		append_size(&size, blocks.count * block_bytes);
		if (!cursor->overrun)
			fprintf(printer.out, "#  %3" PRIu64 " [%s]: %s\n", node, text_view(&size),
				text_view(&blocks.text));
		text_release(&size);
		text_release(&blocks.text);
	}
}

void print_hybrid_topology(struct printer printer, struct cursor *cursor)
{
	u32 count = cursor_u32(cursor);

	fputs("# hybrid cpu system:\n", printer.out);
	for (u32 i = 0; i < count && !cursor->overrun; i++) {
		const char *kind = take_text(cursor), *cpus = take_text(cursor);
		struct text line = {0};

		if (!kind || !cpus)
			return;
		text_appendf(&line, "%s cpu list : %s", kind, cpus);
		print_named(printer, "# ", text_view(&line));
		text_release(&line);
	}
}
