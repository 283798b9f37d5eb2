/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * System calls that are allowed, by what they are for.
 *
 * Lists hold what the C library of any release may use for the same thing (stat, newfstatat,
 * statx), by name: a name that the processor or libseccomp does not know is passed over. A library
 * that is newer than this list tries a newer call first and must hear that there is none.
 */
#include "host/privileges.h"

#include "base/fail.h"
#include "base/memory.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	/* The first call that no list here can have meant, in all architectures since Linux 5.1;
	 * and the end of what kernels of the next years may have. */
	NEWER_FIRST = 449,
	NEWER_END = 600,
	PERF_IOCTLS = '$' << 8, /* the byte of a request that says whose it is */
	IOCTL_OWNER = 0xff00,
	NEW_NAMESPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
			 CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET,
};

/* What the C library does by itself, and work in memory and on open files. */
static const char *const confined_calls[] = {
	"brk",
	"clock_getres",
	"clock_gettime",
	"close",
	"dup",
	"exit",
	"exit_group",
	"fcntl",
	"fstat",
	"fstat64",
	"ftruncate",
	"futex",
	"getcpu",
	"getpid",
	"getrandom",
	"getrusage",
	"gettid",
	"gettimeofday",
	"lseek",
	"madvise",
	"membarrier",
	"mremap",
	"munmap",
	"pread64",
	"preadv",
	"pwrite64",
	"pwritev",
	"read",
	"readv",
	"restart_syscall",
	"rseq",
	"rt_sigaction",
	"rt_sigprocmask",
	"rt_sigreturn",
	"sched_getaffinity",
	"sched_yield",
	"set_robust_list",
	"set_tid_address",
	"sigaltstack",
	"sysinfo",
	"time",
	"uname",
	"write",
	"writev",
};

/* Libraries ask for the path of an open file (libdw does), and go on without. A process has the
 * filter of its maker, too, so that one has to refuse the same. */
static const char *const path_calls[] = {"lstat", "lstat64", "readlink", "readlinkat"};

static const char *const keeper_calls[] = {
	"poll",	   "ppoll",  "recvfrom",  "recvmsg",	"seccomp",
	"sendmsg", "sendto", "setrlimit", "socketpair", "wait4",
};

static const char *const request_calls[] = {"recvmsg"};

static const char *const capture_calls[] = {
	/* files */
	"access",
	"chmod",
	"faccessat",
	"faccessat2",
	"fadvise64",
	"fallocate",
	"fchmod",
	"fchmodat",
	"fdatasync",
	"flock",
	"fstatfs",
	"fsync",
	"getdents64",
	"link",
	"linkat",
	"lstat",
	"memfd_create",
	"mkdir",
	"mkdirat",
	"newfstatat",
	"open",
	"openat",
	"openat2",
	"readahead",
	"readlink",
	"readlinkat",
	"rename",
	"renameat",
	"renameat2",
	"rmdir",
	"sendfile",
	"stat",
	"statfs",
	"statx",
	"symlink",
	"symlinkat",
	"sync_file_range",
	"truncate",
	"umask",
	"unlink",
	"unlinkat",
	"utimensat",
	/* BPF and events */
	"bpf",
	"mincore",
	"mlock",
	"msync",
	"perf_event_open",
	/* waiting, signals */
	"clock_nanosleep",
	"dup2",
	"dup3",
	"epoll_create1",
	"epoll_ctl",
	"epoll_pwait",
	"epoll_pwait2",
	"epoll_wait",
	"eventfd2",
	"nanosleep",
	"pipe",
	"pipe2",
	"pselect6",
	"rt_sigpending",
	"rt_sigtimedwait",
	"select",
	"signalfd4",
	"timerfd_create",
	"timerfd_gettime",
	"timerfd_settime",
	/* who and what this process is */
	"get_robust_list",
	"getegid",
	"geteuid",
	"getgid",
	"getgroups",
	"getpgrp",
	"getpriority",
	"getresgid",
	"getresuid",
	"getsid",
	"getuid",
	"sched_getparam",
	"sched_getscheduler",
	"times",
	/* to the service manager, and to the process that reads foreign files */
	"connect",
	"poll",
	"ppoll",
	"recvfrom",
	"recvmsg",
	"sendmsg",
	"sendto",
	"socketpair",
	"wait4",
};

static const char *const network_calls[] = {
	"accept", "accept4",  "bind",	  "getpeername", "getsockname", "getsockopt",
	"listen", "recvmmsg", "sendmmsg", "setsockopt",	 "shutdown",	"socket",
};

