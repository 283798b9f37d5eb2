/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ids are of no time here: one that is used again is needed if any of its users is. An event is
 * left out if it changes nothing but what belongs to ids that are not needed. Two things hold for
 * all: which file was mapped first, so the first event of each file stays, and that time goes on,
 * by which threads that ended are forgotten.
 */
#include "perfdata/bystanders.h"

#include "perfdata/session.h"

#include <xxhash.h>

enum {
	IDS = 1 << 22,	  /* the kernel has no more; what is greater counts as needed */
	MOST_ROUNDS = 64, /* of following kin, which real recordings have in two or three */
	IDS_AT = sizeof(struct record_header),
	MMAP_PATH_AT = 40,
	MMAP2_IDENTITY_AT = 40,
	MMAP2_IDENTITY_BYTES = 24,
	MMAP2_PATH_AT = 72,
};

static const u64 tick_ns = 10000000; /* of time that goes on */

static u32 word_at(const u8 *at)
{
	u32 word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* Of a fork or an exit, whose parents stand between. */
static struct kin life_at(const u8 *at)
{
	return (struct kin){.pid = word_at(at + IDS_AT),
			    .tid = word_at(at + IDS_AT + 8),
			    .parent_pid = word_at(at + IDS_AT + 4),
			    .parent_tid = word_at(at + IDS_AT + 12)};
}

static struct kin thread_at(const u8 *at)
{
	u32 pid = word_at(at), tid = word_at(at + sizeof(u32));

	return (struct kin){pid, tid, pid, tid};
}

/* --- noting --- */

static bool is_needed(const struct bystanders *bystanders, u32 id)
{
	return id >= IDS || bystanders->needed[id / 64] >> (id % 64) & 1;
}

static void need(struct bystanders *bystanders, u32 id)
{
	if (id < IDS)
		bystanders->needed[id / 64] |= 1ull << (id % 64);
}

static void note_sample(struct perfdata *data, struct record_header header, const u8 *at)
{
	struct bystanders *bystanders = &data->bystanders;
	const struct event_kind *kind = decode_kind(&data->decoder,
						    (struct bytes){at, header.size_bytes});
	struct kin thread;

	if (!kind)
		return; /* nobody hears of it */
	if (!kind->sample_thread_at || kind->sample_thread_at + sizeof(u64) > header.size_bytes) {
		bystanders->is_unclear = true;
		return;
	}
	thread = thread_at(at + kind->sample_thread_at);
	need(bystanders, thread.pid);
	need(bystanders, thread.tid);
}

/* Whether the text of a record ends within it, and where it does. */
static bool has_text(const struct decoder *decoder, struct record_header header, const u8 *at,
		     size_t text_at, size_t *ret_end)
{
	u32 source = decode_source(decoder, header, at);
	size_t trailer = decoder->kinds.items[source].trailer_bytes;

	if (header.size_bytes < text_at + 1 + trailer)
		return false;
	*ret_end = header.size_bytes - trailer;
	return !at[*ret_end - 1];
}

static bool is_user(struct record_header header)
{
	u8 space = header.misc & MISC_CPUMODE;

	return space == SPACE_USER || space == SPACE_UNKNOWN;
}

/* What tells a mapped file from another one, not 0; 0: the event stays. Sizes of nothing map none.
 */
static u64 file_of(const struct decoder *decoder, struct record_header header, const u8 *at)
{
	enum { BYTES_AT = 24 };
	bool is_second = header.type == RECORD_MMAP2;
	size_t path_at = is_second ? MMAP2_PATH_AT : MMAP_PATH_AT, end;
	u64 bytes, hash = header.misc;

	if (!is_user(header) || !has_text(decoder, header, at, path_at, &end))
		return 0;
	memcpy(&bytes, at + BYTES_AT, sizeof(bytes));
	if (!bytes)
		return 0;
	if (is_second)
		hash = XXH3_64bits_withSeed(at + MMAP2_IDENTITY_AT, MMAP2_IDENTITY_BYTES, hash);
	hash = XXH3_64bits_withSeed(at + path_at, end - path_at, hash);
	return hash ? hash : 1;
}

static struct bystander_note note_of(const struct decoder *decoder, struct record_header header,
				     const u8 *at)
{
	struct bystander_note note = {.type = header.type};
	bool is_life = header.type == RECORD_FORK || header.type == RECORD_EXIT;
	struct kin thread;
	size_t end;

	if (header.size_bytes < sizeof(header) + (is_life ? sizeof(struct kin) : sizeof(u64)))
		return (struct bystander_note){0};
	thread = is_life ? life_at(at) : thread_at(at + IDS_AT);
	note.pid = thread.pid;
	note.tid = thread.tid;
	if (header.type == RECORD_COMM &&
	    !has_text(decoder, header, at, IDS_AT + sizeof(u64), &end))
		note.type = 0;
	if (header.type == RECORD_MMAP || header.type == RECORD_MMAP2)
		note.file = file_of(decoder, header, at);
	return note;
}

static bool may_be_dropped(u32 type)
{
	return type == RECORD_FORK || type == RECORD_EXIT || type == RECORD_COMM ||
	       type == RECORD_MMAP || type == RECORD_MMAP2;
}

u64 bystanders_note(struct perfdata *data, struct record_header header, const u8 *at)
{
	struct bystanders *bystanders = &data->bystanders;
	bool has_life = header.size_bytes >= sizeof(header) + sizeof(struct kin);

	if (!bystanders->are_skipped)
		return EXTRA_NO_SAMPLE;
	if (!bystanders->needed)
		bystanders->needed = must_alloc_array(IDS / 64, sizeof(u64));
	if (header.type == RECORD_SAMPLE)
		note_sample(data, header, at);
	else if (header.type == RECORD_FORK && has_life)
		*vec_add(&bystanders->kin) = life_at(at);
	else if (header.type == RECORD_COMM && has_life &&
		 word_at(at + IDS_AT) != word_at(at + IDS_AT + sizeof(u32)))
		*vec_add(&bystanders->kin) = thread_at(at + IDS_AT);
	if (!may_be_dropped(header.type) || !data->decoder.kinds.count)
		return EXTRA_NO_SAMPLE;
	*vec_add(&bystanders->notes) = note_of(&data->decoder, header, at);
	return EXTRA_NOTE | (bystanders->notes.count - 1);
}

/* If a thread is needed, so are its process and who started it. Returns whether that is new. */
static bool need_kin(struct bystanders *bystanders, const struct kin *kin)
{
	const u32 ids[] = {kin->pid, kin->tid, kin->parent_pid, kin->parent_tid};
	bool is_new = false;

	if (!is_needed(bystanders, kin->pid) && !is_needed(bystanders, kin->tid))
		return false;
	for (size_t i = 0; i < ARRAY_COUNT(ids); i++) {
		is_new |= !is_needed(bystanders, ids[i]);
		need(bystanders, ids[i]);
	}
	return is_new;
}

/* Finds all that are needed. False: it does not come to an end soon. */
static bool follow_kin(struct bystanders *bystanders)
{
	for (u32 round = 0; round < MOST_ROUNDS; round++) {
		bool has_changed = false;

		/* Children mostly come behind their parents. */
		for (size_t i = bystanders->kin.count; i-- > 0;)
			has_changed |= need_kin(bystanders, &bystanders->kin.items[i]);
		if (!has_changed)
			return true;
	}
	return false;
}

/* --- leaving out --- */

struct dropping {
	struct perfdata *data;
	struct idmap files; /* by bystander_note.file: 1, an event of it stays */
	u64 told_ns;	    /* when a life was told last */
};

/* Whether the file was mapped before, by an event that stays. */
static bool mapping_is_known(struct dropping *dropping, const struct bystander_note *note)
{
	u32 *place;

	if (!note->file)
		return false;
	place = idmap_place(&dropping->files, note->file);
	if (*place)
		return true;
	*place = 1;
	return false;
}

static bool drops_life(struct dropping *dropping, const struct timed *event,
		       const struct bystander_note *note)
{
	const struct bystanders *bystanders = &dropping->data->bystanders;

	if (!is_needed(bystanders, note->pid) && !is_needed(bystanders, note->tid) &&
	    (note->type == RECORD_FORK || event->time_ns < dropping->told_ns + tick_ns))
		return true;
	dropping->told_ns = event->time_ns;
	return false;
}

static bool drops(struct dropping *dropping, const struct timed *event)
{
	const struct bystanders *bystanders = &dropping->data->bystanders;
	const struct bystander_note *note = &bystanders->notes.items[event->extra & ~EXTRA_NOTE];

	switch (note->type) {
	case RECORD_FORK:
	case RECORD_EXIT:
		return drops_life(dropping, event, note);
	case RECORD_COMM:
		return !is_needed(bystanders, note->pid) && !is_needed(bystanders, note->tid);
	case RECORD_MMAP:
	case RECORD_MMAP2:
		return mapping_is_known(dropping, note) && !is_needed(bystanders, note->pid);
	default:
		return false;
	}
}

void bystanders_drop(struct perfdata *data)
{
	struct bystanders *bystanders = &data->bystanders;
	struct dropping dropping = {.data = data};
	struct timed *events = data->events.items;
	size_t stay = 0, count = data->events.count;
	bool are_known = bystanders->needed && !bystanders->is_unclear && follow_kin(bystanders);

	if (!bystanders->notes.count)
		return;
	for (size_t i = 0; i < count; i++) {
		struct timed event = events[i];

		if (event.extra & EXTRA_NOTE) {
			if (are_known && drops(&dropping, &event))
				continue;
			event.extra = EXTRA_NO_SAMPLE;
		}
		events[stay++] = event;
	}
	data->events.count = stay;
	bystanders->skipped = count - stay;
	vec_release(&bystanders->notes);
	idmap_release(&dropping.files);
}

void bystanders_release(struct bystanders *bystanders)
{
	free(bystanders->needed);
	vec_release(&bystanders->kin);
	vec_release(&bystanders->notes);
}

void perfdata_skip_bystanders(struct perfdata *data)
{
	/* Ids are read as they lie there. */
	data->bystanders.are_skipped = !data->decoder.swap;
}
