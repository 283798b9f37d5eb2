/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A Valgrind tool that tells the model of every call, return, signal and sample of a program.
 *
 * usage: valgrind --tool=lbr --lbr-log=FILE [--lbr-period=N] [--lbr-seed=N] PROGRAM...
 *
 * Code is counted in runs: instructions that are executed together, as there is no way out between
 * them. A run takes its length off the countdown at once; the sample is due in it if the countdown
 * was smaller, and that number is then the instruction's place. Only the process itself is
 * followed, not its children.
 */
#include "model.h"

#include "valgrind/libvex_guest_amd64.h"
#include "valgrind/pub_tool_aspacemgr.h"
#include "valgrind/pub_tool_basics.h"
#include "valgrind/pub_tool_libcassert.h"
#include "valgrind/pub_tool_libcbase.h"
#include "valgrind/pub_tool_libcfile.h"
#include "valgrind/pub_tool_libcprint.h"
#include "valgrind/pub_tool_libcproc.h"
#include "valgrind/pub_tool_machine.h"
#include "valgrind/pub_tool_mallocfree.h"
#include "valgrind/pub_tool_options.h"
#include "valgrind/pub_tool_tooliface.h"
#include "valgrind/pub_tool_vki.h"

enum {
	FIRST_TID = 4190000, /* of no process that runs: perf looks at /proc */
	THREADS_MAX = 512,
	NOWHERE = -1,
};

/* A signal that is about to run its handler. */
struct delivery {
	bool is_pending;
	u64 ip, sp;
};

static struct model model;
static struct thread *threads[THREADS_MAX]; /* by Valgrind's number */
static struct delivery deliveries[THREADS_MAX];
static struct thread *current;
static u32 thread_count;
static Int log_fd = NOWHERE;
static const HChar *log_path = "lbr.log";
static Long period = 10000, seed = 1;

/* --- what the model needs
 * ------------------------------------------------------------------------- */

static void *allocate(size_t bytes)
{
	return VG_(calloc)("lbr", 1, bytes);
}

static bool read_word(u64 address, u64 *ret_value)
{
	if (!VG_(am_is_valid_for_client)(address, sizeof(u64), VKI_PROT_READ))
		return false;
	*ret_value = *(u64 *)address;
	return true;
}

static bool find_mapping(u64 address, u64 *ret_start, u64 *ret_end)
{
	const NSegment *segment = VG_(am_find_nsegment)(address);

	if (!segment || segment->kind == SkFree)
		return false;
	*ret_start = segment->start;
	*ret_end = segment->end + 1;
	return true;
}

static void write_log(const void *bytes, size_t count)
{
	const HChar *next = bytes;
	Int written;

	if (log_fd == NOWHERE)
		return;
	for (; count; next += written, count -= written) {
		written = VG_(write)(log_fd, next, count);
		if (written <= 0)
			VG_(tool_panic)("cannot write the log");
	}
}

static const struct machine machine = {
	.allocate = allocate,
	.release = VG_(free),
	.read = read_word,
	.find_mapping = find_mapping,
	.write = write_log,
};

/* --- what translated code calls
 * ------------------------------------------------------------------- */

static void on_call(Addr from, Addr to, Addr back, Addr sp)
{
	model_call(&model, current, (struct call){from, to}, back, sp);
}

static void on_return(Addr sp)
{
	model_return(&model, current, sp - sizeof(u64));
}

/* `rest` counted instructions of the run, this one included, are still to come, and the countdown
 * went past them already. */
static void on_sample(Addr ip, Addr sp, Addr frame_pointer, HWord rest)
{
	model.countdown = 0;
	model_sample(&model, current, ip, sp, frame_pointer);
	model.countdown -= rest;
}

/* --- translation
 * ---------------------------------------------------------------------------------- */

/* What is being translated. */
struct translation {
	IRSB *out;
	IRTemp place; /* of the sample in this run; the run has fewer instructions if it is not here
		       */
	u64 counted;  /* instructions of the run */
	u64 index;    /* of the next one */
};

static IRExpr *assign(IRSB *out, IRType type, IRExpr *value)
{
	IRTemp temporary = newIRTemp(out->tyenv, type);

	addStmtToIRSB(out, IRStmt_WrTmp(temporary, value));
	return IRExpr_RdTmp(temporary);
}

static IRExpr *get_register(IRSB *out, Int offset)
{
	return assign(out, Ity_I64, IRExpr_Get(offset, Ity_I64));
}

#define STATE(name) ((Int) __builtin_offsetof(VexGuestAMD64State, guest_##name))

