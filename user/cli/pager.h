/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Long output through a pager, when a person is looking.
 */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

#include <stdbool.h>

/*
 * Sends stdout through $BPFPROF_PAGER, $PAGER or "less" (LESS=FRSX unless set) if stdin and stdout
 * are a terminal that is not dumb; otherwise, with an empty or missing pager or "cat", does
 * nothing. COLUMNS keeps the terminal's width. If the person closes the pager before the end, the
 * program ends with status 0.
 */
void pager_start(void);

/* Flushes stdout and waits until the person has closed the pager. Harmless without one. */
void pager_finish(void);

/* Whether stdout goes to our pager now. */
bool pager_is_running(void);

#endif
