/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any bytes as a config file.
 */
#include "cli/config_file.h"

#include <string.h>

/* The fuzz target: 0, whatever the bytes are. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static int look_at(void *context, const struct config_pair *pair)
{
	size_t *length = context;

	*length += strlen(pair->key) + strlen(pair->value);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	size_t length = 0;

	config_read((struct bytes){.start = bytes, .length = count}, "file", look_at, &length);
	return 0;
}
