/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Units whose DIEs are in a file of their own.
 *
 * libdw would open whatever path the skeleton names, and 0.188 knows no packages. So we find the
 * file, and hand it over as one that needs no other: the addresses that the unit refers to, which
 * stayed in the main file, begin where the unit's part of them begins, of a package only the unit's
 * parts are shown, and the header calls the unit a skeleton, since libdw would look for that of a
 * split one. What the unit's ranges are relative to goes with it (struct dwarf_root).
 *
 * Sources: DWARF 5, 7.3 "Split DWARF Object Files" and 7.3.5.3 "Format of the CU and TU Index
 * Sections"; for DWARF 4 gcc.gnu.org/wiki/DebugFission and DebugFissionDWP.
 */
#include "binary/dwarf_split.h"

#include "base/file.h"
#include "base/memory.h"
#include "binary/elf_image.h"
#include "binary/open_below.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

enum {
	INDEX_COLUMNS_MAX = 16,
};

/* What a skeleton says of its unit. */
struct skeleton {
	u64 id;
	const char *name, *folder; /* of the .dwo file */
	u64 address_base, ranges_base;
	u64 base; /* of ranges */
};

/* The table of a package: which parts of the sections a unit has. */
struct package_index {
	u32 version, columns, used, slots;
	const u8 *ids, *numbers, *kinds, *offsets, *sizes;
	bool swap;
};

static int read_below(const char *root, const char *path, struct bytes *ret_image)
{
	CLEANUP(closep) int fd = -1;
	int error = open_below(root, path, LINKS_FOLLOWED, &fd);

	return error ? error : elf_image_debug(fd, ret_image);
}

void dwarf_split_find_package(struct dwarf_split_places *places)
{
	CLEANUP(freep) char *path = must_format("%s.dwp", places->path);

	if (read_below(places->root, path, &places->package_image))
		return;
	if (dwarf_sections_read(places->package_image, ".dwo", &places->package))
		file_unmap(&places->package_image);
}

void dwarf_split_release(struct dwarf_split_places *places)
{
	dwarf_sections_release(&places->package);
	file_unmap(&places->package_image);
}

static u64 number_of(Dwarf_Die *die, unsigned int name, unsigned int older_name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attribute) && !dwarf_attr(die, older_name, &attribute))
		return 0;
	return dwarf_formudata(&attribute, &value) ? 0 : value;
}

static const char *text_of(Dwarf_Die *die, unsigned int name, unsigned int older_name)
{
	Dwarf_Attribute attribute;

	if (!dwarf_attr(die, name, &attribute) && !dwarf_attr(die, older_name, &attribute))
		return NULL;
	return dwarf_formstring(&attribute);
}

static bool read_skeleton(Dwarf_Die *die, struct skeleton *ret_skeleton)
{
	Dwarf_Addr base;
	uint8_t kind;
	uint64_t id;

	if (dwarf_cu_info(die->cu, NULL, &kind, NULL, NULL, &id, NULL, NULL) ||
	    kind != DW_UT_skeleton)
		return false;
	*ret_skeleton = (struct skeleton){
		.id = id,
		.name = text_of(die, DW_AT_dwo_name, DW_AT_GNU_dwo_name),
		.folder = text_of(die, DW_AT_comp_dir, DW_AT_comp_dir),
		.address_base = number_of(die, DW_AT_addr_base, DW_AT_GNU_addr_base),
		.ranges_base = number_of(die, DW_AT_GNU_ranges_base, DW_AT_GNU_ranges_base),
		.base = dwarf_lowpc(die, &base) ? 0 : base,
	};
	return ret_skeleton->name;
}

static u32 u32_at(const struct package_index *index, const u8 *from, u64 number)
{
	u32 value;

	memcpy(&value, from + number * sizeof(value), sizeof(value));
	return index->swap ? bswap_32(value) : value;
}

static u64 u64_at(const struct package_index *index, const u8 *from, u64 number)
{
	u64 value;

	memcpy(&value, from + number * sizeof(value), sizeof(value));
	return index->swap ? bswap_64(value) : value;
}

