/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file that a recording is written to, whole after every system call; or a pipe.
 */
#ifndef PERFDATA_OUTPUT_H
#define PERFDATA_OUTPUT_H

#include "base/cursor.h"
#include "base/text.h"
#include "perfdata/format.h"

/* What stands first in the file: all that changes with each commit, written at once. */
struct output_head {
	struct file_header header;
	u64 first_sample_ns, last_sample_ns; /* payload of SAMPLE_TIME */
	u32 compress_version, compress_type, compress_level, compress_ratio; /* of COMPRESSED */
	u32 block_bytes, reserved;
};
WIRE_SIZE(struct output_head, 144);

enum { OUTPUT_FEATURES_MAX = 32 };

struct output {
	char *path;	    /* where the file will be; for sentences */
	const char *remedy; /* where it cannot be; borrowed */
	char *temporary;    /* where it is until it is readable; NULL: in its place */
	int fd;
	bool is_pipe;
	struct output_head head;
	u32 features[OUTPUT_FEATURES_MAX]; /* ascending, BUILD_ID first */
	struct file_section sections[OUTPUT_FEATURES_MAX];
	u32 feature_count;
	u64 end;		   /* where the next bytes go */
	struct file_section table; /* the one that the header on disk leads to */
};

/*
 * Opens `path` for writing, mode 0600, or stdout for "-". What is no regular file is a pipe.
 *
 * path_remedy  as perfdata_writer_settings; must outlive the output
 * Returns 0 or a negative errno with a sentence. Close with output_close().
 */
int output_open(const char *path, const char *path_remedy, struct output *ret_output);

/* How many of the next `wanted` bytes surely find room on the disk, with enough left over to end
 * the file: all of them, or 0 … wanted. File systems that cannot tell say all. */
size_t output_room(struct output *output, size_t wanted);

/* Appends bytes; they count only if all of them arrived, and are seen from the next commit on.
 * Returns 0 or a negative errno with a sentence; then nothing has happened. */
int output_append(struct output *output, const void *bytes, size_t length);

/* Adds a feature whose payload lies at `section` of the file; in ascending order. */
void output_add_feature(struct output *output, u32 feature, struct file_section section);

/* Whether something was appended that no commit has taken in. */
bool output_has_news(const struct output *output);

/*
 * Takes everything appended so far into the file, in a way that leaves it readable at any instant.
 *
 * build_ids  payload of the BUILD_ID section, for the last commit; may be empty
 * Returns 0 or a negative errno with a sentence: the state of the last commit holds.
 */
int output_commit(struct output *output, struct bytes build_ids);

/* Puts the file, readable by now, into its place; a recording that is there becomes PATH.old.
 * Returns 0 or a negative errno with a sentence. */
int output_publish(struct output *output);

/* Closes and frees the contents; a file that was never published is removed. Returns 0 or a
 * negative errno with a sentence. */
int output_close(struct output *output);

#endif
