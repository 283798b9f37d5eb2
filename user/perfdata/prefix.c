/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The front of a recording, in one write.
 */
#include "perfdata/prefix.h"

#include <stddef.h>
#include <string.h>

static void append_ids(const struct feature_facts *facts, struct text *front)
{
	const struct perfdata_writer_settings *settings = facts->settings;

	for (u32 i = 0; i < settings->source_count; i++) {
		const struct event_source *source = &settings->sources[i];

		if (source->id_count)
			text_append_bytes(front, source->ids,
					  source->id_count * sizeof(source->ids[0]));
		else
			text_append_bytes(front, &facts->encoder->ids.items[i], sizeof(u64));
	}
}

static void append_attrs(const struct feature_facts *facts, u64 ids_at, struct text *front)
{
	const struct perfdata_writer_settings *settings = facts->settings;

	for (u32 i = 0; i < settings->source_count; i++) {
		u32 id_count = settings->sources[i].id_count;
		struct file_section ids = {ids_at, (id_count ? id_count : 1) * sizeof(u64)};

		text_append_bytes(front, &facts->encoder->attrs.items[i], sizeof(struct wire_attr));
		text_append_bytes(front, &ids, sizeof(ids));
		ids_at += ids.size_bytes;
	}
}

/* The places of all features by number; size 0: not there. */
static void append_features(const struct feature_facts *facts, struct text *front,
			    struct file_section places[FEATURE_KNOWN])
{
	u32 feature = 1;

	for (u32 row = 0; feature; row++) {
		size_t before = front->length;

		feature = feature_append(facts, row, front);
		if (front->length > before)
			places[feature] = (struct file_section){before, front->length - before};
	}
	places[FEATURE_SAMPLE_TIME] = (struct file_section){
		offsetof(struct output_head, first_sample_ns), 2 * sizeof(u64)};
	if (facts->settings->compress)
		places[FEATURE_COMPRESSED] = (struct file_section){
			offsetof(struct output_head, compress_version), 5 * sizeof(u32)};
}

/* Whether the file is for who looks at branches. Call stacks of branch records are only another way
 * to take call chains, and perf does not mark files with them either. */
static bool is_of_branches(const struct perfdata_writer_settings *settings)
{
	for (u32 i = 0; i < settings->source_count; i++)
		if (settings->sources[i].has_branches &&
		    !(settings->sources[i].branch_bits & BRANCH_CALL_STACK))
			return true;
	return false;
}

static int write_file_front(const struct feature_facts *facts, struct output *output)
{
	struct file_section places[FEATURE_KNOWN] = {0};
	struct file_header *header = &output->head.header;
	struct text front = {0};
	int error;

	text_append_bytes(&front, &output->head, sizeof(output->head));
	append_ids(facts, &front);
	*header = (struct file_header){
		.magic = PERFDATA_MAGIC,
		.size_bytes = sizeof(*header),
		.attr_size_bytes = sizeof(struct wire_attr) + sizeof(struct file_section),
		.attrs.offset = front.length,
	};
	header->attrs.size_bytes = facts->settings->source_count * header->attr_size_bytes;
	append_attrs(facts, sizeof(output->head), &front);
	append_features(facts, &front, places);
	header->records.offset = front.length;
	/* first and empty: see output.c */
	output_add_feature(output, FEATURE_BUILD_ID, (struct file_section){0});
	for (u32 feature = FEATURE_BUILD_ID + 1; feature < FEATURE_KNOWN; feature++)
		if (places[feature].size_bytes ||
		    (feature == FEATURE_BRANCH_STACK && is_of_branches(facts->settings)))
			output_add_feature(output, feature, places[feature]);
	error = output_append(output, front.bytes, front.length);
	text_release(&front);
	return error;
}

/* Of an event with more ids than a record holds, the first ones: samples carry none but the first.
 */
static void encode_attr(const struct feature_facts *facts, u32 row, struct record_buffer *buffer)
{
	enum {
		IDS_MAX = (RECORD_MAX_BYTES - sizeof(struct record_header) -
			   sizeof(struct wire_attr)) /
			  sizeof(u64)
	};
	const struct event_source *source = &facts->settings->sources[row];
	size_t ids = source->id_count < IDS_MAX ? source->id_count : IDS_MAX;
	struct text payload = {0};

	text_append_bytes(&payload, &facts->encoder->attrs.items[row], sizeof(struct wire_attr));
	if (ids)
		text_append_bytes(&payload, source->ids, ids * sizeof(source->ids[0]));
	else
		text_append_bytes(&payload, &facts->encoder->ids.items[row], sizeof(u64));
	encode_plain(RECORD_HEADER_ATTR, payload.bytes, payload.length, buffer);
	text_release(&payload);
}

static void encode_event_name(const struct feature_facts *facts, u32 row,
			      struct record_buffer *buffer)
{
	const char *name = facts->settings->sources[row].name;
	u64 head[2] = {EVENT_UPDATE_NAME, facts->encoder->ids.items[row]};
	struct text payload = {0};

	text_append_bytes(&payload, head, sizeof(head));
	text_append(&payload, name);
	do
		text_append_bytes(&payload, "", 1);
	while (payload.length % 8);
	if (payload.length < RECORD_MAX_BYTES / 2)
		encode_plain(RECORD_EVENT_UPDATE, payload.bytes, payload.length, buffer);
	text_release(&payload);
}

static void encode_feature(u64 feature, const struct text *payload, struct record_buffer *buffer)
{
	struct text record = {0};

	text_append_bytes(&record, &feature, sizeof(feature));
	text_append_bytes(&record, payload->bytes, payload->length);
	if (record.length < RECORD_MAX_BYTES - sizeof(struct record_header))
		encode_plain(RECORD_HEADER_FEATURE, record.bytes, record.length, buffer);
	text_release(&record);
}

static void encode_features(const struct feature_facts *facts, const struct output *output,
			    struct record_buffer *buffer)
{
	struct text payload = {0};
	u32 feature = 1;

	for (u32 row = 0; feature; row++) {
		text_truncate(&payload, 0);
		feature = feature_append(facts, row, &payload);
		if (payload.length)
			encode_feature(feature, &payload, buffer);
	}
	text_truncate(&payload, 0);
	if (facts->settings->compress) {
		text_append_bytes(&payload, &output->head.compress_version, 6 * sizeof(u32));
		encode_feature(FEATURE_COMPRESSED, &payload, buffer);
	}
	text_truncate(&payload, 0);
	encode_feature(FEATURE_PIPE_END, &payload, buffer);
	text_release(&payload);
}

static int write_pipe_front(const struct feature_facts *facts, struct output *output)
{
	u64 header[2] = {PERFDATA_MAGIC, PIPE_HEADER_BYTES};
	struct record_buffer buffer = {0};
	int error;

	for (u32 i = 0; i < facts->settings->source_count; i++)
		encode_attr(facts, i, &buffer);
	encode_features(facts, output, &buffer);
	for (u32 i = 0; i < facts->settings->source_count; i++)
		encode_event_name(facts, i, &buffer);
	error = output_append(output, header, sizeof(header));
	if (!error)
		error = output_append(output, buffer.bytes, buffer.used);
	record_buffer_release(&buffer);
	return error;
}

int prefix_write(const struct feature_facts *facts, struct output *output)
{
	if (output->is_pipe)
		return write_pipe_front(facts, output);
	return write_file_front(facts, output);
}
