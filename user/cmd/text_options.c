/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parsers of options that several commands have.
 */
#include "cmd/text_options.h"

#include "base/fail.h"

#include <errno.h>
#include <string.h>

int text_parse_percentage(const char *argument, bool *ret_is_relative)
{
	if (strcmp(argument, "relative") != 0 && strcmp(argument, "absolute") != 0)
		return fail_plain(-EINVAL, NULL, "give relative or absolute");
	*ret_is_relative = *argument == 'r';
	return 0;
}

int text_parse_separator(const char *argument, const char **ret_separator)
{
	if (!strcmp(argument, "."))
		return fail_plain(-EINVAL, "give another one, like -t ,",
				  "\".\" separates digits already");
	*ret_separator = !strcmp(argument, "\\t") ? "\t" : argument;
	return 0;
}
