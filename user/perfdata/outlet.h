/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records between encoder and file: a buffer, the compressor behind it, the file behind both.
 */
#ifndef PERFDATA_OUTLET_H
#define PERFDATA_OUTLET_H

#include "base/compress.h"
#include "perfdata/encode.h"
#include "perfdata/output.h"

/* All zero but `output` is a valid empty one. */
struct outlet {
	struct record_buffer buffer;	 /* records not yet on their way */
	struct record_buffer compressed; /* the same, packed, not yet written */
	struct compressor *compressor;	 /* NULL: not asked for */
	struct output output;
	bool is_stuck; /* the last write failed, or not everything found room */
	u64 plain_bytes, packed_bytes;
};

/* Sends as many of the buffered records as the disk has room for; no reader sees them before the
 * next output_commit(). Returns 0 or a negative errno with a sentence: then records are left. */
int outlet_spill(struct outlet *outlet);
/* Sends all of them, also into the room that is kept for the end. Returns as outlet_spill(). */
int outlet_send_all(struct outlet *outlet);
/* Closes the file and frees. Returns 0 or a negative errno with a sentence. */
int outlet_release(struct outlet *outlet);

#endif
