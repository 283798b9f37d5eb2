/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events to a perf.data: encoded into a buffer, packed if asked for, written in large blocks.
 *
 * Records that can't be written (disk full) stay in the buffer and are tried again at the next
 * flush; meanwhile samples that do not fit are dropped and counted.
 */
#include "perfdata/writer.h"

#include "base/fail.h"
#include "base/memory.h"
#include "bpfprof/counters.h"
#include "perfdata/build_id_list.h"
#include "perfdata/outlet.h"
#include "perfdata/prefix.h"

#include <errno.h>
#include <string.h>

enum {
	BUFFER_BYTES = 256 << 10,
	/* what records about processes may grow to while the disk is full */
	BUFFER_MAX_BYTES = 8 << 20,
	/* the most that a reader has to keep at once: a block, and a record begun in the last */
	READER_BLOCK_BYTES = 128 << 10,
};

struct perfdata_writer {
	struct event_sink sink; /* first: sink and writer have one address */
	struct encoder encoder;
	struct outlet outlet;
	bool is_ended, has_build_id_list;
	u64 newest_ns, newest_at_round_ns; /* of all events; of those before the last round */
	u64 samples_dropped, records_dropped;
	u64 losses[COUNTER_COUNT], losses_told[COUNTER_COUNT];
	struct perfdata_extra extra;
	struct build_id_list build_ids;
};

/* Whether one more record may go into the buffer. */
static bool has_room(struct perfdata_writer *writer, size_t limit)
{
	if (writer->outlet.buffer.used < BUFFER_BYTES)
		return true;
	/* on a full disk, try again only at each flush: this may be called 10⁵ times a second */
	if (!writer->outlet.is_stuck)
		outlet_spill(&writer->outlet);
	return writer->outlet.buffer.used < limit;
}

/* A pipe whose reader is gone ends the recording; a full disk does not. */
static int end_of(const struct perfdata_writer *writer)
{
	return writer->outlet.output.is_pipe && writer->outlet.is_stuck ? -EPIPE : 0;
}

static struct record_buffer *place_for(struct perfdata_writer *writer, u64 time_ns)
{
	if (!has_room(writer, BUFFER_MAX_BYTES)) {
		writer->records_dropped++;
		return NULL;
	}
	if (time_ns > writer->newest_ns)
		writer->newest_ns = time_ns;
	return &writer->outlet.buffer;
}

static struct perfdata_writer *writer_of(struct event_sink *sink)
{
	return (struct perfdata_writer *)sink;
}

static int on_sample(struct event_sink *self, const struct sample *sample)
{
	struct perfdata_writer *writer = writer_of(self);
	struct output_head *head = &writer->outlet.output.head;

	if (sample->source >= writer->encoder.attrs.count || !has_room(writer, BUFFER_BYTES)) {
		writer->samples_dropped += sample_count(sample);
		return end_of(writer);
	}
	encode_sample(&writer->encoder, sample, &writer->outlet.buffer);
	if (sample->time_ns > writer->newest_ns)
		writer->newest_ns = sample->time_ns;
	if (!head->first_sample_ns || sample->time_ns < head->first_sample_ns)
		head->first_sample_ns = sample->time_ns;
	if (sample->time_ns > head->last_sample_ns)
		head->last_sample_ns = sample->time_ns;
	return end_of(writer);
}

static int on_mapping(struct event_sink *self, const struct mapping *mapping)
{
	struct perfdata_writer *writer = writer_of(self);
	struct record_buffer *place = place_for(writer, mapping->time_ns);

	if (place)
		encode_mapping(&writer->encoder, mapping, place);
	if (writer->has_build_id_list)
		build_id_list_add(&writer->build_ids, mapping);
	return end_of(writer);
}

static int on_name(struct event_sink *self, const struct thread_name *name)
{
	struct perfdata_writer *writer = writer_of(self);
	struct record_buffer *place = place_for(writer, name->time_ns);

	if (place)
		encode_name(&writer->encoder, name, place);
	return end_of(writer);
}

static int on_fork(struct event_sink *self, const struct thread_life *life)
{
	struct perfdata_writer *writer = writer_of(self);
	struct record_buffer *place = place_for(writer, life->time_ns);

	if (place)
		encode_life(&writer->encoder, RECORD_FORK, life, place);
	return end_of(writer);
}

static int on_exit_of(struct event_sink *self, const struct thread_life *life)
{
	struct perfdata_writer *writer = writer_of(self);
	struct record_buffer *place = place_for(writer, life->time_ns);

	if (place)
		encode_life(&writer->encoder, RECORD_EXIT, life, place);
	return end_of(writer);
}

static int on_kernel_symbol(struct event_sink *self, const struct kernel_symbol *symbol)
{
	struct perfdata_writer *writer = writer_of(self);
	struct record_buffer *place = place_for(writer, symbol->time_ns);

	if (place)
		encode_kernel_symbol(&writer->encoder, symbol, place);
	return end_of(writer);
}

