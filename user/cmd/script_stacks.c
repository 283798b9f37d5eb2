/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call chains in script: as they were printed before, or frame by frame.
 */
#include "cmd/script_printer.h"

#include <string.h>

/* --- lists of names --- */

bool script_is_listed(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *item = list; *item; item += strspn(item, ",")) {
		size_t item_length = strcspn(item, ",");

		if (item_length == length && !strncmp(item, name, length))
			return true;
		item += item_length;
	}
	return false;
}

bool script_is_listed_function(struct script_printer *printer, const char *list,
			       location_id location)
{
	const struct location_row *at;
	const struct function_row *function;

	symbolizer_name(printer->symbolizer, printer->profile, location);
	at = &printer->profile->locations.items[location];
	function = script_outer_function(printer, at);
	return function && script_is_listed(list, script_text_of(printer, function->name));
}

/* --- chains --- */

static struct chain_identity chain_identity(const struct script_printer *printer,
					    const struct sample *sample)
{
	/* without frames of user space the process is of no matter */
	bool is_of_process = sample->chain_key & 1;

	return (struct chain_identity){
		.key = sample->chain_key,
		.user_state = is_of_process ? locator_generation(printer->locator, sample->pid,
								 SPACE_USER)
					    : 0,
		.kernel_state = locator_generation(printer->locator, sample->pid, SPACE_KERNEL),
		.source = sample->source,
	};
}

enum { FRAMES_AT_ONCE = 16 };

static u8 text_kind_of(const struct frame *frame)
{
	return frame->origin < ORIGIN_COUNT ? frame->origin : ORIGIN_UNKNOWN;
}

/* Texts of frames lie all over the memory: each is asked for before the first one is copied. */
static void append_frames(struct script_printer *printer, const struct sample *sample,
			  const struct frame *frames, u32 count, const u64 *states)
{
	struct frame_key keys[FRAMES_AT_ONCE];
	struct frame_text *kept[FRAMES_AT_ONCE];
	const struct place_text *texts[FRAMES_AT_ONCE];

	for (u32 i = 0; i < count; i++) {
		const struct frame *frame = &frames[i];

		keys[i] = (struct frame_key){
			.address = frame->address,
			.state = frame_state(states[frame->space == SPACE_USER], frame->space),
			.form = printer->plan->first_form + text_kind_of(frame),
		};
		kept[i] = frame_texts_place(printer->frames, &keys[i]);
		__builtin_prefetch(kept[i]);
	}
	for (u32 i = 0; i < count; i++) {
		const struct virtual_place place = {frames[i].address, sample->pid,
						    frames[i].space};

		if (!frame_text_is(kept[i], &keys[i]))
			*kept[i] = (struct frame_text){
				keys[i],
				script_find_text(printer, &place, text_kind_of(&frames[i]))};
		texts[i] = kept[i]->text;
		__builtin_prefetch(texts[i]);
	}
	for (u32 i = 0; i < count; i++)
		text_append_bytes(&printer->text, texts[i]->bytes, texts[i]->length);
}

static void append_chain(struct script_printer *printer, const struct sample *sample, u32 count)
{
	const u64 states[] = {
		locator_generation(printer->locator, sample->pid, SPACE_KERNEL),
		locator_generation(printer->locator, sample->pid, SPACE_USER),
	};

	for (u32 i = 0; i < count; i += FRAMES_AT_ONCE)
		append_frames(printer, sample, &sample->frames[i],
			      count - i < FRAMES_AT_ONCE ? count - i : FRAMES_AT_ONCE, states);
}

/* How many frames of a chain are shown. */
static u32 shown_frames(struct script_printer *printer, const struct sample *sample)
{
	u32 count = sample->frame_count, most = printer->layout.max_stack;
	const char *last = printer->layout.last_frames;

	if (most && count > most)
		count = most;
	for (u32 i = 0; last && i < count; i++) {
		const struct frame *frame = &sample->frames[i];

		if (script_is_listed_function(
			    printer, last,
			    script_locate(printer, sample->pid, frame->address, frame->space)))
			count = i + 1;
	}
	return count;
}

void script_append_chain(struct script_printer *printer, const struct sample *sample)
{
	struct chain_identity chain = chain_identity(printer, sample);
	const struct text *text = chain_texts_find(printer->chains, &chain);
	size_t start = printer->text.length;

	if (text) {
		text_append_bytes(&printer->text, text_view(text), text->length);
		return;
	}
	append_chain(printer, sample, shown_frames(printer, sample));
	chain_texts_keep(printer->chains, &chain, text_view(&printer->text) + start,
			 printer->text.length - start);
}

bool script_knows_chain(struct event_sink *self, const struct sample *sample)
{
	struct script_printer *printer = (struct script_printer *)self;
	struct chain_identity chain = chain_identity(printer, sample);
	u64 fields = printer->plans.items[sample->source].fields;

	if ((fields & (PRINT_BRANCHES | PRINT_BLOCKS)) &&
	    event_source_has_call_stacks(&printer->sources[sample->source]))
		return false;
	return !(fields & PRINT_ip) || chain_texts_find(printer->chains, &chain);
}
