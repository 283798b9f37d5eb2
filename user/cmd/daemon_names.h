/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names of what was sampled, kept before their binaries can go. Private to this folder.
 */
#ifndef CMD_DAEMON_NAMES_H
#define CMD_DAEMON_NAMES_H

#include "continuous/continuous.h"
#include "event/event.h"
#include "host/host.h"

struct daemon_names;

struct daemon_names_settings {
	const char *directory;
	u64 max_bytes; /* of the folder; 0: no limit */
	/* A binary that is still sampled is looked at again after so long: that its names and
	 * lines are in use, so that others go first, and whether they still are there. */
	u64 again_ns;
	struct confined *confined; /* reads them; borrowed, NULL: this process */
};

/* The works of such a one. */
struct confined_settings daemon_names_works(void);

/* Opens a folder of names. Returns 0 or a negative errno with a sentence. */
int daemon_names_open(const struct daemon_names_settings *settings,
		      struct daemon_names **ret_names);
/* Keeps those of the kernel, also when its modules change, and from now on what is wanted. Reading
 * a large binary takes a second or more of a busy machine: that is done by a thread, with a low
 * priority. Signals must be blocked by now. Returns as daemon_names_open(). */
int daemon_names_start(struct daemon_names *names);
/* Reads what still waits, for ten seconds at most; then daemon_names_losses() has what no window
 * tells of. NULL is fine. */
void daemon_names_end(struct daemon_names *names);
/* Ends, holds the limit, and frees; NULL is fine. */
void daemon_names_close(struct daemon_names *names);
/* Wants those of a binary that runs; a struct window_settings.take_binary, `names` its context.
 * True if it never has to be told of again, because nothing can be kept of it. */
bool daemon_names_take(void *names, const struct mapping *binary);
/* Wants those of a file that a stack has just come into, which may be gone soon; a
 * struct capture_settings.on_file, `names` its context. If names are kept under the build id that
 * the mapping has, the file is not looked at. */
void daemon_names_take_file(void *names, const struct mapping *binary, int file);
/* Wants the source lines of where samples lie, each once; a struct window_settings.take_code. */
void daemon_names_take_code(void *names, const struct sampled_code *code);
/* What could not be kept since the last call is added to `losses`, by enum counter. NULL is fine.
 */
void daemon_names_losses(struct daemon_names *names, u64 *losses);
/* Limits what they take on disk from now on; 0: nothing does. NULL is fine. */
void daemon_names_limit(struct daemon_names *names, u64 max_bytes);
/* Why those that were to be kept last could not be written, a negative errno; 0: they could. NULL
 * is fine. */
int daemon_names_write_error(const struct daemon_names *names);
/* Waits until none waits to be read, at most so long. NULL is fine. */
void daemon_names_settle(struct daemon_names *names, u64 within_ns);
/* A process has code that it made, and whose names only it knows; a
 * struct window_settings.meet_jit. */
void daemon_names_meet_jit(void *names, u32 pid);
/* Wants the names at these addresses; a struct window_settings.take_jit. */
bool daemon_names_take_jit(void *names, const struct jit_addresses *addresses,
			   struct build_id *ret_id);
/* The window is over, also if it could not be written. NULL is fine. */
void daemon_names_end_window(struct daemon_names *names);

#endif
