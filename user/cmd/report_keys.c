/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report: what some keys and options need besides stacks and threads.
 */
#include "cmd/report_state.h"

#include "base/fail.h"
#include "cmd/stitching.h"
#include "host/host.h"

#include <errno.h>
#include <linux/perf_event.h>

enum { QUANTUM_NS = 100000000 }; /* as in perf */

/* perf's: what enters the kernel. */
static const char default_parents[] = "^sys_|^do_page_fault";

/* --- details of samples --- */

static void read_details(void *context, const struct sample *sample, struct detail_row *details)
{
	const struct sample_details *read = perfdata_details(context, sample);

	if (!read)
		return;
	details->values[DETAIL_COST] = read->weight;
	details->values[DETAIL_TRANSACTION] = read->transaction;
	details->values[DETAIL_CODE_PAGE] = read->code_page_bytes;
	details->values[DETAIL_INSTRUCTION_CYCLES] = read->instruction_latency;
	details->values[DETAIL_DATA_SOURCE] = read->data_source;
	details->values[DETAIL_PHYSICAL_ADDRESS] = read->physical_address;
	details->values[DETAIL_DATA_PAGE] = read->data_page_bytes;
}

static const char *tell(void *context, const struct counted_sample *counted)
{
	const struct report *report = context;
	u32 count;
	const struct event_source *source = &perfdata_sources(report->data,
							      &count)[counted->sample->source];
	const struct sample_details *details = perfdata_details(report->data, counted->sample);

	if (source->type != PERF_TYPE_TRACEPOINT)
		return NULL;
	return trace_words_tell(report->trace,
				&(struct trace_place){counted->profile, counted->locator}, source,
				details ? details->raw : (struct bytes){0});
}

bool report_is_of_tracepoints(const struct report *report)
{
	u32 count;
	const struct event_source *sources = perfdata_sources(report->data, &count);

	for (u32 i = 0; i < count; i++)
		if (sources[i].type != PERF_TYPE_TRACEPOINT)
			return false;
	return count && tracepoints_are_told(report->data);
}

bool report_tells_tracepoints(const struct report *report)
{
	return entry_layout_has_key(&report->layout, FIELD_TRACE) &&
	       tracepoints_are_told(report->data);
}

struct detail_settings report_details(const struct report *report)
{
	const struct perfdata_header *header = perfdata_header(report->data);
	const u32 of_samples = 1u << DETAIL_COST | 1u << DETAIL_TRANSACTION |
			       1u << DETAIL_CODE_PAGE | 1u << DETAIL_INSTRUCTION_CYCLES;
	struct detail_settings details = {
		.kept = entry_layout_details(&report->layout),
		.sockets = header->sockets,
		.socket_count = header->socket_count,
		.context = report->data,
	};

	if (report->settings->has_socket)
		details.kept |= 1u << DETAIL_SOCKET;
	if (details.kept & (1u << DETAIL_CONTAINER | 1u << DETAIL_UNIT))
		details.kept |= 1u << DETAIL_CGROUP;
	if (details.kept & of_samples || report->settings->is_memory)
		details.read = read_details;
	if (report->trace) {
		details.tell = tell;
		details.teller = (void *)report;
	}
	if (details.kept & 1u << DETAIL_TIME)
		details.quantum_ns = report->settings->quantum_ns ? report->settings->quantum_ns
								  : QUANTUM_NS;
	return details;
}

static int check_memory(const struct report *report)
{
	const struct report_settings *settings = report->settings;
	u32 count;
	const struct event_source *sources = perfdata_sources(report->data, &count);
	bool has_memory = false;

	for (u32 i = 0; i < count; i++)
		has_memory |= (sources[i].sample_bits & PERF_SAMPLE_DATA_SRC) != 0;
	if (settings->branch_mode == BRANCHES_COUNTED || settings->branch_history)
		return fail_plain(-EINVAL, "leave out one of them",
				  "--mem-mode is of memory accesses, and %s of branches",
				  settings->branch_history ? "--branch-history" : "-b");
	if (!has_memory)
		return fail_plain(-EINVAL, "record with perf mem record, or leave it out here",
				  "--mem-mode: the recording says nothing of memory accesses");
	return 0;
}

