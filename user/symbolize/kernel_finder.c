/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of the kernel and its modules.
 *
 * In this order, as perf: the file that was asked for; a vmlinux with the recorded build id; the
 * running kernel's kallsyms if its build id is the recorded one (or none was recorded); perf's copy
 * of that kernel's kallsyms; what a cache of ours has kept. Where the kernel lies differs from boot
 * to boot: the address of the reference symbol then and in the table tells by how much.
 *
 * The kernel takes five times as long to print kallsyms as it takes to read what a cache has kept
 * of it. The build id says that both are the same, so the cache comes first wherever the reference
 * symbols are known. Modules come and go: theirs are kept each by its own build id.
 */
#include "symbolize/finder.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "host/host.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

enum { KALLSYMS_MAX_BYTES = 256 << 20, MODULES_MAX_BYTES = 16 << 20 };

static const char reference_name[] = "_text";

/* One table of the running kernel's names, and where the reference symbol is in it. */
struct kernel_table {
	struct symbols *symbols; /* NULL: hidden, or kept from us */
	u64 reference;		 /* 0: unknown */
};

/* The running kernel's names, read once. */
struct kernel_names {
	const struct symbolize_settings *settings; /* of who expects them */
	struct parallel_task reading;
	bool was_tried;		    /* the table below was */
	struct kernel_table loaded; /* kallsyms: the kernel and its modules */
	struct kernel_table kept;   /* what a cache has of the kernel proper */
};

struct kernel_names *kernel_names_new(void)
{
	return must_alloc(sizeof(struct kernel_names));
}

void kernel_names_free(struct kernel_names *names)
{
	if (!names)
		return;
	parallel_wait(&names->reading);
	symbols_free(names->loaded.symbols);
	symbols_free(names->kept.symbols);
	free(names);
}

/* Reads a kallsyms file. Returns the table, owned by the caller, or NULL. */
static struct symbols *read_kallsyms(const char *path, u64 *ret_reference)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();
	CLEANUP(freep) char *text = NULL;
	struct bytes bytes;

	if (file_read(path, KALLSYMS_MAX_BYTES, &text, &bytes.length))
		return NULL;
	bytes.start = (const u8 *)text;
	if (kernel_symbols_read(bytes, symbols))
		return NULL;
	if (kernel_symbol_address(bytes, reference_name, ret_reference))
		*ret_reference = 0;
	return TAKE(symbols);
}

static void read_loaded(struct kernel_names *names)
{
	names->was_tried = true;
	names->loaded.symbols = read_kallsyms("/proc/kallsyms", &names->loaded.reference);
}

/* What has been kept under the running kernel's build id, if it can be told where that lies. */
static bool read_kept(const struct symbolize_settings *settings, struct kernel_table *ret_table)
{
	CLEANUP(kept_names_release) struct kept_names names = {0};
	struct binary_row kernel = {0};
	struct build_id id;

	if (build_id_of_kernel(&id))
		return false;
	kernel.build_id_bytes = id.length;
	memcpy(kernel.build_id, id.bytes, sizeof(kernel.build_id));
	if (!names_kept_for(settings, &kernel, &names) || !names.symbols || !names.reference)
		return false;
	ret_table->symbols = TAKE(names.symbols);
	ret_table->reference = names.reference;
	return true;
}

static void *read_ahead(void *context)
{
	struct kernel_names *names = context;

	if (!read_kept(names->settings, &names->kept))
		read_loaded(names);
	return NULL;
}

void kernel_names_expect(struct kernel_names *names, const struct symbolize_settings *settings)
{
	if (names->settings)
		return;
	names->settings = settings;
	if (!parallel_begin(&names->reading, read_ahead, names))
		read_ahead(names);
}

void kernel_names_settle(struct kernel_names *names)
{
	parallel_wait(&names->reading);
}

/* All there is of the running kernel: the only ones of modules. */
static const struct kernel_table *loaded_kernel(struct kernel_names *names)
{
	parallel_wait(&names->reading);
	if (!names->was_tried)
		read_loaded(names);
	return &names->loaded;
}

static const struct kernel_table *kept_kernel(const struct finder_context *context)
{
	struct kernel_names *names = context->kernel;

	parallel_wait(&names->reading);
	if (!names->settings) {
		names->settings = context->settings;
		read_ahead(names);
	}
	return &names->kept;
}

/* The kernel proper, as it was when `kernel` was recorded. */
static const struct kernel_table *running_kernel(const struct finder_context *context,
						 const struct binary_row *kernel)
{
	const struct kernel_table *kept = kept_kernel(context);

	return kept->symbols && kernel->reference ? kept : loaded_kernel(context->kernel);
}

