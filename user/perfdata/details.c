/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rare members of a sample, read from its record once more when somebody asks: most readers
 * never do, and need not wait for them.
 */
#include "perfdata/details.h"

#include "perfdata/session.h"

const struct sample_details *perfdata_details(struct perfdata *data, const struct sample *sample)
{
	struct decoder *decoder = &data->second_look;
	struct record_header header;
	struct sample again;

	if (!sample->record)
		return NULL;
	/* What the sample itself lends stays as it is: the second decoder has lists of its own. */
	decoder->kinds.items = data->decoder.kinds.items;
	decoder->kinds.count = data->decoder.kinds.count;
	decoder->kind_of_id = data->decoder.kind_of_id;
	decoder->swap = data->decoder.swap;
	decoder->is_ours = data->decoder.is_ours;
	decoder->details = (struct sample_details){0};
	header = decode_header(decoder, sample->record);
	if (decode_sample(decoder, (struct bytes){sample->record, header.size_bytes}, &again))
		return NULL;
	decoder->details.id = decoder->sample_id;
	return &decoder->details;
}
