/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The call paths that changed, as text.
 */
#ifndef EXPORT_DIFF_PATHS_H
#define EXPORT_DIFF_PATHS_H

#include "export/diff_text.h"

/* One event, a tree for each side but the baseline, callers first: what changed by `least` points
 * or more, or beyond chance. The view must have changes. */
void diff_write_paths(const struct diff_view *view, const struct text_style *style, double least);

/* The tree of one side (not 0) that is shown, as above; NULL: it does not have the event. Free with
 * path_changes_free(). */
struct path_changes *diff_paths_of(const struct diff_view *view, u32 side, double least);
/* What a frame of it is called, "[unknown]" without a symbol. */
const char *diff_path_name(const struct fold *fold, frame_id frame);
/* Its binary's short name, or "[unknown]". */
const char *diff_path_dso(const struct fold *fold, frame_id frame);

#endif
