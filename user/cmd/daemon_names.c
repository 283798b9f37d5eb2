/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From windows to the cache of names, by a thread that reads one binary after the other.
 */
#include "cmd/daemon_names.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/intern.h"
#include "base/memory.h"
#include "base/vec.h"
#include "bpfprof/counters.h"
#include "cmd/daemon_lines.h"
#include "cmd/jit_maps.h"
#include "cmd/wanted_names.h"
#include "symbolize/symbolize.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

enum {
	FAILURES_MAX = 8,
	/* With the lowest of all it would not come to a file on a busy machine before that is gone.
	 */
	LOW_PRIORITY = 5,
	/* A machine that compiles meets new binaries all the time. Above so many all are forgotten:
	 * the cache has those that were kept. */
	STATES_MAX = 1 << 15,
	/* Open files that wait. What comes beyond that is looked for once it was counted. */
	FILES_MAX = 128,
};

struct binary_state {
	u64 rest_ns; /* it is not wanted again before that, CLOCK_MONOTONIC */
	bool is_waiting;
	u8 failures; /* processes that were gone too soon */
};

struct daemon_names {
	struct names_cache *cache; /* the thread's, but for its limit and its last error */
	struct confined *confined; /* borrowed; NULL: binaries are read by ourselves */
	u64 again_ns;
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t mutex; /* of all below */
	pthread_cond_t changed;
	bool ends;
	/* Times that the kernel's modules changed, and as of which of them its names are kept. */
	u64 kernel_changes, kernel_kept;
	struct intern build_ids;
	VEC(struct binary_state) states; /* by id - 1 */
	struct wanted_queue queue;
	size_t waiting;		   /* in the queue, or with the thread */
	u64 losses[COUNTER_COUNT]; /* by enum counter, since that was asked for */
	struct daemon_lines lines;
	struct jit_maps jit_maps; /* only the windows' thread touches it */
};

static bool has_kernel(const struct daemon_names *names)
{
	return names->kernel_kept == names->kernel_changes;
}

/* The kernel stays while binaries go: it waits until there is nothing else to do. If it hides its
 * addresses, samples of it have no names either. */
static void keep_kernel(struct daemon_names *names)
{
	u64 changes = names->kernel_changes;

	pthread_mutex_unlock(&names->mutex);
	names_cache_keep_kernel(names->cache);
	pthread_mutex_lock(&names->mutex);
	names->kernel_kept = changes;
	pthread_cond_broadcast(&names->changed);
}

/* Waits for work; false: there will be none. */
static bool next_wanted(struct daemon_names *names, struct wanted *ret_wanted)
{
	bool found;

	pthread_mutex_lock(&names->mutex);
	while (!names->queue.items.count && !(names->ends && has_kernel(names)))
		if (!has_kernel(names))
			keep_kernel(names);
		else
			pthread_cond_wait(&names->changed, &names->mutex);
	found = names->queue.items.count;
	if (found)
		*ret_wanted = wanted_queue_take(&names->queue);
	pthread_mutex_unlock(&names->mutex);
	return found;
}

/* A process may be gone before its file was found: the next one that runs it may live longer. And
 * what cannot be written now may be with the next window. */
static void note_result(struct daemon_names *names, u32 id, int error, bool is_unwritten)
{
	struct binary_state *state = &names->states.items[id - 1];

	state->is_waiting = false;
	if (is_unwritten)
		return;
	state->failures += error == -ENOENT;
	if (error != -ENOENT || state->failures == FAILURES_MAX) {
		state->failures = 0;
		state->rest_ns = clock_ns(CLOCK_MONOTONIC) + names->again_ns;
	}
}

/* Of a binary without lines none are lost. */
static void count_loss(struct daemon_names *names, const struct wanted *wanted, int error)
{
	bool has_lines = wanted->kind == WANT_LINES && error && error != -ENODATA;

	if (error == -EOWNERDEAD)
		names->losses[COUNTER_names_reader_died]++;
	else if (error == -ETIME || error == -EPIPE)
		names->losses[COUNTER_names_reader_slow]++;
	else if (error && error == names_cache_write_error(names->cache))
		names->losses[COUNTER_names_not_written]++;
	else if (wanted->kind == WANT_JIT_NAMES && error == -EFBIG)
		names->losses[COUNTER_jit_map_too_large]++;
	else if (has_lines && error == -ENOENT)
		names->losses[COUNTER_lines_file_gone]++;
	else if (has_lines && error == -EXDEV)
		names->losses[COUNTER_lines_elsewhere]++;
	else if (has_lines)
		names->losses[COUNTER_lines_unreadable]++;
}

static void keep(struct daemon_names *names, struct wanted *wanted)
{
	u64 before_ns = names->confined ? confined_cpu_ns(names->confined) : 0;
	int error = wanted_keep(wanted, names->cache);
	bool is_unwritten = error && error == names_cache_write_error(names->cache);
	struct lines_outcome outcome = {.error = error, .is_unwritten = is_unwritten};

	if (names->confined)
		outcome.cost_ns = confined_cpu_ns(names->confined) - before_ns;
	pthread_mutex_lock(&names->mutex);
	names->waiting--;
	count_loss(names, wanted, error);
	if (wanted->kind == WANT_LINES)
		daemon_lines_note(&names->lines, wanted, &outcome);
	else if (wanted->id)
		note_result(names, wanted->id, error, is_unwritten);
	pthread_cond_broadcast(&names->changed);
	pthread_mutex_unlock(&names->mutex);
	wanted_release(wanted);
}