static int on_bpf_program(struct event_sink *self, const struct bpf_program *program)
{
	struct perfdata_writer *writer = writer_of(self);
	struct record_buffer *place = place_for(writer, program->time_ns);

	if (place)
		encode_bpf_program(&writer->encoder, program, place);
	return end_of(writer);
}

static int on_cgroup(struct event_sink *self, const struct cgroup_name *cgroup)
{
	struct perfdata_writer *writer = writer_of(self);
	struct record_buffer *place = place_for(writer, cgroup->time_ns);

	if (place)
		encode_cgroup(&writer->encoder, cgroup, place);
	return end_of(writer);
}

static int on_loss(struct event_sink *self, const struct loss *loss)
{
	struct perfdata_writer *writer = writer_of(self);

	if (loss->reason < COUNTER_COUNT)
		writer->losses[loss->reason] += loss->count;
	return end_of(writer);
}

/* FINISHED_ROUND lets a reader hand over what it saw before the round before: true only if nothing
 * older than the newest of that time can come. */
static int on_round(struct event_sink *self, u64 time_ns)
{
	struct perfdata_writer *writer = writer_of(self);

	if (time_ns < writer->newest_at_round_ns || !place_for(writer, 0))
		return end_of(writer);
	encode_plain(RECORD_FINISHED_ROUND, NULL, 0, &writer->outlet.buffer);
	writer->newest_at_round_ns = writer->newest_ns;
	return end_of(writer);
}

