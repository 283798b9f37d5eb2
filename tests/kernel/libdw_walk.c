/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * * A Dwfl for each process, or for several that share their mappings. Files are given to it when a
 * pc turns out to lie in them: a walk is done again until it meets no file that libdw does not know
 * yet. When one of these files has gone, a new Dwfl begins.
 */
#include "kernel/libdw_walk.h"

#include "base/memory.h"
#include "base/vec.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#if defined(__x86_64__)
enum { SP = X86_64_SP };
#else
enum { SP = ARM64_SP };
#endif

enum { SPACES_MAX = 32, TID = 1 };

/* A file that libdw knows, and where a piece of it must be for that to be right. */
struct known_file {
	const struct mapped_file *file;
	u64 start;
};

struct space {
	u32 pid;
	u64 generation, last_used;
	VEC(struct known_file) files;
	Dwfl *dwfl;
	bool is_attached;
};

struct libdw_walker {
	const struct process_table *table;
	struct space spaces[SPACES_MAX];
	u64 uses;
	const struct proof_record *proof; /* of the walk that is being done */
	struct libdw_stack *stack;
	int vdso_fd, own_fd;
	Elf *own; /* tells libdw the machine */
};

/* No debug files: what is mapped is all that may be needed. */
static int find_no_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			      const char *file, const char *link, GElf_Word crc, char **ret_path)
{
	(void)module, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc;
	(void)ret_path;
	return -1;
}

static const Dwfl_Callbacks dwfl_callbacks = {.find_debuginfo = find_no_debug_file};

static pid_t only_thread(Dwfl *dwfl, void *walker, void **thread)
{
	(void)dwfl;
	if (*thread)
		return 0;
	*thread = walker;
	return TID;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *walker, void **thread)
{
	(void)dwfl;
	*thread = walker;
	return tid == TID;
}

static bool read_word(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret_word, void *argument)
{
	struct libdw_walker *walker = argument;
	const struct proof_record *proof = walker->proof;
	u64 sp = proof->registers[SP];

	(void)dwfl;
	if (address < sp || address - sp + sizeof(*ret_word) > proof->stack_bytes) {
		if (!walker->stack->missed)
			walker->stack->missed = address;
		return false;
	}
	memcpy(ret_word, proof->stack + (address - sp), sizeof(*ret_word));
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *argument)
{
	const struct proof_record *proof = ((struct libdw_walker *)argument)->proof;
	Dwarf_Word registers[UNWIND_REGISTERS];

	memcpy(registers, proof->registers, sizeof(registers));
#if defined(__x86_64__)
	registers[16] = proof->registers[UNWIND_REGISTERS];
	return dwfl_thread_state_registers(thread, 0, 17, registers);
#else
	dwfl_thread_state_register_pc(thread, proof->registers[UNWIND_REGISTERS]);
	return dwfl_thread_state_registers(thread, 0, UNWIND_REGISTERS, registers);
#endif
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = only_thread,
	.get_thread = get_thread,
	.memory_read = read_word,
	.set_initial_registers = set_registers,
};

static void end_space(struct space *space)
{
	if (space->dwfl)
		dwfl_end(space->dwfl);
	vec_release(&space->files);
	*space = (struct space){0};
}

/* Whether all that libdw knows of the process is still there. JIT compilers change the mappings all
 * the time, but not those of files. */
static bool still_holds(const struct libdw_walker *walker, const struct space *space)
{
	for (size_t i = 0; i < space->files.count; i++) {
		const struct known_file *known = &space->files.items[i];
		const struct mapped *mapped = process_table_find(walker->table, space->pid,
								 known->start, SPACE_USER);

		if (!mapped || mapped->file != known->file || mapped->start != known->start)
			return false;
	}
	return true;
}

/* The process's, or that of one with the same mappings; NULL if there is none. */
static struct space *known_space(struct libdw_walker *walker, u32 pid, u64 generation)
{
	struct space *behind = walker->spaces + SPACES_MAX;

	for (struct space *space = walker->spaces; space < behind; space++)
		if (space->generation == generation)
			return space;
	for (struct space *space = walker->spaces; space < behind; space++) {
		if (space->pid == pid && still_holds(walker, space)) {
			space->generation = generation;
			return space;
		}
	}
	return NULL;
}

static struct space *find_space(struct libdw_walker *walker, u32 pid)
{
	u64 generation = process_table_generation(walker->table, pid, SPACE_USER);
	struct space *space = known_space(walker, pid, generation);

	if (!space) {
		space = walker->spaces;
		for (u32 i = 1; i < SPACES_MAX; i++)
			if (walker->spaces[i].last_used < space->last_used)
				space = &walker->spaces[i];
		end_space(space);
		space->pid = pid;
		space->generation = generation;
		space->dwfl = dwfl_begin(&dwfl_callbacks);
	}
	space->last_used = ++walker->uses;
	return space;
}

