/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Recordings of others: other byte orders, other records. */
#include "base/fail.h"
#include "binary/build_id.h"
#include "unit/perfdata/foreign.h"
#include "unit/perfdata/recording.h"

enum {
	IP = 1,
	TID = 2,
	TIME = 4,
	ADDR = 8,
	CALLCHAIN = 32,
	CPU = 128,
	PERIOD = 256,
	RAW = 1024,
	USUAL = IP | TID | TIME,
};
enum {
	INHERIT = 2,
	PRECISE = 15,
	SAMPLE_ID_ALL = 1 << 18,
	EXCLUDE_GUEST = 1 << 20
}; /* of the flags */

/* What stands at the end of records that are no samples: TID, TIME, CPU. */
static void put_trailer(struct foreign *foreign, u64 time_ns)
{
	put32(foreign, 5);
	put32(foreign, 6);
	put64(foreign, time_ns);
	put32(foreign, 3);
	put32(foreign, 0);
}

static void put_everything(struct foreign *foreign)
{
	record_begin(foreign, 10, 2); /* MMAP2 */
	put32(foreign, 5);
	put32(foreign, 6);
	put64(foreign, 0x400000);
	put64(foreign, 0x2000);
	put64(foreign, 0x1000);
	put32(foreign, 8);
	put32(foreign, 1);
	put64(foreign, 77);
	put64(foreign, 3);
	put32(foreign, 5);
	put32(foreign, 2);
	put_string(foreign, "/bin/x", 8);
	put_trailer(foreign, 10);
	record_end(foreign);

	record_begin(foreign, 3, 0x2000); /* COMM */
	put32(foreign, 5);
	put32(foreign, 6);
	put_string(foreign, "name", 8);
	put_trailer(foreign, 11);
	record_end(foreign);

	record_begin(foreign, 9, 1); /* SAMPLE */
	put64(foreign, 0x1234);
	put32(foreign, 5);
	put32(foreign, 6);
	put64(foreign, 12);
	put64(foreign, 0xdada);
	put32(foreign, 3);
	put32(foreign, 0);
	put64(foreign, 100);
	put64(foreign, 4);
	put64(foreign, (u64)-128);
	put64(foreign, 0x1234);
	put64(foreign, (u64)-512);
	put64(foreign, 0x5678);
	put32(foreign, 4); /* RAW */
	put32(foreign, 0xffffffff);
	record_end(foreign);

	record_begin(foreign, 7, 0); /* FORK */
	put32(foreign, 8);
	put32(foreign, 5);
	put32(foreign, 9);
	put32(foreign, 6);
	put64(foreign, 13);
	put_trailer(foreign, 13);
	record_end(foreign);

	record_begin(foreign, 17, 0); /* KSYMBOL */
	put64(foreign, 0xffffffffc0000000);
	put32(foreign, 64);
	put16(foreign, 1);
	put16(foreign, 0);
	put_string(foreign, "bpf_prog", 16);
	put_trailer(foreign, 14);
	record_end(foreign);
}

static const char everything[] =
	"mapping 10 pid 5 tid 6 space 2 data 0 400000+2000 from 1000 device 8:1 inode 77/3 5 2 "
	"/bin/x id \n"
	"name 11 pid 5 tid 6 exec 1 name\n"
	"sample 12 source 0 pid 5 tid 6 cpu 3 weight 100 at 1234 space 1 data dada cut 0: 1234/1/0 "
	"5678/2/0\n"
	"fork 13 pid 8 tid 9 of 5 6 found 0\n"
	"symbol 14 ffffffffc0000000+40 type 1 flags 0 bpf_prog\n";

/* What a finished one holds. Free with perfdata_close(), before its bytes. */
static struct perfdata *open_foreign(const struct foreign *foreign)
{
	struct bytes bytes = {(u8 *)foreign->bytes.bytes, foreign->bytes.length};
	struct perfdata *data;

	assert_int_equal(perfdata_open_bytes(bytes, &data), 0);
	return data;
}

static void both_byte_orders_read_the_same(void **state)
{
	for (int turned = 0; turned <= 1; turned++) {
		struct foreign foreign = foreign_begin(
			turned, USUAL | ADDR | CPU | PERIOD | CALLCHAIN | RAW,
			SAMPLE_ID_ALL | EXCLUDE_GUEST | 2ull << PRECISE);
		struct collector collector;
		struct perfdata *data;
		u32 count;

		put_everything(&foreign);
		foreign_end(&foreign);
		assert_int_equal(foreign_read(&foreign, &collector, NULL), 0);
		assert_string_equal(text_view(&collector.lines), everything);
		text_release(&collector.lines);

		data = open_foreign(&foreign);
		assert_string_equal(perfdata_header(data)->hostname, "elsewhere");
		assert_int_equal(perfdata_header(data)->is_swapped, turned);
		assert_string_equal(perfdata_sources(data, &count)->name,
				    "cpu-clock:ppH"); /* as perf has it */
		perfdata_close(data);
		text_release(&foreign.bytes);
	}
	(void)state;
}

