/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What script was asked for. Private to script*.c.
 */
#ifndef CMD_SCRIPT_SETTINGS_H
#define CMD_SCRIPT_SETTINGS_H

#include "cli/cli.h"
#include "cmd/asked_windows.h"
#include "cmd/inline_mode.h"
#include "cmd/names_choice.h"
#include "cmd/sample_choice.h"
#include "cmd/script_print.h"

struct script_settings {
	const char *input;
	struct window_choice windows; /* in place of a recording */
	struct script_layout layout;
	struct sample_choice choice;
	struct symbolize_settings symbolize;
	struct names_choice names;
	u8 stitch; /* enum lbr_tier; LBR_PLAIN: LBR call stacks are shown as perf does it */
	enum inline_mode inlined;
	bool header, header_only, quiet;
	bool header_all;    /* -I: also what is long of it */
	bool ignored;	    /* where options go that change nothing here */
	bool in_file_order; /* records come as they stand in the file */
};

/* The rows of options, and what holds where none is given. */
extern const struct option_row script_options[];
extern const struct script_settings script_defaults;

#endif
