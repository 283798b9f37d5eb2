/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes the reading of DWARF, ours and libdw's.
 *
 * The input is an ELF file; what is changed is mostly inside its sections. libdw is not built with
 * a sanitizer, so each section is copied to the end of a page behind which there is nothing:
 * whoever reads over its end by more than the zeros that are there (DWARF_SLACK_BYTES) is caught.
 */
#include "binary/dwarf_reader.h"
#include "binary/dwarf_units.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	PAGE = 4096,
	ROOM_PAGES = 256, /* of each section */
	ASKED_MAX = 64,
};

/* The fuzz target: 0, whatever the bytes are. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);
/* libFuzzer's own mutation, which is not there when a corpus is replayed. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t length, size_t max) __attribute__((weak));
/* Changes an input; libFuzzer calls it. Returns its new length. */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t max, unsigned int seed);

static void guard(enum dwarf_part part, bool is_split, struct bytes *bytes)
{
	static u8 *all_rooms[2][DWARF_PART_COUNT];
	u8 **rooms = all_rooms[is_split];
	size_t room = (size_t)ROOM_PAGES * PAGE;

	if (!bytes->length || bytes->length + DWARF_SLACK_BYTES > room)
		return;
	if (!rooms[part]) {
		rooms[part] = mmap(NULL, room + PAGE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (rooms[part] == MAP_FAILED || mprotect(rooms[part] + room, PAGE, PROT_NONE))
			abort();
	}
	room -= DWARF_SLACK_BYTES;
	memcpy(rooms[part] + room - bytes->length, bytes->start, bytes->length);
	bytes->start = rooms[part] + room - bytes->length;
}

static void check(const struct frames *frames, const struct answer *answer)
{
	u32 end = answer->first + answer->count;

	if (end > frames->items.count)
		abort();
	for (u32 i = answer->first; i < end; i++) {
		const struct source_frame *frame = &frames->items.items[i];

		/* The outermost one has no name, the others are inlined. */
		if (frame->is_inlined != (i + 1 < end) || (!frame->is_inlined && frame->function))
			abort();
		if ((frame->file && strlen(frame->file) > 1 << 20) ||
		    (frame->function && strlen(frame->function) > 1 << 20))
			abort();
	}
}

static void ask(struct dwarf_reader *reader, const struct unit_range *range)
{
	const u64 middle = range->start + (range->end - range->start) / 2;
	const u64 addresses[] = {range->start, middle, range->end - 1};
	const struct unit_addresses wanted = {addresses, 3};
	struct answer answers[3];
	struct frames frames = {0};

	if (range->start >= range->end)
		abort();
	dwarf_reader_read(reader, range->unit, &wanted, &frames, answers);
	for (u32 i = 0; i < 3; i++)
		check(&frames, &answers[i]);
	vec_release(&frames.items);
}

static void read_all(const struct dwarf_file *file)
{
	struct dwarf_reader reader = {0};
	struct dwarf_units units = {0};

	if (dwarf_reader_open(file, &reader))
		return;
	dwarf_units_read(reader.handle.dwarf, 1 << 16, &units);
	for (size_t i = 0; i < units.ranges.count && i < ASKED_MAX; i++) {
		const struct unit_range *range = &units.ranges.items[i];

		if (dwarf_units_find(&units, range->start) != range ||
		    (i && range->start < range[-1].end))
			abort();
		ask(&reader, range);
	}
	dwarf_units_release(&units);
	dwarf_reader_close(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct dwarf_file file = {0};

	if (dwarf_sections_read((struct bytes){bytes, length}, "", &file.sections))
		return 0;
	/* Without paths no file is opened; a package may be in the input itself. */
	dwarf_sections_read((struct bytes){bytes, length}, ".dwo", &file.split.package);
	for (int part = 0; part < DWARF_PART_COUNT; part++) {
		guard(part, false, &file.sections.parts[part]);
		guard(part, true, &file.split.package.parts[part]);
	}
	/* Its own strings and DIEs once more as what dwz would have moved out. */
	memcpy(file.alternate.parts, file.sections.parts, sizeof(file.alternate.parts));
	file.alternate.class = file.sections.class;
	file.alternate.order = file.sections.order;
	file.alternate.machine = file.sections.machine;
	read_all(&file);
	dwarf_sections_release(&file.sections);
	dwarf_sections_release(&file.split.package);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t max, unsigned int seed)
{
	CLEANUP(dwarf_sections_release) struct dwarf_sections sections = {0};
	struct bytes *part = &sections.parts[seed % DWARF_PART_COUNT];
	u8 *found;

	/* Now and then anything, and whatever is not ELF anyway. */
	if (seed % 64 == 63 || dwarf_sections_read((struct bytes){bytes, length},
						   seed & 1024 ? ".dwo" : "", &sections))
		return LLVMFuzzerMutate(bytes, length, max);
	if (!part->length)
		part = &sections.parts[DWARF_info];
	/* Unless it is packed it stands in the input. */
	found = memmem(bytes, length, part->start, part->length);
	if (!found)
		return LLVMFuzzerMutate(bytes, length, max);
	/* Of the same length, or what is behind it would move. */
	LLVMFuzzerMutate(found, part->length, part->length);
	return length;
}