static void feature_bits_of_a_foreign_32_bit_machine_are_found(void **state)
{
	struct foreign foreign = foreign_begin(true, USUAL, SAMPLE_ID_ALL);
	struct perfdata *data;

	put_short_sample(&foreign, 1);
	foreign_end(&foreign);
	/* longs of 32 bits: the low word comes first */
	patch64(&foreign, AT_FEATURES, (u64)1 << 3 << 32);
	data = open_foreign(&foreign);
	assert_string_equal(perfdata_header(data)->hostname, "elsewhere");
	perfdata_close(data);
	text_release(&foreign.bytes);
	(void)state;
}

static void branch_flags_of_the_other_byte_order_are_turned_field_by_field(void **state)
{
	enum { BRANCH_STACK = 2048, PREDICTED = 2, CYCLES = 0x123 << 4, CALL = 4 << 20 };

	for (int turned = 0; turned <= 1; turned++) {
		struct foreign foreign = foreign_begin(turned, USUAL | BRANCH_STACK, 0);
		struct collector collector;

		record_begin(&foreign, 9, 2);
		put64(&foreign, 0x1234);
		put64(&foreign, 0);
		put64(&foreign, 20);
		put64(&foreign, 1);
		put64(&foreign, 0xaaaa);
		put64(&foreign, 0xbbbb);
		/* there, predicted is bit 62, cycles end at bit 44, type at bit 40 */
		put64(&foreign, turned ? 1ull << 62 | 0x123ull << 44 | 4ull << 40
				       : PREDICTED | CYCLES | CALL);
		record_end(&foreign);
		foreign_end(&foreign);
		assert_int_equal(foreign_read(&foreign, &collector, NULL), 0);
		assert_non_null(strstr(text_view(&collector.lines), "aaaa>bbbb!401232 hw_idx -1"));
		text_release(&collector.lines);
		text_release(&foreign.bytes);
	}
	(void)state;
}

static void events_come_in_order_of_time_and_those_without_come_first(void **state)
{
	struct foreign foreign = foreign_begin(false, USUAL, SAMPLE_ID_ALL);
	struct collector collector;
	const char *first, *second, *third;

	put_short_sample(&foreign, 300);
	put_short_sample(&foreign, 100);
	put_short_sample(&foreign, 0);
	foreign_end(&foreign);
	assert_int_equal(foreign_read(&foreign, &collector, NULL), 0);
	first = strstr(text_view(&collector.lines), "sample 0 ");
	second = strstr(text_view(&collector.lines), "sample 100 ");
	third = strstr(text_view(&collector.lines), "sample 300 ");
	assert_true(first && first < second && second < third);
	text_release(&collector.lines);
	text_release(&foreign.bytes);
	(void)state;
}

/* Knows every chain that it has met. */
struct knower {
	struct event_sink sink; /* first */
	u64 keys[8];
	u32 key_count, frames, known;
};

static bool knows_key(struct event_sink *sink, const struct sample *sample)
{
	const struct knower *knower = (struct knower *)sink;

	for (u32 i = 0; i < knower->key_count; i++)
		if (knower->keys[i] == sample->chain_key)
			return true;
	return false;
}

static int learn_key(struct event_sink *sink, const struct sample *sample)
{
	struct knower *knower = (struct knower *)sink;

	knower->frames += sample->frame_count;
	knower->known += sample->is_known;
	if (!sample->is_known)
		knower->keys[knower->key_count++] = sample->chain_key;
	return 0;
}

static void put_chain(struct foreign *foreign, u64 time_ns, u64 caller)
{
	record_begin(foreign, 9, 2);
	put64(foreign, 0x1234);
	put64(foreign, 0);
	put64(foreign, time_ns);
	put64(foreign, 3);
	put64(foreign, (u64)-512);
	put64(foreign, 0x1234);
	put64(foreign, caller);
	record_end(foreign);
}

