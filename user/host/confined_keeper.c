/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The other side: a process that starts one for each request, waits for it and says how it ended.
 * It looks at nothing that a stranger wrote.
 */
#include "base/file.h"
#include "base/memory.h"
#include "host/confined_messages.h"
#include "host/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	NOBODY = 65534,	   /* of all distributions; the kernel's overflow uid */
	FIRST_FREE = 3,	   /* descriptor behind standard error */
	MEMORY_MAX_GB = 8, /* of addresses: an image is as long as its file */
	EXIT_BAD_REQUEST = 2,
	EXIT_NO_ANSWER = 3,
};

static const u64 ns_per_s = 1000000000;

/* What came with a request. */
struct received {
	struct confined_request request;
	int fds[1 + CONFINED_FILES_MAX];
	size_t fd_count;
};

/* --- the worker --- */

/* At the first of the limits of CPU time comes a signal that says so, at the second SIGKILL. */
static void limit(int resource, u64 most)
{
	struct rlimit both = {most, most + (resource == RLIMIT_CPU)};

	setrlimit(resource, &both);
}

static int work(const struct confined_settings *settings, const struct received *received)
{
	const struct confined_request *request = &received->request;
	struct confined_head head = {.magic = CONFINED_MAGIC};
	struct text answer = {0};

	if (request->work >= settings->work_count || received->fd_count < 1 ||
	    request->question_bytes > sizeof(request->question))
		return EXIT_BAD_REQUEST;
	head.error = settings->works[request->work](
		received->fds + 1, received->fd_count - 1,
		(struct bytes){request->question, request->question_bytes}, &answer);
	head.bytes = head.error ? 0 : answer.length;
	if (file_write_all(received->fds[0], &head, sizeof(head)) ||
	    file_write_all(received->fds[0], answer.bytes, head.bytes))
		return EXIT_NO_ANSWER;
	return 0;
}

static _Noreturn void begin_work(const struct confined_settings *settings,
				 const struct received *received, int socket)
{
	close(socket);
	limit(RLIMIT_CPU, settings->most_cpu_s);
#ifndef __SANITIZE_ADDRESS__ /* takes terabytes of addresses */
	limit(RLIMIT_AS, (u64)MEMORY_MAX_GB << 30);
#endif
	limit(RLIMIT_FSIZE, CONFINED_ANSWER_MAX + sizeof(struct confined_head));
	limit(RLIMIT_CORE, 0);
	alarm(settings->most_wall_s);
	/* A kernel without filters is told of by who started us. */
	(void)privileges_limit_calls(CALLS_CONFINED);
	_exit(work(settings, received));
}

/* --- the keeper --- */

/* Waits for a request; false: there will be none. */
static bool receive(int socket, struct received *received)
{
	struct iovec part = {&received->request, sizeof(received->request)};
	_Alignas(struct cmsghdr) u8 control[CMSG_SPACE(sizeof(received->fds))];
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	const struct cmsghdr *files;
	ssize_t got;

	do
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	files = CMSG_FIRSTHDR(&message);
	received->fd_count = 0;
	if (got > 0 && files && files->cmsg_type == SCM_RIGHTS) {
		received->fd_count = (files->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(received->fds, CMSG_DATA(files), received->fd_count * sizeof(int));
	}
	return got == sizeof(received->request);
}

static u64 nanoseconds(struct timeval time)
{
	return (u64)time.tv_sec * ns_per_s + (u64)time.tv_usec * 1000;
}

static struct confined_reply serve(const struct confined_settings *settings,
				   const struct received *received, int socket)
{
	struct confined_reply reply = {.status = -1};
	struct rusage usage = {0};
	pid_t pid = fork();

	if (!pid)
		begin_work(settings, received, socket);
	while (pid > 0 && wait4(pid, &reply.status, 0, &usage) < 0 && errno == EINTR)
		;
	reply.cpu_ns = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
	return reply;
}

/* Nothing of what our maker has open is ours. */
static int close_all_but(int socket)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < FIRST_FREE; fd++)
		dup2(null, fd);
	dup2(socket, FIRST_FREE);
	if (syscall(SYS_close_range, FIRST_FREE + 1, ~0u, 0))
		for (int fd = FIRST_FREE + 1; fd < (int)sysconf(_SC_OPEN_MAX); fd++)
			close(fd);
	return FIRST_FREE;
}

/* Who asks says when it is over, by closing the socket: not whoever stops the service. */
static void ignore_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};

	for (size_t i = 0; i < ARRAY_COUNT(signals); i++)
		signal(signals[i], SIG_IGN);
}

/* Without CAP_SETUID we stay who we are; the capabilities go in any case: all others first, since
 * it takes one to empty the bounding set. */
static bool give_up_all(void)
{
	if (privileges_keep(CAPABILITY_BIT(CAP_SETUID) | CAPABILITY_BIT(CAP_SETGID)))
		return false;
	if (!geteuid() && !setgroups(0, NULL) && !setgid(NOBODY))
		(void)!setuid(NOBODY);
	if (privileges_keep(0))
		return false;
	(void)privileges_limit_calls(CALLS_KEEPER);
	return true;
}

_Noreturn void confined_keep(const struct confined_settings *settings, int socket)
{
	struct received received;

	prctl(PR_SET_NAME, "bpfprof-reader");
	ignore_signals();
	socket = close_all_but(socket);
	setpriority(PRIO_PROCESS, 0, settings->nice);
	if (!give_up_all())
		_exit(EXIT_FAILURE);
	while (receive(socket, &received)) {
		struct confined_reply reply = serve(settings, &received, socket);

		for (size_t i = 0; i < received.fd_count; i++)
			close(received.fds[i]);
		if (send(socket, &reply, sizeof(reply), MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}
