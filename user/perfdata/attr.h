/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An event's attributes: read from foreign bytes, and named as perf names them.
 */
#ifndef PERFDATA_ATTR_H
#define PERFDATA_ATTR_H

#include "base/cursor.h"
#include "base/text.h"
#include "perfdata/format.h"

/*
 * Reads one attribute of any version and steps over it; what an old one lacks is zero.
 * Returns 0 or -EBADMSG (size out of bounds, or cut).
 */
int attr_read(struct cursor *cursor, struct wire_attr *ret_attr);

/* Appends what perf calls the event if nobody gave it a name: "cycles:ppp", "raw 0x1c2". */
void attr_append_name(const struct wire_attr *attr, struct text *text);

/* Appends the members that are set, ", type = 1, size = 128, …", as perf prints them. */
void attr_append_members(const struct wire_attr *attr, struct text *text);

/* A branch entry's flags word from a machine of the other endianness, its bytes already turned:
 * there bit fields count from the other end. */
u64 branch_flags_turned(u64 flags);

#endif