/* From recorded addresses to those of a table, by the reference symbol's. */
static u64 shift_between(const struct binary_row *kernel, u64 reference)
{
	return kernel->reference && reference ? reference - kernel->reference : 0;
}

static bool is_running_kernel(const struct binary_row *kernel)
{
	struct build_id id;

	return !kernel->build_id_bytes ||
	       (!build_id_of_kernel(&id) &&
		build_id_is(&id, kernel->build_id, kernel->build_id_bytes));
}

static bool take_kallsyms(const char *path, const struct binary_row *kernel,
			  struct name_source *source)
{
	u64 reference;

	source->owned = read_kallsyms(path, &reference);
	source->symbols = source->owned;
	if (!source->owned)
		return false;
	source->shift = shift_between(kernel, reference);
	return true;
}

/* Takes a kernel image if it has the build id; length 0: any. */
static bool take_image(const char *path, const struct build_id *wanted,
		       const struct binary_row *kernel, struct name_source *source)
{
	CLEANUP(file_unmap) struct bytes image = {0};
	struct build_id id;
	u64 reference = 0;

	if (elf_image_below("", path, &image))
		return false;
	if (wanted->length &&
	    (build_id_of_image(image, &id) || !build_id_is(&id, wanted->bytes, wanted->length))) {
		source->unnamed = UNNAMED_REPLACED;
		return false;
	}
	source->owned = symbols_new();
	symbols_add_kernel_image(source->owned, image, reference_name, &reference);
	if (!symbols_count(source->owned)) {
		symbols_free(TAKE(source->owned));
		source->unnamed = UNNAMED_NO_SYMBOLS;
		return false;
	}
	source->symbols = source->owned;
	source->shift = shift_between(kernel, reference);
	return true;
}

/* Where distributions put kernel images with symbols; * is the release. */
static bool take_installed_image(const char *symfs, const struct build_id *id,
				 const struct binary_row *kernel, struct name_source *source)
{
	static const char *const places[] = {
		"/boot/vmlinux",
		"/boot/vmlinux-*",
		"/usr/lib/debug/boot/vmlinux-*",
		"/lib/modules/*/build/vmlinux",
		"/usr/lib/debug/lib/modules/*/vmlinux",
	};
	CLEANUP(globfree) glob_t found = {0};
	char text[BUILD_ID_TEXT_BYTES];
	CLEANUP(freep) char *by_id = NULL;

	if (!id->length)
		return false;
	build_id_text(id, text);
	by_id = must_format("%s/usr/lib/debug/.build-id/%.2s/%s.debug", symfs, text, text + 2);
	if (take_image(by_id, id, kernel, source))
		return true;
	for (size_t i = 0; i < ARRAY_COUNT(places); i++) {
		CLEANUP(freep) char *pattern = must_format("%s%s", symfs, places[i]);

		glob(pattern, i ? GLOB_APPEND : 0, NULL, &found);
	}
	for (size_t i = 0; i < found.gl_pathc; i++) {
		if (take_image(found.gl_pathv[i], id, kernel, source))
			return true;
	}
	return false;
}

/* perf keeps the kallsyms of kernels that it recorded, by build id. */
static bool take_cached(const struct build_id *id, const struct binary_row *kernel,
			struct name_source *source)
{
	const char *home = getenv("HOME");
	CLEANUP(freep) char *path = NULL;
	char text[BUILD_ID_TEXT_BYTES];

	if (!home || !id->length)
		return false;
	path = must_format("%s/.debug/[kernel.kallsyms]/%s/kallsyms", home,
			   build_id_text(id, text));
	return take_kallsyms(path, kernel, source);
}

/* What a cache has kept of a kernel, or of a module by the distance from where it was loaded. */
static void take_kept(const struct finder_context *context, const struct binary_row *binary,
		      struct name_source *source)
{
	struct kept_names names;

	if (!names_kept_for(context->settings, binary, &names))
		return;
	source->owned = TAKE(names.symbols);
	source->symbols = source->owned;
	source->shift = binary->kind == BINARY_MODULE ? 0 - binary->start
						      : shift_between(binary, names.reference);
	kept_names_release(&names);
}

int kernel_finder_read(struct symbols **ret_symbols, u64 *ret_reference)
{
	*ret_symbols = read_kallsyms("/proc/kallsyms", ret_reference);
	return *ret_symbols ? 0 : -EACCES;
}

