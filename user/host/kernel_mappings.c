/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What of the running kernel is code, as events: its text, its modules, BPF programs.
 *
 * The kernel makes the lines of kallsyms as they are read, 120,000 of them in 45 ms, a third of a
 * recording's start. _text stands among the first; where its end is known from elsewhere and BPF
 * programs are not asked for, the rest is not read.
 *
 * Written the way perf writes them: tools/perf/util/machine.c (machine__get_running_kernel_start,
 * machine__create_modules) and synthetic-events.c, Linux 6.1.
 */
#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/vec.h"
#include "base/words.h"
#include "host/kernel_lines.h"
#include "host/kernel_modules.h"
#include "host/kernel_symbols.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

enum {
	KALLSYMS_MAX_BYTES = 256 << 20,	 /* here 10 MB; each module adds */
	KALLSYMS_START_BYTES = 64 << 10, /* per-CPU symbols, then _text */
	IOMEM_MAX_BYTES = 1 << 20,
	DEPENDENCIES_MAX_BYTES = 16 << 20,
	BPF_SYMBOL_MAX_BYTES = 1 << 20, /* guards against a gap behind the last of a region */
	PAGE_BYTES = 4096,
};

static const char kernel_map_name[] = "[kernel.kallsyms]";
static const char reading_kernel_symbols[] = "cannot read the addresses of kernel symbols";
/* Source: kernel/ksyms_common.c (kallsyms_show_value), Linux 6.18. */
static const char restricted_remedy[] = "run as root, give the program CAP_SYSLOG, or: sysctl "
					"kernel.kptr_restrict=0 kernel.perf_event_paranoid=1";

/* A BPF program or trampoline in kallsyms. */
struct bpf_symbol {
	u64 start;
	char *name;
};

/* The reference symbol: _text, else _stext. */
static int find_reference(struct bytes kallsyms, const char **ret_name, u64 *ret_address)
{
	static const char *const names[] = {"_text", "_stext"};

	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		if (kernel_symbol_address(kallsyms, names[i], ret_address))
			continue;
		if (!*ret_address)
			return fail_plain(-EACCES, restricted_remedy, "%s: hidden by the kernel",
					  reading_kernel_symbols);
		*ret_name = names[i];
		return 0;
	}
	return fail_plain(-ENODATA, "boot a kernel with CONFIG_KALLSYMS=y",
			  "%s: /proc/kallsyms has no _text", reading_kernel_symbols);
}

/* The end of the text that begins at `start`; UINT64_MAX if nobody tells. */
static u64 find_end(struct bytes kallsyms, u64 start, u64 code_bytes)
{
	u64 end;

	if (code_bytes)
		return start + code_bytes;
	if (kernel_symbol_address(kallsyms, "_etext", &end) || end <= start)
		return UINT64_MAX;
	return end;
}

static void set_id(struct mapping *mapping, const struct build_id *id)
{
	mapping->build_id_bytes = id->length;
	memcpy(mapping->build_id, id->bytes, sizeof(mapping->build_id));
}

/* code_bytes  how long the text is, 0: kallsyms knows */
static int send_kernel(struct bytes kallsyms, u64 code_bytes, struct event_sink *sink)
{
	CLEANUP(freep) char *path = NULL;
	struct mapping mapping = {.pid = ~0u, .space = SPACE_KERNEL};
	struct build_id id;
	const char *reference = "";
	int error = find_reference(kallsyms, &reference, &mapping.start);

	if (error)
		return error;
	path = must_format("%s%s", kernel_map_name, reference);
	mapping.path = path;
	mapping.bytes = find_end(kallsyms, mapping.start, code_bytes) - mapping.start;
	mapping.file_offset = mapping.start;
	if (!build_id_of_kernel(&id))
		set_id(&mapping, &id);
	return sink_call(sink, on_mapping, &mapping);
}

/* Whether a path ends in this module's file; '-' and '_' are the same to the kernel, and the file
 * may be compressed (".ko.xz"). */
static bool is_path_of_module(struct bytes path, const char *name)
{
	size_t length = strlen(name);
	const u8 *slash = memrchr(path.start, '/', path.length);
	const u8 *base = slash ? slash + 1 : path.start;

	if ((size_t)(path.start + path.length - base) < length + 3 ||
	    memcmp(base + length, ".ko", 3) != 0)
		return false;
	for (size_t i = 0; i < length; i++) {
		if ((base[i] == '-' ? '_' : base[i]) != (u8)name[i])
			return false;
	}
	return true;
}

/* The file of a module, "[name]" if there is none; owned by the caller.
 * dependencies  modules.dep of this release: "path below its folder: paths it needs", line by line
 */
static char *module_path(struct bytes dependencies, const char *release, const char *name)
{
	while (dependencies.length) {
		struct bytes line = word_take(&dependencies, '\n');
		struct bytes path = word_take(&line, ':');

		if (is_path_of_module(path, name))
			return must_format("/lib/modules/%s/%.*s", release, (int)path.length,
					   (const char *)path.start);
	}
	return must_format("[%s]", name);
}

static int send_module(const struct kernel_module *module, char *path, struct event_sink *sink)
{
	struct mapping mapping = {.pid = ~0u, .space = SPACE_KERNEL, .path = path};
	struct build_id id;

	mapping.time_ns = module->since_ns;
	mapping.start = module->start;
	mapping.bytes = module->bytes;
	if (!build_id_of_module(module->name, &id))
		set_id(&mapping, &id);
	return sink_call(sink, on_mapping, &mapping);
}

int kernel_module_mappings(const struct kernel_module *modules, size_t count,
			   struct event_sink *sink)
{
	CLEANUP(freep) char *dependencies = NULL, *path = NULL;
	struct bytes files = {0};
	struct utsname machine;
	int error = 0;