static int check_blocks(const struct report *report)
{
	const struct report_settings *settings = report->settings;
	const struct {
		bool is_given;
		const char *name;
	} others[] = {
		{settings->sort, "-s"},
		{settings->fields, "-F"},
		{settings->is_hierarchy, "--hierarchy"},
		{settings->branch_history, "--branch-history"},
		{settings->is_memory, "--mem-mode"},
		{settings->comms, "-c"},
		{settings->dsos, "-d"},
		{settings->symbols, "-S"},
		{settings->symbol_part, "--symbol-filter"},
		{settings->choice.pids, "--pid"},
		{settings->choice.tids, "--tid"},
		{settings->has_socket, "--socket-filter"},
		{settings->branch_mode == BRANCHES_IGNORED, "--no-branch-stack"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(others); i++)
		if (others[i].is_given)
			return fail_plain(-EINVAL, "leave out one of them",
					  "--total-cycles is of blocks of code, and %s of lines of "
					  "samples or branches",
					  others[i].name);
	return 0;
}

int report_choose_branches(struct report *report)
{
	enum branch_mode mode = report->settings->branch_mode;
	u32 count;
	const struct event_source *sources = perfdata_sources(report->data, &count);
	bool has_branches = false;

	for (u32 i = 0; i < count; i++)
		has_branches |= sources[i].has_branches;
	if (report->settings->has_blocks) {
		int error = check_blocks(report);

		if (error)
			return error;
		mode = BRANCHES_COUNTED;
	}
	if (report->settings->is_memory)
		return check_memory(report);
	if ((mode == BRANCHES_COUNTED || report->settings->branch_history) && !has_branches)
		return fail_plain(-EINVAL, "record with -b, or leave it out here",
				  "the recording has no branch stacks");
	report->has_history = report->settings->branch_history &&
			      !stitching_is_possible(report->data);
	report->has_branches = !report->settings->branch_history &&
			       (mode == BRANCHES_COUNTED ||
				(mode == BRANCHES_AS_RECORDED && has_branches &&
				 perfdata_header(report->data)->has_branch_feature));
	return 0;
}

/* --- patterns --- */

static int compile(const char *option, const char *text, regex_t *ret_pattern)
{
	int error = regcomp(ret_pattern, text, REG_EXTENDED | REG_NOSUB);
	char why[128];

	if (!error)
		return 0;
	regerror(error, ret_pattern, why, sizeof(why));
	return fail_plain(-EINVAL, "give an extended regular expression", "%s '%s': %s", option,
			  text, why);
}

int report_check_keys(struct report *report)
{
	const struct report_settings *settings = report->settings;
	const char *parents = settings->parents ? settings->parents : default_parents;
	int error = 0;

	report->has_parents = entry_layout_has_key(&report->layout, FIELD_PARENT);
	if (report->has_parents && !report->has_chains)
		return fail_plain(-EINVAL, "record with -g, or leave it out here",
				  "-s parent: the recording has no call chains");
	if (settings->excludes_other && !report->has_parents)
		return fail_plain(
			-EINVAL, "use it with -s parent",
			"-x leaves out what has no parent, and no parents are looked for");
	if (report->has_parents)
		error = compile("-p", parents, &report->parents);
	if (error) {
		report->has_parents = false;
		return error;
	}
	if (settings->ignored_callees)
		error = compile("--ignore-callees", settings->ignored_callees, &report->ignored);
	report->has_ignored = settings->ignored_callees && !error;
	return error;
}

static struct cgroup_parts parts_of(void *identity, const char *path)
{
	struct cgroup_identity *last = identity;

	*last = cgroup_identify(path);
	return (struct cgroup_parts){last->container, last->unit};
}

void report_apply_patterns(struct report *report)
{
	struct cgroup_identity identity;

	if (entry_layout_has_key(&report->layout, FIELD_CONTAINER) ||
	    entry_layout_has_key(&report->layout, FIELD_UNIT))
		cgroup_parts_set(report->fold, report->profile, parts_of, &identity);
	if (report->has_parents)
		callers_set_parents(report->fold, report->profile, &report->parents,
				    report->graph.order, report->settings->max_stack);
	if (report->has_ignored)
		callers_ignore_callees(report->fold, &report->ignored);
	if (report->settings->hides_unnamed)
		callers_hide_unnamed(report->fold);
}

void report_release_patterns(struct report *report)
{
	if (report->has_parents)
		regfree(&report->parents);
	if (report->has_ignored)
		regfree(&report->ignored);
}
