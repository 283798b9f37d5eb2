/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perfconfig files: "[section] key = value", "#" and ";" begin comments, keys may be indented.
 */
#ifndef CLI_CONFIG_FILE_H
#define CLI_CONFIG_FILE_H

#include "base/cursor.h"

struct config_pair {
	const char *key; /* "section.key" */
	const char *value;
	const char *file_name;
	u32 line;
};

/* Called for each key with its value (borrowed). Non-zero stops and is returned. */
typedef int config_take(void *context, const struct config_pair *pair);
/* Called for each file that is there and not read, with a sentence that says why (borrowed). */
typedef void config_pass(void *context, const char *sentence);

/*
 * Pure: reads the text of one config file.
 * Returns 0, what `take` returned, or -EBADMSG with a sentence that names the line.
 */
int config_read(struct bytes text, const char *file_name, config_take *take, void *context);

/*
 * Reads $PERF_CONFIG alone if it is set, else /etc/perfconfig, ~/.perfconfig and then ours,
 * /etc/bpfprofconfig and ~/.bpfprofconfig, later ones winning. Files that are missing are passed
 * over, and so are those of another user than root and who runs this, which `pass` is told.
 */
int config_read_all(config_take *take, config_pass *pass, void *context);

#endif