static bool is_counted(const IRStmt *statement)
{
	return statement->tag == Ist_IMark &&
	       !model_is_repeated((const u8 *)statement->Ist.IMark.addr);
}

/* Counted instructions from statement `at` to the next way out, its own instruction included. */
static u64 count_run(const IRSB *in, Int at)
{
	u64 count = 0;

	for (; at < in->stmts_used && in->stmts[at]->tag != Ist_Exit; at++)
		count += is_counted(in->stmts[at]);
	return count;
}

static void begin_run(struct translation *translation, const IRSB *in, Int at)
{
	IRSB *out = translation->out;
	IRExpr *address = mkIRExpr_HWord((HWord)&model.countdown), *left;

	translation->index = 0;
	translation->counted = count_run(in, at);
	if (!translation->counted)
		return;
	translation->place = newIRTemp(out->tyenv, Ity_I64);
	addStmtToIRSB(out,
		      IRStmt_WrTmp(translation->place, IRExpr_Load(Iend_LE, Ity_I64, address)));
	left = assign(out, Ity_I64,
		      IRExpr_Binop(Iop_Sub64, IRExpr_RdTmp(translation->place),
				   mkIRExpr_HWord(translation->counted)));
	addStmtToIRSB(out, IRStmt_Store(Iend_LE, address, left));
}

static void add_sample(struct translation *translation, Addr ip)
{
	IRSB *out = translation->out;
	IRExpr **arguments = mkIRExprVec_4(
		mkIRExpr_HWord(ip), get_register(out, STATE(RSP)), get_register(out, STATE(RBP)),
		mkIRExpr_HWord(translation->counted - translation->index));
	IRDirty *call = unsafeIRDirty_0_N(0, "on_sample", VG_(fnptr_to_fnentry)(on_sample),
					  arguments);

	call->guard = assign(out, Ity_I1,
			     IRExpr_Binop(Iop_CmpEQ64, IRExpr_RdTmp(translation->place),
					  mkIRExpr_HWord(translation->index)));
	addStmtToIRSB(out, IRStmt_Dirty(call));
	translation->index++;
}

/* The block's last instruction, `ip` to `back`, leaves it. */
static void add_ending(IRSB *out, Addr ip, Addr back)
{
	IRExpr *sp;
	IRDirty *call;

	if (out->jumpkind != Ijk_Call && out->jumpkind != Ijk_Ret)
		return;
	sp = get_register(out, STATE(RSP));
	call = out->jumpkind == Ijk_Ret
		       ? unsafeIRDirty_0_N(0, "on_return", VG_(fnptr_to_fnentry)(on_return),
					   mkIRExprVec_1(sp))
		       : unsafeIRDirty_0_N(0, "on_call", VG_(fnptr_to_fnentry)(on_call),
					   mkIRExprVec_4(mkIRExpr_HWord(ip),
							 deepCopyIRExpr(out->next),
							 mkIRExpr_HWord(back), sp));
	addStmtToIRSB(out, IRStmt_Dirty(call));
}

static IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
			const VexGuestExtents *extents, const VexArchInfo *processor,
			IRType guest_word, IRType host_word)
{
	struct translation translation = {.out = deepCopyIRSBExceptStmts(in)};
	Addr ip = 0, back = 0;
	bool begins = true;

	for (Int at = 0; at < in->stmts_used; at++) {
		const IRStmt *statement = in->stmts[at];

		if (statement->tag == Ist_IMark) {
			if (begins)
				begin_run(&translation, in, at);
			begins = false;
			ip = statement->Ist.IMark.addr;
			back = ip + statement->Ist.IMark.len;
		}
		addStmtToIRSB(translation.out, in->stmts[at]);
		if (is_counted(statement))
			add_sample(&translation, ip);
		if (statement->tag == Ist_Exit)
			begins = true;
	}
	add_ending(translation.out, ip, back);
	(void)closure, (void)layout, (void)extents, (void)processor, (void)guest_word,
		(void)host_word;
	return translation.out;
}

/* --- threads, signals, mappings
 * ------------------------------------------------------------------- */

static void deliver(ThreadId number)
{
	struct delivery *delivery = &deliveries[number];

	if (!delivery->is_pending)
		return;
	delivery->is_pending = false;
	model_signal(&model, threads[number], (struct call){delivery->ip, VG_(get_IP)(number)},
		     delivery->sp, VG_(get_SP)(number));
}

static void on_thread(ThreadId parent, ThreadId child)
{
	tl_assert(child < THREADS_MAX);
	if (!threads[child])
		threads[child] = allocate(sizeof(struct thread));
	*threads[child] = (struct thread){0};
	deliveries[child] = (struct delivery){0};
	model_thread(&model, threads[child], FIRST_TID + thread_count, FIRST_TID);
	thread_count++;
	(void)parent;
}