static void load_kernel(const struct finder_context *context, const struct binary_row *kernel,
			struct name_source *source)
{
	const struct symbolize_settings *settings = context->settings;
	const char *symfs = settings->symfs ? settings->symfs : "";
	const struct kernel_table *running;
	struct build_id id = {.length = kernel->build_id_bytes};

	memcpy(id.bytes, kernel->build_id, sizeof(id.bytes));
	if (settings->kallsyms) {
		take_kallsyms(settings->kallsyms, kernel, source);
		return;
	}
	if (settings->vmlinux) {
		take_image(settings->vmlinux, &id, kernel, source);
		return;
	}
	if (kernel->space == SPACE_GUEST_KERNEL)
		return;
	if (!id.length && build_id_of_kernel(&id))
		id.length = 0;
	if (take_installed_image(symfs, &id, kernel, source))
		return;
	/* Images of other kernels that lie about are no reason. */
	source->unnamed = UNNAMED_KERNEL_HIDDEN;
	if (symfs[0])
		return;
	running = is_running_kernel(kernel) ? running_kernel(context, kernel) : NULL;
	if (running && running->symbols) {
		source->symbols = running->symbols;
		source->shift = shift_between(kernel, running->reference);
		return;
	}
	if (!take_cached(&id, kernel, source))
		take_kept(context, kernel, source);
}

/* The kernel that the module was recorded with; NULL if it is not known. */
static const struct binary_row *kernel_of(const struct profile *profile,
					  const struct binary_row *module)
{
	for (size_t i = 1; i < profile->binaries.count; i++) {
		const struct binary_row *kernel = &profile->binaries.items[i];

		if (kernel->kind == BINARY_KERNEL && kernel->reference == module->reference)
			return kernel;
	}
	return NULL;
}

/* Where a module is loaded now. `name` with brackets. */
static bool find_module(const char *name, struct kernel_module *ret_module)
{
	CLEANUP(freep) char *modules = NULL;
	struct bytes text;
	size_t length = strlen(name);
	int found;

	if (length < 3 || file_read("/proc/modules", MODULES_MAX_BYTES, &modules, &text.length))
		return false;
	text.start = (const u8 *)modules;
	while ((found = kernel_module_next(&text, ret_module))) {
		if (found == 1 && strlen(ret_module->name) == length - 2 &&
		    !strncmp(ret_module->name, name + 1, length - 2))
			return true;
	}
	return false;
}

/* Whether the module that is loaded now is the recorded one. */
static bool is_same_module(const struct binary_row *binary, const struct kernel_module *module)
{
	struct build_id id;

	return !binary->build_id_bytes ||
	       (!build_id_of_module(module->name, &id) &&
		build_id_is(&id, binary->build_id, binary->build_id_bytes));
}

/* Takes the names of the module if it is loaded. */
static void take_loaded(const struct finder_context *context, const struct binary_row *binary,
			struct name_source *source)
{
	const struct binary_row *kernel = kernel_of(context->profile, binary);
	struct kernel_module module;

	if ((kernel && !is_running_kernel(kernel)) ||
	    !find_module(profile_text(context->profile, binary->short_name), &module))
		return;
	if (!is_same_module(binary, &module)) {
		source->unnamed = UNNAMED_REPLACED;
		return;
	}
	source->symbols = loaded_kernel(context->kernel)->symbols;
	source->shift = module.start - binary->start;
}

/* Modules are named from kallsyms, which holds what their files hold. */
static void load_module(const struct finder_context *context, const struct binary_row *binary,
			struct name_source *source)
{
	const struct symbolize_settings *settings = context->settings;

	if (settings->kallsyms) {
		take_kallsyms(settings->kallsyms, &(struct binary_row){0}, source);
		return;
	}
	if (settings->symfs && settings->symfs[0])
		return;
	if (kept_kernel(context)->symbols)
		take_kept(context, binary, source);
	if (!source->symbols)
		take_loaded(context, binary, source);
	if (!source->symbols)
		take_kept(context, binary, source);
}

void kernel_finder_load(const struct finder_context *context, const struct binary_row *binary,
			struct name_source *ret_source)
{
	struct name_source source = {.unnamed = UNNAMED_KERNEL_HIDDEN};

	if (context->settings->only_kept)
		take_kept(context, binary, &source);
	else if (binary->kind == BINARY_MODULE)
		load_module(context, binary, &source);
	else
		load_kernel(context, binary, &source);
	if (source.symbols)
		source.unnamed = UNNAMED_NOT;
	*ret_source = source;
}
