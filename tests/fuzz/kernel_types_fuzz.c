/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes the cutting of BTF: what comes out can be cut again.
 */
#include "capture/kernel_types.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct intern names = {0};
	struct text cut = {0}, again = {0};

	intern_text(&names, "task");
	intern_text(&names, "helper");
	if (!kernel_types_cut((struct bytes){bytes, length}, &names, &cut) &&
	    (kernel_types_cut((struct bytes){(const u8 *)cut.bytes, cut.length}, &names, &again) ||
	     again.length > cut.length))
		abort();
	text_release(&cut);
	text_release(&again);
	intern_release(&names);
	return 0;
}
