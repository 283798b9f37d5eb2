/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which row of a profile's threads a thread id stands for, as it is used again and again; and how
 * the lives of one part of a recording go on in the next. Private to the folder.
 */
#ifndef PROFILE_THREAD_LIVES_H
#define PROFILE_THREAD_LIVES_H

#include "profile/tables.h"

/* Zeroed memory is a valid empty one. Thread ids are keys, in all maps. */
struct thread_lives {
	struct idmap rows;  /* → row of profile->threads, of the life it has now */
	struct idmap begun; /* → 1: it began anew since counting did */
	/* → name that the life got since counting began, which had begun before that */
	struct idmap renamed;
};

/* The row of the thread of a sample, made with `name` if the thread had none in this life. */
thread_id thread_lives_row(struct thread_lives *lives, struct profile *profile,
			   const struct sample *sample, string_id name);
/* The thread's row if it has one, else 0. */
thread_id thread_lives_known(const struct thread_lives *lives, u32 tid);
/* The thread has another name now, its row too. */
void thread_lives_rename(struct thread_lives *lives, struct profile *profile, u32 tid,
			 string_id name);
/* The thread id begins another life. */
void thread_lives_begin(struct thread_lives *lives, u32 tid);
/*
 * `lives` of `profile` go on as `next` of the profile `other` has it, which counted the samples
 * right behind: rows of lives that were not there are added, names are those of the end.
 *
 * ret_rows  by row of other->threads: what it is in `profile`
 */
void thread_lives_continue(struct thread_lives *lives, struct profile *profile,
			   const struct thread_lives *next, const struct profile *other,
			   thread_id *ret_rows);
/* Frees; empty again. */
void thread_lives_release(struct thread_lives *lives);

#endif