static bool read_index(const struct dwarf_sections *package, struct package_index *ret_index)
{
	struct cursor cursor = cursor_of(package->parts[DWARF_cu_index]);
	struct package_index index = {0};
	u64 cells;

	index.swap = package->order !=
		     (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB);
	cursor.swap = index.swap;
	/* DWARF 5: two bytes, and two of padding. */
	index.version = cursor_u32(&cursor) & 0xffff;
	index.columns = cursor_u32(&cursor);
	index.used = cursor_u32(&cursor);
	index.slots = cursor_u32(&cursor);
	if (index.columns > INDEX_COLUMNS_MAX)
		return false;
	cells = (u64)index.columns * index.used;
	index.ids = cursor_take(&cursor, (u64)index.slots * sizeof(u64));
	index.numbers = cursor_take(&cursor, (u64)index.slots * sizeof(u32));
	index.kinds = cursor_take(&cursor, (u64)index.columns * sizeof(u32));
	index.offsets = cursor_take(&cursor, cells * sizeof(u32));
	index.sizes = cursor_take(&cursor, cells * sizeof(u32));
	*ret_index = index;
	return !cursor.overrun;
}

/* The row of a unit, from 0; false if it is not there. The table is a hash table; each slot is
 * looked at once at most. */
static bool find_row(const struct package_index *index, u64 id, u32 *ret_row)
{
	u64 mask = (u64)index->slots - 1, slot = id & mask;
	u64 stride = ((id >> 32) & mask) | 1;

	if (!index->slots || (index->slots & mask))
		return false;
	for (u32 i = 0; i < index->slots; i++, slot = (slot + stride) & mask) {
		u32 number = u32_at(index, index->numbers, slot);

		if (!number || number > index->used)
			return false;
		*ret_row = number - 1;
		if (u64_at(index, index->ids, slot) == id)
			return true;
	}
	return false;
}

/* Which part a column of the table is about; -1 if it is none of ours. */
static int part_of_kind(u32 version, u32 kind)
{
	switch (kind) {
	case 1:
		return DWARF_info;
	case 3:
		return DWARF_abbrev;
	case 6:
		return DWARF_str_offsets;
	case 8: /* in version 2 it is .debug_macro */
		return version >= 5 ? DWARF_rnglists : -1;
	default:
		return -1;
	}
}

static struct bytes from(struct bytes bytes, u64 offset)
{
	if (offset >= bytes.length)
		return (struct bytes){0};
	return (struct bytes){bytes.start + offset, bytes.length - offset};
}

/* Of each section that the table knows, the unit's part. */
static bool cut_parts(const struct package_index *index, u32 row, struct dwarf_sections *sections)
{
	for (u32 column = 0; column < index->columns; column++) {
		int part = part_of_kind(index->version, u32_at(index, index->kinds, column));
		u64 cell = (u64)row * index->columns + column;
		u64 offset = u32_at(index, index->offsets, cell);
		u64 bytes = u32_at(index, index->sizes, cell);

		if (part < 0)
			continue;
		if (offset > sections->parts[part].length ||
		    bytes > sections->parts[part].length - offset)
			return false;
		sections->parts[part] = from(sections->parts[part], offset);
		sections->parts[part].length = bytes;
	}
	return true;
}

/* What of the package's sections is the unit's. */
static bool take_from_package(const struct dwarf_sections *package, u64 id,
			      struct dwarf_sections *sections)
{
	struct package_index index;
	u32 row;

	if (!package->parts[DWARF_info].length || !read_index(package, &index) ||
	    !find_row(&index, id, &row))
		return false;
	memcpy(sections->parts, package->parts, sizeof(sections->parts));
	return cut_parts(&index, row, sections);
}

static bool try_file(const char *root, char *path, struct dwarf_split *split)
{
	bool is_read = !read_below(root, path, &split->image);

	free(path);
	if (!is_read)
		return false;
	if (!dwarf_sections_read(split->image, ".dwo", &split->own)) {
		memcpy(split->sections.parts, split->own.parts, sizeof(split->own.parts));
		return true;
	}
	file_unmap(&split->image);
	return false;
}

static bool take_from_file(const struct dwarf_split_places *places, const struct skeleton *skeleton,
			   struct dwarf_split *split)
{
	const char *slash = strrchr(skeleton->name, '/');
	const char *last = slash ? slash + 1 : skeleton->name;
	const char *folder_end = strrchr(places->path, '/');
	int folder = folder_end ? (int)(folder_end - places->path) : 0;

	if (skeleton->name[0] == '/') {
		if (try_file(places->root, must_copy(skeleton->name), split))
			return true;
	} else if (skeleton->folder &&
		   try_file(places->root, must_format("%s/%s", skeleton->folder, skeleton->name),
			    split)) {
		return true;
	}
	return try_file(places->root, must_format("%.*s/%s", folder, places->path, last), split);
}

