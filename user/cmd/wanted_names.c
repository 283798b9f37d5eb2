/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A queue in the order of coming, with what can wait behind what cannot.
 */
#include "cmd/wanted_names.h"

#include "base/file.h"
#include "base/memory.h"

#include <string.h>

void wanted_release(struct wanted *wanted)
{
	free(wanted->path);
	free(wanted->addresses);
	closep(&wanted->fd);
}

void wanted_queue_add(struct wanted_queue *queue, const struct wanted *wanted)
{
	*vec_add(&queue->items) = *wanted;
	queue->open_files += wanted->fd >= 0;
}

struct wanted wanted_of(u8 kind, u32 id, const struct mapping *binary)
{
	struct wanted wanted = {
		.kind = kind,
		.id = id,
		.pid = binary->pid,
		.fd = -1,
		.build_id_bytes = binary->build_id_bytes,
		.path = must_copy(binary->path),
	};

	memcpy(wanted.build_id, binary->build_id, sizeof(wanted.build_id));
	return wanted;
}

static size_t choose(const struct wanted_queue *queue)
{
	for (size_t i = 0; i < queue->items.count; i++)
		if (queue->items.items[i].kind != WANT_LINES)
			return i;
	return 0;
}

struct wanted wanted_queue_take(struct wanted_queue *queue)
{
	size_t place = choose(queue);
	struct wanted *items = queue->items.items, wanted = items[place];

	memmove(items + place, items + place + 1, (--queue->items.count - place) * sizeof(*items));
	queue->open_files -= wanted.fd >= 0;
	return wanted;
}

void wanted_queue_release(struct wanted_queue *queue)
{
	for (size_t i = 0; i < queue->items.count; i++)
		wanted_release(&queue->items.items[i]);
	vec_release(&queue->items);
}

static int keep_jit(const struct wanted *wanted, struct names_cache *cache)
{
	struct jit_code code = {
		.map = wanted->fd,
		.id.length = wanted->build_id_bytes,
		.addresses = wanted->addresses,
		.count = wanted->address_count,
	};

	memcpy(code.id.bytes, wanted->build_id, sizeof(code.id.bytes));
	return names_cache_keep_jit(cache, &code);
}

static struct running_binary binary_of(const struct wanted *wanted)
{
	return (struct running_binary){
		.path = wanted->path,
		.build_id = wanted->build_id,
		.build_id_bytes = wanted->build_id_bytes,
		.owner_pid = wanted->pid,
		.is_open = wanted->fd >= 0,
		.fd = wanted->fd,
	};
}

static int keep_names(const struct wanted *wanted, struct names_cache *cache)
{
	const struct running_binary binary = binary_of(wanted);

	return names_cache_keep(cache, &binary);
}

static int keep_lines(const struct wanted *wanted, struct names_cache *cache)
{
	const struct running_binary binary = binary_of(wanted);
	const struct code_places places = {wanted->addresses, wanted->address_count};

	return names_cache_keep_places(cache, &binary, &places);
}

int wanted_keep(const struct wanted *wanted, struct names_cache *cache)
{
	static int (*const keep[])(const struct wanted *wanted, struct names_cache *cache) = {
		[WANT_NAMES] = keep_names,
		[WANT_JIT_NAMES] = keep_jit,
		[WANT_LINES] = keep_lines,
	};

	return keep[wanted->kind](wanted, cache);
}
