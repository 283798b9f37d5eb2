/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is known of each thread: how its registers are numbered, and which functions stay where they
 * are on its stack. Private to lbr/.
 *
 * At most 58 KiB a thread, and at most THREADS_MAX threads; of more nothing is known.
 */
#ifndef LBR_THREADS_H
#define LBR_THREADS_H

#include "base/vec.h"
#include "lbr/anchors.h"
#include "lbr/walk.h"

enum { THREADS_MAX = 1 << 16 };

struct thread_facts {
	u32 id;		       /* of all threads that were */
	u64 key;	       /* times renewed, thread */
	u64 first_ns, last_ns; /* of its samples */
	u64 stacks, contradicted;
	/* Register number less calls below, modulo the depth: does not change while calls and
	 * returns balance and nobody clears the registers. */
	u32 constant;
	u32 constant_count; /* 0: not known */
	bool is_constant_moved;
	u64 constant_first_ns, constant_last_ns; /* when it was seen */
	u64 held_first_ns, held_last_ns;	 /* when it holds, as of so many stacks: */
	u64 held_stacks;
	struct anchors anchors;
	/* The entries of the last sample from which nothing is left to learn. */
	VEC(struct branch) window;
	u64 window_hw_idx, window_generation; /* generation: of its process's mappings */
};

struct threads;

/* An empty set. */
struct threads *threads_new(void);
/* The same threads for another part of a recording of which `learned` has heard all: it hears the
 * events from their start and learns nothing. `learned` outlives it and stays as it is. */
struct threads *threads_beside(const struct threads *learned);
/* Frees; NULL is fine. */
void threads_free(struct threads *threads);

/* The thread as it is now, NULL if there are too many. Borrowed until the next threads_…(). */
struct thread_facts *threads_at(struct threads *threads, u32 tid);
/* From now on the thread is another one: it was forked, or has executed another program. */
void threads_renew(struct threads *threads, u32 tid);
/* The events begin once more: threads are again those that they were in the same order. What was
 * kept by key is forgotten. */
void threads_rewind(struct threads *threads);

/* A stack that was walked without guessing. */
struct walked {
	const struct places *places;
	const struct snapshot *snapshot;
	const struct stack *stack;
};

/* Learns from the stack of a thread; key 0, or what it came from: equal for equal samples of any
 * thread. */
void threads_learn(struct threads *threads, struct thread_facts *thread,
		   const struct walked *walked, u64 key);
/* Learns what was learned of the part of the recording that comes next, of whose places `merge`
 * is. */
void threads_learn_all(struct threads *threads, const struct threads *more,
		       const struct place_merge *merge);
/* Whether that was done with this key. */
bool threads_know(const struct threads *threads, u64 key);
/* Then the same of one more sample, of this thread, which need not be walked. */
void threads_learn_again(struct threads *threads, struct thread_facts *thread, u64 key,
			 u64 time_ns);

/* Whether the constant holds at a time: nothing shows that registers were renumbered between then
 * and a time when it was seen. */
bool thread_has_constant(struct thread_facts *thread, u64 time_ns);

struct time_span {
	u64 first_ns, last_ns; /* both are in it */
};

/* A time around another one, in which thread_has_constant() says the same, while nothing more is
 * learned. */
struct time_span thread_span(struct thread_facts *thread, u64 time_ns);
/* Whether calls and returns balance in this thread, as far as was seen. */
bool thread_is_balanced(const struct thread_facts *thread);
/* The registers of frames that follow on each other. */
struct slots {
	u32 first, depth; /* the next is one lower; depth 0: nothing is known of them */
};

/* Whether these functions, of frames behind a stack, are where they always were; true if nobody
 * knows. */
bool thread_fits(const struct thread_facts *thread, const struct slots *slots, const u32 *bodies,
		 u32 count);
/*
 * Times at which frames of these functions, innermost first, may have been the ones that called on,
 * as far as this thread was seen: all of them before, and later again those that were seen less
 * long than one further out. Empty (first_ns above last_ns) if there is none.
 */
struct time_span thread_saw(const struct thread_facts *thread, const u32 *bodies, u32 count);

#endif
