/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules by address, sorted, merged and cut into pages.
 *
 * 1. Every rule of .eh_frame becomes (file offset, rule number).
 * 2. They are sorted; of several at one offset the last that says anything wins; what repeats the
 * rule before it, and gaps too short to be anything but padding, are left out.
 * 3. A page that begins in the middle of a rule gets a row of its own for it, so that a look-up
 * reads one page only. That costs one row in 4 KiB of text and saves every look-up a step back.
 */
#include "unwind/rows.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>

enum {
	PADDING_MAX = 15, /* bytes between functions that are alignment only */
	PAGE_BYTES = 1 << UNWIND_PAGE_BITS,
	SEGMENTS_MAX = 64,
};

struct place {
	u64 offset; /* in the file */
	u32 rule;
	u32 order; /* as read */
};

/* How a loaded piece's virtual addresses become file offsets. */
struct segment {
	u64 address, offset, bytes;
};

struct making {
	struct rule_set *rules;
	u32 most_rules;
	struct segment segments[SEGMENTS_MAX];
	size_t segment_count;
	VEC(struct place) places;
};

static bool offset_of(const struct making *making, u64 address, u64 *ret_offset)
{
	for (size_t i = 0; i < making->segment_count; i++) {
		const struct segment *segment = &making->segments[i];

		/* Up to the end inclusive: that is where the last function ends. */
		if (address - segment->address <= segment->bytes) {
			*ret_offset = address - segment->address + segment->offset;
			return true;
		}
	}
	return false;
}

static int take_rule(void *context, u64 start, const struct unwind_rule *rule)
{
	struct making *making = context;
	u64 offset;

	if (!offset_of(making, start, &offset))
		return 0; /* text that is not loaded */
	if (offset >> 32)
		return -EFBIG;
	*vec_add(&making->places) = (struct place){
		.offset = offset,
		.rule = rule_set_add(making->rules, rule, making->most_rules),
		.order = (u32)making->places.count,
	};
	return 0;
}

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void sort_places(struct making *making)
{
	bool is_sorted = true;

	for (size_t i = 1; i < making->places.count && is_sorted; i++)
		is_sorted = making->places.items[i - 1].offset <= making->places.items[i].offset;
	if (!is_sorted)
		qsort(making->places.items, making->places.count, sizeof(struct place),
		      compare_places);
}

/* Of several at one offset keeps the last that is not "none". */
static void merge_equal_offsets(struct making *making)
{
	struct place *places = making->places.items;
	size_t kept = 0;

	for (size_t i = 0; i < making->places.count; i++) {
		if (!kept || places[kept - 1].offset != places[i].offset)
			places[kept++] = places[i];
		else if (places[i].rule)
			places[kept - 1] = places[i];
	}
	making->places.count = kept;
}

/* Leaves out padding, and what repeats the rule before it. */
static void merge_equal_rules(struct making *making)
{
	struct place *places = making->places.items;
	size_t kept = 0;

	for (size_t i = 0; i < making->places.count; i++) {
		bool is_padding = !places[i].rule && i + 1 < making->places.count &&
				  places[i + 1].offset - places[i].offset <= PADDING_MAX;

		if (is_padding || (kept && places[kept - 1].rule == places[i].rule))
			continue;
		places[kept++] = places[i];
	}
	making->places.count = kept;
}

/* Cuts the sorted places into pages. */
static struct unwind_table *table_of(const struct making *making)
{
	struct unwind_table *table = must_alloc(sizeof(*table));
	const struct place *places = making->places.items;
	size_t count = making->places.count, next = 0;
	VEC(unwind_row) rows = {0};
	u64 first, last;

	if (!count)
		return table;
	first = places[0].offset >> UNWIND_PAGE_BITS;
	last = places[count - 1].offset >> UNWIND_PAGE_BITS;
	table->first_page = (u32)first;
	table->page_count = (u32)(last - first + 1);
	table->page_rows = must_alloc_array(table->page_count + 1, sizeof(u32));
	for (u64 page = first; page <= last; page++) {
		table->page_rows[page - first] = (u32)rows.count;
		if (next && places[next].offset > page << UNWIND_PAGE_BITS)
			*vec_add(&rows) = unwind_row_make(0, places[next - 1].rule);
		for (; next < count && places[next].offset >> UNWIND_PAGE_BITS == page; next++)
			*vec_add(&rows) = unwind_row_make(
				(u32)(places[next].offset & (PAGE_BYTES - 1)), places[next].rule);
	}
	table->page_rows[table->page_count] = (u32)rows.count;
	table->row_count = (u32)rows.count;
	table->rows = rows.items;
	return table;
}

