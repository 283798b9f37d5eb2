/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The report as JSON, for programs.
 */
#ifndef EXPORT_JSON_H
#define EXPORT_JSON_H

#include "base/json_writer.h"
#include "export/report.h"

/* One event as an object inside an array: totals, and entries with their figures, keys and call
 * graphs. Percentages have four decimals, periods are exact. */
void report_write_json(const struct report_view *view, struct json_writer *json);

/* What an entry is told apart by, as members of the object at hand. */
void report_write_keys_json(struct json_writer *json, const struct entry_list *list,
			    const struct entry *entry);

#endif
