/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What every reader of a recording says about what it passed over.
 */
#ifndef CMD_WARNINGS_H
#define CMD_WARNINGS_H

#include "perfdata/perfdata.h"

/* Prints the records and features that were passed over on stderr, one line each. After
 * perfdata_read(), when no pager holds the terminal. */
void print_warnings(const struct perfdata *data);

#endif
