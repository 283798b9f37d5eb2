/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stores with small windows in them.
 */
#ifndef TESTS_CONTINUOUS_WINDOWS_H
#define TESTS_CONTINUOUS_WINDOWS_H

#include "continuous/continuous.h"
#include "unit/perfdata/recording.h"

enum { WINDOW_SAMPLES = ROUNDS * SAMPLES_EACH_ROUND };

#define SECOND_NS 1000000000ull
#define MINUTE_NS (60 * SECOND_NS)
/* 2026-11-21 14:00:00 UTC */
#define FIRST_NS (1795269600 * SECOND_NS)

/* A new folder; store_folder_remove() it. */
static inline char *store_folder(void)
{
	char folder[] = "/tmp/store-test-XXXXXX";

	assert_non_null(mkdtemp(folder));
	return must_copy(folder);
}

/* Removes a folder and all in it. */
static inline void store_folder_remove(char *folder)
{
	CLEANUP(freep) char *command = must_format("rm -r '%s'", folder);

	assert_int_equal(system(command), 0);
	free(folder);
}

static inline struct store *store_opened(const char *folder, enum store_access access)
{
	struct store *store = NULL;

	assert_int_equal(store_open(folder, access, &store), 0);
	return store;
}

/* Writes a window's perf.data. Returns 0 or the writer's error. */
static inline int window_write(const char *path)
{
	struct perfdata_writer_settings settings = recording_settings(path);
	struct perfdata_writer *writer;
	struct perfdata_extra extra = {.losses = {[COUNTER_lost_ring_full] = 7},
				       .wall_ns = MINUTE_NS};
	int error = perfdata_writer_open(&settings, &writer);

	for (u32 round = 0; round < ROUNDS && !error; round++)
		error = recording_put_round(perfdata_writer_sink(writer), round, 1);
	if (error)
		return error;
	perfdata_writer_set_extra(writer, &extra);
	return perfdata_writer_close(writer);
}

/* Writes a window of a minute. Returns 0 or the first error. */
static inline int window_put(struct store *store, u64 start_ns)
{
	struct store_window window = {
		.start_ns = start_ns,
		.end_ns = start_ns + MINUTE_NS,
		.samples = WINDOW_SAMPLES,
		.rate_hz = 99,
		.losses = {[COUNTER_lost_ring_full] = 7},
	};
	const char *path;
	int error = store_begin(store, start_ns, &path);

	if (error)
		return error;
	error = window_write(path);
	if (error) {
		store_abandon(store);
		return error;
	}
	return store_commit(store, &window);
}

/* `count` windows, one a minute. */
static inline void windows_put(const char *folder, u32 count)
{
	struct store *store = store_opened(folder, STORE_WRITE);

	for (u32 i = 0; i < count; i++)
		assert_int_equal(window_put(store, FIRST_NS + i * MINUTE_NS), 0);
	store_close(store);
}

/* What store_each() tells, as text: "14:00:00+60s 15 samples 7 lost flags 1 before 0\n". */
static inline int window_tell(void *context, const struct store_window *window, const char *path)
{
	u64 start_s = window->start_ns / SECOND_NS;

	text_appendf(context, "%s %02u:%02u:%02u+%llus %llu samples %llu lost flags %x before %u\n",
		     strrchr(path, '/') + 1, (u32)(start_s / 3600 % 24), (u32)(start_s / 60 % 60),
		     (u32)(start_s % 60),
		     (unsigned long long)((window->end_ns - window->start_ns) / SECOND_NS),
		     (unsigned long long)window->samples,
		     (unsigned long long)window->losses[COUNTER_lost_ring_full], window->flags,
		     window->lost_before);
	return 0;
}

/* Owned by the caller. */
static inline char *windows_told(struct store *store, u64 from_ns, u64 to_ns)
{
	struct text text = {0};

	assert_int_equal(store_each(store, from_ns, to_ns, window_tell, &text), 0);
	return text_take(&text);
}

/* What a store holds, opened for `access`. */
static inline void store_expect(const char *folder, enum store_access access, const char *windows,
				const char *notes)
{
	struct store *store = store_opened(folder, access);
	CLEANUP(freep) char *told = windows_told(store, 0, UINT64_MAX);

	assert_string_equal(told, windows);
	if (!*notes)
		assert_string_equal(store_notes(store), "");
	else
		assert_non_null(strstr(store_notes(store), notes));
	store_close(store);
}

static inline void shell_in(const char *folder, const char *script)
{
	CLEANUP(freep) char *command = must_format("cd '%s' && %s", folder, script);

	assert_int_equal(system(command), 0);
}

#endif
