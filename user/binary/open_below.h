/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opening files whose paths others chose, maybe as they look from another root folder.
 */
#ifndef BINARY_OPEN_BELOW_H
#define BINARY_OPEN_BELOW_H

enum link_rule { LINKS_FOLLOWED, LAST_LINK_REFUSED };

/*
 * Opens a regular file for reading. Nothing else is opened, so no FIFO can block and no device
 * notices; links in the path cannot lead out of `root`.
 *
 * root     the folder that is "/" for `path`; "" or "/": ours
 * ret_fd   the caller's to close
 * Returns 0, -EINVAL (not a regular file) or why not (-ELOOP: a link that is refused).
 */
int open_below(const char *root, const char *path, enum link_rule links, int *ret_fd);

#endif
