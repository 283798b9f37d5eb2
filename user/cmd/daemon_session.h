/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What goes with one reading of the settings: a capture and the window that its events go into.
 * Private to this folder.
 */
#ifndef CMD_DAEMON_SESSION_H
#define CMD_DAEMON_SESSION_H

#include "cmd/command_line.h"
#include "cmd/daemon_settings.h"
#include "cmd/record_plan.h"
#include "continuous/continuous.h"

struct daemon_names;

struct session {
	struct daemon_settings settings;
	struct command_line line; /* what texts of the settings lie in … */
	struct arguments left;	  /* … or in what this owns, if a config file has them */
	struct record_plan plan;
	struct capture *capture;
	struct window *window;
	struct capture_totals told;   /* as of the end of the last window */
	struct confined *file_reader; /* of binaries that samples lie in; borrowed */
	struct daemon_names *names; /* where names of binaries are kept; borrowed, NULL: nowhere */
};

/* Samples are counted in the kernel for so long at most, until they come: what a process that has
 * gone by then ran may be gone, too, so names should be asked for soon. */
#define COUNTING_NS 10000000000ULL

/* Reads config files and command line once more. Returns 0, or a negative errno with a sentence;
 * session_free() it. */
int session_read(struct session **ret_session);
/* Opens the capture, stopped, and a window. Returns 0 or a negative errno with a sentence. */
int session_open(struct session *session);
/* Starts it. Returns as session_open(). */
int session_start(struct session *session);
/* What is to be kept of windows. */
struct store_limits session_limits(const struct session *session);
/* How many bytes names may take on disk; 0: there is no limit. */
u64 session_names_limit(const struct session *session);
/* Whether what is sampled, and how, is the same in both. */
bool session_samples_alike(const struct session *one, const struct session *other);
/* Closes and frees; NULL is fine. */
void session_free(struct session *session);

#endif
