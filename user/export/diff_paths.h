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

#endif
