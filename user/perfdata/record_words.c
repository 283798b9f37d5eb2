/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What numbers in records are called: registers, kinds of branches.
 */
#include "perfdata/records.h"
#include "perfdata/session.h"

#include <string.h>

#define NAMES_MAX 34

/* Names by the kernel's numbers (arch/.../include/uapi/asm/perf_regs.h). */
static const struct {
	const char *arch; /* begins with this */
	const char *names[NAMES_MAX];
} register_names[] = {
	{"x86_64",
	 {"AX", "BX", "CX", "DX", "SI", "DI", "BP",  "SP",  "IP",  "FLAGS", "CS",  "SS",
	  "DS", "ES", "FS", "GS", "R8", "R9", "R10", "R11", "R12", "R13",   "R14", "R15"}},
	{"i",
	 {"AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP", "IP", "FLAGS", "CS", "SS", "DS", "ES",
	  "FS", "GS"}},
	{"aarch64", {"x0",  "x1",  "x2",  "x3",	 "x4",	"x5",  "x6",  "x7",  "x8",  "x9",  "x10",
		     "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
		     "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "lr",  "sp",  "pc"}},
	{"arm",
	 {"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "fp", "ip", "sp", "lr",
	  "pc"}},
};

const char *perfdata_register_name(const struct perfdata *data, u32 number)
{
	const char *arch = data->header.arch;

	for (size_t i = 0; arch && i < ARRAY_COUNT(register_names); i++) {
		if (strncmp(arch, register_names[i].arch, strlen(register_names[i].arch)) != 0)
			continue;
		if (number < NAMES_MAX && register_names[i].names[number])
			return register_names[i].names[number];
	}
	return "unknown";
}
