/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* User registers and copied stacks of samples. */
#include "perfdata/decode.h"
#include "unit/perfdata/foreign.h"

enum {
	REGISTERS_AND_STACK = 1 << 12 | 1 << 13,
	BP_SP_IP = 1 << 6 | 1 << 7 | 1 << 8, /* of x86 */
	BP = 6,
	SP,
	IP,
	AX = 0,
};

/* Records the registers, and 16 bytes of stack of which `filled` are there. */
static void put_user_side(struct foreign *foreign, u64 abi, u64 filled)
{
	record_begin(foreign, 9, 2);
	put64(foreign, abi);
	if (abi) {
		put64(foreign, 0x66);
		put64(foreign, 0x77);
		put64(foreign, 0x88);
	}
	put64(foreign, 16);
	put_string(foreign, "stack", 16);
	put64(foreign, filled);
	record_end(foreign);
}

/* Decodes the only record; frames and registers live in `decoder`. */
static int decode(struct decoder *decoder, const struct foreign *foreign, struct sample *ret_sample)
{
	struct wire_attr attr = {.sample_type = REGISTERS_AND_STACK, .regs_user = BP_SP_IP};
	struct bytes record = {(const u8 *)foreign->bytes.bytes, foreign->bytes.length};

	decoder->swap = foreign->turned;
	decoder_add_kind(decoder, &attr, NULL, 0);
	return decode_sample(decoder, record, ret_sample);
}

static void user_registers_are_found_by_their_number_in_both_byte_orders(void **state)
{
	for (int turned = 0; turned <= 1; turned++) {
		struct foreign foreign = {.turned = turned};
		struct decoder decoder = {0};
		struct sample sample;
		u64 value = 1;

		put_user_side(&foreign, USER_ABI_64, 5);
		assert_int_equal(decode(&decoder, &foreign, &sample), 0);
		assert_int_equal(sample.user_abi, USER_ABI_64);
		assert_true(sample_register(&sample, BP_SP_IP, BP, &value));
		assert_int_equal(value, 0x66);
		assert_true(sample_register(&sample, BP_SP_IP, IP, &value));
		assert_int_equal(value, 0x88);
		assert_false(sample_register(&sample, BP_SP_IP, AX, &value));
		decoder_release(&decoder);
		text_release(&foreign.bytes);
	}
	(void)state;
}

static void copied_stack_is_as_long_as_it_was_filled(void **state)
{
	struct foreign foreign = {0};
	struct decoder decoder = {0};
	struct sample sample;

	put_user_side(&foreign, USER_ABI_64, 5);
	assert_int_equal(decode(&decoder, &foreign, &sample), 0);
	assert_int_equal(sample.stack_bytes, 5);
	assert_false(sample.stack_is_full);
	assert_memory_equal(sample.user_stack, "stack", 5);
	decoder_release(&decoder);
	text_release(&foreign.bytes);
	(void)state;
}

static void kernel_thread_has_no_user_registers(void **state)
{
	struct foreign foreign = {0};
	struct decoder decoder = {0};
	struct sample sample;
	u64 value;

	put_user_side(&foreign, USER_ABI_NONE, 0);
	assert_int_equal(decode(&decoder, &foreign, &sample), 0);
	assert_int_equal(sample.user_abi, USER_ABI_NONE);
	assert_int_equal(sample.stack_bytes, 0);
	assert_false(sample_register(&sample, BP_SP_IP, SP, &value));
	decoder_release(&decoder);
	text_release(&foreign.bytes);
	(void)state;
}

static void stack_that_was_filled_with_more_than_its_room_is_damage(void **state)
{
	struct foreign foreign = {0};
	struct decoder decoder = {0};
	struct sample sample;

	put_user_side(&foreign, USER_ABI_64, ~0ULL);
	assert_int_equal(decode(&decoder, &foreign, &sample), -EBADMSG);
	decoder_release(&decoder);
	text_release(&foreign.bytes);
	(void)state;
}

static void stack_or_registers_longer_than_their_record_are_damage(void **state)
{
	struct foreign foreign = {0};
	struct decoder decoder = {0};
	struct sample sample;

	put_user_side(&foreign, USER_ABI_64, 5);
	for (size_t length = foreign.bytes.length - 1; length >= sizeof(struct record_header);
	     length--) {
		foreign.bytes.length = length;
		assert_int_equal(decode(&decoder, &foreign, &sample), -EBADMSG);
	}
	decoder_release(&decoder);
	text_release(&foreign.bytes);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(user_registers_are_found_by_their_number_in_both_byte_orders),
		cmocka_unit_test(copied_stack_is_as_long_as_it_was_filled),
		cmocka_unit_test(kernel_thread_has_no_user_registers),
		cmocka_unit_test(stack_that_was_filled_with_more_than_its_room_is_damage),
		cmocka_unit_test(stack_or_registers_longer_than_their_record_are_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
