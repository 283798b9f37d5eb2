/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What we and the process that starts workers tell each other; private to confined*.c.
 */
#ifndef HOST_CONFINED_MESSAGES_H
#define HOST_CONFINED_MESSAGES_H

#include "host/confined.h"

/* With it come descriptors: the file for the answer first, then those to be read. */
struct confined_request {
	u32 work, question_bytes;
	u32 wants_new, reserved;
	u8 question[CONFINED_QUESTION_BYTES];
};

struct confined_reply {
	s32 outcome; /* 0, -EOWNERDEAD or -ETIME */
	u32 reserved;
	u64 cpu_ns; /* since the reply before */
};

/* What the answer's file begins with. */
struct confined_head {
	s32 error;
	u32 magic;
	u64 bytes; /* that follow */
};

enum { CONFINED_MAGIC = 0x61667062, CONFINED_ANSWER_MAX = 256 << 20 };

/* The process that starts others, at its end of the socket. Does not return. */
_Noreturn void confined_keep(const struct confined_settings *settings, int socket);

#endif
