/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Profiles as text and JSON. This is the folder's face; the parts have a header each.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "export/block_report.h"
#include "export/diff_csv.h"
#include "export/diff_json.h"
#include "export/diff_paths.h"
#include "export/diff_streams.h"
#include "export/diff_text.h"
#include "export/folded.h"
#include "export/footer.h"
#include "export/json.h"
#include "export/memory_words.h"
#include "export/pprof.h"
#include "export/text.h"

#endif
