/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What kinds of branches were counted. Private to this folder.
 */
#ifndef EXPORT_BRANCH_KINDS_H
#define EXPORT_BRANCH_KINDS_H

#include "base/json_writer.h"
#include "profile/profile.h"

#include <stdio.h>

/* perf's "Branch Statistics", with a new line at the end; nothing if no kind is known. */
void branch_kinds_write(const struct branch_tally *tally, FILE *out);
/* The same counts as an object "branch_types"; nothing if no kind is known. */
void branch_kinds_write_json(const struct branch_tally *tally, struct json_writer *json);

#endif
