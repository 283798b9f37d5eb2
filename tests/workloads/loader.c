/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Libraries that come and go, mostly at the same addresses (see known.h).
 *
 * stacks dlopen: _start * main loads with_plugin
 * stacks dlopen: _start * main loads with_plugin enter a_enter a_leaf
 * stacks dlopen: _start * main loads with_plugin enter b_enter b_leaf
 */
#include "known.h"

#include <dlfcn.h>

static char path_a[4096], path_b[4096];

FRAME static void with_plugin(const char *path)
{
	void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	int (*enter)(void);

	if (!library) {
		fprintf(stderr, "loader: %s\n", dlerror());
		exit(1);
	}
	*(void **)&enter = dlsym(library, "enter");
	SPOIL_REGISTERS();
	enter();
	dlclose(library);
}

FRAME static void loads(void)
{
	while (!is_over()) {
		with_plugin(path_a);
		with_plugin(path_b);
	}
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {{"dlopen", loads}};
	int folder = (int)(strrchr(argv[0], '/') - argv[0]);

	(void)argc;
	snprintf(path_a, sizeof(path_a), "%.*s/plugin_a", folder, argv[0]);
	snprintf(path_b, sizeof(path_b), "%.*s/plugin_b", folder, argv[0]);
	return run_mode(modes, sizeof(modes) / sizeof(modes[0]), argv);
}