static u64 min_u64(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* How many the caller has counted as sent before they were dropped. */
static u64 undue_samples(const struct perfdata_writer *writer)
{
	return writer->samples_dropped -
	       min_u64(writer->samples_dropped, writer->extra.losses[COUNTER_lost_disk_full]);
}

/* The total of one reason, by whoever knows more: the events that came by, or the caller. */
static u64 loss_of(const struct perfdata_writer *writer, u32 reason)
{
	u64 loss = writer->losses[reason];

	if (loss < writer->extra.losses[reason])
		loss = writer->extra.losses[reason];
	if (reason == COUNTER_lost_disk_full && loss < writer->samples_dropped)
		loss = writer->samples_dropped;
	if (reason == COUNTER_side_band_lost)
		loss += writer->records_dropped;
	if (reason == COUNTER_samples_sent)
		loss -= min_u64(loss, undue_samples(writer));
	if (reason == COUNTER_samples_counted)
		loss -= min_u64(loss, undue_samples(writer) -
					      min_u64(undue_samples(writer),
						      writer->extra.losses[COUNTER_samples_sent]));
	return loss;
}

/* Losses since the last flush, as stock perf knows them, and all in our own note. */
static void encode_losses(struct perfdata_writer *writer)
{
	struct {
		u64 magic;
		u32 version, kind, count, reserved;
		u64 cost_user_ns, cost_bpf_ns, wall_ns;
		u64 losses[COUNTER_COUNT];
	} note = {
		.magic = NOTE_MAGIC,
		.version = NOTE_VERSION,
		.kind = NOTE_EXTRA,
		.count = COUNTER_COUNT,
		.cost_user_ns = writer->extra.cost_user_ns,
		.cost_bpf_ns = writer->extra.cost_bpf_ns,
		.wall_ns = writer->extra.wall_ns,
	};
	u64 lost = 0;

	for (u32 reason = 0; reason < COUNTER_COUNT; reason++) {
		note.losses[reason] = loss_of(writer, reason);
		/* a timer that did not fire is no sample to perf, which never hears of it */
		if (counter_rows[reason].kind == LOST && reason != COUNTER_lost_late)
			lost += note.losses[reason] - writer->losses_told[reason];
		writer->losses_told[reason] = note.losses[reason];
	}
	if (lost)
		encode_lost_samples(&writer->encoder, writer->newest_ns, lost, ~0u,
				    &writer->outlet.buffer);
	encode_plain(RECORD_NOTE, &note, sizeof(note), &writer->outlet.buffer);
}

int perfdata_writer_flush(struct perfdata_writer *writer)
{
	struct output_head *head = &writer->outlet.output.head;
	int error;

	if (writer->outlet.buffer.used < BUFFER_MAX_BYTES)
		encode_losses(writer);
	error = outlet_spill(&writer->outlet);
	if (writer->outlet.packed_bytes)
		head->compress_ratio = (u32)(writer->outlet.plain_bytes /
					     writer->outlet.packed_bytes);
	if (output_has_news(&writer->outlet.output)) {
		int commit_error = output_commit(&writer->outlet.output, (struct bytes){0});

		error = error ? error : commit_error;
	}
	return error;
}

void perfdata_writer_set_extra(struct perfdata_writer *writer, const struct perfdata_extra *extra)
{
	writer->extra = *extra;
}

u64 perfdata_writer_dropped(const struct perfdata_writer *writer)
{
	return writer->samples_dropped;
}

u64 perfdata_writer_bytes(const struct perfdata_writer *writer)
{
	return writer->outlet.output.end;
}

struct event_sink *perfdata_writer_sink(struct perfdata_writer *writer)
{
	return &writer->sink;
}

static const struct event_sink sink_members = {
	.on_sample = on_sample,
	.on_mapping = on_mapping,
	.on_name = on_name,
	.on_fork = on_fork,
	.on_exit = on_exit_of,
	.on_kernel_symbol = on_kernel_symbol,
	.on_bpf_program = on_bpf_program,
	.on_cgroup = on_cgroup,
	.on_loss = on_loss,
	.on_round = on_round,
};

/* Marks the file as ours: how samples' misc bits and notes are meant. */
static void encode_start(struct perfdata_writer *writer, bool idle_skipped)
{
	struct {
		u64 magic;
		u32 version, kind;
		u64 flags;
	} note = {
		.magic = NOTE_MAGIC,
		.version = NOTE_VERSION,
		.kind = NOTE_START,
		.flags = idle_skipped ? NOTE_IDLE_SKIPPED : 0,
	};

	encode_plain(RECORD_NOTE, &note, sizeof(note), &writer->outlet.buffer);
}

static int write_start(struct perfdata_writer *writer,
		       const struct perfdata_writer_settings *settings)
{
	struct machine machine = {0};
	struct feature_facts facts = {
		.settings = settings,
		.machine = settings->machine ? settings->machine : &machine,
		.encoder = &writer->encoder,
	};
	int error;

	if (!settings->machine)
		machine_read(&machine);
	error = prefix_write(&facts, &writer->outlet.output);
	machine_release(&machine);
	if (error)
		return error;
	encode_start(writer, settings->idle_skipped);
	/* the mark stands in the clear, at the head of the records */
	error = output_append(&writer->outlet.output, writer->outlet.buffer.bytes,
			      writer->outlet.buffer.used);
	writer->outlet.buffer.used = 0;
	if (!error)
		error = output_commit(&writer->outlet.output, (struct bytes){0});
	if (!error)
		error = output_publish(&writer->outlet.output);
	return error;
}

static void start_compression(struct perfdata_writer *writer,
			      const struct perfdata_writer_settings *settings)
{
	enum { ZSTD = 1 };
	struct output_head *head = &writer->outlet.output.head;

	head->compress_type = ZSTD;
	head->compress_level = settings->compress_level > 0 ? (u32)settings->compress_level : 1;
	head->block_bytes = READER_BLOCK_BYTES;
	writer->outlet.compressor = compressor_new((int)head->compress_level);
	if (settings->compress_small)
		compressor_stay_small(writer->outlet.compressor);
}

static int release(struct perfdata_writer *writer)
{
	int error = outlet_release(&writer->outlet);

	encoder_release(&writer->encoder);
	build_id_list_release(&writer->build_ids);
	free(writer);
	return error;
}

int perfdata_writer_open(const struct perfdata_writer_settings *settings,
			 struct perfdata_writer **ret_writer)
{
	struct perfdata_writer *writer = must_alloc(sizeof(*writer));
	int error;

	writer->sink = sink_members;
	writer->has_build_id_list = !settings->without_build_id_list;
	encoder_init(&writer->encoder, settings->sources, settings->source_count,
		     settings->clock_id);
	error = output_open(settings->path, settings->path_remedy, &writer->outlet.output);
	if (!error && settings->compress)
		start_compression(writer, settings);
	if (!error)
		error = write_start(writer, settings);
	if (error) {
		release(writer);
		return error;
	}
	*ret_writer = writer;
	return 0;
}

/* What still waits for room on the disk will not get it. */
static void drop_rest(struct perfdata_writer *writer)
{
	struct record_buffer *buffer = &writer->outlet.buffer;
	struct record_header header;

	for (size_t at = 0; at < buffer->used; at += header.size_bytes) {
		memcpy(&header, buffer->bytes + at, sizeof(header));
		if (header.type == RECORD_SAMPLE)
			writer->samples_dropped += encoded_count(&writer->encoder,
								 buffer->bytes + at);
		else if (header.type < RECORD_USER_FIRST)
			writer->records_dropped++;
	}
	buffer->used = 0;
}

int perfdata_writer_end(struct perfdata_writer *writer)
{
	CLEANUP(text_release) struct text build_ids = {0};
	int error = outlet_spill(&writer->outlet), end_error;

	writer->is_ended = true;
	build_id_list_put(&writer->build_ids, &build_ids);
	if (error)
		drop_rest(writer);
	encode_losses(writer);
	end_error = outlet_send_all(&writer->outlet);
	if (!end_error)
		end_error = output_commit(
			&writer->outlet.output,
			(struct bytes){(const u8 *)build_ids.bytes, build_ids.length});
	if (end_error && output_has_news(&writer->outlet.output))
		output_commit(&writer->outlet.output, (struct bytes){0});
	return error ? error : end_error;
}

int perfdata_writer_close(struct perfdata_writer *writer)
{
	int error, close_error;

	if (!writer)
		return 0;
	error = writer->is_ended ? 0 : perfdata_writer_end(writer);
	close_error = release(writer);
	return error ? error : close_error;
}