/* The vDSO is the same in all processes: ours as a file. */
static int open_vdso(struct libdw_walker *walker, u64 bytes)
{
	const void *image = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);

	if (walker->vdso_fd < 0) {
		walker->vdso_fd = memfd_create("vdso", MFD_CLOEXEC);
		if (write(walker->vdso_fd, image, bytes) != (ssize_t)bytes)
			return -1;
	}
	return dup(walker->vdso_fd);
}

/* How far from the addresses in the file the mapping is. False if that is not for libdw: V8 maps a
 * part of its program once more elsewhere. */
static bool find_bias(int fd, const struct mapped *mapped, u64 *ret_bias)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	size_t count = 0;
	bool is_found = false;
	GElf_Phdr header;
	GElf_Ehdr elf_header = {0};

	gelf_getehdr(elf, &elf_header);
	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count && !is_found; i++) {
		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
		    !(header.p_flags & PF_X) ||
		    header.p_offset >= mapped->file_offset + (mapped->end - mapped->start) ||
		    header.p_offset + header.p_filesz <= mapped->file_offset)
			continue;
		*ret_bias = mapped->start - mapped->file_offset - header.p_vaddr + header.p_offset;
		is_found = true;
	}
	elf_end(elf);
	return is_found && (elf_header.e_type != ET_EXEC || !*ret_bias);
}

/* Gives libdw the file that is mapped at `pc`. False if it has it already, or cannot. */
static bool report_file(struct libdw_walker *walker, struct space *space, u64 pc)
{
	const struct mapped *mapped = process_table_find(walker->table, walker->proof->pid, pc,
							 SPACE_USER);
	Dwfl_Module *module = NULL;
	const char *path;
	u64 bias = 0;
	int fd;

	if (!mapped || dwfl_addrmodule(space->dwfl, pc))
		return false;
	path = mapped->file->path;
	if (strcmp(path, "[vdso]") == 0)
		fd = open_vdso(walker, mapped->end - mapped->start);
	else
		fd = path[0] == '/' && path[1] != '/' ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0 && find_bias(fd, mapped, &bias)) {
		dwfl_report_begin_add(space->dwfl);
		module = dwfl_report_elf(space->dwfl, path, path, fd, bias, true);
		dwfl_report_end(space->dwfl, NULL, NULL);
	}
	if (fd >= 0 && !module)
		close(fd);
	if (module)
		*vec_add(&space->files) = (struct known_file){mapped->file, mapped->start};
	return module != NULL;
}

static int take_frame(Dwfl_Frame *frame, void *argument)
{
	struct libdw_stack *stack = argument;
	Dwarf_Addr pc;

	if (stack->count == LIBDW_FRAMES_MAX || !dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	stack->frames[stack->count++] = pc;
	return DWARF_CB_OK;
}

/* One walk with the files that are known; whether it met another one. */
static bool walk_once(struct libdw_walker *walker, struct space *space)
{
	struct libdw_stack *stack = walker->stack;
	bool has_new = false;

	stack->count = 0;
	stack->missed = 0;
	stack->why = NULL;
	if (dwfl_getthread_frames(space->dwfl, TID, take_frame, stack))
		stack->why = dwfl_errmsg(-1);
	for (u32 i = 0; i < stack->count; i++)
		has_new |= report_file(walker, space, stack->frames[i] - (i ? 1 : 0));
	return has_new;
}

void libdw_walk(struct libdw_walker *walker, const struct proof_record *proof,
		struct libdw_stack *ret_stack)
{
	u64 pc = proof->registers[UNWIND_REGISTERS];
	struct space *space = find_space(walker, proof->pid);

	walker->proof = proof;
	walker->stack = ret_stack;
	report_file(walker, space, pc);
	if (!space->is_attached) {
		dwfl_attach_state(space->dwfl, walker->own, TID, &thread_callbacks, walker);
		space->is_attached = true;
	}
	while (walk_once(walker, space))
		;
}

bool libdw_has_rule(struct libdw_walker *walker, u64 pc)
{
	struct space *space = find_space(walker, walker->proof->pid);
	Dwfl_Module *module = dwfl_addrmodule(space->dwfl, pc);
	Dwarf_Addr bias = 0;
	Dwarf_CFI *cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
	Dwarf_Frame *frame = NULL;
	bool has_rule = cfi && !dwarf_cfi_addrframe(cfi, pc - bias, &frame);

	free(frame);
	return has_rule;
}

struct libdw_walker *libdw_walker_new(const struct process_table *table)
{
	struct libdw_walker *walker = must_alloc(sizeof(*walker));

	elf_version(EV_CURRENT);
	walker->table = table;
	walker->vdso_fd = -1;
	walker->own_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	walker->own = elf_begin(walker->own_fd, ELF_C_READ_MMAP, NULL);
	return walker;
}

void libdw_walker_free(struct libdw_walker *walker)
{
	if (!walker)
		return;
	for (struct space *space = walker->spaces; space < walker->spaces + SPACES_MAX; space++)
		end_space(space);
	elf_end(walker->own);
	closep(&walker->own_fd);
	closep(&walker->vdso_fd);
	free(walker);
}
