/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf.data: reading any, writing ours. This is the folder's face; the parts have a header each.
 */
#ifndef PERFDATA_PERFDATA_H
#define PERFDATA_PERFDATA_H

#include "perfdata/reader.h"
#include "perfdata/records.h"
#include "perfdata/sample_type.h"
#include "perfdata/slices.h"
#include "perfdata/tracepoints.h"
#include "perfdata/writer.h"

#endif
