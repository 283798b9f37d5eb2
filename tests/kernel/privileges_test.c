/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a process cannot do any more after it gave up capabilities: each is tried, in a child of its
 * own.
 */
#include "host/host.h"
#include "kernel/child.h"
#include "kernel/permission.h"

#include "base/memory.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>

enum { NOBODY = 65534, RESTORE_CAPABILITY = 40 };

/* What was made before the capabilities went. */
struct world {
	char folder[32], theirs[64], ours[64]; /* files of nobody's, 0600, and of ours */
	int their_fd, memory;		       /* the file, read; nobody's shared memory */
	pid_t process;			       /* nobody's */
};

static struct world world;

/* A process that has become nobody when this returns; -1: it could not. */
static pid_t start_as_nobody(void)
{
	int ready[2];
	char byte = 0;
	pid_t pid;

	if (pipe(ready))
		return -1;
	pid = fork();
	if (!pid) {
		if (!setgroups(0, NULL) && !setgid(NOBODY) && !setuid(NOBODY) &&
		    write(ready[1], &byte, 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		pid = -1;
	close(ready[0]);
	return pid;
}

static void make_file(char *path, const char *name, uid_t owner)
{
	int fd;

	sprintf(path, "%s/%s", world.folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fchown(fd, owner, NOBODY), 0);
	close(fd);
}

static int set_up(void **state)
{
	const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};

	*state = &world;
	/* Linux before 5.11 counts maps as locked memory, and those of a test that has ended for a
	 * while longer. */
	setrlimit(RLIMIT_MEMLOCK, &all);
	strcpy(world.folder, "/tmp/privileges-XXXXXX");
	if (geteuid() || !mkdtemp(world.folder))
		return geteuid() ? 0 : -1;
	make_file(world.theirs, "theirs", NOBODY);
	make_file(world.ours, "ours", 0);
	world.their_fd = open(world.theirs, O_RDONLY | O_CLOEXEC);
	if (seteuid(NOBODY))
		return -1;
	world.memory = shmget(IPC_PRIVATE, 4096, 0600);
	if (seteuid(0))
		return -1;
	world.process = start_as_nobody();
	return world.process > 0 ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	if (geteuid())
		return 0;
	kill(world.process, SIGKILL);
	waitpid(world.process, NULL, 0);
	shmctl(world.memory, IPC_RMID, NULL);
	close(world.their_fd);
	unlink(world.theirs);
	unlink(world.ours);
	return rmdir(world.folder);
}

/* --- attempts; each returns 0, or -1 with errno --- */

static int make_theirs(void)
{
	return chown(world.ours, NOBODY, NOBODY);
}

static int write_theirs(void)
{
	return open(world.theirs, O_WRONLY | O_CLOEXEC);
}

static int read_theirs(void)
{
	return open(world.theirs, O_RDONLY | O_CLOEXEC);
}

static int change_theirs(void)
{
	return chmod(world.theirs, 0666);
}

/* The kernel drops the bit in place of an error. */
static int set_group_id(void)
{
	struct stat status = {0};

	if (chmod(world.ours, 02700) || stat(world.ours, &status))
		return -1;
	errno = EPERM;
	return status.st_mode & S_ISGID ? 0 : -1;
}

static int end_theirs(void)
{
	return kill(world.process, SIGTERM);
}

static int become_nobody(void)
{
	return setuid(NOBODY);
}

static int join_nobody(void)
{
	return setgid(NOBODY);
}

static int leave_groups(void)
{
	return setgroups(0, NULL);
}

static int limit_others(void)
{
	return prctl(PR_CAPBSET_DROP, CAP_CHOWN, 0, 0, 0);
}

static int bind_low_port(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(80),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	long first = 0;

	/* A machine that lets everybody has nothing to refuse. */
	if (!sysctl_read("net/ipv4/ip_unprivileged_port_start", &first) && first <= 80) {
		errno = EACCES;
		return -1;
	}
	return bind(socket(AF_INET, SOCK_STREAM, 0), (const struct sockaddr *)&address,
		    sizeof(address));
}

static int mark_packets(void)
{
	int mark = 1;

	return setsockopt(socket(AF_INET, SOCK_DGRAM, 0), SOL_SOCKET, SO_MARK, &mark, sizeof(mark));
}

static int open_raw_socket(void)
{
	return socket(AF_INET, SOCK_RAW, 1);
}

static int lock_memory(void)
{
	struct rlimit none = {0, 0};

	setrlimit(RLIMIT_MEMLOCK, &none);
	return mlock(&world, sizeof(world));
}

static int see_their_memory(void)
{
	return shmat(world.memory, NULL, SHM_RDONLY) == (void *)-1 ? -1 : 0;
}

static int load_module(void)
{
	return (int)syscall(SYS_init_module, "", 0UL, "");
}

static int change_root(void)
{
	return chroot("/");
}

static int trace_theirs(void)
{
	return (int)ptrace(PTRACE_ATTACH, world.process, NULL, NULL);
}

static int account(void)
{
	return (int)syscall(SYS_acct, NULL);
}

static int mount_something(void)
{
	return mount("none", world.folder, "tmpfs", 0, NULL);
}

static int switch_off_keys(void)
{
	return reboot(RB_DISABLE_CAD);
}

static int take_cpu_time(void)
{
	return setpriority(PRIO_PROCESS, 0, -1);
}

static int raise_limit(void)
{
	struct rlimit low = {64, 64}, high = {64, 128};

	return setrlimit(RLIMIT_NOFILE, &low) ? 0 : setrlimit(RLIMIT_NOFILE, &high);
}

static int set_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return clock_settime(CLOCK_REALTIME, &now);
}

static int hang_up(void)
{
	return vhangup();
}

static int make_device(void)
{
	return mknod("/tmp/privileges-device", S_IFCHR | 0600, 0x103);
}

static int lease_theirs(void)
{
	return fcntl(world.their_fd, F_SETLEASE, F_RDLCK);
}

static int give_capability(void)
{
	/* cap_chown=ep, as in VFS_CAP_REVISION_2 */
	static const u32 value[] = {0x02000001, 1, 0, 0, 0};

	return setxattr(world.ours, "security.capability", value, sizeof(value), 0);
}

static int read_kernel_log(void)
{
	return klogctl(9 /* how much is unread */, NULL, 0);
}

static int wake_machine(void)
{
	return timerfd_create(CLOCK_REALTIME_ALARM, TFD_CLOEXEC);
}

static int watch_all(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr)};

	return (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
}