static void read_segments(Elf *elf, struct making *making)
{
	GElf_Phdr header;
	size_t count = 0;

	if (elf_getphdrnum(elf, &count))
		return;
	for (size_t i = 0; i < count && making->segment_count < SEGMENTS_MAX; i++) {
		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
		    !(header.p_flags & PF_X))
			continue;
		making->segments[making->segment_count++] = (struct segment){
			.address = header.p_vaddr,
			.offset = header.p_offset,
			.bytes = header.p_filesz,
		};
	}
}

/* Fills `section` from the named ELF section. Returns false if there is none with bytes. */
static bool read_section(Elf *elf, const char *name, struct cfi_section *section)
{
	Elf_Scn *found = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((found = elf_nextscn(elf, found))) {
		GElf_Shdr header;
		const char *text;
		Elf_Data *bytes;

		if (!gelf_getshdr(found, &header) || header.sh_type == SHT_NOBITS)
			continue;
		text = elf_strptr(elf, names, header.sh_name);
		if (!text || strcmp(text, name))
			continue;
		if (header.sh_flags & SHF_COMPRESSED && elf_compress(found, 0, 0) < 0)
			return false;
		bytes = elf_rawdata(found, NULL);
		if (!bytes || !bytes->d_buf || !bytes->d_size)
			return false;
		section->bytes = (struct bytes){bytes->d_buf, bytes->d_size};
		section->address = header.sh_addr;
		return true;
	}
	return false;
}

static int read_machine(Elf *elf, struct cfi_section *section)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(elf, &header))
		return -EBADMSG;
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOTSUP;
	if (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64)
		return -ENOTSUP;
	section->machine = header.e_machine == EM_X86_64 ? CFI_X86_64 : CFI_AARCH64;
	return 0;
}

static int read_elf(Elf *elf, struct making *making, struct cfi_result *ret_result)
{
	struct cfi_section section = {0};
	int error = read_machine(elf, &section);

	if (error)
		return error;
	read_segments(elf, making);
	if (!read_section(elf, ".eh_frame", &section)) {
		section.is_debug_frame = true;
		if (!read_section(elf, ".debug_frame", &section))
			return -ENODATA;
	}
	return cfi_read(&section, take_rule, making, ret_result);
}

int unwind_table_read(struct bytes image, struct rule_set *rules, u32 most_rules,
		      struct unwind_table **ret_table)
{
	struct making making = {.rules = rules, .most_rules = most_rules};
	struct cfi_result result = {0};
	int error = -EBADMSG;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_memory((char *)image.start, image.length);
	if (elf)
		error = read_elf(elf, &making, &result);
	if (!error) {
		sort_places(&making);
		merge_equal_offsets(&making);
		merge_equal_rules(&making);
		*ret_table = table_of(&making);
		(*ret_table)->result = result;
	}
	vec_release(&making.places);
	elf_end(elf);
	return error;
}

void unwind_table_free(struct unwind_table *table)
{
	if (!table)
		return;
	free(table->page_rows);
	free(table->rows);
	free(table);
}

void unwind_table_freep(struct unwind_table **table)
{
	unwind_table_free(*table);
}

u32 unwind_table_find(const struct unwind_table *table, u64 file_offset)
{
	u64 page = (file_offset >> UNWIND_PAGE_BITS) - table->first_page;
	u32 in_page = file_offset & (PAGE_BYTES - 1), low, high;

	if (page >= table->page_count)
		return 0;
	low = table->page_rows[page];
	high = table->page_rows[page + 1];
	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (table->rows[middle] >> UNWIND_RULE_BITS <= in_page)
			low = middle + 1;
		else
			high = middle;
	}
	return low == table->page_rows[page] ? 0 : unwind_row_rule(table->rows[low - 1]);
}
