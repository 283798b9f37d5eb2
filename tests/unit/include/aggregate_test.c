/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What makes samples alike, and where they are counted: the text that the BPF programs run.
 */
#include "bpfprof/aggregate.h"

#include "base/memory.h"
#include "unit/unit.h"

#include <string.h>

enum { SLOTS = 64, SEED = 12345 };

struct table {
	struct count_entry entries[SLOTS];
	struct chain_hash chains[SLOTS];
	u32 looked_at;
};

static struct count_entry *entry_at(void *table, u32 slot)
{
	((struct table *)table)->looked_at++;
	return &((struct table *)table)->entries[slot & (SLOTS - 1)];
}

static struct chain_hash *sent_at(void *table, u32 slot)
{
	((struct table *)table)->looked_at++;
	return &((struct table *)table)->chains[slot & (SLOTS - 1)];
}

static struct chain_hash hash_of_user(const u64 *frames, u32 count)
{
	return chain_hash_of(SEED, (struct chain_part){.user_frames = count}, frames);
}

static bool are_equal(struct chain_hash a, struct chain_hash b)
{
	return a.low == b.low && a.high == b.high;
}

static void the_leaf_is_kept_apart_from_its_callers(void **state)
{
	struct sample_header user = {.address = 7, .user_frames = 3};
	struct sample_header kernel = {.address = 7, .kernel_frames = 2, .user_frames = 3};
	struct sample_header empty = {.address = 7};
	struct chain_part part = chain_part_of(&user, 7, 0);

	assert_int_equal(part.first, 1);
	assert_int_equal(part.user_frames, 2);
	part = chain_part_of(&kernel, 7, 0);
	assert_int_equal(part.first, 1);
	assert_int_equal(part.kernel_frames, 1);
	assert_int_equal(part.user_frames, 3);
	part = chain_part_of(&kernel, 8, 0); /* another place than the first frame */
	assert_int_equal(part.first, 0);
	assert_int_equal(part.kernel_frames, 2);
	part = chain_part_of(&empty, 7, 0);
	assert_int_equal(part.first + part.kernel_frames + part.user_frames, 0);
	(void)state;
}

static void the_same_frames_have_the_same_hash(void **state)
{
	u64 frames[20], copy[20];

	for (u32 i = 0; i < ARRAY_COUNT(frames); i++)
		frames[i] = copy[i] = 0x400000 + i * 16;
	for (u32 count = 0; count <= ARRAY_COUNT(frames); count++)
		assert_true(are_equal(hash_of_user(frames, count), hash_of_user(copy, count)));
	(void)state;
}

static void one_word_changes_both_halves(void **state)
{
	u64 frames[12] = {0};
	struct chain_hash before = hash_of_user(frames, 12);

	for (u32 i = 0; i < 12; i++) {
		for (u32 bit = 0; bit < 64; bit++) {
			struct chain_hash after;

			frames[i] = 1ULL << bit;
			after = hash_of_user(frames, 12);
			assert_true(after.low != before.low && after.high != before.high);
		}
		frames[i] = 0;
	}
	(void)state;
}

static void order_length_place_cgroup_and_context_change_the_hash(void **state)
{
	u64 there[] = {1, 2, 3, 0, 0}, back[] = {3, 2, 1, 0, 0};
	struct chain_part kernel = {.kernel_frames = 1, .user_frames = 2};

	assert_false(are_equal(hash_of_user(there, 3), hash_of_user(back, 3)));
	assert_false(are_equal(hash_of_user(there, 3), hash_of_user(there, 4)));
	assert_false(are_equal(hash_of_user(there, 3), hash_of_user(there, 2)));
	assert_false(are_equal(hash_of_user(there, 3), chain_hash_of(SEED, kernel, there)));
	assert_false(
		are_equal(hash_of_user(there, 3),
			  chain_hash_of(SEED + 1, (struct chain_part){.user_frames = 3}, there)));
	assert_false(are_equal(
		hash_of_user(there, 3),
		chain_hash_of(SEED, (struct chain_part){.user_frames = 3, .cgroup = 1}, there)));
	assert_false(are_equal(
		hash_of_user(there, 3),
		chain_hash_of(SEED, (struct chain_part){.user_frames = 3, .context = 1}, there)));
	(void)state;
}

static int compare_words(const void *left, const void *right)
{
	u64 a = *(const u64 *)left, b = *(const u64 *)right;

	return a < b ? -1 : a > b;
}

/* Chains as programs have them: few addresses near to each other, in any order. */
static void each_half_alone_tells_a_million_chains_apart(void **state)
{
	enum { CHAINS = 1 << 20 };
	u64 *low = must_alloc_array(CHAINS, sizeof(u64));
	u64 *high = must_alloc_array(CHAINS, sizeof(u64));
	u32 same = 0;

	for (u32 i = 0; i < CHAINS; i++) {
		u64 frames[20];
		struct chain_hash hash;

		for (u32 bit = 0; bit < ARRAY_COUNT(frames); bit++)
			frames[bit] = 0x55d0c0001000 + (i >> bit & 1) * 5;
		hash = hash_of_user(frames, ARRAY_COUNT(frames));
		low[i] = hash.low;
		high[i] = hash.high;
	}
	qsort(low, CHAINS, sizeof(u64), compare_words);
	qsort(high, CHAINS, sizeof(u64), compare_words);
	for (u32 i = 1; i < CHAINS; i++)
		same += (low[i] == low[i - 1]) + (high[i] == high[i - 1]);
	assert_int_equal(same, 0);
	free(low);
	free(high);
	(void)state;
}

