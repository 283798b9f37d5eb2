/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers by name, and two texts.
 */
#include "continuous/push_state.h"

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "continuous/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 64 << 10 };

static const char first_line[] = "bpfprof pushes 1\n";

#define TOTAL(field)	     offsetof(struct push_state, totals.field)
#define LOSS(name, sentence) {"lost_" #name, TOTAL(lost) + PUSH_LOST_##name * sizeof(u64)},

static const struct {
	const char *name;
	size_t offset;
} numbers[] = {{"time_ns", offsetof(struct push_state, time_ns)},
	       {"windows", TOTAL(windows)},
	       {"sent", TOTAL(sent)},
	       {"sent_bytes", TOTAL(sent_bytes)},
	       {"last_sent_ns", TOTAL(last_sent_ns)},
	       {"attempts_failed", TOTAL(attempts_failed)},
	       {"failing_since_ns", TOTAL(failing_since_ns)},
	       {"waiting", TOTAL(waiting)},
	       {"waiting_bytes", TOTAL(waiting_bytes)},
	       PUSH_LOSSES(LOSS)};

char *push_state_path(const char *store)
{
	return must_format("%s/pushes", store);
}

int push_state_write(const char *store, const struct push_state *state)
{
	CLEANUP(text_release) struct text text = {0};
	CLEANUP(freep) char *path = push_state_path(store);
	CLEANUP(freep) char *made = must_format("%s.new", path);
	CLEANUP(closep)
	int fd = open(made, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		      store_file_mode(store));
	int error;

	text_append(&text, first_line);
	text_appendf(&text, "url %s\n", state->url);
	for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
		text_appendf(&text, "%s %" PRIu64 "\n", numbers[i].name,
			     *(const u64 *)((const char *)state + numbers[i].offset));
	text_appendf(&text, "failing_why %s\n", state->totals.failing_why);
	error = fd < 0 ? -errno : file_write_all(fd, text.bytes, text.length);
	if (!error && rename(made, path))
		error = -errno;
	if (error && fd >= 0)
		unlink(made);
	return error ? fail(error, NULL, "cannot write %s", path) : 0;
}

/* What others print: no control characters. */
static void take_text(const char *value, char *to, size_t room)
{
	snprintf(to, room, "%s", value);
	for (; *to; to++)
		if ((u8)*to < ' ' || *to == 0x7f)
			*to = '?';
}

static void take_line(const char *name, const char *value, struct push_state *state)
{
	struct push_totals *totals = &state->totals;

	if (!strcmp(name, "url"))
		take_text(value, state->url, sizeof(state->url));
	if (!strcmp(name, "failing_why"))
		take_text(value, totals->failing_why, sizeof(totals->failing_why));
	for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
		if (!strcmp(name, numbers[i].name))
			*(u64 *)((char *)state + numbers[i].offset) = strtoull(value, NULL, 10);
}

int push_state_read(const char *store, struct push_state *ret_state)
{
	CLEANUP(freep) char *path = push_state_path(store);
	CLEANUP(freep) char *text = NULL;
	int error = file_read(path, MOST_BYTES, &text, NULL);
	char *next = text, *line;

	if (error == -ENOENT)
		return error;
	if (error)
		return fail(error, NULL, "cannot read %s", path);
	if (strncmp(text, first_line, strlen(first_line)) != 0)
		return fail_plain(-EPROTO, NULL, "%s is not how pushing goes", path);
	*ret_state = (struct push_state){0};
	while ((line = strsep(&next, "\n"))) {
		char *value = strchr(line, ' ');

		if (!value)
			continue;
		*value = 0;
		take_line(line, value + 1, ret_state);
	}
	return 0;
}