/* Calls split units skeletons. */
static void rename_units(struct bytes info, bool swap)
{
	struct cursor cursor = cursor_of(info);

	cursor.swap = swap;
	while (cursor_left(&cursor)) {
		u64 bytes = cursor_u32(&cursor);
		struct cursor unit;
		u8 *kind;

		if (bytes == ~(u32)0)
			bytes = cursor_u64(&cursor);
		unit = cursor_of((struct bytes){cursor.next, cursor_left(&cursor)});
		unit.swap = swap;
		if (!cursor_take(&cursor, bytes) || cursor_u16(&unit) != 5)
			return;
		kind = (u8 *)(uintptr_t)cursor_take(&unit, 1);
		if (kind && *kind == DW_UT_split_compile)
			*kind = DW_UT_skeleton;
	}
}

/* The ranges of a unit of DWARF 4, with DWARF_RANGES_SHIFT bytes in front of them. */
static bool shift_ranges(struct bytes ranges, u64 base, struct dwarf_sections *sections)
{
	bool has_room = base >= DWARF_RANGES_SHIFT;

	sections->parts[DWARF_ranges] = from(ranges, has_room ? base - DWARF_RANGES_SHIFT : base);
	return has_room || !sections->parts[DWARF_ranges].length ||
	       dwarf_sections_copy_part(sections, DWARF_ranges, DWARF_RANGES_SHIFT);
}

/* Puts the sections together for libdw. */
static bool join(const struct dwarf_sections *main, const struct skeleton *skeleton,
		 struct dwarf_split *split)
{
	struct dwarf_sections *sections = &split->sections;

	sections->class = main->class;
	sections->order = main->order;
	sections->machine = main->machine;
	sections->file = main->file;
	sections->parts[DWARF_addr] = from(main->parts[DWARF_addr], skeleton->address_base);
	sections->parts[DWARF_aranges] = sections->parts[DWARF_line] = (struct bytes){0};
	if (!sections->parts[DWARF_info].length ||
	    !dwarf_sections_copy_part(sections, DWARF_info, 0) ||
	    !shift_ranges(main->parts[DWARF_ranges], skeleton->ranges_base, sections))
		return false;
	rename_units(sections->parts[DWARF_info], dwarf_sections_are_swapped(main));
	return !dwarf_handle_open(sections, &split->handle);
}

/* The unit with the skeleton's id; in a .dwo file types may stand before it. */
static bool find_unit(Dwarf *dwarf, u64 id, Dwarf_Die *ret_die)
{
	Dwarf_Off unit = 0, next;
	size_t header_bytes;

	while (!dwarf_next_unit(dwarf, unit, &next, &header_bytes, NULL, NULL, NULL, NULL, NULL,
				NULL) &&
	       next > unit) {
		uint8_t kind;
		uint64_t found;

		if (dwarf_offdie(dwarf, unit + header_bytes, ret_die) &&
		    !dwarf_cu_info(ret_die->cu, NULL, &kind, NULL, NULL, &found, NULL, NULL) &&
		    (kind == DW_UT_skeleton || kind == DW_UT_split_compile) && found == id)
			return true;
		unit = next;
	}
	return false;
}

int dwarf_split_open(const struct dwarf_split_places *places, const struct dwarf_sections *main,
		     Dwarf_Die *die, struct dwarf_split *ret_split)
{
	CLEANUP(dwarf_split_close) struct dwarf_split split = {0};
	struct skeleton skeleton;

	if (!read_skeleton(die, &skeleton))
		return -ENODATA;
	if (!take_from_package(&places->package, skeleton.id, &split.sections) &&
	    (!places->path || !take_from_file(places, &skeleton, &split)))
		return -ENOENT;
	if (!join(main, &skeleton, &split) ||
	    !find_unit(split.handle.dwarf, skeleton.id, &split.root.die))
		return -EBADMSG;
	split.root.is_split = true;
	split.root.base = skeleton.base;
	split.root.lists = split.sections.parts[DWARF_rnglists];
	split.root.swap = dwarf_sections_are_swapped(main);
	*ret_split = split;
	split = (struct dwarf_split){0};
	return 0;
}

void dwarf_split_close(struct dwarf_split *split)
{
	dwarf_handle_close(&split->handle);
	dwarf_sections_release(&split->sections);
	dwarf_sections_release(&split->own);
	file_unmap(&split->image);
}