static const struct {
	u32 group;
	const char *const *names;
	size_t count;
} lists[] = {
	{~0u, confined_calls, ARRAY_COUNT(confined_calls)},
	{CALLS_KEEPER, keeper_calls, ARRAY_COUNT(keeper_calls)},
	{CALLS_REQUESTS, request_calls, ARRAY_COUNT(request_calls)},
	{CALLS_CAPTURE, capture_calls, ARRAY_COUNT(capture_calls)},
	{CALLS_NETWORK, network_calls, ARRAY_COUNT(network_calls)},
};

/* A call that is allowed, or refused with an errno, if the masked argument has this value. */
struct rule {
	u32 groups;
	const char *name;
	u16 error; /* 0: allowed */
	u8 argument;
	u64 mask, value;
};

#define ALL	(~0u)
#define BARE	(CALLS_KEEPER | CALLS_CONFINED)
#define MASKING UINT64_MAX

static const struct rule rules[] = {
	/* Memory is not both written and run. */
	{ALL, "mmap", 0, 2, PROT_WRITE | PROT_EXEC, 0},
	{ALL, "mmap", 0, 2, PROT_WRITE | PROT_EXEC, PROT_WRITE},
	{ALL, "mmap", 0, 2, PROT_WRITE | PROT_EXEC, PROT_EXEC},
	{ALL, "mmap", EACCES, 2, PROT_WRITE | PROT_EXEC, PROT_WRITE | PROT_EXEC},
	{ALL, "mprotect", 0, 2, PROT_EXEC, 0},
	{ALL, "mprotect", EACCES, 2, PROT_EXEC, PROT_EXEC},
	/* Threads, or processes like this one; the flags of clone3 cannot be seen. */
	{CALLS_CAPTURE, "clone", 0, 0, CLONE_THREAD, CLONE_THREAD},
	{CALLS_KEEPER, "clone", 0, 0, NEW_NAMESPACES | CLONE_THREAD, 0},
	/* As nobody: only what it started, and others' readers. */
	{CALLS_KEEPER, "kill", 0, 1, MASKING, SIGKILL},
	/* What somebody stopped has to go on to end. */
	{CALLS_CAPTURE, "kill", 0, 1, MASKING, SIGCONT},
	{CALLS_KEEPER, "prctl", 0, 0, MASKING, PR_SET_SECCOMP},
	{CALLS_KEEPER, "prctl", 0, 0, MASKING, PR_GET_SECCOMP},
	/* fstat() of newer C libraries: they give no path. */
	{BARE, "newfstatat", 0, 3, MASKING, AT_EMPTY_PATH},
	/* The way of older ones to the path of an open file. */
	{BARE, "newfstatat", EACCES, 3, MASKING, AT_SYMLINK_NOFOLLOW},
	{ALL, "prctl", 0, 0, MASKING, PR_SET_NAME},
	{ALL, "prctl", 0, 0, MASKING, 0x53564d41 /* PR_SET_VMA: names of memory */},
	/* Only of ourselves. */
	{ALL, "prlimit64", 0, 0, MASKING, 0},
	{CALLS_CAPTURE, "setpriority", 0, 1, MASKING, 0},
	{ALL, "ioctl", 0, 1, UINT32_MAX, TCGETS},
	{CALLS_CAPTURE, "ioctl", 0, 1, UINT32_MAX, TIOCGWINSZ},
	{CALLS_CAPTURE, "ioctl", 0, 1, UINT32_MAX, FIONBIO},
	{CALLS_CAPTURE, "ioctl", 0, 1, UINT32_MAX, FIONREAD},
	{CALLS_CAPTURE, "ioctl", 0, 1, UINT32_MAX, FS_IOC_GETVERSION},
	{CALLS_CAPTURE, "ioctl", 0, 1, IOCTL_OWNER, PERF_IOCTLS},
};

static int add_rule(scmp_filter_ctx filter, const struct rule *rule)
{
	int number = seccomp_syscall_resolve_name(rule->name);
	u32 action = rule->error ? SCMP_ACT_ERRNO(rule->error) : SCMP_ACT_ALLOW;

	return seccomp_rule_add(
		filter, action, number, 1,
		SCMP_CMP64(rule->argument, SCMP_CMP_MASKED_EQ, rule->mask, rule->value));
}

/* abort() and the like; only with our own pid. */
static int add_own_signals(scmp_filter_ctx filter)
{
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
				SCMP_CMP64(0, SCMP_CMP_EQ, (u64)getpid()));
}

