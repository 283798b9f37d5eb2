/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names by Prometheus' rules: base units, "_total" for what only grows.
 */
#include "continuous/metrics.h"

#include <inttypes.h>
#include <string.h>

enum { NS_DIGITS = 9 };

static const u64 second_ns = 1000000000;

static void put_head(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP bpfprof_%s %s\n# TYPE bpfprof_%s %s\n", name, help, name, type);
}

static void put_gauge(FILE *out, const char *name, const char *help, u64 value)
{
	put_head(out, name, "gauge", help);
	fprintf(out, "bpfprof_%s %" PRIu64 "\n", name, value);
}

static void put_counter(FILE *out, const char *name, const char *help, u64 value)
{
	put_head(out, name, "counter", help);
	fprintf(out, "bpfprof_%s %" PRIu64 "\n", name, value);
}

static void put_seconds(FILE *out, u64 ns)
{
	fprintf(out, " %" PRIu64 ".%0*" PRIu64 "\n", ns / second_ns, NS_DIGITS, ns % second_ns);
}

/* "ring_full" of "lost_ring_full": what it was lost for. */
static const char *reason_of(u32 row)
{
	static const char prefix[] = "lost_";
	const char *name = counter_rows[row].name;

	return strncmp(name, prefix, strlen(prefix)) ? name : name + strlen(prefix);
}

/* A row for each counter of a kind, also those that are 0: a reason that comes up is an increase
 * then. */
static void put_kind(const struct metrics *metrics, enum counter_kind kind, const char *name,
		     FILE *out)
{
	for (u32 row = 0; row < COUNTER_COUNT; row++)
		if (counter_rows[row].kind == kind)
			fprintf(out, "bpfprof_%s{reason=\"%s\"} %" PRIu64 "\n", name,
				reason_of(row), metrics->losses[row]);
}

static void put_samples(const struct metrics *metrics, FILE *out)
{
	put_counter(out, "samples_total", "Samples in the windows of the store.", metrics->samples);
	put_head(out, "samples_lost_total", "counter", "Samples that should be there and are not.");
	put_kind(metrics, LOST, "samples_lost_total", out);
	put_head(out, "stacks_cut_total", "counter", "Samples whose stack is not whole.");
	put_kind(metrics, CUT, "stacks_cut_total", out);
	put_head(out, "losses_total", "counter", "Other losses than samples.");
	put_kind(metrics, OTHER, "losses_total", out);
	put_gauge(out, "sampling_rate_hertz", "Samples a second on each CPU, now.",
		  metrics->rate_hz);
	put_gauge(out, "sampling_rate_wanted_hertz", "The same if --max-cpu does not lower it.",
		  metrics->wanted_hz);
}

static void put_cost(const struct metrics *metrics, FILE *out)
{
	put_head(out, "cpu_seconds_total", "counter",
		 "CPU time of the daemon's process, and of its programs in the kernel.");
	fprintf(out, "bpfprof_cpu_seconds_total{of=\"process\"}");
	put_seconds(out, metrics->own_ns);
	fprintf(out, "bpfprof_cpu_seconds_total{of=\"bpf\"}");
	put_seconds(out, metrics->bpf_ns);
	put_gauge(out, "resident_memory_bytes", "Memory of the daemon's process.",
		  metrics->resident_bytes);
	put_gauge(out, "kernel_memory_bytes", "Memory of its maps in the kernel.",
		  metrics->kernel_bytes);
}

static void put_store(const struct metrics *metrics, u64 now_ns, FILE *out)
{
	u64 end_ns = metrics->window_end_ns;

	put_counter(out, "windows_total", "Windows that were written.", metrics->windows);
	put_counter(out, "windows_lost_total", "Windows that could not be written.",
		    metrics->windows_lost);
	put_gauge(out, "store_windows", "Windows in the store.", metrics->store_windows);
	put_gauge(out, "store_bytes", "Bytes of the windows in the store.", metrics->store_bytes);
	if (!end_ns)
		return;
	put_head(out, "window_end_timestamp_seconds", "gauge",
		 "When the last window in the store ended.");
	fprintf(out, "bpfprof_window_end_timestamp_seconds");
	put_seconds(out, end_ns);
	put_head(out, "window_age_seconds", "gauge",
		 "How long ago, when this was written, the last window in the store ended.");
	fprintf(out, "bpfprof_window_age_seconds");
	put_seconds(out, now_ns > end_ns ? now_ns - end_ns : 0);
}

static void put_push(const struct push_totals *push, FILE *out)
{
	put_counter(out, "push_profiles_total", "Profiles that the server has taken.", push->sent);
	put_counter(out, "push_bytes_total", "Bytes of these profiles.", push->sent_bytes);
	put_counter(out, "push_failures_total", "Attempts that failed and are tried again.",
		    push->attempts_failed);
	put_head(out, "push_lost_total", "counter", "Profiles that the server will not get.");
	for (size_t i = 0; i < PUSH_LOSS_COUNT; i++)
		fprintf(out, "bpfprof_push_lost_total{reason=\"%s\"} %" PRIu64 "\n",
			push_loss_rows[i].name, push->lost[i]);
	put_gauge(out, "push_spool_profiles", "Profiles that wait on disk.", push->waiting);
	put_gauge(out, "push_spool_bytes", "Bytes on disk of those that wait.",
		  push->waiting_bytes);
}

void metrics_write(const struct metrics *metrics, u64 now_ns, FILE *out)
{
	put_head(out, "build_info", "gauge", "Which bpfprof this is.");
	fprintf(out, "bpfprof_build_info{version=\"%s\"} 1\n", metrics->version);
	put_samples(metrics, out);
	put_cost(metrics, out);
	put_store(metrics, now_ns, out);
	if (metrics->pushes)
		put_push(&metrics->push, out);
}
