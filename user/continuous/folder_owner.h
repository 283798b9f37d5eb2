/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whose a folder is that is written into. Private to continuous/.
 */
#ifndef CONTINUOUS_FOLDER_OWNER_H
#define CONTINUOUS_FOLDER_OWNER_H

/* Whether what is in the folder is safe from others than this process and root: who owns a folder
 * can put links in place of files. `remedy` as of fail(). Returns 0, or a negative errno with a
 * sentence (-EPERM: it is another user's). */
int folder_check_owner(const char *directory, const char *remedy);

#endif
