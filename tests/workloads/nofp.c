/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -Wl,-z,lazy */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Known stacks without frame pointers (how to read them: known.h).
 *
 * stacks plain: _start * main plain outer middle leaf
 * stacks alloca: _start * main allocas variable_array outer_alloca leaf
 * stacks deep: _start * main deep down{100} bottom
 * stacks toodeep: _start * main too_deep down{600} bottom
 * stacks sys: _start * main syscalls enter read_zeros
 * stacks fault: _start * main faults enter touch
 * stacks vdso: _start * main vdso enter ask_time
 * stacks sort: _start * main sorts enter sort_numbers * compare
 * stacks plt: _start * main stubs enter call_stubs
 * stacks noret: _start * main no_return enter dead_end|.|sort_numbers stuck
 *
 * cut toodeep: too deep
 *
 * In "noret" the return address of dead_end() lies behind its end, where perf script has another
 * name or none (on Arm it is sort_numbers()). "plt" spends its time in calls of short functions, so
 * that samples fall into the stubs; "sys" and "fault" in the kernel.
 */
#include "known.h"

#include <alloca.h>
#include <ctype.h>
#include <fcntl.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <unistd.h>

FRAME static void leaf(void)
{
	burn(20000);
}

FRAME static void middle(void)
{
	SPOIL_REGISTERS();
	leaf();
	AFTER_CALL();
}

FRAME static void outer(void)
{
	char room[200];

	KEEP(room);
	SPOIL_REGISTERS();
	middle();
	KEEP(room);
}

FRAME static void plain(void)
{
	while (!is_over())
		outer();
}

FRAME static void outer_alloca(size_t bytes)
{
	char *room = alloca(bytes);

	KEEP(room);
	leaf();
	KEEP(room);
}

FRAME static void variable_array(size_t bytes)
{
	char room[bytes];

	KEEP(room);
	outer_alloca(bytes / 2);
	KEEP(room);
}

FRAME static void allocas(void)
{
	for (size_t bytes = 10; !is_over(); bytes = bytes * 7 % 3001 + 10) {
		SPOIL_REGISTERS();
		variable_array(bytes);
	}
}

FRAME static void bottom(void)
{
	burn(2000000);
}

/* NOLINTNEXTLINE(misc-no-recursion): recursion is what it is for */
FRAME static void down(unsigned int depth)
{
	char room[24];

	KEEP(room);
	SPOIL_REGISTERS();
	if (depth > 1)
		down(depth - 1);
	else
		bottom();
	KEEP(room);
}

FRAME static void deep(void)
{
	while (!is_over())
		down(100);
}

FRAME static void too_deep(void)
{
	while (!is_over())
		down(600);
}

static int zeros;
static char bytes_read[65536];

FRAME static void read_zeros(void)
{
	if (read(zeros, bytes_read, sizeof(bytes_read)) != sizeof(bytes_read))
		abort();
	getppid();
}

static char *pages;
enum { PAGES_BYTES = 4 << 20, PAGE_BYTES = 4096 };

FRAME static void touch(void)
{
	for (size_t i = 0; i < PAGES_BYTES; i += PAGE_BYTES)
		pages[i] = 1;
}

FRAME static void ask_time(void)
{
	struct timespec now;

	for (int i = 0; i < 1000; i++)
		clock_gettime(CLOCK_MONOTONIC, &now);
}

static volatile int seen;

FRAME static void call_stubs(void)
{
	for (int i = 0; i < 1000; i++)
		seen += (toupper)(i & 127) + (tolower)(i & 127) + (isalpha)(i & 127) + (labs)(-i);
}

static unsigned int numbers[4096];

FRAME static int compare(const void *left, const void *right)
{
	unsigned int a = *(const unsigned int *)left, b = *(const unsigned int *)right;

	SPOIL_REGISTERS();
	burn(20);
	return (a > b) - (a < b);
}

/* Calls `work` from a frame with all registers saved. */
FRAME static void enter(void (*work)(void))
{
	SPOIL_REGISTERS();
	work();
	AFTER_CALL();
}

FRAME static void syscalls(void)
{
	zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	while (!is_over())
		enter(read_zeros);
}

FRAME static void faults(void)
{
	while (!is_over()) {
		pages = mmap(NULL, PAGES_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
		if (pages == MAP_FAILED)
			abort();
		enter(touch);
		munmap(pages, PAGES_BYTES);
	}
}

FRAME static void vdso(void)
{
	while (!is_over())
		enter(ask_time);
}

FRAME static void stubs(void)
{
	while (!is_over())
		enter(call_stubs);
}

FRAME static void sort_numbers(void)
{
	qsort(numbers, 4096, sizeof(numbers[0]), compare);
}

FRAME static void sorts(void)
{
	unsigned int number = 1;

	while (!is_over()) {
		for (int i = 0; i < 4096; i++)
			numbers[i] = number = number * 1103515245 + 12345;
		enter(sort_numbers);
	}
}

static jmp_buf way_out;

__attribute__((noreturn)) FRAME static void stuck(void)
{
	burn(100000);
	longjmp(way_out, 1); /* NOLINT: a way out of where nobody returns */
}

/* Its last instruction is the call: a look-up by the return address itself finds the next one. */
__attribute__((noreturn)) FRAME static void dead_end(void)
{
	char room[300];

	KEEP(room);
	SPOIL_REGISTERS();
	stuck();
}

FRAME static void no_return(void)
{
	while (!is_over())
		if (!setjmp(way_out))
			enter(dead_end);
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {
		{"plain", plain},     {"alloca", allocas}, {"deep", deep}, {"toodeep", too_deep},
		{"sys", syscalls},    {"fault", faults},   {"vdso", vdso}, {"sort", sorts},
		{"noret", no_return}, {"plt", stubs},
	};

	(void)argc;
	return run_mode(modes, sizeof(modes) / sizeof(modes[0]), argv);
}
