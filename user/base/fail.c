/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The last error's sentence, one a thread.
 */
#include "base/fail.h"

#include "base/memory.h"

#include <stdarg.h>
#include <string.h>

enum { SENTENCE_BYTES = 1024 };

/* A fixed array: saying that something failed must not fail. */
static _Thread_local char sentence[SENTENCE_BYTES];

static void keep(const char *head, const char *why, const char *remedy)
{
	char whole[SENTENCE_BYTES];

	snprintf(whole, sizeof(whole), "%s%s%s%s%s", head, why ? ": " : "", why ? why : "",
		 remedy ? "; " : "", remedy ? remedy : "");
	memcpy(sentence, whole, sizeof(whole));
}

int fail(int error, const char *remedy, const char *what, ...)
{
	char head[SENTENCE_BYTES / 2];
	va_list arguments;

	va_start(arguments, what);
	vsnprintf(head, sizeof(head), what, arguments);
	va_end(arguments);
	keep(head, strerror(-error), remedy);
	return error;
}

int fail_plain(int error, const char *remedy, const char *what, ...)
{
	char head[SENTENCE_BYTES];
	va_list arguments;

	va_start(arguments, what);
	vsnprintf(head, sizeof(head), what, arguments);
	va_end(arguments);
	keep(head, NULL, remedy);
	return error;
}

int fail_while(int error, const char *goal, ...)
{
	char head[SENTENCE_BYTES / 2];
	va_list arguments;

	va_start(arguments, goal);
	vsnprintf(head, sizeof(head), goal, arguments);
	va_end(arguments);
	keep(head, sentence[0] ? sentence : strerror(-error), NULL);
	return error;
}

const char *fail_sentence(void)
{
	return sentence;
}

void fail_clear(void)
{
	sentence[0] = 0;
}
