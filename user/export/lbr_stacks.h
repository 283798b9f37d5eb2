/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a report says of its LBR call stacks. Private to this folder.
 */
#ifndef EXPORT_LBR_STACKS_H
#define EXPORT_LBR_STACKS_H

#include "base/json_writer.h"
#include "export/footer.h"

#include <stdio.h>

/* How many the hardware cut, how many became whole, how many stayed cut and why, as comment lines.
 */
void lbr_stacks_write(const struct report_facts *facts, FILE *out);
/* The same as an object "lbr_stacks". */
void lbr_stacks_write_json(const struct report_facts *facts, struct json_writer *json);

#endif