static void chain_that_the_reader_knows_comes_without_its_frames(void **state)
{
	struct foreign foreign = foreign_begin(false, USUAL | CALLCHAIN, 0);
	struct knower knower = {.sink = {.on_sample = learn_key, .knows_chain = knows_key}};
	struct perfdata *data;

	put_chain(&foreign, 1, 0x5678);
	put_chain(&foreign, 2, 0x9abc);
	put_chain(&foreign, 3, 0x5678);
	foreign_end(&foreign);
	data = open_foreign(&foreign);
	assert_int_equal(perfdata_read(data, &knower.sink), 0);
	assert_int_equal(knower.key_count, 2);
	assert_int_equal(knower.known, 1);
	assert_int_equal(knower.frames, 4);
	assert_int_not_equal(knower.keys[0], knower.keys[1]);
	perfdata_close(data);
	text_release(&foreign.bytes);
	(void)state;
}

/* One that needs the frames of the second sample all the same. */
static bool refuses_second(struct event_sink *sink, const struct sample *sample)
{
	(void)sink;
	return sample->time_ns != 2;
}

static void chains_that_nobody_wants_come_only_where_they_are_asked_for(void **state)
{
	struct foreign foreign = foreign_begin(false, USUAL | CALLCHAIN, 0);
	struct knower knower = {.sink = {.on_sample = learn_key, .knows_chain = refuses_second}};
	struct perfdata *data;

	put_chain(&foreign, 1, 0x5678);
	put_chain(&foreign, 2, 0x5678);
	put_chain(&foreign, 3, 0x5678);
	foreign_end(&foreign);
	data = open_foreign(&foreign);
	perfdata_skip_chains(data);
	assert_int_equal(perfdata_read(data, &knower.sink), 0);
	assert_int_equal(knower.known, 2);
	assert_int_equal(knower.frames, 2);
	assert_int_equal(knower.keys[0], 0);
	perfdata_close(data);
	text_release(&foreign.bytes);
	(void)state;
}

static void unknown_records_are_passed_over_with_one_warning_a_kind(void **state)
{
	struct foreign foreign = foreign_begin(false, USUAL, SAMPLE_ID_ALL);
	struct text warnings = {0};
	struct collector collector;

	for (u32 i = 0; i < 3; i++) {
		record_begin(&foreign, 40, 0);
		put64(&foreign, 1);
		record_end(&foreign);
		record_begin(&foreign, 120 + i % 2, 0);
		record_end(&foreign);
	}
	put_short_sample(&foreign, 1);
	foreign_end(&foreign);
	assert_int_equal(foreign_read(&foreign, &collector, &warnings), 0);
	assert_int_equal(collector.samples, 1);
	assert_string_equal(text_view(&warnings),
			    "records of type 40 are not known and were passed over\n"
			    "records of type 120 are not known and were passed over\n"
			    "records of type 121 are not known and were passed over\n");
	text_release(&warnings);
	text_release(&collector.lines);
	text_release(&foreign.bytes);
	(void)state;
}

/* Linux 6.18 does so while another event that wants build ids is open. */
static void device_under_the_build_id_bit_is_no_build_id(void **state)
{
	struct foreign foreign = foreign_begin(false, USUAL, 0);
	struct collector collector;

	record_begin(&foreign, 10, 0x4002); /* MMAP2 */
	put32(&foreign, 5);
	put32(&foreign, 6);
	put64(&foreign, 0x400000);
	put64(&foreign, 0x2000);
	put64(&foreign, 0x1000);
	put32(&foreign, 8);
	put32(&foreign, 1);
	put64(&foreign, 77);
	put64(&foreign, 3);
	put32(&foreign, 5);
	put32(&foreign, 2);
	put_string(&foreign, "/bin/x", 8);
	record_end(&foreign);
	foreign_end(&foreign);
	assert_int_equal(foreign_read(&foreign, &collector, NULL), 0);
	assert_non_null(
		strstr(text_view(&collector.lines), "device 8:1 inode 77/3 5 2 /bin/x id \n"));
	text_release(&collector.lines);
	text_release(&foreign.bytes);
	(void)state;
}

static void build_ids_beside_the_records_are_listed(void **state)
{
	enum { ID_BYTES = 8, WITH_SIZE = 0x8002, HEADER_BUILD_ID = 67 };
	struct foreign foreign = foreign_begin(false, USUAL, 0);
	struct perfdata *data;
	struct build_id id;
	const char *path;

	record_begin(&foreign, HEADER_BUILD_ID, WITH_SIZE);
	put32(&foreign, ~0U);
	put_string(&foreign, "ABCDEFGH", BUILD_ID_MAX_BYTES);
	put32(&foreign, ID_BYTES);
	put_string(&foreign, "/bin/x", 12);
	record_end(&foreign);
	foreign_end(&foreign);
	data = foreign_open(&foreign);
	assert_int_equal(perfdata_read(data, &(struct event_sink){0}), 0);
	assert_true(perfdata_listed_binary(data, 0, &path, &id));
	assert_string_equal(path, "/bin/x");
	assert_int_equal(id.length, ID_BYTES);
	assert_memory_equal(id.bytes, "ABCDEFGH", ID_BYTES);
	assert_false(perfdata_listed_binary(data, 1, &path, &id));
	perfdata_close(data);
	text_release(&foreign.bytes);
	(void)state;
}

