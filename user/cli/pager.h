/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Long output through a pager, when a person is looking.
 */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

/*
 * Sends stdout through $BPFPROF_PAGER, $PAGER or "less" (LESS=FRX unless set) if stdin and stdout
 * are a terminal; otherwise, with an empty $PAGER or without a pager, does nothing.
 */
void pager_start(void);

/* Flushes stdout and waits until the person has closed the pager. Harmless without one. */
void pager_finish(void);

#endif