static void *keep_names(void *context)
{
	struct daemon_names *names = context;
	struct wanted wanted;

	setpriority(PRIO_PROCESS, 0, LOW_PRIORITY); /* of this thread */
	while (next_wanted(names, &wanted))
		keep(names, &wanted);
	return NULL;
}

struct confined_settings daemon_names_works(void)
{
	enum { MOST_CPU_S = 60, MOST_WALL_S = 600 }; /* gigabytes, on a busy machine */

	return (struct confined_settings){
		.works = confined_names_works,
		.work_count = CONFINED_NAMES_WORKS,
		.jobs_each = CONFINED_NAMES_EACH,
		.nice = LOW_PRIORITY,
		.most_cpu_s = MOST_CPU_S,
		.most_wall_s = MOST_WALL_S,
	};
}

int daemon_names_open(const struct daemon_names_settings *settings, struct daemon_names **ret_names)
{
	struct names_cache_settings cache = {.directory = settings->directory,
					     .max_bytes = settings->max_bytes,
					     .confined = settings->confined};
	struct daemon_names *names = must_alloc(sizeof(*names));
	int error = names_cache_open(&cache, &names->cache);
	pthread_condattr_t by_clock;

	names->confined = settings->confined;
	names->again_ns = names->lines.again_ns = settings->again_ns;
	names->kernel_changes = 1; /* it has begun */
	pthread_mutex_init(&names->mutex, NULL);
	pthread_condattr_init(&by_clock);
	pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
	pthread_cond_init(&names->changed, &by_clock);
	pthread_condattr_destroy(&by_clock);
	if (error) {
		daemon_names_close(names);
		return error;
	}
	*ret_names = names;
	return 0;
}

int daemon_names_start(struct daemon_names *names)
{
	int error = -pthread_create(&names->thread, NULL, keep_names, names);

	names->has_thread = !error;
	return error ? fail(error, NULL, "cannot start a thread") : 0;
}

static void want(struct daemon_names *names, const struct wanted *wanted)
{
	wanted_queue_add(&names->queue, wanted);
	names->waiting++;
	pthread_cond_broadcast(&names->changed);
}

/* While nothing can be written, one binary at a time is read to try: to read all with each window
 * would cost more than anything else that a daemon does. */
static bool is_in_vain(const struct daemon_names *names)
{
	return names->waiting && names_cache_write_error(names->cache);
}

/* Those of all binaries that may be looked for. */
static void want_lines(struct daemon_names *names, u64 now_ns)
{
	struct wanted wanted;

	for (u32 id = 1; id <= names->lines.binaries.count && !is_in_vain(names); id++)
		if (daemon_lines_take(&names->lines, id, now_ns, &wanted))
			want(names, &wanted);
}

void daemon_names_end(struct daemon_names *names)
{
	/* Less than a service manager waits (TimeoutStopSec of the unit) before it kills. */
	const u64 within_ns = 10000000000;

	if (!names || !names->has_thread)
		return;
	if (names->confined)
		confined_end_at(names->confined, clock_ns(CLOCK_MONOTONIC) + within_ns);
	pthread_mutex_lock(&names->mutex);
	want_lines(names, ~0ULL);
	names->ends = true;
	pthread_cond_broadcast(&names->changed);
	pthread_mutex_unlock(&names->mutex);
	pthread_join(names->thread, NULL);
	names->has_thread = false;
}

void daemon_names_close(struct daemon_names *names)
{
	if (!names)
		return;
	daemon_names_end(names);
	wanted_queue_release(&names->queue);
	jit_maps_release(&names->jit_maps);
	names_cache_close(names->cache);
	pthread_mutex_destroy(&names->mutex);
	pthread_cond_destroy(&names->changed);
	intern_release(&names->build_ids);
	vec_release(&names->states);
	daemon_lines_release(&names->lines);
	free(names);
}

static void forget_many(struct daemon_names *names)
{
	if (names->states.count < STATES_MAX || names->waiting)
		return;
	intern_release(&names->build_ids);
	vec_release(&names->states);
}

static struct binary_state *state_of(struct daemon_names *names, const struct mapping *binary,
				     u32 *ret_id)
{
	forget_many(names);
	*ret_id = intern_bytes(&names->build_ids, binary->build_id, binary->build_id_bytes);
	if (*ret_id > names->states.count)
		*vec_add(&names->states) = (struct binary_state){0};
	return &names->states.items[*ret_id - 1];
}

static void want_binary(struct daemon_names *names, u32 id, const struct mapping *binary, int fd)
{
	struct wanted wanted = wanted_of(WANT_NAMES, id, binary);

	wanted.fd = fd;
	want(names, &wanted);
}

