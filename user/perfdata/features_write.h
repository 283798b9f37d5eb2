/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The payloads of the features that a recording of ours carries.
 */
#ifndef PERFDATA_FEATURES_WRITE_H
#define PERFDATA_FEATURES_WRITE_H

#include "base/text.h"
#include "host/host.h"
#include "perfdata/encode.h"
#include "perfdata/writer.h"

/* What the payloads are made from; borrowed. */
struct feature_facts {
	const struct perfdata_writer_settings *settings;
	const struct machine *machine;
	const struct encoder *encoder;
};

/* Feature `row` of those whose payload is known at the start, counted from 0 in ascending order of
 * their numbers: appends its payload, a multiple of 8 bytes.
 * Returns the feature's number, 0 behind the last row; a row that has nothing to say appends
 * nothing. */
u32 feature_append(const struct feature_facts *facts, u32 row, struct text *payload);

/* Appends one record of the BUILD_ID section: `mapping` has a build id. */
void feature_append_build_id(const struct mapping *mapping, struct text *payload);

#endif
