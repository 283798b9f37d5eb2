/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Blocks of code by the cycles they took, as perf report --total-cycles prints them.
 */
#ifndef EXPORT_BLOCK_REPORT_H
#define EXPORT_BLOCK_REPORT_H

#include "base/json_writer.h"
#include "export/report.h"
#include "export/text.h"

/* Writes the blocks of an event, with perf's columns and the function behind them; `is_strict`:
 * without it, and shares of averages as perf counts them. The profile must have counted blocks. */
void report_write_blocks(const struct report_view *view, const struct text_style *style,
			 bool is_strict);
/* The same as a member "blocks" of an object. */
void report_write_blocks_json(const struct report_view *view, struct json_writer *json);

#endif
