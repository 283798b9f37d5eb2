/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * System calls that end a process which has given them up, and those that still work. Each is tried
 * in a child of its own. (Those that are to be refused do no harm if they are not: their arguments
 * make no sense.)
 */
#include "host/host.h"
#include "kernel/child.h"
#include "kernel/permission.h"

#include "base/file.h"
#include "base/memory.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

enum {
	LOCAL = CALLS_CAPTURE,
	NETWORK = CALLS_CAPTURE | CALLS_NETWORK,
	CONFINED = CALLS_CONFINED,
	KEEPER = CALLS_KEEPER,
	NEWER_CALL = 599,
	BAD_PID = 0x7fffffff,
};

/* With zeros for the other arguments. */
struct call {
	u32 groups;
	long number;
	long first, second, third;
};

static int limit_and_call(const void *context)
{
	const struct call *call = context;

	if (privileges_keep(~0ULL) || privileges_limit_calls(call->groups))
		return 1;
	errno = 0;
	return syscall(call->number, call->first, call->second, call->third, 0, 0, 0) < 0 ? errno
											  : 0;
}

static const struct call forbidden[] = {
	{LOCAL, SYS_execve},
	{LOCAL, SYS_execveat, -1},
	{LOCAL, SYS_ptrace},
	{LOCAL, SYS_process_vm_readv},
	{LOCAL, SYS_process_vm_writev},
	{LOCAL, SYS_kill, BAD_PID},
	{LOCAL, SYS_kill, BAD_PID, SIGKILL},
	{LOCAL, SYS_tgkill, BAD_PID, BAD_PID},
	{LOCAL, SYS_pidfd_open, BAD_PID},
	{LOCAL, SYS_pidfd_getfd, -1},
	{LOCAL, SYS_mount},
	{LOCAL, SYS_open_tree, -1},
	{LOCAL, SYS_umount2},
	{LOCAL, SYS_pivot_root},
	{LOCAL, SYS_chroot},
	{LOCAL, SYS_unshare, CLONE_NEWUSER},
	{LOCAL, SYS_setns, -1},
	{LOCAL, SYS_clone, SIGCHLD},
	{LOCAL, SYS_seccomp, BAD_PID},
	{LOCAL, SYS_capset},
	{LOCAL, SYS_clone, CLONE_NEWUSER | SIGCHLD},
	{LOCAL, SYS_clone, CLONE_NEWNS | SIGCHLD},
	{LOCAL, SYS_init_module},
	{LOCAL, SYS_finit_module, -1},
	{LOCAL, SYS_kexec_load},
	{LOCAL, SYS_reboot},
	{LOCAL, SYS_swapon},
	{LOCAL, SYS_settimeofday},
	{LOCAL, SYS_clock_settime, BAD_PID},
	{LOCAL, SYS_keyctl, BAD_PID},
	{LOCAL, SYS_add_key},
	{LOCAL, SYS_io_uring_setup},
	{LOCAL, SYS_userfaultfd, BAD_PID},
	{LOCAL, SYS_personality, -1},
	{LOCAL, SYS_setuid, -1},
	{LOCAL, SYS_setgid, -1},
	{LOCAL, SYS_fchown, -1},
	{LOCAL, SYS_fchownat, -1},
	{LOCAL, SYS_mknodat, -1},
	{LOCAL, SYS_setxattr},
	{LOCAL, SYS_prlimit64, BAD_PID},
	{LOCAL, SYS_setpriority, PRIO_PROCESS, BAD_PID},
	{LOCAL, SYS_prctl, PR_SET_DUMPABLE, 1},
	{LOCAL, SYS_prctl, PR_SET_MM},
	{LOCAL, SYS_ioctl, -1, TIOCSTI},
	{LOCAL, SYS_socket, AF_INET, SOCK_STREAM},
	{LOCAL, SYS_socket, AF_NETLINK, SOCK_RAW},
	{LOCAL, SYS_socket, AF_PACKET, SOCK_RAW},
	{LOCAL, SYS_bind, -1},
	{LOCAL, SYS_listen, -1},
	{LOCAL, SYS_accept4, -1},
	{NETWORK, SYS_execve},
	{NETWORK, SYS_ptrace},
	{NETWORK, SYS_setns, -1},
	{KEEPER, SYS_openat, -1},
	{KEEPER, SYS_clone, CLONE_NEWUSER | SIGCHLD},
	{KEEPER, SYS_socket, AF_UNIX, SOCK_STREAM},
	{KEEPER, SYS_bpf, -1},
	{KEEPER, SYS_perf_event_open},
	{KEEPER, SYS_execve},
	{KEEPER, SYS_kill, BAD_PID},
	{CONFINED, SYS_openat, -1},
	{CONFINED, SYS_openat2, -1},
	{CONFINED, SYS_socket, AF_UNIX, SOCK_STREAM},
	{CONFINED, SYS_connect, -1},
	{CONFINED, SYS_sendmsg, -1},
	{CONFINED, SYS_recvmsg, -1},
	{CONFINED, SYS_clone, SIGCHLD},
	{CONFINED, SYS_execve},
	{CONFINED, SYS_kill, BAD_PID},
	{CONFINED, SYS_kill, BAD_PID, SIGCONT},
	{CONFINED, SYS_bpf, -1},
	{CONFINED, SYS_perf_event_open},
	{CONFINED, SYS_unlinkat, -1},
	{CONFINED, SYS_memfd_create},
	{CONFINED, SYS_getdents64, -1},
};