static int make_map(void)
{
	union bpf_attr attr = {.map_type = BPF_MAP_TYPE_LRU_HASH,
			       .key_size = 4,
			       .value_size = 4,
			       .max_entries = 1};

	return (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
}

static const struct attempt {
	u32 capability;
	const char *name;
	int (*act)(void);
	int error;
	bool is_kept; /* by the daemon */
} attempts[] = {
	{CAP_CHOWN, "chown", make_theirs, EPERM},
	{CAP_DAC_OVERRIDE, "write another's file", write_theirs, EACCES},
	{CAP_DAC_READ_SEARCH, "read another's file", read_theirs, EACCES, true},
	{CAP_FOWNER, "chmod", change_theirs, EPERM},
	{CAP_FSETID, "set-group-ID", set_group_id, EPERM},
	{CAP_KILL, "kill", end_theirs, EPERM},
	{CAP_SETGID, "setgid", join_nobody, EPERM},
	{CAP_SETGID, "setgroups", leave_groups, EPERM},
	{CAP_SETUID, "setuid", become_nobody, EPERM},
	{CAP_SETPCAP, "bounding set", limit_others, EPERM},
	{CAP_NET_BIND_SERVICE, "bind to port 80", bind_low_port, EACCES},
	{CAP_NET_ADMIN, "mark packets", mark_packets, EPERM},
	{CAP_NET_RAW, "raw socket", open_raw_socket, EPERM},
	{CAP_IPC_LOCK, "mlock", lock_memory, EPERM},
	{CAP_IPC_OWNER, "another's shared memory", see_their_memory, EACCES},
	{CAP_SYS_MODULE, "load a module", load_module, EPERM},
	{CAP_SYS_CHROOT, "chroot", change_root, EPERM},
	{CAP_SYS_PTRACE, "ptrace", trace_theirs, EPERM, true},
	{CAP_SYS_PACCT, "process accounting", account, EPERM},
	{CAP_SYS_ADMIN, "mount", mount_something, EPERM},
	{CAP_SYS_BOOT, "reboot", switch_off_keys, EPERM},
	{CAP_SYS_NICE, "priority", take_cpu_time, EACCES},
	{CAP_SYS_RESOURCE, "raise a limit", raise_limit, EPERM},
	{CAP_SYS_TIME, "set the clock", set_clock, EPERM},
	{CAP_SYS_TTY_CONFIG, "hang up", hang_up, EPERM},
	{CAP_MKNOD, "mknod", make_device, EPERM},
	{CAP_LEASE, "lease", lease_theirs, EACCES},
	{CAP_SETFCAP, "capabilities of a file", give_capability, EPERM},
	{CAP_SYSLOG, "kernel log", read_kernel_log, EPERM, true},
	{CAP_WAKE_ALARM, "wake the machine", wake_machine, EPERM},
	{CAP_PERFMON, "events of all", watch_all, EACCES, true},
	{CAP_BPF, "BPF map", make_map, EPERM, true},
};

struct trial {
	const struct attempt *attempt;
	u64 kept;
};

static int try_without(const void *context)
{
	const struct trial *trial = context;

	if (privileges_keep(trial->kept))
		return 1;
	errno = 0;
	if (trial->attempt->act() >= 0)
		return 2;
	/* Kernels without modules, accounting or module signing have no such call at all. */
	return errno == trial->attempt->error || errno == ENOSYS ? 0 : 3;
}

static u64 kept_by_daemon(void)
{
	u64 kept = CAPABILITY_BIT(RESTORE_CAPABILITY);

	for (size_t i = 0; i < ARRAY_COUNT(attempts); i++)
		if (attempts[i].is_kept)
			kept |= CAPABILITY_BIT(attempts[i].capability);
	return kept;
}

static void need_root(void)
{
	if (!may_capture() || geteuid())
		skip();
}

static void what_was_given_up_is_refused(void **state)
{
	(void)state;
	need_root();
	for (size_t i = 0; i < ARRAY_COUNT(attempts); i++) {
		struct trial all = {&attempts[i], 0}, daemon = {&attempts[i], kept_by_daemon()};

		if (status_of_child(try_without, &all))
			fail_test("%s is not refused without capabilities: %d", attempts[i].name,
				  status_of_child(try_without, &all));
		if (!attempts[i].is_kept && status_of_child(try_without, &daemon))
			fail_test("%s is not refused to the daemon", attempts[i].name);
	}
}

/* Kernels of some distributions know this level, and some of them ask for more above it. */
enum { PARANOID_MOST = 2 };

static int try_with(const void *context)
{
	const struct attempt *attempt = context;
	u64 kept = CAPABILITY_BIT(attempt->capability);
	long paranoid = 0;

	if (attempt->capability == CAP_PERFMON &&
	    !sysctl_read("kernel/perf_event_paranoid", &paranoid) && paranoid > PARANOID_MOST)
		kept |= CAPABILITY_BIT(CAP_SYS_ADMIN);
	if (privileges_keep(kept))
		return 1;
	return attempt->act() >= 0 ? 0 : 2;
}

static void what_was_kept_works(void **state)
{
	(void)state;
	need_root();
	for (size_t i = 0; i < ARRAY_COUNT(attempts); i++)
		if (attempts[i].is_kept && status_of_child(try_with, &attempts[i]))
			fail_test("%s does not work", attempts[i].name);
}

static bool can_read_theirs(void)
{
	CLEANUP(closep) int fd = read_theirs();

	return fd >= 0;
}

static void what_rests_for_a_trial_is_back_behind_it(void **state)
{
	(void)state;
	need_root();
	assert_false(privileges_suffice(0, can_read_theirs));
	assert_false(privileges_suffice(CAPABILITY_BIT(CAP_SYSLOG), can_read_theirs));
	assert_true(privileges_suffice(CAPABILITY_BIT(CAP_DAC_READ_SEARCH), can_read_theirs));
	assert_true(can_read_theirs());
	assert_int_equal(chown(world.ours, NOBODY, NOBODY), 0);
	assert_int_equal(chown(world.ours, 0, NOBODY), 0);
}

/* Whether a line of /proc/self/status, as a program sees it that we run, says so. */
static int run_another(const void *context)
{
	const char *line = context;

	if (privileges_keep(kept_by_daemon()))
		return 1;
	execl("/bin/grep", "grep", "-q", line, "/proc/self/status", NULL);
	return 3;
}

static void no_program_gets_them_back(void **state)
{
	static const char *const lines[] = {"CapInh:.0*$", "CapPrm:.0*$", "CapEff:.0*$",
					    "CapBnd:.0*$", "CapAmb:.0*$", "NoNewPrivs:.1"};

	(void)state;
	need_root();
	for (size_t i = 0; i < ARRAY_COUNT(lines); i++)
		assert_int_equal(status_of_child(run_another, lines[i]), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_given_up_is_refused),
		cmocka_unit_test(what_was_kept_works),
		cmocka_unit_test(what_rests_for_a_trial_is_back_behind_it),
		cmocka_unit_test(no_program_gets_them_back),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
