/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Streams of two recordings: the ways through the code that samples tell of by their branches (see
 * branch_history.h), hottest first, and which of them both have.
 */
#ifndef PROFILE_STREAMS_H
#define PROFILE_STREAMS_H

#include "profile/fold.h"

enum { STREAMS_SHOWN = 5 }; /* of each recording, as in perf */

/* One recording's event. */
struct stream_source {
	u32 source;			 /* row of the profile's sources */
	const struct branch_mark *marks; /* of its frames. Borrowed */
};

/* What a recording says of a stream. */
struct stream_side {
	u64 period;
	u64 cycles;  /* of its branches, summed up, on average */
	bool is_hot; /* among the hottest of that recording */
};

struct stream {
	u32 first, depth; /* of the streams' frames: its own, the newest first */
	struct stream_side sides[2];
};

struct streams {
	VEC(struct stream) rows; /* the first recording's hottest first, then the other's */
	u64 periods[2];		 /* of all samples of the events */
	VEC(frame_id) frames;
};

/* Finds them in a fold by line, which must outlive the streams. */
struct streams *streams_new(const struct fold *fold, const struct stream_source sources[2]);
/* Frees; NULL is fine. */
void streams_free(struct streams *streams);
/* For CLEANUP. */
void streams_freep(struct streams **streams);

#endif