static int add_sockets(scmp_filter_ctx filter, u32 groups)
{
	if (groups & CALLS_NETWORK || !(groups & CALLS_CAPTURE))
		return 0; /* all, or none */
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
				SCMP_CMP64(0, SCMP_CMP_EQ, AF_UNIX));
}

static int add_list(scmp_filter_ctx filter, u32 action, const char *const *names, size_t count)
{
	int error = 0;

	for (size_t i = 0; i < count && !error; i++) {
		int number = seccomp_syscall_resolve_name(names[i]);

		if (number >= 0) /* else another architecture's, or not known yet */
			error = seccomp_rule_add(filter, action, number, 0);
	}
	return error;
}

/* What a C library tries first, before it falls back to what is allowed. */
static int refuse_newer(scmp_filter_ctx filter)
{
	u32 no_such_call = SCMP_ACT_ERRNO(ENOSYS);
	int error = seccomp_rule_add(filter, no_such_call, SCMP_SYS(clone3), 0);

	for (int number = NEWER_FIRST; number < NEWER_END && !error; number++)
		error = seccomp_rule_add(filter, no_such_call, number, 0);
	return error;
}

static int fill(scmp_filter_ctx filter, u32 groups)
{
	int error = refuse_newer(filter);

	for (size_t i = 0; i < ARRAY_COUNT(lists) && !error; i++)
		if (lists[i].group & groups)
			error = add_list(filter, SCMP_ACT_ALLOW, lists[i].names, lists[i].count);
	if (!error && groups & BARE)
		error = add_list(filter, SCMP_ACT_ERRNO(EACCES), path_calls,
				 ARRAY_COUNT(path_calls));
	for (size_t i = 0; i < ARRAY_COUNT(rules) && !error; i++)
		if (rules[i].groups & groups)
			error = add_rule(filter, &rules[i]);
	return error ? error : add_sockets(filter, groups);
}

/* What a build with AddressSanitizer calls, and who of its threads does, is not ours to list. */
#ifdef __SANITIZE_ADDRESS__
enum { HAS_OTHER_CALLS = 1 };
#else
enum { HAS_OTHER_CALLS = 0 };
#endif

static int make(u32 groups, scmp_filter_ctx *ret_filter)
{
	scmp_filter_ctx filter = seccomp_init(HAS_OTHER_CALLS ? SCMP_ACT_ALLOW
							      : SCMP_ACT_KILL_PROCESS);
	int error;

	if (!filter)
		return -ENOMEM;
	/* no_new_privs is set; a binary tree in place of a list of some hundred. */
	error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0);
	error = error ? error : seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	error = error || HAS_OTHER_CALLS ? error : fill(filter, groups);
	if (error)
		seccomp_release(filter);
	else
		*ret_filter = filter;
	return error;
}

int privileges_limit_calls(u32 groups)
{
	scmp_filter_ctx filter;
	int error = make(groups, &filter);

	if (!error) {
		error = HAS_OTHER_CALLS ? 0 : add_own_signals(filter);
		error = error ? error : seccomp_load(filter);
		seccomp_release(filter);
	}
	return error ? fail(error, NULL, "cannot limit system calls") : 0;
}

/* libseccomp before 2.6 writes its program only to a file. */
static int take_program(scmp_filter_ctx filter, struct call_filter *ret_filter)
{
	CLEANUP(closep) int fd = memfd_create("filter", MFD_CLOEXEC);
	struct call_filter program = {0};
	struct stat status;
	int error;

	if (fd < 0)
		return -errno;
	error = seccomp_export_bpf(filter, fd);
	if (error)
		return error;
	if (fstat(fd, &status))
		return -errno;
	program.bytes = (size_t)status.st_size;
	program.program = must_alloc(program.bytes);
	if (pread(fd, program.program, program.bytes, 0) != status.st_size) {
		call_filter_release(&program);
		return -EIO;
	}
	*ret_filter = program;
	return 0;
}

int call_filter_make(u32 groups, struct call_filter *ret_filter)
{
	scmp_filter_ctx filter;
	int error = make(groups, &filter);

	if (!error) {
		error = take_program(filter, ret_filter);
		seccomp_release(filter);
	}
	return error ? fail(error, NULL, "cannot limit system calls") : 0;
}

int call_filter_apply(const struct call_filter *filter)
{
	struct sock_fprog program = {
		.len = (unsigned short)(filter->bytes / sizeof(struct sock_filter)),
		.filter = filter->program,
	};

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) ? -errno : 0;
}

void call_filter_release(struct call_filter *filter)
{
	free(filter->program);
	*filter = (struct call_filter){0};
}
