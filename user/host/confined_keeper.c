/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The other side: a process that starts those that work, hands requests on to them and says how
 * that ended. It looks at nothing that a stranger wrote.
 */
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "host/confined_messages.h"
#include "host/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	NOBODY = 65534,	   /* of all distributions; the kernel's overflow uid */
	FIRST_FREE = 3,	   /* descriptor behind standard error */
	MEMORY_MAX_GB = 8, /* of addresses: an image is as long as its file */
	EXIT_BAD_REQUEST = 2,
	EXIT_NO_ANSWER = 3,
	LOOK_MS = 100, /* how often what works is asked for its time */
};

static const u64 ns_per_s = 1000000000;

/* What came with a request. */
struct received {
	struct confined_request request;
	int fds[1 + CONFINED_FILES_MAX];
	size_t fd_count;
};

struct keeper {
	const struct confined_settings *settings;
	int socket;	    /* to who asks */
	pid_t worker;	    /* 0: there is none */
	int to_worker;	    /* -1: there is none */
	u64 worker_told_ns; /* of its CPU time, before the work that it does now */
	u64 told_ns;	    /* CPU time of all of us, as of the last reply */
	struct call_filter worker_calls;
};

static int take_message(int socket, struct received *received)
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
	return got == sizeof(received->request) ? 0 : -EPIPE;
}

static int hand_on(int socket, const struct received *received)
{
	struct iovec part = {(void *)&received->request, sizeof(received->request)};
	_Alignas(struct cmsghdr) u8 control[CMSG_SPACE(sizeof(received->fds))] = {0};
	size_t fd_bytes = received->fd_count * sizeof(int);
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = CMSG_SPACE(fd_bytes)};
	struct cmsghdr *files = CMSG_FIRSTHDR(&message);

	*files = (struct cmsghdr){CMSG_LEN(fd_bytes), SOL_SOCKET, SCM_RIGHTS};
	memcpy(CMSG_DATA(files), received->fds, fd_bytes);
	return sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof(received->request) ? 0 : -EPIPE;
}

static void close_files(const struct received *received)
{
	for (size_t i = 0; i < received->fd_count; i++)
		close(received->fds[i]);
}

/* --- the worker --- */

static void limit(int resource, u64 most)
{
	struct rlimit both = {most, most};

	setrlimit(resource, &both);
}

static int work(const struct confined_settings *settings, const struct received *received)
{
	const struct confined_request *request = &received->request;
	struct confined_head head = {.magic = CONFINED_MAGIC};
	struct text answer = {0};
	int error;

	if (request->work >= settings->work_count || received->fd_count < 1 ||
	    request->question_bytes > sizeof(request->question))
		return EXIT_BAD_REQUEST;
	head.error = settings->works[request->work](
		received->fds + 1, received->fd_count - 1,
		(struct bytes){request->question, request->question_bytes}, &answer);
	head.bytes = head.error ? 0 : answer.length;
	error = file_write_all(received->fds[0], &head, sizeof(head)) ||
		file_write_all(received->fds[0], answer.bytes, head.bytes);
	text_release(&answer);
	return error ? EXIT_NO_ANSWER : 0;
}

/* The last piece of work is told of by the end of the process: nobody writes to its answer then. */
static int work_on(const struct confined_settings *settings, int socket)
{
	u32 most = settings->jobs_each ? settings->jobs_each : 1;
	struct received received;
	int error = 0;

	for (u32 done = 1; !error && !take_message(socket, &received); done++) {
		error = work(settings, &received);
		if (error || done == most)
			return error;
		close_files(&received);
		error = write(socket, "", 1) != 1;
	}
	return error;
}

static _Noreturn void begin_work(const struct keeper *keeper, int ends[static 2])
{
	const struct confined_settings *settings = keeper->settings;

	/* Its maker's end too, whose closing would not be seen otherwise, and files of requests. */
	for (int fd = FIRST_FREE; fd < ends[1]; fd++)
		close(fd);
	/* Also if nobody is left to look at its time. */
	limit(RLIMIT_CPU, (settings->most_cpu_s + 1) * (settings->jobs_each + 1));
#ifndef __SANITIZE_ADDRESS__ /* takes terabytes of addresses */
	limit(RLIMIT_AS, (u64)MEMORY_MAX_GB << 30);
#endif
	limit(RLIMIT_FSIZE, CONFINED_ANSWER_MAX + sizeof(struct confined_head));
	limit(RLIMIT_CORE, 0);
	/* A kernel without filters is told of by who started us. */
	if (call_filter_apply(&keeper->worker_calls))
		(void)privileges_limit_calls(CALLS_CONFINED | CALLS_REQUESTS);
	_exit(work_on(settings, ends[1]));
}