static void calls_that_are_not_needed_end_the_process(void **state)
{
	(void)state;
	skip_without_permission();
	for (size_t i = 0; i < ARRAY_COUNT(forbidden); i++)
		if (status_of_child(limit_and_call, &forbidden[i]) != BY_SIGNAL + SIGSYS)
			fail_test("call %ld, row %zu, does not end the process",
				  forbidden[i].number, i);
}

static const struct {
	struct call call;
	int error;
} answered[] = {
	/* What newer C libraries try first. */
	{{LOCAL, SYS_clone3}, ENOSYS},
	{{CONFINED, SYS_clone3}, ENOSYS},
	{{LOCAL, NEWER_CALL}, ENOSYS},
	{{CONFINED, NEWER_CALL}, ENOSYS},
	/* To let go on what somebody stopped. */
	{{LOCAL, SYS_kill, BAD_PID, SIGCONT}, ESRCH},
	/* Memory that is written and run. */
	{{LOCAL, SYS_mmap, 0, 4096, PROT_WRITE | PROT_EXEC}, EACCES},
	{{LOCAL, SYS_mprotect, 0, 4096, PROT_READ | PROT_EXEC}, EACCES},
	{{CONFINED, SYS_mprotect, 0, 4096, PROT_READ | PROT_EXEC}, EACCES},
	/* What libraries ask for the path of a file, and can do without. */
	{{CONFINED, SYS_readlinkat, -1}, EACCES},
	/* They come to the kernel. */
	{{LOCAL, SYS_openat, -1, 0, 0}, EFAULT},
	{{LOCAL, SYS_bpf, -1}, EINVAL},
	{{NETWORK, SYS_bind, -1}, EBADF},
	{{KEEPER, SYS_recvmsg, -1}, EBADF},
	{{CONFINED, SYS_pread64, -1}, EBADF},
	{{CONFINED, SYS_ioctl, -1, TCGETS}, EBADF},
};

static void others_are_answered(void **state)
{
	(void)state;
	skip_without_permission();
	for (size_t i = 0; i < ARRAY_COUNT(answered); i++) {
		int status = status_of_child(limit_and_call, &answered[i].call);

		if (status != answered[i].error)
			fail_test("call %ld, row %zu: %d in place of %d", answered[i].call.number,
				  i, status, answered[i].error);
	}
}

/* --- what is needed, as the C library does it --- */

struct work {
	u32 groups;
	int (*act)(void);
};

static int limit_and_work(const void *context)
{
	const struct work *work = context;

	if (privileges_keep(~0ULL) || privileges_limit_calls(work->groups))
		return 1;
	return work->act() ? 2 : 0;
}

static void *do_nothing(void *context)
{
	return context;
}

static int start_thread(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, do_nothing, NULL) || pthread_join(thread, NULL);
}

static int start_process(void)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	return waitpid(pid, &status, 0) != pid || status;
}

static int write_file(void)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd < 0 || file_write_all(fd, "text", 4) || fsync(fd) || close(fd);
}

static int open_local_socket(void)
{
	return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) < 0;
}

static int open_internet_socket(void)
{
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) < 0;
}

static int use_memory(void)
{
	enum { MANY = 4 << 20 };
	char *bytes = must_alloc(MANY);

	bytes[0] = 1;
	bytes = must_resize_array(bytes, 2 * (size_t)MANY, 1);
	free(bytes);
	return 0;
}

static void what_is_needed_works(void **state)
{
	static const struct work works[] = {
		{LOCAL, start_thread},		 {LOCAL, write_file},
		{LOCAL, open_local_socket},	 {LOCAL, use_memory},
		{NETWORK, open_internet_socket}, {KEEPER, start_process},
		{CONFINED, use_memory},
	};

	(void)state;
	skip_without_permission();
	for (size_t i = 0; i < ARRAY_COUNT(works); i++)
		if (status_of_child(limit_and_work, &works[i]))
			fail_test("work %zu of the list does not work", i);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_that_are_not_needed_end_the_process),
		cmocka_unit_test(others_are_answered),
		cmocka_unit_test(what_is_needed_works),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
