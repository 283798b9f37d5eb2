/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The members of a sample's body, as steps that are put together once for each event.
 */
#ifndef PERFDATA_DECODE_SAMPLE_H
#define PERFDATA_DECODE_SAMPLE_H

#include "perfdata/decode.h"

/* The steps that read samples of this sample_type, in order; NULL ends if there are fewer than
 * SAMPLE_STEPS_MAX. Bits we do not know have no step. */
void sample_steps_of(u64 sample_type, sample_step *ret_steps[SAMPLE_STEPS_MAX]);

#endif
