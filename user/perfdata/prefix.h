/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What stands in front of the first record: header, event ids, attributes, features; in a pipe all
 * of it is records.
 */
#ifndef PERFDATA_PREFIX_H
#define PERFDATA_PREFIX_H

#include "perfdata/features_write.h"
#include "perfdata/output.h"

/*
 * Appends the front of a file or a pipe, and fills what `output` keeps of it (places of features
 * and records). In a file it can be read after the next commit.
 * Returns 0 or a negative errno with a sentence.
 */
int prefix_write(const struct feature_facts *facts, struct output *output);

#endif