	if (uname(&machine))
		return fail(-errno, NULL, "cannot read the kernel's release");
	path = must_format("/lib/modules/%s/modules.dep", machine.release);
	if (!file_read(path, DEPENDENCIES_MAX_BYTES, &dependencies, &files.length))
		files.start = (const u8 *)dependencies;
	for (size_t i = 0; !error && i < count; i++) {
		CLEANUP(freep)
		char *file = module_path(files, machine.release, modules[i].name);

		error = send_module(&modules[i], file, sink);
	}
	return error;
}

/* A kernel without modules has no list of them. */
static int send_modules(struct event_sink *sink)
{
	CLEANUP(kernel_modules_release) struct kernel_modules modules = {0};

	if (kernel_modules_here(&modules))
		return 0;
	return kernel_module_mappings(modules.rows.items, modules.rows.count, sink);
}

static int by_start(const void *left, const void *right)
{
	const struct bpf_symbol *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* kallsyms does not say how long a program is: it ends where the next one begins, at the latest
 * with the page behind. */
static u32 bpf_symbol_bytes(const struct bpf_symbol *symbol, const struct bpf_symbol *next)
{
	u64 page_end = (symbol->start & ~(u64)(PAGE_BYTES - 1)) + 2 * PAGE_BYTES;

	if (next && next->start > symbol->start &&
	    next->start - symbol->start <= BPF_SYMBOL_MAX_BYTES)
		return (u32)(next->start - symbol->start);
	return (u32)(page_end - symbol->start);
}

/* The lines from the first BPF symbol on: the kernel lists its own and those of modules before
 * them. Source: kernel/kallsyms.c (update_iter_mod), Linux 6.18. */
static struct bytes from_first_bpf_symbol(struct bytes kallsyms)
{
	static const char mark[] = "\t[bpf]\n";
	const u8 *end = kallsyms.start + kallsyms.length;
	const u8 *hit = memmem(kallsyms.start, kallsyms.length, mark, strlen(mark)), *newline;

	if (!hit)
		return (struct bytes){end, 0};
	newline = memrchr(kallsyms.start, '\n', (size_t)(hit - kallsyms.start));
	hit = newline ? newline + 1 : kallsyms.start;
	return (struct bytes){hit, (size_t)(end - hit)};
}

static int send_bpf_symbols(struct bytes kallsyms, struct event_sink *sink)
{
	VEC(struct bpf_symbol) found = {0};
	struct kernel_line line;
	int error = 0;

	kallsyms = from_first_bpf_symbol(kallsyms);
	while (kernel_line_next(&kallsyms, &line)) {
		if (!strcmp(line.module, "[bpf]") && line.address)
			*vec_add(&found) = (struct bpf_symbol){line.address, must_copy(line.name)};
	}
	if (found.count)
		qsort(found.items, found.count, sizeof(*found.items), by_start);
	for (size_t i = 0; i < found.count; i++) {
		const struct bpf_symbol *next = i + 1 < found.count ? &found.items[i + 1] : NULL;
		struct kernel_symbol symbol = {.start = found.items[i].start,
					       .bytes = bpf_symbol_bytes(&found.items[i], next),
					       .type = 1,
					       .name = found.items[i].name};

		if (!error)
			error = sink_call(sink, on_kernel_symbol, &symbol);
		free(found.items[i].name);
	}
	vec_release(&found);
	return error;
}

/* How long the text is without kallsyms, 0 if only that knows. What other architectures call
 * "Kernel code" reaches beyond _etext. Source: arch/x86/kernel/setup.c (setup_arch),
 * arch/arm64/kernel/setup.c (setup_arch), Linux 6.18. */
static u64 read_code_bytes(void)
{
#ifdef __x86_64__
	CLEANUP(freep) char *text = NULL;
	struct bytes iomem;
	u64 bytes;

	if (file_read("/proc/iomem", IOMEM_MAX_BYTES, &text, &iomem.length))
		return 0;
	iomem.start = (const u8 *)text;
	return kernel_code_bytes(iomem, &bytes) ? 0 : bytes;
#else
	return 0;
#endif
}

/* Reads the first lines of kallsyms, without one that is cut; false if _text is not among them. */
static bool read_start(char **ret_text, struct bytes *ret_kallsyms)
{
	CLEANUP(freep) char *text = NULL;
	struct bytes lines;
	const u8 *newline;
	u64 address;

	if (file_read_start("/proc/kallsyms", KALLSYMS_START_BYTES, &text, &lines.length))
		return false;
	lines.start = (const u8 *)text;
	newline = memrchr(text, '\n', lines.length);
	lines.length = newline ? (size_t)(newline + 1 - lines.start) : 0;
	if (kernel_symbol_address(lines, "_text", &address))
		return false;
	*ret_kallsyms = lines;
	*ret_text = TAKE(text);
	return true;
}

int kernel_mappings(enum kernel_parts parts, struct event_sink *sink)
{
	u64 code_bytes = parts == KERNEL_AND_MODULES ? read_code_bytes() : 0;
	CLEANUP(freep) char *text = NULL;
	struct bytes kallsyms;
	int error;

	if (!code_bytes || !read_start(&text, &kallsyms)) {
		error = file_read("/proc/kallsyms", KALLSYMS_MAX_BYTES, &text, &kallsyms.length);
		if (error)
			return fail(error, restricted_remedy, "%s", reading_kernel_symbols);
		kallsyms.start = (const u8 *)text;
	}
	error = send_kernel(kallsyms, code_bytes, sink);
	if (!error)
		error = send_modules(sink);
	if (!error && parts == KERNEL_MODULES_AND_BPF)
		error = send_bpf_symbols(kallsyms, sink);
	return error;
}
