/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks by their cookies.
 */
#include "perfdata/deferred.h"

#include "perfdata/session.h"

void deferred_add(struct deferred_stacks *deferred, struct cursor body)
{
	u64 cookie = cursor_u64(&body), count = cursor_u64(&body);
	const u8 *words = count <= RECORD_MAX_BYTES ? cursor_take(&body, count * sizeof(u64))
						    : NULL;
	u32 *row;

	if (!words)
		return;
	row = idmap_place(&deferred->row_of_cookie, cookie);
	if (*row)
		return; /* each event that samples the thread brings it */
	*vec_add(&deferred->stacks) = (struct bytes){words, count * sizeof(u64)};
	*row = (u32)deferred->stacks.count;
}

/* The kernel writes the cookie last. */
void deferred_want(struct deferred_stacks *deferred, const struct decoder *decoder,
		   struct bytes chain)
{
	u64 count = decode_word(decoder, chain.start);
	const u8 *last = chain.start + count * sizeof(u64);

	if (count >= 2 && decode_word(decoder, last - sizeof(u64)) == CONTEXT_USER_DEFERRED)
		*vec_add(&deferred->wanted) = decode_word(decoder, last);
}

struct bytes deferred_find(const struct deferred_stacks *deferred, u64 cookie)
{
	u32 row = deferred ? idmap_get(&deferred->row_of_cookie, cookie) : 0;

	return row ? deferred->stacks.items[row - 1] : (struct bytes){0};
}

void deferred_say_missing(struct perfdata *data)
{
	struct deferred_stacks *deferred = &data->deferred;
	u64 wanted = deferred->wanted.count, missing = 0;

	for (size_t i = 0; i < wanted; i++)
		missing += !idmap_get(&deferred->row_of_cookie, deferred->wanted.items[i]);
	vec_release(&deferred->wanted);
	if (missing)
		session_warn(data,
			     "%llu of %llu deferred user stacks are missing: what was to bring "
			     "them after their samples is not in the file",
			     (unsigned long long)missing, (unsigned long long)wanted);
}

void deferred_release(struct deferred_stacks *deferred)
{
	idmap_release(&deferred->row_of_cookie);
	vec_release(&deferred->stacks);
	vec_release(&deferred->wanted);
}
