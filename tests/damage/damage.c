/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recordings cut short and with single bits turned over, through report, script and diff.
 *
 * Whatever the damage, a command has to end by itself, within five seconds of CPU time and in
 * little memory, with status 0 or 1; if with 1, it says why; and what it says are whole, printable
 * lines of its own. Each run is a process that is forked off this one, where the commands are
 * linked in, so that thousands of them take minutes and not hours.
 *
 * usage: damage [-c CUTS] [-f FLIPS] [-s SEED] [-j JOBS] report|script|dump|diff FILE...
 *
 * A file that broke a rule stays in the working directory as damaged.N, and a line says how.
 */
#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "cmd/cmd.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	CPU_SECONDS = 5,
	WALL_SECONDS = 120, /* others may need the CPUs, too */
	MEMORY_MB = 1500,
	SAID_BYTES = 16 << 10,
	SANITIZER_STATUS = 99,
};

/* Leaks are what `make asan` looks for with whole files; here they would cost more than all else.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0:exitcode=99:abort_on_error=0:allocator_may_return_null=1";
}

struct damage {
	const struct command *command;
	const char *name; /* "dump" is script -D */
	const char *path; /* of the whole file */
	u8 *bytes;
	size_t length;
	char *copy; /* path of the damaged one */
	int fd;	    /* … open */
	int said;   /* what a run says on stderr */
	u64 random, runs, findings;
};

/* xorshift64*, Vigna 2014: the same damage every time. */
static u64 next_random(struct damage *damage, u64 below)
{
	damage->random ^= damage->random >> 12;
	damage->random ^= damage->random << 25;
	damage->random ^= damage->random >> 27;
	return (damage->random * 2685821657736338717ull >> 11) % below;
}

/* --- one run --- */

static void limit(int what, rlim_t value)
{
	setrlimit(what, &(struct rlimit){value, value + 1});
}

/* The process of the run: ends with the status that bpfprof would end with. */
static void run_command(const struct damage *damage)
{
	const struct command *command = damage->command;
	char *diff_words[] = {(char *)damage->path, damage->copy, NULL};
	char *words[] = {
		(char *)"-i",	      damage->copy,	   (char *)"--symfs", (char *)"/nothing",
		(char *)"--kallsyms", (char *)"/dev/null", (char *)"-D",      NULL};
	bool is_diff = !strcmp(damage->name, "diff"), is_dump = !strcmp(damage->name, "dump");
	void *settings = must_alloc(command->settings_bytes);
	struct arguments left;
	int status, null = open("/dev/null", O_RDWR);

	limit(RLIMIT_CPU, CPU_SECONDS);
	limit(RLIMIT_CORE, 0);
	alarm(WALL_SECONDS);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(damage->said, STDERR_FILENO);
	status = options_parse(command, is_diff ? 2 : 6 + is_dump, is_diff ? diff_words : words,
			       settings, &left);
	if (!status)
		status = command->run(settings, left);
	fflush(stdout);
	if (status < 0) {
		fprintf(stderr, "bpfprof: %s\n", fail_sentence());
		status = status == -EINVAL ? STATUS_WRONG_USAGE : STATUS_COULD_NOT;
	}
	fflush(stderr);
	_exit(status);
}

/* Whether all of it are whole lines of ours. */
static bool is_said_well(const char *said, size_t length)
{
	if (!length)
		return true;
	if (said[length - 1] != '\n')
		return false;
	for (const char *line = said; line < said + length; line = strchr(line, '\n') + 1)
		if (strncmp(line, "bpfprof: ", strlen("bpfprof: ")) != 0)
			return false;
	for (size_t i = 0; i < length; i++)
		if (said[i] != '\n' && iscntrl((unsigned char)said[i]))
			return false;
	return true;
}

/* What is wrong with how a run ended; NULL: nothing. */
static const char *judge(int status, const struct rusage *usage, const char *said, size_t length)
{
	if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGALRM))
		return "took too long";
	if (WIFSIGNALED(status))
		return "crashed";
	if (WEXITSTATUS(status) == SANITIZER_STATUS)
		return "broke a rule of the sanitizers";
	if (WEXITSTATUS(status) > STATUS_COULD_NOT)
		return "ended with another status than 0 and 1";
	if (usage->ru_maxrss / 1024 > MEMORY_MB)
		return "took too much memory";
	if (WEXITSTATUS(status) && !length)
		return "failed without a word";
	return is_said_well(said, length) ? NULL : "said something odd";
}

static void keep(struct damage *damage, const char *what, const char *how, const char *said)
{
	CLEANUP(freep) char *kept = must_format("damaged.%d.%" PRIu64, getpid(), damage->findings);
	CLEANUP(freep) char *copying = must_format("cp %s %s", damage->copy, kept);

	damage->findings++;
	printf("%s %s: %s, %s (%s)\n%s", damage->name, damage->path, how, what,
	       system(copying) ? "not kept" : kept, said);
	fflush(stdout);
}

static void run(struct damage *damage, const char *how)
{
	char said[SAID_BYTES + 1] = "";
	struct rusage usage;
	const char *wrong;
	ssize_t length;
	int status;
	pid_t pid;

	if (ftruncate(damage->said, 0) || lseek(damage->said, 0, SEEK_SET))
		abort();
	pid = fork();
	if (!pid)
		run_command(damage);
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		abort();
	damage->runs++;
	length = pread(damage->said, said, SAID_BYTES, 0);
	wrong = judge(status, &usage, said, length > 0 ? (size_t)length : 0);
	if (wrong)
		keep(damage, wrong, how, said);
}