void daemon_names_take_file(void *context, const struct mapping *binary, int file)
{
	struct daemon_names *names = context;
	int fd;

	pthread_mutex_lock(&names->mutex);
	fd = names->queue.open_files < FILES_MAX ? fcntl(file, F_DUPFD_CLOEXEC, 0) : -1;
	if (fd >= 0)
		want_binary(names, 0, binary, fd);
	pthread_mutex_unlock(&names->mutex);
}

/* Only the running kernel has the names of a module. */
static bool take_kernel(struct daemon_names *names)
{
	pthread_mutex_lock(&names->mutex);
	names->kernel_changes++;
	pthread_cond_broadcast(&names->changed);
	pthread_mutex_unlock(&names->mutex);
	return true;
}

bool daemon_names_take(void *context, const struct mapping *binary)
{
	struct daemon_names *names = context;
	u64 now_ns = clock_ns(CLOCK_MONOTONIC);
	struct binary_state *state;
	u32 id;

	if (binary->space == SPACE_KERNEL)
		return take_kernel(names);
	/* What has no build id cannot be told from what may stand in its place later. */
	if (!binary->build_id_bytes)
		return true;
	pthread_mutex_lock(&names->mutex);
	state = state_of(names, binary, &id);
	if (!state->is_waiting && now_ns >= state->rest_ns && !is_in_vain(names)) {
		state->is_waiting = true;
		want_binary(names, id, binary, -1);
	}
	pthread_mutex_unlock(&names->mutex);
	return false;
}

void daemon_names_take_code(void *context, const struct sampled_code *code)
{
	struct daemon_names *names = context;

	pthread_mutex_lock(&names->mutex);
	daemon_lines_add(&names->lines, code, clock_ns(CLOCK_MONOTONIC));
	pthread_mutex_unlock(&names->mutex);
}

void daemon_names_limit(struct daemon_names *names, u64 max_bytes)
{
	if (names)
		names_cache_limit(names->cache, max_bytes);
}

int daemon_names_write_error(const struct daemon_names *names)
{
	return names ? names_cache_write_error(names->cache) : 0;
}

void daemon_names_losses(struct daemon_names *names, u64 *losses)
{
	if (!names)
		return;
	pthread_mutex_lock(&names->mutex);
	for (u32 i = 0; i < COUNTER_COUNT; i++) {
		losses[i] += names->losses[i];
		names->losses[i] = 0;
	}
	pthread_mutex_unlock(&names->mutex);
}

void daemon_names_settle(struct daemon_names *names, u64 within_ns)
{
	u64 until_ns = clock_ns(CLOCK_MONOTONIC) + within_ns;
	struct timespec until = clock_timespec(until_ns);
	int error = 0;

	if (!names)
		return;
	pthread_mutex_lock(&names->mutex);
	while ((names->waiting || !has_kernel(names)) && !names->ends && !error)
		error = pthread_cond_timedwait(&names->changed, &names->mutex, &until);
	pthread_mutex_unlock(&names->mutex);
}

/* --- code that processes made --- */

void daemon_names_meet_jit(void *context, u32 pid)
{
	struct daemon_names *names = context;

	(void)jit_map_of(&names->jit_maps, pid);
}

static void want_jit(struct daemon_names *names, const struct jit_addresses *addresses, int map,
		     const struct build_id *id)
{
	size_t bytes = addresses->count * sizeof(u64);
	struct wanted wanted = {
		.kind = WANT_JIT_NAMES,
		.pid = addresses->pid,
		.fd = map,
		.build_id_bytes = id->length,
		.addresses = must_alloc(bytes),
		.address_count = addresses->count,
	};

	memcpy(wanted.build_id, id->bytes, id->length);
	memcpy(wanted.addresses, addresses->items, bytes);
	pthread_mutex_lock(&names->mutex);
	want(names, &wanted);
	pthread_mutex_unlock(&names->mutex);
}

/* Of a process that has none nothing is lost that there was. */
static void count_refused(struct daemon_names *names, int error)
{
	pthread_mutex_lock(&names->mutex);
	names->losses[COUNTER_jit_map_foreign] += error == -EPERM;
	names->losses[COUNTER_jit_map_no_file] += error == -ELOOP || error == -EINVAL;
	pthread_mutex_unlock(&names->mutex);
}

bool daemon_names_take_jit(void *context, const struct jit_addresses *addresses,
			   struct build_id *ret_id)
{
	struct daemon_names *names = context;
	int map = jit_map_take(&names->jit_maps, addresses->pid);

	if (map < 0) {
		count_refused(names, map);
		return false;
	}
	*ret_id = jit_code_id(map, addresses->pid, addresses->items, addresses->count);
	want_jit(names, addresses, map, ret_id);
	return true;
}

void daemon_names_end_window(struct daemon_names *names)
{
	if (!names)
		return;
	jit_maps_release(&names->jit_maps);
	pthread_mutex_lock(&names->mutex);
	want_lines(names, clock_ns(CLOCK_MONOTONIC));
	pthread_mutex_unlock(&names->mutex);
}
