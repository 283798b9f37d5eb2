/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recording that a command reads: which one it is, and what was passed over in it.
 */
#ifndef CMD_INPUT_H
#define CMD_INPUT_H

#include "cli/cli.h"
#include "perfdata/perfdata.h"
#include "symbolize/symbolize.h"

/*
 * What is to be read: the one that is named, a pipe on stdin as in perf, or perf.data.
 *
 * option    of -i; NULL: not given
 * ret_path  "-" for stdin; borrowed from the option or the arguments
 * Returns 0 or -EINVAL with a sentence: more than one.
 */
int input_choose(const char *option, struct arguments arguments, const char **ret_path);

/* A store is asked for: neither a recording (option of -i, or an argument) nor --time goes with
 * that. Returns 0 or -EINVAL with a sentence. */
int input_refuse_recording(const char *option, struct arguments arguments, const char *times);

/* Shows on a terminal what takes long: reading, and finding names. */
void input_show_progress(struct perfdata *data, struct symbolize_settings *settings);

/* Whether samples of the kernel that runs here are probably in the recording. */
bool input_has_this_kernel(const struct perfdata *data);

/* Whether it was recorded on a host of another name, or maybe so. */
bool input_is_from_elsewhere(const struct perfdata *data);

/* Prints the records and features that were passed over on stderr, one line each. After
 * perfdata_read(), when no pager holds the terminal. */
void input_print_warnings(const struct perfdata *data);
/* Prints lines of warnings on stderr, the same. */
void input_print_lines(const char *lines);

#endif
