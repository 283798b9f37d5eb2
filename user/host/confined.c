/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Our side: asks, waits, and reads the answer when nobody can write to it any more.
 */
#include "host/confined.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "host/confined_messages.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	ERRNO_MOST = 4095,
	/* There are two, and what stops us waits for less than half a minute in all. */
	STOP_MOST_S = 3,
	ANSWER_FACTOR = 2,
};

static const u64 ns_per_s = 1000000000;

struct confined {
	pid_t keeper;
	u64 answer_most_ns; /* then the keeper is stuck itself; 0: never */
	int socket;
	_Atomic(u64) cpu_ns;
	_Atomic(u64) end_ns; /* nothing is waited for any longer then, CLOCK_MONOTONIC; 0: never */
	atomic_bool is_gone;
};

int confined_start(const struct confined_settings *settings, struct confined **ret_confined)
{
	struct confined *confined;
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return fail(-errno, NULL, "cannot make a socket");
	pid = fork();
	if (!pid)
		confined_keep(settings, ends[1]);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return fail(-errno, NULL, "cannot start a process");
	}
	confined = must_alloc(sizeof(*confined));
	confined->keeper = pid;
	confined->answer_most_ns = settings->most_wall_s * ANSWER_FACTOR * ns_per_s;
	confined->socket = ends[0];
	*ret_confined = confined;
	return 0;
}

static bool has_ended(pid_t process)
{
	pid_t ended = waitpid(process, NULL, WNOHANG);

	return ended == process || (ended < 0 && errno != EINTR);
}

/*
 * It ends when the socket is closed, with what works, unless somebody has stopped it (SIGSTOP). We
 * may not kill it, as it is nobody and we gave up the right to, but whoever is of a session may let
 * go on what is in it. What does not end then is left to who started us.
 */
void confined_stop(struct confined *confined)
{
	enum { LOOK_MS = 1 };
	u64 until_ns = clock_ns(CLOCK_MONOTONIC) + STOP_MOST_S * ns_per_s;

	if (!confined)
		return;
	closep(&confined->socket);
	while (!has_ended(confined->keeper) && clock_ns(CLOCK_MONOTONIC) < until_ns) {
		kill(confined->keeper, SIGCONT);
		poll(NULL, 0, LOOK_MS);
	}
	free(confined);
}

u64 confined_cpu_ns(const struct confined *confined)
{
	return atomic_load(&confined->cpu_ns);
}

/* Nobody may have anything to ask for long, and would not see it. */
bool confined_is_gone(const struct confined *confined)
{
	struct pollfd socket = {.fd = confined->socket};

	return atomic_load(&confined->is_gone) ||
	       (poll(&socket, 1, 0) == 1 && socket.revents & POLLHUP);
}

/* --- asking --- */

static int send_request(const struct confined *confined, const struct confined_job *job,
			int answer_fd)
{
	struct confined_request request = {.work = job->work,
					   .question_bytes = (u32)job->question.length,
					   .wants_new = job->wants_new};
	struct iovec part = {&request, sizeof(request)};
	_Alignas(struct cmsghdr)
		u8 control[CMSG_SPACE((CONFINED_FILES_MAX + 1) * sizeof(int))] = {0};
	size_t fd_bytes = (1 + job->fd_count) * sizeof(int);
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = CMSG_SPACE(fd_bytes)};
	struct cmsghdr *files = CMSG_FIRSTHDR(&message);

	if (job->question.length)
		memcpy(request.question, job->question.start, job->question.length);
	*files = (struct cmsghdr){CMSG_LEN(fd_bytes), SOL_SOCKET, SCM_RIGHTS};
	memcpy(CMSG_DATA(files), &answer_fd, sizeof(int));
	if (job->fd_count)
		memcpy(CMSG_DATA(files) + sizeof(int), job->fds, job->fd_count * sizeof(int));
	return sendmsg(confined->socket, &message, MSG_NOSIGNAL) == sizeof(request) ? 0 : -EPIPE;
}

void confined_end_at(struct confined *confined, u64 end_ns)
{
	atomic_store(&confined->end_ns, end_ns);
}

/* Looks up now and then, because the end may be told meanwhile. */
static bool reply_comes(struct confined *confined)
{
	enum { LOOK_MS = 500 };
	struct pollfd socket = {.fd = confined->socket, .events = POLLIN};
	u64 start_ns = clock_ns(CLOCK_MONOTONIC);

	for (;;) {
		u64 end_ns = atomic_load(&confined->end_ns), now_ns;

		if (poll(&socket, 1, LOOK_MS) > 0)
			return true;
		now_ns = clock_ns(CLOCK_MONOTONIC);
		if (end_ns && now_ns >= end_ns)
			return false;
		if (confined->answer_most_ns && now_ns - start_ns > confined->answer_most_ns)
			return false;
	}
}

static int take_reply(struct confined *confined)
{
	struct confined_reply reply;
	ssize_t got;

	if (!reply_comes(confined))
		return -EPIPE;
	do
		got = recv(confined->socket, &reply, sizeof(reply), 0);
	while (got < 0 && errno == EINTR);
	if (got != sizeof(reply))
		return -EPIPE;
	atomic_fetch_add(&confined->cpu_ns, reply.cpu_ns);
	return reply.outcome;
}

/* What is in the file may be anything, and a process that goes on may write to it while we read:
 * only what was copied is looked at. */
static int read_answer(int fd, struct bytes *ret_answer)
{
	struct confined_head head;
	CLEANUP(freep) u8 *bytes = NULL;
	struct stat status;

	if (fstat(fd, &status) || pread(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    head.magic != CONFINED_MAGIC || head.bytes > CONFINED_ANSWER_MAX ||
	    (u64)status.st_size != sizeof(head) + head.bytes || head.error > 0 ||
	    head.error < -ERRNO_MOST)
		return -EOWNERDEAD;
	if (head.error)
		return head.error;
	bytes = must_alloc(head.bytes + 1);
	for (u64 done = 0; done < head.bytes;) {
		ssize_t got = pread(fd, bytes + done, head.bytes - done,
				    (off_t)(sizeof(head) + done));

		if (got <= 0)
			return -EOWNERDEAD;
		done += (u64)got;
	}
	*ret_answer = (struct bytes){TAKE(bytes), head.bytes};
	return 0;
}

int confined_run(struct confined *confined, const struct confined_job *job,
		 struct bytes *ret_answer)
{
	CLEANUP(closep) int fd = memfd_create("answer", MFD_CLOEXEC);
	int error;

	if (fd < 0)
		return -errno;
	if (job->fd_count > CONFINED_FILES_MAX || job->question.length > CONFINED_QUESTION_BYTES)
		return -E2BIG;
	/* What comes now may be the answer to what was not waited for. */
	if (atomic_load(&confined->is_gone))
		return -EPIPE;
	error = send_request(confined, job, fd);
	error = error ? error : take_reply(confined);
	if (error == -EPIPE)
		atomic_store(&confined->is_gone, true);
	return error ? error : read_answer(fd, ret_answer);
}
