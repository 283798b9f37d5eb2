/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Our vDSO: where the kernel says that it is, up to its section headers, which stand last.
 */
#include "host/own_vdso.h"

#include <elf.h>
#include <sys/auxv.h>

struct bytes own_vdso(void)
{
	const Elf64_Ehdr *header = (const void *)getauxval(
		AT_SYSINFO_EHDR); /* NOLINT: an address */

	if (!header)
		return (struct bytes){0};
	return (struct bytes){(const u8 *)header,
			      header->e_shoff + (u64)header->e_shnum * header->e_shentsize};
}
