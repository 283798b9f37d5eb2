/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a person can say to daemon, on the command line or in a config file. Private to this folder.
 */
#ifndef CMD_DAEMON_SETTINGS_H
#define CMD_DAEMON_SETTINGS_H

#include "cmd/record_settings.h"

struct daemon_settings {
	struct record_settings record; /* first: rows of record take their arguments into it */
	const char *store;
	u64 window_ns;
	u64 keep_bytes, keep_ns; /* 0: no limit */
	u64 memory_bytes;	 /* that this process may take */
	double max_cpu_percent;	 /* of one CPU; 0: no limit */
	bool keep_lines;
	bool once;
	/* Strings of the pushing and of the metrics; NULL: not wanted, or as is told there. */
	const char *push_url, *push_ca, *push_token_file, *push_spool;
	u64 push_spool_bytes;
	const char *metrics, *metrics_file;
};

extern const struct option_row daemon_options[];
extern const struct daemon_settings daemon_defaults;

#endif
