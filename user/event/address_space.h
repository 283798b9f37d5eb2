/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The mappings of one process, sorted, shared between processes until one of them changes (as fork
 * does it in the kernel).
 */
#ifndef EVENT_ADDRESS_SPACE_H
#define EVENT_ADDRESS_SPACE_H

#include "event/process_table.h"

struct address_space;

/* An empty one with one owner. */
struct address_space *address_space_new(void);
/* One more owner of the same mappings. Returns `space`. */
struct address_space *address_space_share(struct address_space *space);
/* One owner less; the last frees. NULL is fine. */
void address_space_drop(struct address_space *space);

/* Puts a mapping (start < end) on top of what is there: what it covers is cut away. `*space` is
 * replaced by a copy first if others share it. `generation` is the new state's number; nothing
 * changes if the same is mapped there already. */
void address_space_map(struct address_space **space, const struct mapped *mapped, u64 generation);
/* Another program is executed: what is mapped so far is not its own, though nothing is changed. */
void address_space_leave_behind(struct address_space **space);
/* Makes it a new state, though all is mapped as before. It is nobody else's. */
void address_space_renew(struct address_space *space, u64 generation);
/* Takes away the mapping that starts at `start`, if there is one; as above. */
void address_space_unmap(struct address_space **space, u64 start, u64 generation);

/* The mapping that holds `address`, NULL if none does. Borrowed until the next change. */
const struct mapped *address_space_find(const struct address_space *space, u64 address);
/* Calls for each mapping. */
void address_space_each(const struct address_space *space,
			void (*take)(void *context, const struct mapped *mapped), void *context);
/* The number of the last change. */
u64 address_space_generation(const struct address_space *space);

#endif
