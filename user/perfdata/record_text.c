/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What records say, in perf's words. Found out by feeding perf 6.1 records of each kind.
 */
#include "base/text.h"
#include "perfdata/records.h"
#include "perfdata/session.h"

#include <inttypes.h>

/* A body that is read, and where its words go. */
struct telling {
	const struct perfdata_record *record;
	struct cursor body; /* between header and trailer */
	bool is_dump;
	FILE *out;
};

typedef void tell_record(struct telling *telling);

/* Strings in recordings are foreign: nothing of them may steer the terminal. */
static void put_foreign(struct telling *telling, const char *foreign)
{
	struct text text = {0};

	text_append_printable(&text, foreign ? foreign : "");
	fputs(text_view(&text), telling->out);
	text_release(&text);
}

static void put_foreign_line(struct telling *telling)
{
	put_foreign(telling, cursor_text(&telling->body, cursor_left(&telling->body)));
	fputc('\n', telling->out);
}

static void put_range(struct telling *telling)
{
	struct cursor *body = &telling->body;
	int pid = (int)cursor_u32(body), tid = (int)cursor_u32(body);
	u64 start = cursor_u64(body), length = cursor_u64(body), from = cursor_u64(body);

	fprintf(telling->out, " %d/%d: [%#" PRIx64 "(%#" PRIx64 ") @ %#" PRIx64, pid, tid, start,
		length, from);
}

static void tell_mmap(struct telling *telling)
{
	put_range(telling);
	fprintf(telling->out, "]: %c ", telling->record->misc & MISC_MMAP_DATA ? 'r' : 'x');
	put_foreign_line(telling);
}

static void put_build_id(struct telling *telling)
{
	enum { FIELD_BYTES = 20 };
	struct cursor *body = &telling->body;
	u8 bytes = cursor_u8(body);
	const u8 *id;

	cursor_take(body, 3);
	id = cursor_take(body, FIELD_BYTES);
	fputs(" <", telling->out);
	for (u8 i = 0; id && i < bytes && i < FIELD_BYTES; i++)
		fprintf(telling->out, "%02x", id[i]);
	fputc('>', telling->out);
}

static void tell_mmap2(struct telling *telling)
{
	enum { READ = 1, WRITE = 2, EXECUTE = 4, SHARED = 1 };
	struct cursor *body = &telling->body;
	u32 protection, flags;

	put_range(telling);
	if (telling->record->misc & MISC_MMAP_BUILD_ID) {
		put_build_id(telling);
	} else {
		u32 major = cursor_u32(body), minor = cursor_u32(body);
		u64 inode = cursor_u64(body), generation = cursor_u64(body);

		fprintf(telling->out, " %02x:%02x %" PRIu64 " %" PRIu64, major, minor, inode,
			generation);
	}
	protection = cursor_u32(body);
	flags = cursor_u32(body);
	fprintf(telling->out, "]: %c%c%c%c ", protection & READ ? 'r' : '-',
		protection & WRITE ? 'w' : '-', protection & EXECUTE ? 'x' : '-',
		flags & SHARED ? 's' : 'p');
	put_foreign_line(telling);
}

static void tell_comm(struct telling *telling)
{
	struct cursor *body = &telling->body;
	int pid = (int)cursor_u32(body), tid = (int)cursor_u32(body);

	fputs(telling->record->misc & MISC_COMM_EXEC ? " exec: " : ": ", telling->out);
	put_foreign(telling, cursor_text(body, cursor_left(body)));
	fprintf(telling->out, ":%d/%d\n", pid, tid);
}

static void tell_life(struct telling *telling)
{
	struct cursor *body = &telling->body;
	int pid = (int)cursor_u32(body), parent_pid = (int)cursor_u32(body);
	int tid = (int)cursor_u32(body), parent_tid = (int)cursor_u32(body);

	fprintf(telling->out, "(%d:%d):(%d:%d)\n", pid, tid, parent_pid, parent_tid);
}

static void tell_lost(struct telling *telling)
{
	u64 id = cursor_u64(&telling->body), lost = cursor_u64(&telling->body);

	if (telling->is_dump)
		fprintf(telling->out, ": id:%" PRIu64 ": lost:%" PRIu64 "\n", id, lost);
	else
		fprintf(telling->out, " lost %" PRIu64 "\n", lost);
}

static void tell_lost_samples(struct telling *telling)
{
	fprintf(telling->out, ": id:%" PRIu64 ": lost samples :%" PRIu64 "\n", telling->record->id,
		cursor_u64(&telling->body));
}

