/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A diff as JSON, for programs.
 */
#ifndef EXPORT_DIFF_JSON_H
#define EXPORT_DIFF_JSON_H

#include "base/json_writer.h"
#include "export/diff_text.h"

/* One event as an object inside an array: what each side has, and lines with their keys and figures
 * in the order of the table. Shares and differences are in per cent and points, with six decimals;
 * periods are exact. */
void diff_write_json(const struct diff_view *view, struct json_writer *json);

/* The same of the call paths that diff_write_paths() shows: for each side but the baseline, each
 * path with its functions, callers first, in the order of the tree. */
void diff_write_paths_json(const struct diff_view *view, struct json_writer *json, double least);

#endif