static void chain_with_an_unknown_marker_is_dropped(void **state)
{
	struct foreign foreign = foreign_begin(false, USUAL | CALLCHAIN, 0);
	struct collector collector;

	record_begin(&foreign, 9, 2);
	put64(&foreign, 0x1234);
	put64(&foreign, 0);
	put64(&foreign, 5);
	put64(&foreign, 2);
	put64(&foreign, (u64)-77);
	put64(&foreign, 0x5678);
	record_end(&foreign);
	foreign_end(&foreign);
	assert_int_equal(foreign_read(&foreign, &collector, NULL), 0);
	assert_non_null(strstr(text_view(&collector.lines), "at 1234 space 2 data 0 cut 0:\n"));
	text_release(&collector.lines);
	text_release(&foreign.bytes);
	(void)state;
}

static void chain_longer_than_its_record_is_damage_and_the_rest_is_shown(void **state)
{
	struct foreign foreign = foreign_begin(false, USUAL | CALLCHAIN, 0);
	struct collector collector;

	for (u64 count = 0; count < 2; count++) {
		record_begin(&foreign, 9, 2);
		put64(&foreign, 0x1234);
		put64(&foreign, 0);
		put64(&foreign, 5);
		put64(&foreign, count ? 1ull << 61 : 0);
		record_end(&foreign);
	}
	foreign_end(&foreign);
	assert_int_equal(foreign_read(&foreign, &collector, NULL), -EBADMSG);
	assert_string_equal(fail_sentence(), "recording is damaged: 1 records make no sense; 1 "
					     "samples are shown");
	assert_int_equal(collector.samples, 1);
	assert_true(collector.has_ended);
	text_release(&collector.lines);
	text_release(&foreign.bytes);
	(void)state;
}

static void losses_of_perf_are_told(void **state)
{
	struct foreign foreign = foreign_begin(false, USUAL, 0);
	struct collector collector;

	record_begin(&foreign, 2, 0); /* LOST */
	put64(&foreign, 7);
	put64(&foreign, 11);
	record_end(&foreign);
	record_begin(&foreign, 13, 0); /* LOST_SAMPLES */
	put64(&foreign, 5);
	record_end(&foreign);
	record_begin(&foreign, 13, 0x8000); /* by a BPF filter: not lost */
	put64(&foreign, 1000);
	record_end(&foreign);
	put_short_sample(&foreign, 1);
	foreign_end(&foreign);
	assert_int_equal(foreign_read(&foreign, &collector, NULL), 0);
	assert_int_equal(collector.losses, 16);
	text_release(&collector.lines);
	text_release(&foreign.bytes);
	(void)state;
}

static void recording_that_was_never_ended_is_read_to_its_end(void **state)
{
	struct foreign foreign = foreign_begin(false, USUAL, 0);
	struct collector collector;

	put_short_sample(&foreign, 1);
	put_short_sample(&foreign, 2);
	assert_int_equal(foreign_read(&foreign, &collector, NULL), -EBADMSG);
	assert_string_equal(fail_sentence(),
			    "recording was not ended by its recorder; the 2 samples "
			    "in it are shown");
	assert_int_equal(collector.samples, 2);
	text_release(&collector.lines);
	text_release(&foreign.bytes);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_byte_orders_read_the_same),
		cmocka_unit_test(feature_bits_of_a_foreign_32_bit_machine_are_found),
		cmocka_unit_test(branch_flags_of_the_other_byte_order_are_turned_field_by_field),
		cmocka_unit_test(events_come_in_order_of_time_and_those_without_come_first),
		cmocka_unit_test(chain_that_the_reader_knows_comes_without_its_frames),
		cmocka_unit_test(chains_that_nobody_wants_come_only_where_they_are_asked_for),
		cmocka_unit_test(unknown_records_are_passed_over_with_one_warning_a_kind),
		cmocka_unit_test(device_under_the_build_id_bit_is_no_build_id),
		cmocka_unit_test(build_ids_beside_the_records_are_listed),
		cmocka_unit_test(chain_with_an_unknown_marker_is_dropped),
		cmocka_unit_test(chain_longer_than_its_record_is_damage_and_the_rest_is_shown),
		cmocka_unit_test(losses_of_perf_are_told),
		cmocka_unit_test(recording_that_was_never_ended_is_read_to_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
