/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Work with a library that trusts what a stranger wrote: in a child that may crash or hang, of
 * which a line is then said.
 */
#ifndef CMD_GUARDED_H
#define CMD_GUARDED_H

/*
 * Goes on in a child. The process that called it waits there: it ends as the child ends, and only
 * if that crashes or hangs, it returns. Before anything is printed, and while there is one thread.
 *
 * path    what is read
 * remedy  what to do if the child does not come through
 * Returns 0 (in the child, or at once if it is one) or a negative errno with a sentence.
 */
int guarded_begin(const char *path, const char *remedy);

/* The library begins to work, and has done so. What takes more than a second or two of CPU time in
 * between hangs. */
void guarded_enter(void);
/* See guarded_enter(). */
void guarded_leave(void);

#endif