/* --- the keeper --- */

static bool start_worker(struct keeper *keeper)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return false;
	pid = fork();
	if (!pid)
		begin_work(keeper, ends);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return false;
	}
	keeper->worker = pid;
	keeper->to_worker = ends[0];
	keeper->worker_told_ns = 0;
	return true;
}

/* Waits for the worker's end; it had better come. Returns its status as of wait4(2). */
static int end_worker(struct keeper *keeper)
{
	int status = -1;

	closep(&keeper->to_worker);
	/* Nothing to one that has begun to end. */
	kill(keeper->worker, SIGKILL);
	while (waitpid(keeper->worker, &status, 0) < 0 && errno == EINTR)
		;
	keeper->worker = 0;
	return status;
}

static u64 worker_cpu_ns(const struct keeper *keeper)
{
	clockid_t clock;

	return clock_getcpuclockid(keeper->worker, &clock) ? 0 : clock_ns(clock);
}

static bool has_taken_too_long(const struct keeper *keeper, u64 start_ns)
{
	const struct confined_settings *settings = keeper->settings;

	if (worker_cpu_ns(keeper) - keeper->worker_told_ns > settings->most_cpu_s * ns_per_s)
		return true;
	return settings->most_wall_s &&
	       clock_ns(CLOCK_MONOTONIC) - start_ns > settings->most_wall_s * ns_per_s;
}

/* Returns 0 (it is done), -EOWNERDEAD or -ETIME; whoever asks may have gone meanwhile. */
static int wait_for_worker(struct keeper *keeper)
{
	struct pollfd sockets[] = {{.fd = keeper->to_worker, .events = POLLIN},
				   {.fd = keeper->socket}};
	u64 start_ns = clock_ns(CLOCK_MONOTONIC);
	u8 done;

	while (!sockets[0].revents) {
		if (poll(sockets, ARRAY_COUNT(sockets), LOOK_MS) < 0 && errno != EINTR)
			return -EOWNERDEAD;
		if (sockets[0].revents)
			break;
		if (sockets[1].revents || has_taken_too_long(keeper, start_ns)) {
			end_worker(keeper);
			return -ETIME;
		}
	}
	if (recv(keeper->to_worker, &done, sizeof(done), MSG_DONTWAIT) == sizeof(done)) {
		keeper->worker_told_ns = worker_cpu_ns(keeper);
		return 0;
	}
	return end_worker(keeper) ? -EOWNERDEAD : 0;
}

static u64 timeval_nanoseconds(struct timeval time)
{
	return (u64)time.tv_sec * ns_per_s + (u64)time.tv_usec * 1000;
}

/* CPU time of all of us so far. */
static u64 spent_ns(const struct keeper *keeper)
{
	struct rusage ended;
	u64 spent = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	getrusage(RUSAGE_CHILDREN, &ended);
	spent += timeval_nanoseconds(ended.ru_utime) + timeval_nanoseconds(ended.ru_stime);
	return keeper->worker ? spent + worker_cpu_ns(keeper) : spent;
}

/* A worker may have been killed since it did its last piece. */
static int have_done(struct keeper *keeper, const struct received *received)
{
	if (keeper->worker && (received->request.wants_new || hand_on(keeper->to_worker, received)))
		end_worker(keeper);
	if (!keeper->worker && (!start_worker(keeper) || hand_on(keeper->to_worker, received)))
		return -EOWNERDEAD;
	return wait_for_worker(keeper);
}

static struct confined_reply serve(struct keeper *keeper, const struct received *received)
{
	struct confined_reply reply = {.outcome = have_done(keeper, received)};
	u64 spent = spent_ns(keeper);

	if (spent > keeper->told_ns) {
		reply.cpu_ns = spent - keeper->told_ns;
		keeper->told_ns = spent;
	}
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
	struct keeper keeper = {.settings = settings, .to_worker = -1};
	struct received received;

	prctl(PR_SET_NAME, settings->name ? settings->name : "bpfprof-reader");
	ignore_signals();
	keeper.socket = close_all_but(socket);
	(void)call_filter_make(CALLS_CONFINED | CALLS_REQUESTS, &keeper.worker_calls);
	setpriority(PRIO_PROCESS, 0, settings->nice);
	if (!give_up_all())
		_exit(EXIT_FAILURE);
	while (!take_message(keeper.socket, &received)) {
		struct confined_reply reply = serve(&keeper, &received);

		close_files(&received);
		if (send(keeper.socket, &reply, sizeof(reply), MSG_NOSIGNAL) < 0)
			break;
	}
	if (keeper.worker)
		end_worker(&keeper);
	_exit(0);
}
