/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What few ask for of a sample: read again out of its record, in both byte orders. */
#include "unit/perfdata/foreign.h"

enum {
	IP = 1 << 0,
	TID = 1 << 1,
	TIME = 1 << 2,
	CALLCHAIN = 1 << 5,
	ID = 1 << 6,
	STREAM_ID = 1 << 9,
	RAW = 1 << 10,
	DATA_SRC = 1 << 15,
	PHYS_ADDR = 1 << 19,
	WEIGHT_STRUCT = 1 << 24,
};

static void put_sample(struct foreign *foreign)
{
	record_begin(foreign, 9, 0x4002);
	put64(foreign, 0x1234);
	put32(foreign, 5);
	put32(foreign, 6);
	put64(foreign, 12);
	put64(foreign, 7); /* ID */
	put64(foreign, 8); /* STREAM_ID */
	put64(foreign, 1); /* CALLCHAIN */
	put64(foreign, 0x1234);
	put32(foreign, 4); /* RAW */
	text_append_bytes(&foreign->bytes, "raw!", 4);
	put32(foreign, 70); /* WEIGHT_STRUCT */
	put16(foreign, 71);
	put16(foreign, 72);
	put64(foreign, 0xda7a);
	put64(foreign, 0xf00);
	record_end(foreign);
}

struct asker {
	struct event_sink sink; /* first */
	struct perfdata *data;
	u32 samples;
};

static int ask(struct event_sink *self, const struct sample *sample)
{
	struct asker *asker = (struct asker *)self;
	const struct sample_details *details = perfdata_details(asker->data, sample);

	asker->samples++;
	assert_non_null(details);
	assert_int_equal(details->misc, 0x4002);
	assert_int_equal(details->id, 7);
	assert_int_equal(details->stream_id, 8);
	assert_int_equal(details->raw.length, 4);
	assert_memory_equal(details->raw.start, "raw!", 4);
	assert_int_equal(details->weight, 70);
	assert_int_equal(details->instruction_latency, 71);
	assert_int_equal(details->pipeline_stage_cycles, 72);
	assert_int_equal(details->data_source, 0xda7a);
	assert_int_equal(details->physical_address, 0xf00);
	/* what the sample lends is as it was */
	assert_int_equal(sample->frame_count, 1);
	assert_int_equal(sample->frames[0].address, 0x1234);
	return 0;
}

static void details_are_those_of_the_sample(void **state)
{
	for (int turned = 0; turned <= 1; turned++) {
		struct foreign foreign = foreign_begin(turned,
						       IP | TID | TIME | ID | STREAM_ID |
							       CALLCHAIN | RAW | WEIGHT_STRUCT |
							       DATA_SRC | PHYS_ADDR,
						       0);
		struct asker asker = {.sink = {.on_sample = ask}};

		put_sample(&foreign);
		foreign_end(&foreign);
		assert_int_equal(perfdata_open_bytes((struct bytes){(u8 *)foreign.bytes.bytes,
								    foreign.bytes.length},
						     &asker.data),
				 0);
		assert_int_equal(perfdata_read(asker.data, &asker.sink), 0);
		assert_int_equal(asker.samples, 1);
		perfdata_close(asker.data);
		text_release(&foreign.bytes);
	}
	(void)state;
}

static void sample_of_another_producer_has_none(void **state)
{
	struct foreign foreign = foreign_begin(false, IP, 0);
	struct sample sample = {.address = 1};
	struct perfdata *data;

	foreign_end(&foreign);
	assert_int_equal(
		perfdata_open_bytes((struct bytes){(u8 *)foreign.bytes.bytes, foreign.bytes.length},
				    &data),
		0);
	assert_null(perfdata_details(data, &sample));
	perfdata_close(data);
	text_release(&foreign.bytes);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(details_are_those_of_the_sample),
		cmocka_unit_test(sample_of_another_producer_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