static void on_start(ThreadId number, ULong blocks)
{
	if (!threads[number])
		on_thread(number, number);
	current = threads[number];
	deliver(number);
	(void)blocks;
}

static void on_signal(ThreadId number, Int signal, Bool is_on_its_stack)
{
	deliver(number); /* two at once: the second interrupts the first's handler */
	deliveries[number] = (struct delivery){
		.is_pending = true,
		.ip = VG_(get_IP)(number),
		.sp = VG_(get_SP)(number),
	};
	(void)signal, (void)is_on_its_stack;
}

static void on_signal_end(ThreadId number, Int signal)
{
	model_signal_end(&model, threads[number]);
	(void)signal;
}

/* Valgrind lends the program some of its own code: no program outside has that. */
static bool is_ours(const NSegment *segment)
{
	const NSegment *ours = VG_(am_find_nsegment)((Addr)&machine);

	return ours && segment->ino == ours->ino && segment->dev == ours->dev;
}

static void note_mapping(Addr start, SizeT bytes)
{
	const NSegment *segment = VG_(am_find_nsegment)(start);
	const HChar *path = segment && segment->kind == SkFileC && !is_ours(segment)
				    ? VG_(am_get_filename)(segment)
				    : NULL;

	if (path)
		model_mapping(&model, start, bytes, segment->offset + (start - segment->start),
			      path);
}

static void on_mapping(Addr start, SizeT bytes, Bool readable, Bool writable, Bool executable,
		       ULong debug_info)
{
	if (executable)
		note_mapping(start, bytes);
	(void)readable, (void)writable, (void)debug_info;
}

static void on_fork_in_child(ThreadId number)
{
	VG_(close)(log_fd);
	log_fd = NOWHERE;
	(void)number;
}

/* --- the tool
 * ------------------------------------------------------------------------------------- */

static Bool take_option(const HChar *option)
{
	return VG_STR_CLO(option, "--lbr-log", log_path) ||
	       VG_BINT_CLO(option, "--lbr-period", period, 1000, 1000000000) ||
	       VG_BINT_CLO(option, "--lbr-seed", seed, 1, 1000000000);
}

static void print_usage(void)
{
	VG_(printf)
	("    --lbr-log=<file>          where to [lbr.log]\n"
	 "    --lbr-period=<number>     instructions from sample to sample [10000]\n"
	 "    --lbr-seed=<number>       of the jitter [1]\n");
}

static void print_nothing(void)
{
}

static void start(void)
{
	SysRes opened = VG_(open)(log_path, VKI_O_CREAT | VKI_O_TRUNC | VKI_O_WRONLY, 0644);
	struct vki_rlimit limit;

	if (sr_isError(opened)) {
		VG_(umsg)("lbr: cannot write %s\n", log_path);
		VG_(exit)(1);
	}
	/* Out of the way of the program's own numbers: the last of those kept for Valgrind. */
	VG_(getrlimit)(VKI_RLIMIT_NOFILE, &limit);
	log_fd = limit.rlim_cur - 1;
	if (sr_isError(VG_(dup2)(sr_Res(opened), log_fd)))
		VG_(tool_panic)("cannot keep the log open");
	VG_(close)(sr_Res(opened));
	model.machine = &machine;
	model_start(&model, FIRST_TID, period, seed);
}

static void finish(Int status)
{
	if (log_fd != NOWHERE)
		model_end(&model);
	(void)status;
}

static void describe(void)
{
	VG_(details_name)("lbr");
	VG_(details_version)(NULL);
	VG_(details_description)("call-stack LBR simulator");
	VG_(details_copyright_author)("GPL-2.0-only OR BSD-2-Clause");
	VG_(details_bug_reports_to)("bpfprof");
	VG_(basic_tool_funcs)(start, instrument, finish);
	VG_(needs_command_line_options)(take_option, print_usage, print_nothing);
	VG_(track_pre_thread_ll_create)(on_thread);
	VG_(track_start_client_code)(on_start);
	VG_(track_pre_deliver_signal)(on_signal);
	VG_(track_post_deliver_signal)(on_signal_end);
	VG_(track_new_mem_startup)(on_mapping);
	VG_(track_new_mem_mmap)(on_mapping);
	VG_(atfork)(NULL, NULL, on_fork_in_child);
	/* A block ends at each call. */
	VG_(clo_vex_control).guest_chase = False;
}

VG_DETERMINE_INTERFACE_VERSION(describe)
