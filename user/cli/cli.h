/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a person types and sees: commands and options as rows, config files, terminal, pager,
 * progress. This is the folder's face; the parts have a header each.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "cli/config_file.h"
#include "cli/options.h"
#include "cli/pager.h"
#include "cli/progress.h"
#include "cli/terminal.h"

#endif
