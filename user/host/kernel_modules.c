/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * /proc/modules, once and again.
 */
#include "host/kernel_modules.h"

#include "base/file.h"
#include "base/memory.h"

#include <string.h>
#include <sys/stat.h>

enum { MODULES_MAX_BYTES = 16 << 20 };

void kernel_modules_read(struct bytes text, struct kernel_modules *ret_modules)
{
	struct kernel_module module;
	int found;

	*ret_modules = (struct kernel_modules){0};
	while ((found = kernel_module_next(&text, &module)))
		if (found == 1 && module.start && module.bytes)
			*vec_add(&ret_modules->rows) = module;
}

u64 kernel_module_instance(const char *name)
{
	CLEANUP(freep) char *path = must_format("/sys/module/%s", name);
	struct stat status;

	return stat(path, &status) ? 0 : status.st_ino;
}

int kernel_modules_here(struct kernel_modules *ret_modules)
{
	CLEANUP(freep) char *modules = NULL;
	struct bytes text;
	int error = file_read("/proc/modules", MODULES_MAX_BYTES, &modules, &text.length);

	if (error)
		return error;
	text.start = (const u8 *)modules;
	kernel_modules_read(text, ret_modules);
	for (size_t i = 0; i < ret_modules->rows.count; i++) {
		struct kernel_module *module = &ret_modules->rows.items[i];

		module->instance = kernel_module_instance(module->name);
	}
	return 0;
}

void kernel_modules_release(struct kernel_modules *modules)
{
	vec_release(&modules->rows);
}

static bool is_same(const struct kernel_module *a, const struct kernel_module *b)
{
	return a->start == b->start && a->bytes == b->bytes && a->instance == b->instance &&
	       !strcmp(a->name, b->name);
}

static const struct kernel_module *find_same(const struct kernel_modules *modules,
					     const struct kernel_module *wanted)
{
	for (size_t i = 0; i < modules->rows.count; i++)
		if (is_same(&modules->rows.items[i], wanted))
			return &modules->rows.items[i];
	return NULL;
}

/* Whether its place was another one's. */
static bool took_place(const struct kernel_modules *before, const struct kernel_module *module)
{
	for (size_t i = 0; i < before->rows.count; i++) {
		const struct kernel_module *other = &before->rows.items[i];

		if (module->start < other->start + other->bytes &&
		    other->start < module->start + module->bytes && !is_same(other, module))
			return true;
	}
	return false;
}

void kernel_modules_compare(const struct kernel_modules *before, const struct kernel_modules *now,
			    struct module_times times, struct module_changes *ret_changes)
{
	*ret_changes = (struct module_changes){0};
	for (size_t i = 0; i < before->rows.count; i++)
		if (!find_same(now, &before->rows.items[i]))
			*vec_add(&ret_changes->gone.rows) = before->rows.items[i];
	for (size_t i = 0; i < now->rows.count; i++) {
		struct kernel_module module = now->rows.items[i];
		const struct kernel_module *known = find_same(before, &module);

		if (!module.is_live || (known && known->is_live))
			continue;
		module.since_ns = took_place(before, &module) ? times.now_ns : times.before_ns;
		*vec_add(&ret_changes->came.rows) = module;
	}
}

bool kernel_modules_are_moving(const struct kernel_modules *modules)
{
	for (size_t i = 0; i < modules->rows.count; i++)
		if (!modules->rows.items[i].is_live)
			return true;
	return false;
}
