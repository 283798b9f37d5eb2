/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perfconfig files: "[section] key = value", "#" and ";" begin comments, keys may be indented.
 */
#ifndef CLI_CONFIG_FILE_H
#define CLI_CONFIG_FILE_H

#include "base/cursor.h"

/* Called for each "section.key" and its value (borrowed). Non-zero stops and is returned. */
typedef int config_take(void *context, const char *key, const char *value);

/*
 * Pure: reads the text of one config file.
 * Returns 0, what `take` returned, or -EBADMSG with a sentence that names the line.
 */
int config_read(struct bytes text, const char *file_name, config_take *take, void *context);

/*
 * Reads $PERF_CONFIG alone if it is set, else /etc/perfconfig, ~/.perfconfig and then ours,
 * /etc/bpfprofconfig and ~/.bpfprofconfig, later ones winning. Files that are missing are passed
 * over.
 */
int config_read_all(config_take *take, void *context);

#endif
