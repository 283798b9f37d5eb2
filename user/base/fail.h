/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The last error's sentence: said once by whoever knows the cause, printed once by main.c.
 *
 * The sentence is kept per thread in the form "what: why; what to do".
 */
#ifndef BASE_FAIL_H
#define BASE_FAIL_H

/*
 * Keeps "<what>: <why>[; <remedy>]", where <why> is the system's text for `error`.
 *
 * error   negative errno
 * remedy  what the reader can do, or NULL for nothing
 * Returns `error`.
 */
int fail(int error, const char *remedy, const char *what, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, where `what` already says why: keeps "<what>[; <remedy>]". Returns `error`. */
int fail_plain(int error, const char *remedy, const char *what, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "<goal>: " in front of the sentence of `error`, once, where the goal is known. Makes a
 * sentence if nobody said one. Returns `error`. */
int fail_while(int error, const char *goal, ...) __attribute__((format(printf, 2, 3)));

/* This thread's last sentence, "" if there is none. Borrowed until the next fail…(). */
const char *fail_sentence(void);

/* Forgets this thread's sentence. */
void fail_clear(void);

#endif
