/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * "PID (NAME) STATE PPID …"; the name may hold any bytes, parentheses and newlines too.
 */
#include "host/process_stat.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int process_stat_parse(char *text, struct process_stat *ret_stat)
{
	char *name = strchr(text, '('), *end = strrchr(text, ')');
	struct process_stat stat;

	/* Source: proc(5): state is field 3, ppid field 4, num_threads field 20. */
	if (!name || !end || end < name ||
	    sscanf(end, ") %c %u %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %u",
		   &stat.state, &stat.parent, &stat.threads) != 3)
		return -EBADMSG;
	*end = 0;
	stat.name = name + 1;
	*ret_stat = stat;
	return 0;
}
