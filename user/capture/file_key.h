/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files as the BPF programs know them, and as mappings tell of them. Private to capture/.
 */
#ifndef CAPTURE_FILE_KEY_H
#define CAPTURE_FILE_KEY_H

#include "bpfprof/unwind_table.h"
#include "event/event.h"

enum { DEVICE_MINOR_BITS = 20 }; /* of the kernel's device number; include/linux/kdev_t.h */

/* The kernel's number of a device. */
static inline u32 file_key_device(u32 major, u32 minor)
{
	return major << DEVICE_MINOR_BITS | minor;
}

/* The file of a mapping, as far as that tells: with a build id in place of an inode not at all. */
static inline struct unwind_file_key file_key_of(const struct mapping *mapping)
{
	return (struct unwind_file_key){
		.inode = mapping->inode,
		.device = file_key_device(mapping->major, mapping->minor),
		.generation = mapping->inode_generation,
	};
}

/* Makes a mapping tell that it is of this file. */
static inline void file_key_tell(const struct unwind_file_key *key, struct mapping *mapping)
{
	mapping->major = key->device >> DEVICE_MINOR_BITS;
	mapping->minor = key->device & ((1U << DEVICE_MINOR_BITS) - 1);
	mapping->inode = key->inode;
	mapping->inode_generation = key->generation;
}

#endif