static void tell_switch(struct telling *telling)
{
	u16 misc = telling->record->misc;

	fprintf(telling->out, " %s\n",
		!(misc & MISC_SWITCH_OUT)	 ? "IN         "
		: misc & MISC_SWITCH_OUT_PREEMPT ? "OUT preempt"
						 : "OUT        ");
}

static void tell_switch_on_cpu(struct telling *telling)
{
	u16 misc = telling->record->misc;
	int pid = (int)cursor_u32(&telling->body), tid = (int)cursor_u32(&telling->body);

	fprintf(telling->out, " %s  %s pid/tid: %5d/%-5d\n",
		!(misc & MISC_SWITCH_OUT)	 ? "IN         "
		: misc & MISC_SWITCH_OUT_PREEMPT ? "OUT preempt"
						 : "OUT        ",
		misc & MISC_SWITCH_OUT ? "next" : "prev", pid, tid);
}

static void tell_namespaces(struct telling *telling)
{
	enum { A_LINE = 4 };
	static const char *const names[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
	struct cursor *body = &telling->body;
	int pid = (int)cursor_u32(body), tid = (int)cursor_u32(body);
	u64 count = cursor_u64(body);

	fprintf(telling->out, " %d/%d - nr_namespaces: %u\n\t\t[", pid, tid, (u32)count);
	for (u64 i = 0; i < count && !body->overrun; i++) {
		u64 device = cursor_u64(body), inode = cursor_u64(body);

		fprintf(telling->out, "%s%u/%s: %" PRIu64 "/%#" PRIx64 "%s",
			i && i % A_LINE == 0 ? "\n\t\t " : "", (u32)i,
			i < ARRAY_COUNT(names) ? names[i] : "unknown", device, inode,
			i + 1 != count ? ", " : "]\n");
	}
}

static void tell_kernel_symbol(struct telling *telling)
{
	struct cursor *body = &telling->body;
	u64 start = cursor_u64(body);
	u32 length = cursor_u32(body);
	u16 type = cursor_u16(body), flags = cursor_u16(body);

	fprintf(telling->out, " addr %" PRIx64 " len %u type %u flags 0x%x name ", start, length,
		type, flags);
	put_foreign_line(telling);
}

static void tell_bpf_event(struct telling *telling)
{
	struct cursor *body = &telling->body;
	u16 type = cursor_u16(body), flags = cursor_u16(body);

	fprintf(telling->out, " type %u, flags %u, id %u\n", type, flags, cursor_u32(body));
}

static void tell_cgroup(struct telling *telling)
{
	fprintf(telling->out, " cgroup: %" PRIu64 " ", cursor_u64(&telling->body));
	put_foreign_line(telling);
}

static void tell_aux(struct telling *telling)
{
	struct cursor *body = &telling->body;
	u64 offset = cursor_u64(body), bytes = cursor_u64(body), flags = cursor_u64(body);

	fprintf(telling->out,
		" offset: %#" PRIx64 " size: %#" PRIx64 " flags: %#" PRIx64 " [%s%s%s]\n", offset,
		bytes, flags, flags & 1 ? "T" : "", flags & 2 ? "O" : "", flags & 4 ? "P" : "");
}

static void tell_trace_start(struct telling *telling)
{
	u32 pid = cursor_u32(&telling->body);

	fprintf(telling->out, " pid: %u tid: %u\n", pid, cursor_u32(&telling->body));
}

/* --- records that perf itself writes --- */

static void tell_id_index(struct telling *telling)
{
	struct cursor *body = &telling->body;
	u64 count = cursor_u64(body);

	fprintf(telling->out, " nr: %zu\n", (size_t)count);
	for (u64 i = 0; i < count && !body->overrun && cursor_left(body); i++) {
		u64 id = cursor_u64(body), index = cursor_u64(body);
		u64 cpu = cursor_u64(body), tid = cursor_u64(body);

		fprintf(telling->out,
			" ... id: %" PRIu64 "  idx: %" PRIu64 "  cpu: %" PRId64 "  tid: %" PRId64
			"\n",
			id, index, (s64)cpu, (s64)tid);
	}
}

static void tell_thread_map(struct telling *telling)
{
	enum { NAME_BYTES = 16 };
	struct cursor *body = &telling->body;
	u64 count = cursor_u64(body);

	fprintf(telling->out, " nr: %" PRIu64 " thread%s", count, count > 1 ? "s: " : ": ");
	for (u64 i = 0; i < count && !body->overrun && cursor_left(body); i++) {
		fprintf(telling->out, "%s%d", i ? "," : "", (int)cursor_u64(body));
		cursor_take(body, NAME_BYTES);
	}
	fputc('\n', telling->out);
}

/* A list of CPUs as "0-3,8". */
struct cpu_words {
	FILE *out;
	int first, last; /* of the run that is not written yet; -1: none */
	bool has_some;
};

static void end_run(struct cpu_words *words)
{
	if (words->first < 0)
		return;
	fprintf(words->out, "%s%d", words->has_some ? "," : "", words->first);
	if (words->last > words->first)
		fprintf(words->out, "-%d", words->last);
	words->has_some = true;
	words->first = -1;
}

static void add_cpu(struct cpu_words *words, int cpu)
{
	if (words->first >= 0 && cpu == words->last + 1) {
		words->last = cpu;
		return;
	}
	end_run(words);
	words->first = words->last = cpu;
}

static void add_mask(struct cpu_words *words, struct cursor *body)
{
	u16 count = cursor_u16(body), bytes = cursor_u16(body);

	if (bytes != sizeof(u32) && bytes != sizeof(u64))
		return; /* words of no machine */
	if (bytes == sizeof(u64))
		cursor_u32(body); /* so that they are aligned */
	for (int i = 0; i < count && !body->overrun; i++) {
		u64 word = bytes == sizeof(u64) ? cursor_u64(body) : cursor_u32(body);

		for (int bit = 0; bit < bytes * 8; bit++)
			if (word & (1ull << bit))
				add_cpu(words, i * bytes * 8 + bit);
	}
}

static void put_cpus(struct telling *telling)
{
	enum { LIST, MASK, RANGE };
	struct cursor *body = &telling->body;
	struct cpu_words words = {.out = telling->out, .first = -1};
	u16 type = cursor_u16(body);

	if (type == LIST) {
		u16 count = cursor_u16(body);

		for (u16 i = 0; i < count && !body->overrun; i++)
			add_cpu(&words, (s16)cursor_u16(body));
	} else if (type == MASK) {
		add_mask(&words, body);
	} else if (type == RANGE) {
		u16 first, last;

		cursor_u16(body); /* whether "any CPU" is among them */
		first = cursor_u16(body);
		last = cursor_u16(body);
		for (u32 cpu = first; cpu <= last && !body->overrun; cpu++)
			add_cpu(&words, (int)cpu);
	}
	end_run(&words);
	fputc('\n', telling->out);
}

static void tell_cpu_map(struct telling *telling)
{
	fputs(": ", telling->out);
	put_cpus(telling);
}

static void tell_event_update(struct telling *telling)
{
	enum { UNIT, SCALE, NAME, CPUS };
	struct cursor *body = &telling->body;
	u64 what = cursor_u64(body), id = cursor_u64(body);

	fprintf(telling->out, "\n... id:    %" PRIu64 "\n", id);
	if (what == UNIT || what == NAME) {
		fputs(what == UNIT ? "... unit:  " : "... name:  ", telling->out);
		put_foreign_line(telling);
	} else if (what == SCALE) {
		u64 bits = cursor_u64(body);
		double scale;

		memcpy(&scale, &bits, sizeof(scale));
		fprintf(telling->out, "... scale: %f\n", scale);
	} else if (what == CPUS) {
		fputs("... ", telling->out);
		put_cpus(telling);
	} else {
		fputs("... unknown type\n", telling->out);
	}
}

static void tell_time_conversion(struct telling *telling)
{
	struct cursor *body = &telling->body;

	fprintf(telling->out, "\n... Time Shift      %" PRIu64 "\n", cursor_u64(body));
	/* Misspelt in perf, too. */
	fprintf(telling->out, "... Time Muliplier  %" PRIu64 "\n", cursor_u64(body));
	fprintf(telling->out, "... Time Zero       %" PRIu64 "\n", cursor_u64(body));
	if (cursor_left(body) >= 2 * sizeof(u64)) {
		fprintf(telling->out, "... Time Cycles     %" PRIu64 "\n", cursor_u64(body));
		fprintf(telling->out, "... Time Mask       %#" PRIx64 "\n", cursor_u64(body));
		fprintf(telling->out, "... Cap Time Zero   %d\n", cursor_u8(body));
		fprintf(telling->out, "... Cap Time Short  %d\n", cursor_u8(body));
	}
	fputs(": unhandled!\n", telling->out);
}

static void tell_nothing(struct telling *telling)
{
	fputc('\n', telling->out);
}

static void tell_unhandled(struct telling *telling)
{
	fputs(": unhandled!\n", telling->out);
}

/* NULL: the name says it all. */
static const struct {
	const char *name;
	tell_record *tell;
} tellers[] = {
	[RECORD_MMAP] = {"MMAP", tell_mmap},
	[RECORD_LOST] = {"LOST", tell_lost},
	[RECORD_COMM] = {"COMM", tell_comm},
	[RECORD_EXIT] = {"EXIT", tell_life},
	[RECORD_THROTTLE] = {"THROTTLE", NULL},
	[6] = {"UNTHROTTLE", NULL},
	[RECORD_FORK] = {"FORK", tell_life},
	[RECORD_READ] = {"READ", NULL},
	[RECORD_SAMPLE] = {"SAMPLE", NULL},
	[RECORD_MMAP2] = {"MMAP2", tell_mmap2},
	[11] = {"AUX", tell_aux},
	[12] = {"ITRACE_START", tell_trace_start},
	[RECORD_LOST_SAMPLES] = {"LOST_SAMPLES", tell_lost_samples},
	[RECORD_SWITCH] = {"SWITCH", tell_switch},
	[RECORD_SWITCH_CPU_WIDE] = {"SWITCH_CPU_WIDE", tell_switch_on_cpu},
	[RECORD_NAMESPACES] = {"NAMESPACES", tell_namespaces},
	[RECORD_KSYMBOL] = {"KSYMBOL", tell_kernel_symbol},
	[RECORD_BPF_EVENT] = {"BPF_EVENT", tell_bpf_event},
	[RECORD_CGROUP] = {"CGROUP", tell_cgroup},
	[20] = {"TEXT_POKE", NULL},
	[21] = {"AUX_OUTPUT_HW_ID", NULL},
	[RECORD_CALLCHAIN_DEFERRED] = {"CALLCHAIN_DEFERRED", NULL},
	[RECORD_HEADER_ATTR] = {"ATTR", NULL},
	[RECORD_NOTE] = {"EVENT_TYPE", NULL},
	[RECORD_HEADER_TRACING_DATA] = {"TRACING_DATA", NULL},
	[RECORD_HEADER_BUILD_ID] = {"BUILD_ID", NULL},
	[RECORD_FINISHED_ROUND] = {"FINISHED_ROUND", tell_nothing},
	[69] = {"ID_INDEX", tell_id_index},
	[70] = {"AUXTRACE_INFO", NULL},
	[RECORD_AUXTRACE] = {"AUXTRACE", NULL},
	[72] = {"AUXTRACE_ERROR", NULL},
	[73] = {"THREAD_MAP", tell_thread_map},
	[74] = {"CPU_MAP", tell_cpu_map},
	[75] = {"STAT_CONFIG", NULL},
	[76] = {"STAT", NULL},
	[77] = {"STAT_ROUND", NULL},
	[RECORD_EVENT_UPDATE] = {"EVENT_UPDATE", tell_event_update},
	[79] = {"TIME_CONV", tell_time_conversion},
	[RECORD_HEADER_FEATURE] = {"FEATURE", NULL},
	[RECORD_COMPRESSED] = {"COMPRESSED", NULL},
	[82] = {"FINISHED_INIT", tell_unhandled},
};

const char *perfdata_record_name(u32 type)
{
	return type < ARRAY_COUNT(tellers) ? tellers[type].name : NULL;
}

void session_tell(const struct perfdata *data, const struct perfdata_record *record, bool is_dump,
		  FILE *out)
{
	struct telling telling = {.record = record, .is_dump = is_dump, .out = out};
	size_t trailer = 0, length = record->bytes.length - sizeof(struct record_header);
	u32 type = record->type;
	const char *name = perfdata_record_name(type);

	fprintf(out, "PERF_RECORD_%s", name ? name : "UNKNOWN");
	if (!name || !tellers[type].tell) {
		if (!is_dump)
			fputc('\n', out);
		return;
	}
	if (record->source != ~0u)
		trailer = data->decoder.kinds.items[record->source].trailer_bytes;
	length -= trailer < length ? trailer : length;
	telling.body = cursor_of(
		(struct bytes){record->bytes.start + sizeof(struct record_header), length});
	telling.body.swap = data->decoder.swap;
	tellers[type].tell(&telling);
}

void perfdata_print_record(const struct perfdata *data, const struct perfdata_record *record,
			   FILE *out)
{
	session_tell(data, record, false, out);
}
