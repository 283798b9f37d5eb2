/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Settings to a running capture.
 */
#include "cmd/daemon_session.h"

#include "base/fail.h"
#include "base/memory.h"
#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "cmd/daemon_names.h"
#include "host/host.h"

#include <errno.h>
#include <string.h>

/* The options that follow the command's name. */
static int parse(const struct command_line *line, struct session *session)
{
	VEC(char *) words = {0};
	size_t first = 0;
	int error;

	while (first < line->count && strcmp(line->words[first], command_daemon.name) != 0)
		first++;
	for (size_t i = first + 1; i < line->count; i++)
		*vec_add(&words) = (char *)line->words[i];
	*vec_add(&words) = NULL;
	error = options_parse(&command_daemon, (int)words.count - 1, words.items,
			      &session->settings, &session->left);
	vec_release(&words);
	return error;
}

int session_read(struct session **ret_session)
{
	struct session *session = must_alloc(sizeof(*session));
	int error;

	session->line = command_line_read();
	error = parse(&session->line, session);
	if (error) {
		command_line_release(&session->line);
		free(session);
		return error;
	}
	session->left.items = NULL; /* they were words of ours */
	session->left.count = 0;
	*ret_session = session;
	return 0;
}

static int is_overwritten(void *context, const struct mapping *binary, struct file_stamp *checked)
{
	return mapped_file_is_overwritten(binary, confined_files_ids(context), checked);
}

/* Of what the kernel tells about processes between two turns: a small part of what a window may
 * take, and no more than some thousand short-lived processes need. */
static u64 kept_bytes(const struct daemon_settings *settings)
{
	enum { KEPT_PART = 16 };
	const u64 most = 4 << 20;
	u64 bytes = settings->memory_bytes / KEPT_PART;

	return !bytes || bytes > most ? most : bytes;
}

int session_open(struct session *session)
{
	int error = record_plan_make(&session->settings.record, (struct arguments){0},
				     &session->plan);

	if (!error)
		error = features_require();
	if (error)
		return error;
	session->plan.capture.window_ns = session->settings.window_ns < COUNTING_NS
						  ? session->settings.window_ns
						  : COUNTING_NS;
	session->plan.capture.aggregate = true;
	session->plan.capture.kept_bytes = kept_bytes(&session->settings);
	session->plan.capture.wants_cgroups = true;
	session->plan.capture.on_file = session->names ? daemon_names_take_file : NULL;
	session->plan.capture.file_context = session->names;
	session->plan.capture.file_reader = session->file_reader;
	session->window = window_new(&(struct window_settings){
		.take_binary = session->names ? daemon_names_take : NULL,
		.is_overwritten = is_overwritten,
		.file_context = session->file_reader,
		.meet_jit = session->names ? daemon_names_meet_jit : NULL,
		.take_jit = session->names ? daemon_names_take_jit : NULL,
		.take_code = session->names && session->settings.keep_lines ? daemon_names_take_code
									    : NULL,
		.context = session->names,
		.memory_bytes = session->settings.memory_bytes,
	});
	return capture_open(&session->plan.capture, &session->capture);
}

int session_start(struct session *session)
{
	return capture_start(session->capture, window_sink(session->window));
}

struct store_limits session_limits(const struct session *session)
{
	return (struct store_limits){session->settings.keep_bytes, session->settings.keep_ns};
}

static bool same_events(const struct text_list *one, const struct text_list *other)
{
	if (one->count != other->count)
		return false;
	for (size_t i = 0; i < one->count; i++)
		if (strcmp(one->items[i], other->items[i]) != 0)
			return false;
	return true;
}

u64 session_names_limit(const struct session *session)
{
	enum { NAMES_PART = 4 }; /* of what windows may take, in addition */

	return session->settings.keep_bytes / NAMES_PART;
}

bool session_samples_alike(const struct session *one, const struct session *other)
{
	const struct record_settings *a = &one->settings.record, *b = &other->settings.record;

	return same_events(&a->events, &b->events) && a->frequency_hz == b->frequency_hz &&
	       a->is_frequency_max == b->is_frequency_max && a->call_graph == b->call_graph &&
	       a->unwind_bytes == b->unwind_bytes &&
	       one->settings.window_ns == other->settings.window_ns &&
	       one->settings.keep_lines == other->settings.keep_lines &&
	       one->settings.memory_bytes == other->settings.memory_bytes;
}

void session_free(struct session *session)
{
	if (!session)
		return;
	capture_close(session->capture);
	window_free(session->window);
	record_plan_release(&session->plan);
	options_release(&command_daemon, &session->settings, &session->left);
	command_line_release(&session->line);
	free(session);
}
