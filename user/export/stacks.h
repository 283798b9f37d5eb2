/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a report says of its user stacks. Private to this folder.
 */
#ifndef EXPORT_STACKS_H
#define EXPORT_STACKS_H

#include "base/json_writer.h"
#include "profile/profile.h"

#include <stdio.h>

/* As comment lines; none if the recording does not say how its stacks were walked. */
void stacks_write(const struct profile *profile, FILE *out);
/* The same as an object "user_stacks", always there. */
void stacks_write_json(const struct profile *profile, struct json_writer *json);

#endif
