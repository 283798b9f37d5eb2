/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The texts of kallsyms, /proc/modules and /proc/iomem.
 *
 * A line of kallsyms: "address type name[\t[module]]"; BPF programs, trampolines and dispatchers
 * carry "[bpf]", ftrace's trampolines "[__builtin__ftrace]". A line of /proc/modules:
 * "name bytes references users state address". Source: kernel/kallsyms.c (s_show),
 * kernel/module/procfs.c (m_show), Linux 6.18. What is taken, and that the last symbol of a module
 * ends with a page, are perf's rules: tools/perf/util/symbol.c (map__process_kallsym_symbol,
 * symbols__fixup_end), Linux 6.1.
 */
#include "host/kernel_symbols.h"

#include "base/memory.h"
#include "base/words.h"
#include "host/kernel_lines.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static void copy_word(struct bytes word, char *to, size_t capacity)
{
	size_t length = word.length < capacity ? word.length : capacity - 1;

	if (length)
		memcpy(to, word.start, length);
	to[length] = 0;
}

bool kernel_line_next(struct bytes *text, struct kernel_line *ret_line)
{
	while (text->length) {
		struct bytes line = word_take(text, '\n'), type, module;
		struct kernel_line result;

		if (!word_number(word_take(&line, ' '), 16, &result.address))
			continue;
		type = word_take(&line, ' ');
		copy_word(word_take(&line, '\t'), result.name, sizeof(result.name));
		module = line;
		if (type.length != 1 || !result.name[0])
			continue;
		result.type = (char)type.start[0];
		copy_word(module, result.module, sizeof(result.module));
		*ret_line = result;
		return true;
	}
	return false;
}

/* Functions and data, as perf: T, W, D, B of either case; not ARM's mapping symbols. */
static bool is_wanted(const struct kernel_line *line)
{
	return strchr("TWDB", toupper((u8)line->type)) && line->name[0] != '$' &&
	       strcmp(line->module, "[bpf]") != 0 && strncmp(line->module, "[__builtin__", 12) != 0;
}

static u8 binding_of(char type)
{
	if (type == 'W')
		return SYMBOL_WEAK;
	return isupper((u8)type) ? SYMBOL_GLOBAL : SYMBOL_LOCAL;
}

int kernel_symbols_read(struct bytes text, struct symbols *symbols)
{
	char module[MODULE_NAME_BYTES] = "";
	struct kernel_line line;
	bool has_address = false;
	u16 group = 0, groups = 0;

	while (kernel_line_next(&text, &line)) {
		if (!is_wanted(&line))
			continue;
		has_address |= line.address != 0;
		/* Modules come one after the other; the kernel proper is group 0. */
		if (strcmp(module, line.module) != 0) {
			strcpy(module, line.module);
			group = module[0] ? ++groups : 0;
		}
		symbols_add(symbols,
			    &(struct symbol){.start = line.address,
					     .end = line.address,
					     .name = line.name,
					     .group = group,
					     .binding = binding_of(line.type),
					     .is_data = strchr("DB", toupper((u8)line.type))});
	}
	if (!symbols_count(symbols))
		return -ENODATA;
	if (!has_address)
		return -EACCES;
	symbols_finish(symbols);
	return 0;
}

int kernel_symbol_address(struct bytes text, const char *name, u64 *ret_address)
{
	CLEANUP(freep) char *needle = must_format(" %s", name);
	const u8 *end = text.start + text.length, *hit;
	struct kernel_line line;

	/* A search first: to take every line apart is most of the time that a recording needs to
	 * start. */
	while (text.length && (hit = memmem(text.start, text.length, needle, strlen(needle)))) {
		const u8 *newline = memrchr(text.start, '\n', (size_t)(hit - text.start));

		if (newline)
			text.start = newline + 1;
		text.length = (size_t)(end - text.start);
		if (!kernel_line_next(&text, &line))
			break;
		if (strcmp(line.name, name) != 0 || line.module[0])
			continue;
		*ret_address = line.address;
		return 0;
	}
	return -ENOENT;
}

int kernel_module_next(struct bytes *text, struct kernel_module *ret_module)
{
	struct kernel_module module = {0};
	struct bytes line, state, address;

	if (!text->length)
		return 0;
	line = word_take(text, '\n');
	copy_word(word_take(&line, ' '), module.name, sizeof(module.name));
	if (!word_number(word_take(&line, ' '), 10, &module.bytes))
		return -EBADMSG;
	for (int field = 0; field < 2; field++) /* references, users */
		word_take(&line, ' ');
	state = word_take(&line, ' ');
	module.is_live = state.length == 4 && !memcmp(state.start, "Live", 4);
	address = word_take(&line, ' ');
	if (!module.name[0] || !word_drop(&address, "0x") ||
	    !word_number(address, 16, &module.start))
		return -EBADMSG;
	*ret_module = module;
	return 1;
}

int kernel_code_bytes(struct bytes text, u64 *ret_bytes)
{
	static const char name[] = "Kernel code";

	while (text.length) {
		struct bytes line = word_take(&text, '\n'), first, last;
		u64 start, end;

		word_drop_blanks(&line);
		first = word_take(&line, '-');
		last = word_take(&line, ' ');
		word_take(&line, ' '); /* the colon */
		if (line.length != strlen(name) || memcmp(line.start, name, line.length) != 0)
			continue;
		if (!word_number(first, 16, &start) || !word_number(last, 16, &end) || end <= start)
			return -ENOENT;
		*ret_bytes = end - start + 1;
		return 0;
	}
	return -ENOENT;
}
