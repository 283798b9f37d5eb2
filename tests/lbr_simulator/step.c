/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tells the model the same as the Valgrind tool, from the processor itself: runs a program one
 * instruction at a time (ptrace), some ten thousand a second. For programs of one thread, to check
 * the tool with; it takes the tool's options, in its order.
 *
 * usage: step --lbr-log=FILE --lbr-period=N --lbr-seed=N PROGRAM...
 */
#include "model.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST_TID = 4190000, CODE_BYTES = 16 };

/* What an instruction means to the model. */
enum meaning { OTHER, CALL, RETURN };

static pid_t child;
static FILE *log_file;

_Noreturn static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* --- what the model needs
 * ------------------------------------------------------------------------- */

static void *allocate(size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory)
		die("calloc");
	return memory;
}

static size_t read_memory(u64 address, void *bytes, size_t count)
{
	struct iovec here = {bytes, count}, there = {(void *)address, count};
	ssize_t got = process_vm_readv(child, &here, 1, &there, 1, 0);

	return got < 0 ? 0 : (size_t)got;
}

static bool read_word(u64 address, u64 *ret_value)
{
	return read_memory(address, ret_value, sizeof(*ret_value)) == sizeof(*ret_value);
}

static FILE *open_maps(void)
{
	char path[64];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", child);
	maps = fopen(path, "re");
	if (!maps)
		die(path);
	return maps;
}

static bool find_mapping(u64 address, u64 *ret_start, u64 *ret_end)
{
	FILE *maps = open_maps();
	bool is_found = false;
	char line[512];
	u64 start, end;

	while (!is_found && fgets(line, sizeof(line), maps)) {
		is_found = sscanf(line, "%lx-%lx", &start, &end) == 2 && address >= start &&
			   address < end;
		if (is_found) {
			*ret_start = start;
			*ret_end = end;
		}
	}
	fclose(maps);
	return is_found;
}

static void write_log(const void *bytes, size_t count)
{
	if (fwrite(bytes, 1, count, log_file) != count)
		die("writing the log");
}

static const struct machine machine = {
	.allocate = allocate,
	.release = free,
	.read = read_word,
	.find_mapping = find_mapping,
	.write = write_log,
};

/* --- stepping
 * ------------------------------------------------------------------------------------- */

static void note_mappings(struct model *model)
{
	FILE *maps = open_maps();
	char line[512], permissions[8], path[400];
	u64 start, end, offset;

	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %399s", &start, &end, permissions,
			   &offset, path) == 5 &&
		    permissions[2] == 'x' && path[0] == '/')
			model_mapping(model, start, end - start, offset, path);
	fclose(maps);
}

static enum meaning meaning_of(const u8 *code)
{
	/* Prefixes that stand before near calls and returns: REP, BND, notrack, REX. */
	while (*code == 0xf3 || *code == 0xf2 || *code == 0x3e || (*code & 0xf0) == 0x40)
		code++;
	if (*code == 0xe8 || (*code == 0xff && (code[1] >> 3 & 7) == 2))
		return CALL;
	return *code == 0xc3 || *code == 0xc2 ? RETURN : OTHER;
}

static void get_registers(struct user_regs_struct *registers)
{
	if (ptrace(PTRACE_GETREGS, child, NULL, registers))
		die("PTRACE_GETREGS");
}

/* Executes an instruction, or none if `ret_signal` wants to be delivered before it. False if the
 * program ended. */
static bool step(int signal, int *ret_signal)
{
	int status;

	if (ptrace(PTRACE_SINGLESTEP, child, NULL, signal) || waitpid(child, &status, 0) < 0)
		die("PTRACE_SINGLESTEP");
	*ret_signal = WIFSTOPPED(status) && WSTOPSIG(status) != SIGTRAP ? WSTOPSIG(status) : 0;
	return WIFSTOPPED(status);
}

/* The instruction at `before` was executed, and led to `after`. */
static void tell(struct model *model, struct thread *thread, enum meaning meaning,
		 const struct user_regs_struct *before, const struct user_regs_struct *after)
{
	struct call call = {before->rip, after->rip};
	u64 back = 0;

	if (meaning == RETURN) {
		model_return(model, thread, before->rsp);
	} else if (meaning == CALL) {
		read_word(after->rsp, &back);
		model_call(model, thread, call, back, after->rsp);
	} else if (before->rax == SYS_rt_sigreturn && before->rip + 2 != after->rip) {
		model_signal_end(model, thread);
	}
}

/* A signal for `before` is delivered: its handler begins. False if there is none and the program
 * ended. */
static bool deliver(struct model *model, struct thread *thread, int signal,
		    struct user_regs_struct *before)
{
	struct user_regs_struct handler;
	int next;

	if (!step(signal, &next))
		return false;
	get_registers(&handler);
	model_signal(model, thread, (struct call){before->rip, handler.rip}, before->rsp,
		     handler.rsp);
	*before = handler;
	return true;
}

/* A signal comes before the next instruction, and before a sample at it. */
static bool is_signal_pending(void)
{
	struct __ptrace_peeksiginfo_args first = {.nr = 1};
	siginfo_t signal;

	if (ptrace(PTRACE_PEEKSIGINFO, child, &first, &signal) > 0)
		return true;
	first.flags = PTRACE_PEEKSIGINFO_SHARED;
	return ptrace(PTRACE_PEEKSIGINFO, child, &first, &signal) > 0;
}

static void follow(struct model *model, struct thread *thread)
{
	struct user_regs_struct before, after;
	int signal;

	get_registers(&before);
	for (;;) {
		u8 code[CODE_BYTES] = {0};
		bool is_counted;

		read_memory(before.rip, code, sizeof(code));
		is_counted = !model_is_repeated(code);
		if (is_counted && model->countdown == 0 && !is_signal_pending())
			model_sample(model, thread, before.rip, before.rsp, before.rbp);
		model->countdown -= is_counted;
		if (!step(0, &signal))
			return;
		if (signal) {
			model->countdown += is_counted;
			if (!deliver(model, thread, signal, &before))
				return;
			continue;
		}
		get_registers(&after);
		tell(model, thread, meaning_of(code), &before, &after);
		before = after;
	}
}

/* --- the program
 * ---------------------------------------------------------------------------------- */

static void run_child(char **command)
{
	personality(ADDR_NO_RANDOMIZE);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	execvp(command[0], command);
	die(command[0]);
}

static const char *option(const char *argument, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(argument, name, length) != 0) {
		fprintf(stderr, "step: expected %s, not %s\n", name, argument);
		exit(2);
	}
	return argument + length;
}

int main(int argc, char **argv)
{
	static struct model model = {.machine = &machine};
	static struct thread thread;
	int status;

	if (argc < 5) {
		fputs("usage: step --lbr-log=FILE --lbr-period=N --lbr-seed=N PROGRAM...\n",
		      stderr);
		return 2;
	}
	log_file = fopen(option(argv[1], "--lbr-log="), "we");
	if (!log_file)
		die(argv[1]);
	model_start(&model, FIRST_TID, strtoul(option(argv[2], "--lbr-period="), NULL, 10),
		    strtoul(option(argv[3], "--lbr-seed="), NULL, 10));
	child = fork();
	if (!child)
		run_child(argv + 4);
	if (waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status))
		die(argv[4]);
	model_thread(&model, &thread, FIRST_TID, FIRST_TID);
	note_mappings(&model);
	follow(&model, &thread);
	model_end(&model);
	return fclose(log_file) ? 1 : 0;
}
