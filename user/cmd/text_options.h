/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arguments of options that report and diff share.
 */
#ifndef CMD_TEXT_OPTIONS_H
#define CMD_TEXT_OPTIONS_H

#include <stdbool.h>

/* --percentage: what is 100%, all samples or what filters leave. Returns 0 or -EINVAL with a
 * sentence. */
int text_parse_percentage(const char *argument, bool *ret_is_relative);

/* -t: what stands between columns, perf's "\t" for a tab. The separator is borrowed from the
 * argument. Returns 0, or -EINVAL with a sentence: ".", which would be lost among the digits. */
int text_parse_separator(const char *argument, const char **ret_separator);

#endif
