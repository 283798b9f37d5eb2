/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Libraries that are not just once in the process, where they always were.
 *
 * usage: lbr_plugins copies|moved [ROUNDS]
 *
 * copies  the same library is there twice at a time (dlmopen())
 * moved   it is closed, and opened again elsewhere
 */
#include "lbr_deep.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

struct library {
	void *handle;
	void (*enter)(unsigned long turns);
	void (*call_back)(void (*function)(unsigned long turns), unsigned long turns);
};

static char folder[4096];

static struct library open_library(const char *name, Lmid_t namespace)
{
	struct library library;
	char path[sizeof(folder) + 64];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	library.handle = dlmopen(namespace, path, RTLD_NOW);
	if (!library.handle) {
		fprintf(stderr, "lbr_plugins: %s\n", dlerror());
		exit(1);
	}
	*(void **)&library.enter = dlsym(library.handle, "enter");
	*(void **)&library.call_back = dlsym(library.handle, "call_back");
	return library;
}

FRAME static void begin(unsigned long turns)
{
	burn(turns & 0xffff);
	deep40(turns >> 16);
	AFTER_CALL();
}

FRAME static void call_directly(void (*function)(unsigned long turns), unsigned long turns)
{
	function(turns);
	AFTER_CALL();
}

FRAME static void copies(unsigned long count)
{
	struct library libraries[] = {open_library("lbr_library", LM_ID_BASE),
				      open_library("lbr_library", LM_ID_NEWLM)};

	for (unsigned long round = 0; round < count; round++)
		libraries[pick(2)].enter(10000 << 16 | 500);
}

/* At first the library's calls are deep, so their stacks do not show that it is there. */
FRAME static void use(const struct library *library, unsigned long count)
{
	for (unsigned long round = 0; round < 2 * count; round++) {
		call_directly(begin, 2000UL << 16 | 2000);
		if (round == count / 2)
			library->call_back(begin, 2000 * count << 16);
		if (round >= count)
			library->call_back(begin, 2000UL << 16 | 2000);
	}
}

FRAME static void moved(unsigned long count)
{
	for (int times = 0; times < 2; times++) {
		struct library library = open_library("lbr_library", LM_ID_BASE);
		unsigned long page = (unsigned long)library.call_back & ~4095UL;

		use(&library, count);
		dlclose(library.handle);
		mmap((void *)page, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(unsigned long count);
	} modes[] = {{"copies", copies}, {"moved", moved}};

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(argv[0], '/') - argv[0]), argv[0]);
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(argv[1], modes[i].name))
			modes[i].run(rounds(argc - 1, argv + 1, 1000));
	/* Seen before and after all else, so known to have been there. */
	burn(50000);
	return 0;
}
