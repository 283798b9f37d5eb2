/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names to choose by, as perf takes them: "a,b,c", or file://PATH with one name a line.
 */
#include "cmd/name_list.h"

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"

#include <string.h>

enum { LIST_FILE_BYTES_MAX = 16 << 20 };

/* Names parted by any of `separators` in names->text, which is written to. */
static void split_names(struct name_list *names, const char *separators)
{
	char *rest = names->text, *name;

	while ((name = strsep(&rest, separators)) != NULL)
		if (*name)
			*vec_add(names) = name;
}

int name_list_read(const char *list, struct name_list *ret_names)
{
	static const char file_prefix[] = "file://";
	size_t prefix = sizeof(file_prefix) - 1;
	struct name_list names = {0};
	int error;

	*ret_names = names;
	if (!list)
		return 0;
	if (strncmp(list, file_prefix, prefix) != 0) {
		names.text = must_copy(list);
		split_names(&names, ",");
		*ret_names = names;
		return 0;
	}
	error = file_read(list + prefix, LIST_FILE_BYTES_MAX, &names.text, NULL);
	if (error)
		return fail(error, "name a file with one name a line", "cannot read the list %s",
			    list + prefix);
	split_names(&names, "\r\n");
	*ret_names = names;
	return 0;
}

void name_list_release(struct name_list *names)
{
	vec_release(names);
	free(names->text);
	names->text = NULL;
}
