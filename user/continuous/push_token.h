/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The token that opens a server, from a file that is nobody else's business. Private to the folder.
 */
#ifndef CONTINUOUS_PUSH_TOKEN_H
#define CONTINUOUS_PUSH_TOKEN_H

/*
 * Reads a regular file that belongs to root or to us and that others cannot read; blanks around
 * the token do not count.
 *
 * ret_token  owned by the caller
 * Returns 0, or a negative errno with a sentence: -EPERM (whose it is, who may read it), -EINVAL
 * (no token in it).
 */
int push_token_read(const char *path, char **ret_token);

#endif
