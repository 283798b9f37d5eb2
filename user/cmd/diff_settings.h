/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `bpfprof diff` was asked for; shared by its files.
 */
#ifndef CMD_DIFF_SETTINGS_H
#define CMD_DIFF_SETTINGS_H

#include "cli/cli.h"
#include "cmd/asked_windows.h"
#include "cmd/name_list.h"
#include "cmd/names_choice.h"
#include "cmd/sample_choice.h"
#include "perfdata/perfdata.h"
#include "profile/profile.h"
#include "symbolize/symbolize.h"

struct diff_settings {
	const char *sort, *separator;
	struct symbolize_settings symbolize; /* where names are looked for */
	struct names_choice names;	     /* and kept */
	const char *dsos, *comms, *symbols;  /* lists, or file://PATH */
	struct sample_choice choice;	     /* its `times`: parted by ':', one for each file */
	const char *before, *after;	     /* two parts of one file, in place of two files */
	struct window_choice windows; /* … or of the store, if they are times of the clock */
	enum comparison_method method;
	s64 base_weight, other_weight;
	u32 order;
	bool paired_only;
	bool only_significant;	  /* lines that are marked on a side */
	double alpha_percent;	  /* of what is marked, so much may be marked by chance */
	bool streams;		  /* of branches, in place of lines */
	bool paths;		  /* call paths in place of lines … */
	double least_percent;	  /* … that changed by so many points */
	u8 stitch;		  /* enum lbr_tier */
	bool children;		  /* count what functions called, too */
	struct text_list fail_if; /* expressions of conditions.h */
	bool json, csv;
	bool show_period, show_formula;
	bool show_spread; /* of the cycles of blocks */
	bool is_relative;
	bool shows_rates; /* in place of shares */
	bool is_strict;	  /* as perf has it, where we would not */
	bool is_quiet, is_verbose;
	bool demangle;
	bool dumps;   /* the records first */
	bool ignored; /* where options go that change nothing here */
	enum color_mode color;
};

extern const struct option_row diff_options[];
extern const struct diff_settings diff_defaults;

/* Returns 0, or -EINVAL with a sentence about options that do not go together. */
int diff_settings_check(const struct diff_settings *settings);

/* One recording of a diff. */
struct diff_file {
	const char *path;
	const char *times; /* the part that is looked at; NULL: as --time says */
	/* Of a part of the store, owned; NULL: a recording. `path` and `data` are those of
	 * the first that can be opened. */
	struct asked_windows *windows;
	struct perfdata *data;
	struct branch_history *history; /* if streams are read */
	struct chosen_samples chosen;
	u64 first_ns, last_ns; /* of its samples, wanted or not */
	u32 first_source;      /* row of the profile's sources that its first event has */
	u32 source_count;
	u32 side; /* several recordings may be one side */
};

/*
 * Which recordings are compared, and of which side each is: of the arguments, or as perf has it if
 * there are none, or one.
 *
 * ret_files  ret_count of them, owned by the caller; paths are borrowed from the arguments
 * ret_sides  how many sides there are; they are numbered from 0 and stand in that order
 * Returns 0 or -EINVAL with a sentence.
 */
int diff_files_choose(const struct diff_settings *settings, struct arguments arguments,
		      struct diff_file **ret_files, u32 *ret_count, u32 *ret_sides);
/* Whether it is two times of the store that are compared. */
bool diff_asks_for_store(const struct diff_settings *settings);
/* What a side is called: its recordings, or which part of one. Owned by the caller. */
char *diff_side_name(const struct diff_file *files, u32 count, u32 side);

/* How recordings are read. */
struct diff_reading {
	u32 keep; /* KEEP_* bits */
	bool skip_chains;
	bool count_blocks, has_streams;
	u8 stitch; /* enum lbr_tier, for LBR call stacks */
	bool shows_progress;
	bool like_perf;	   /* in what is unwound */
	bool slices_time;  /* samples are told apart by time, to see bursts */
	const char *symfs; /* where to look for binaries; NULL: everywhere else. Borrowed */
};

/*
 * Opens the recordings and reads for each which samples are wanted.
 *
 * files  their paths are set, perhaps `times`, all else is zero; diff_files_close() them, also
 * after an error Returns 0, or a negative errno with a sentence.
 */
int diff_files_open(struct diff_file *files, u32 count, const struct diff_settings *settings);
/* Whether some are, as input_is_from_elsewhere() says. */
bool diff_files_are_from_elsewhere(const struct diff_file *files, u32 count);
/* Closes; paths stay the caller's. */
void diff_files_close(struct diff_file *files, u32 count);

/*
 * Reads all recordings into one profile, each with sources of its own.
 *
 * ret_profile     profile_free() it
 * ret_quantum_ns  of DETAIL_TIME, by which samples are told apart; 0: they are not
 * Returns 0, or a negative errno with a sentence; after -EBADMSG (some recording is damaged) what
 * could be read of each is there.
 */
int diff_files_read(struct diff_file *files, u32 count, struct diff_reading reading,
		    struct profile **ret_profile, u64 *ret_quantum_ns);

/* Whether any time of the store has samples that are wanted; recordings may have none, as with
 * perf. After diff_files_read(). Returns 0, or -ENODATA with a sentence. */
int diff_files_check_found(const struct diff_file *files, u32 count,
			   const struct diff_settings *settings, const struct name_list *comms,
			   const struct profile *profile);

/* How long what was read of a recording took; 0: not known. After diff_files_read(). */
double diff_file_seconds(const struct diff_file *file);

#endif
