/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A diff as comma-separated values, for spreadsheets and scripts.
 *
 * Source of the format: RFC 4180.
 */
#ifndef EXPORT_DIFF_CSV_H
#define EXPORT_DIFF_CSV_H

#include "export/diff_text.h"

/* The line with the names of the columns. */
void diff_write_csv_header(const struct diff_view *view, FILE *out);
/* One event: a record for each line of the table, with all figures whatever the view shows. */
void diff_write_csv(const struct diff_view *view, FILE *out);

#endif
