/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From windows to the cache of names.
 */
#include "cmd/daemon_names.h"

#include "symbolize/symbolize.h"

#include <errno.h>

int daemon_names_open(const char *directory, u64 max_bytes, struct names_cache **ret_names)
{
	struct names_cache_settings settings = {.directory = directory, .max_bytes = max_bytes};
	int error = names_cache_open(&settings, ret_names);

	if (error)
		return error;
	names_cache_keep_kernel(*ret_names); /* if it hides its addresses, samples have no names
						either */
	return 0;
}

void daemon_names_close(struct names_cache *names)
{
	names_cache_close(names);
}

/* A process may be gone before its file was found: the next one that runs it may live longer. */
bool daemon_names_take(void *names, const struct mapping *binary)
{
	struct running_binary running = {
		.path = binary->path,
		.build_id = binary->build_id,
		.build_id_bytes = binary->build_id_bytes,
		.owner_pid = binary->pid,
	};

	return names_cache_keep(names, &running) != -ENOENT;
}
