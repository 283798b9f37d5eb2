/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rare members of a sample, read from its record once more when somebody asks: most readers
 * never do, and need not wait for them.
 */
#include "perfdata/details.h"

#include "perfdata/session.h"

bool session_look_again(struct perfdata *data, struct sample *sample)
{
	struct decoder *decoder = &data->second_look;
	const u8 *record = sample->record;
	struct record_header header = decode_header(&data->decoder, record);

	/* What the first decoder lends stays as it is: the second one has lists of its own. */
	decoder->kinds.items = data->decoder.kinds.items;
	decoder->kinds.count = data->decoder.kinds.count;
	decoder->kind_of_id = data->decoder.kind_of_id;
	decoder->swap = data->decoder.swap;
	decoder->is_ours = data->decoder.is_ours;
	decoder->details = (struct sample_details){0};
	if (decode_sample(decoder, (struct bytes){record, header.size_bytes}, sample))
		return false;
	decoder->details.id = decoder->sample_id;
	return true;
}

const struct sample_details *perfdata_details(struct perfdata *data, const struct sample *sample)
{
	struct sample again = {.record = sample->record};

	if (!sample->record || !session_look_again(data, &again))
		return NULL;
	return &data->second_look.details;
}