static void what_is_alike_is_counted_in_one_slot(void **state)
{
	struct table table = {0};
	struct count_key key = {.chain = {1, 2}, .address = 3, .pid = 4, .tid = 5};

	for (u32 i = 1; i <= 10; i++)
		count_add(count_find(&key, entry_at, &table), &key, 100, i);
	assert_int_equal(table.looked_at, 10);
	assert_int_equal(count_find(&key, entry_at, &table)->count, 10);
	assert_int_equal(count_find(&key, entry_at, &table)->weight, 1000);
	assert_int_equal(count_find(&key, entry_at, &table)->time_ns, 10);
	(void)state;
}

/* Changes a member of the key, by number; false: it has no such. */
static bool differ_in(u32 member, struct count_key *key)
{
	switch (member) {
	case 0:
		return key->chain.low++, true;
	case 1:
		return key->chain.high++, true;
	case 2:
		return key->address++, true;
	case 3:
		return key->pid++, true;
	case 4:
		return key->tid++, true;
	case 5:
		return key->source++, true;
	case 6:
		return key->exec++, true;
	case 7:
		return key->mode++, true;
	case 8:
		return key->end++, true;
	case 9:
		return key->walked++, true;
	case 10:
		return key->has_leaf++, true;
	}
	return false;
}

static void every_member_of_the_key_parts_samples(void **state)
{
	const struct count_key key = {.chain = {1, 2}, .address = 3, .pid = 4, .tid = 5};
	struct count_key other = key;
	u32 members = 0;

	for (; differ_in(members, &other); members++) {
		assert_false(count_key_equals(&key, &other));
		other = key;
	}
	assert_int_equal(members, 11);
	(void)state;
}

/* A key whose search begins where that of another does. */
static struct count_key key_at_slot(u32 slot, u32 number)
{
	struct count_key key = {.chain = {.low = number + 1, .high = 9}};

	while ((count_key_slot(&key) & (SLOTS - 1)) != slot)
		key.address++;
	return key;
}

static void keys_of_one_slot_lie_behind_each_other(void **state)
{
	struct table table = {0};

	for (u32 i = 0; i < AGGREGATE_PROBES; i++) {
		struct count_key key = key_at_slot(SLOTS - 3, i);
		struct count_entry *entry = count_find(&key, entry_at, &table);

		assert_ptr_equal(entry, &table.entries[(SLOTS - 3 + i) % SLOTS]);
		count_add(entry, &key, i, i);
	}
	for (u32 i = 0; i < AGGREGATE_PROBES; i++) {
		struct count_key key = key_at_slot(SLOTS - 3, i);

		assert_int_equal(count_find(&key, entry_at, &table)->weight, i);
	}
	(void)state;
}

static void a_full_table_has_no_slot_for_a_new_key_and_keeps_the_others(void **state)
{
	struct table table = {0};
	u32 counted = 0, refused = 0;

	for (u32 i = 0; i < 4 * SLOTS; i++) {
		struct count_key key = {.chain = {i + 1, i}, .address = i};
		struct count_entry *entry = count_find(&key, entry_at, &table);

		if (entry)
			count_add(entry, &key, 1, 1);
		counted += entry != NULL;
		refused += !entry;
	}
	assert_int_equal(counted + refused, 4 * SLOTS);
	assert_in_range(counted, AGGREGATE_PROBES, SLOTS);
	for (u32 i = 0; i < SLOTS; i++)
		assert_in_range(table.entries[i].count, 0, 1);
	(void)state;
}

static void a_chain_is_found_where_it_was_put(void **state)
{
	struct table table = {0};
	struct chain_hash first = {.low = 1, .high = 5}, second = {.low = 2, .high = 5};

	assert_int_equal(chain_find(first, sent_at, &table)->low, 0);
	*chain_find(first, sent_at, &table) = first;
	assert_int_equal(chain_find(second, sent_at, &table)->low, 0); /* not taken for it */
	*chain_find(second, sent_at, &table) = second;
	assert_ptr_equal(chain_find(first, sent_at, &table), &table.chains[5]);
	assert_ptr_equal(chain_find(second, sent_at, &table), &table.chains[6]);
	for (u32 i = 0; i < SLOTS; i++)
		table.chains[i] = (struct chain_hash){.low = 100 + i, .high = i};
	assert_null(chain_find(first, sent_at, &table));
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_leaf_is_kept_apart_from_its_callers),
		cmocka_unit_test(the_same_frames_have_the_same_hash),
		cmocka_unit_test(one_word_changes_both_halves),
		cmocka_unit_test(order_length_place_cgroup_and_context_change_the_hash),
		cmocka_unit_test(each_half_alone_tells_a_million_chains_apart),
		cmocka_unit_test(what_is_alike_is_counted_in_one_slot),
		cmocka_unit_test(every_member_of_the_key_parts_samples),
		cmocka_unit_test(keys_of_one_slot_lie_behind_each_other),
		cmocka_unit_test(a_full_table_has_no_slot_for_a_new_key_and_keeps_the_others),
		cmocka_unit_test(a_chain_is_found_where_it_was_put),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
