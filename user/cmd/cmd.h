/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The commands, one file each. main.c lists them; a command's options, help and work are in its
 * row. This is the folder's face.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include "cli/cli.h"

extern const struct command command_record;
extern const struct command command_report;
extern const struct command command_script;
extern const struct command command_diff;
extern const struct command command_check;
extern const struct command command_daemon;
extern const struct command command_list;
extern const struct command command_export;

/* What `bpfprof [options] [-- command]` does, without a command's name: the options of record; it
 * records and then prints the report of what it recorded. Not in the list of commands. */
extern const struct command command_bare;

#endif