/* --- the damage --- */

static void restore(struct damage *damage, size_t from, size_t count)
{
	if (pwrite(damage->fd, damage->bytes + from, count, (off_t)from) != (ssize_t)count)
		abort();
}

static void cut(struct damage *damage, size_t at)
{
	CLEANUP(freep) char *how = must_format("cut at byte %zu", at);

	if (ftruncate(damage->fd, (off_t)at))
		abort();
	run(damage, how);
	restore(damage, at, damage->length - at);
}

static void flip(struct damage *damage, size_t at, unsigned int bit)
{
	CLEANUP(freep) char *how = must_format("bit %u of byte %zu turned over", bit, at);
	u8 turned = damage->bytes[at] ^ (u8)(1u << bit);

	if (pwrite(damage->fd, &turned, 1, (off_t)at) != 1)
		abort();
	run(damage, how);
	restore(damage, at, 1);
}

/* Half of the bits are anywhere; of the others most are where a bit means much: in front of the
 * records, and among the first of them. */
static size_t place_of_flip(struct damage *damage)
{
	enum { FRONT_BYTES = 4096 };
	size_t front = damage->length < FRONT_BYTES ? damage->length : FRONT_BYTES;

	return next_random(damage, next_random(damage, 2) ? damage->length : front);
}

struct amounts {
	u64 cuts, flips, seed;
	unsigned int job, jobs; /* this process does each jobs-th case, from job on */
};

static void damage_file(struct damage *damage, const struct amounts *amounts)
{
	u64 cases = 0;

	damage->random = amounts->seed + damage->length;
	restore(damage, 0, damage->length);
	if (ftruncate(damage->fd, (off_t)damage->length))
		abort();
	for (u64 i = 0; i < amounts->cuts; i++) {
		size_t at = damage->length * i / amounts->cuts + next_random(damage, 16);

		if (cases++ % amounts->jobs == amounts->job && at < damage->length)
			cut(damage, at);
	}
	for (u64 i = 0; i < amounts->flips; i++) {
		size_t at = place_of_flip(damage);
		unsigned int bit = (unsigned int)next_random(damage, 8);

		if (cases++ % amounts->jobs == amounts->job)
			flip(damage, at, bit);
	}
}

static int damage_files(struct damage *damage, char **files, const struct amounts *amounts)
{
	damage->copy = must_format("damage.%d", getpid());
	damage->fd = open(damage->copy, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	damage->said = memfd_create("said", MFD_CLOEXEC);
	if (damage->fd < 0 || damage->said < 0)
		abort();
	for (; *files; files++) {
		struct bytes bytes;
		int fd = open(*files, O_RDONLY | O_CLOEXEC);

		if (fd < 0 || file_map_fd(fd, &bytes)) {
			fprintf(stderr, "cannot read %s\n", *files);
			return 2;
		}
		close(fd);
		damage->path = *files;
		damage->bytes = (u8 *)bytes.start;
		damage->length = bytes.length;
		damage_file(damage, amounts);
		file_unmap(&bytes);
	}
	unlink(damage->copy);
	printf("%s: %" PRIu64 " runs, %" PRIu64 " findings\n", damage->name, damage->runs,
	       damage->findings);
	return damage->findings != 0;
}

static const struct command *find_command(const char *name)
{
	static const struct command *const commands[] = {&command_report, &command_script,
							 &command_diff};

	if (name && !strcmp(name, "dump"))
		return &command_script;
	for (size_t i = 0; i < ARRAY_COUNT(commands); i++)
		if (name && !strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int wait_for_jobs(unsigned int jobs)
{
	int worst = 0, status;

	for (unsigned int i = 0; i < jobs; i++) {
		if (wait(&status) < 0)
			return 2;
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			worst = 1;
	}
	return worst;
}

static void read_options(int argc, char **argv, struct amounts *amounts)
{
	int option;

	while ((option = getopt(argc, argv, "c:f:s:j:")) > 0) {
		u64 value = option == '?' ? 0 : strtoull(optarg, NULL, 10);

		if (option == 'c')
			amounts->cuts = value;
		else if (option == 'f')
			amounts->flips = value;
		else if (option == 's')
			amounts->seed = value;
		else if (option == 'j' && value)
			amounts->jobs = (unsigned int)value;
	}
}

int main(int argc, char **argv)
{
	struct amounts amounts = {.cuts = 200, .flips = 1000, .seed = 1, .jobs = 1};
	struct damage damage = {0};

	read_options(argc, argv, &amounts);
	damage.name = argv[optind];
	damage.command = find_command(damage.name);
	if (!damage.command || argc - optind < 2) {
		fputs("usage: damage [-c CUTS] [-f FLIPS] [-s SEED] [-j JOBS] "
		      "report|script|dump|diff FILE...\n",
		      stderr);
		return 2;
	}
	setenv("BPFPROF_PAGER", "", 1);
	for (; amounts.job < amounts.jobs; amounts.job++) {
		pid_t pid = fork();

		if (!pid)
			exit(damage_files(&damage, argv + optind + 1, &amounts));
		if (pid < 0)
			return 2;
	}
	return wait_for_jobs(amounts.jobs);
}
