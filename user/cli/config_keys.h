/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What stands in config files without that the running command takes it.
 */
#ifndef CLI_CONFIG_KEYS_H
#define CLI_CONFIG_KEYS_H

#include "cli/config_file.h"
#include "cli/options.h"

/*
 * Looks at a key that a command has no row for.
 *
 * said  what was told before; a section that nobody knows is told once
 * Returns a sentence for a key that is nobody's, in a section of the command, or in one that is
 * nobody's; owned by the caller. NULL: it is another command's, or perf's.
 */
char *config_unknown(const struct command *command, const struct config_pair *pair,
		     const struct text_list *said);

#endif
