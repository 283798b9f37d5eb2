/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records counted and listed, as perf report prints them.
 */
#include "cmd/report_records.h"

#include "base/text.h"

#include <inttypes.h>

enum { TYPES = 96 }; /* more than there are types of records */

/* --- how many of each type --- */

struct source_stats {
	u64 samples, lost;
};

struct record_stats {
	struct event_sink sink;		   /* first */
	struct perfdata_listener listener; /* second */
	const struct perfdata *data;
	u64 total, of_type[TYPES];
	VEC(struct source_stats) sources;
};

static struct source_stats *stats_of(struct record_stats *stats, u32 source)
{
	while (stats->sources.count <= source)
		*vec_add(&stats->sources) = (struct source_stats){0};
	return &stats->sources.items[source];
}

static int count_record(struct perfdata_listener *self, const struct perfdata_record *record)
{
	struct record_stats *stats =
		(struct record_stats *)((char *)self - offsetof(struct record_stats, listener));
	u64 lost = perfdata_read_lost_samples(stats->data, record);

	stats->total++;
	if (record->type < TYPES)
		stats->of_type[record->type]++;
	if (lost && record->source != ~0u)
		stats_of(stats, record->source)->lost += lost;
	return 0;
}

static int count_sample(struct event_sink *self, const struct sample *sample)
{
	stats_of((struct record_stats *)self, sample->source)->samples++;
	return 0;
}

static void print_stats(const struct record_stats *stats, FILE *out)
{
	u32 count;
	const struct event_source *sources = perfdata_sources(stats->data, &count);

	fprintf(out, "\nAggregated stats:\n%16s events: %10" PRIu64 "\n", "TOTAL", stats->total);
	for (u32 type = 0; type < TYPES; type++)
		if (stats->of_type[type] && perfdata_record_name(type))
			fprintf(out, "%16s events: %10" PRIu64 "  (%4.1f%%)\n",
				perfdata_record_name(type), stats->of_type[type],
				100 * (double)stats->of_type[type] / (double)stats->total);
	for (u32 i = 0; i < count && i < stats->sources.count; i++) {
		const struct source_stats *of_source = &stats->sources.items[i];
		struct text name = {0};

		if (!of_source->samples && !of_source->lost)
			continue;
		text_append_printable(&name, sources[i].name);
		fprintf(out, "%s stats:\n", text_view(&name));
		if (of_source->samples)
			fprintf(out, "%16s events: %10" PRIu64 "\n", "SAMPLE", of_source->samples);
		if (of_source->lost)
			fprintf(out, "%16s events: %10" PRIu64 "\n", "LOST_SAMPLES",
				of_source->lost);
		text_release(&name);
	}
}

static int show_stats(struct perfdata *data, FILE *out)
{
	struct record_stats stats = {
		.sink.on_sample = count_sample, .listener.before = count_record, .data = data};
	int error;

	perfdata_listen(data, &stats.listener, ORDER_IN_FILE);
	error = perfdata_read(data, &stats.sink);
	print_stats(&stats, out);
	vec_release(&stats.sources);
	return error;
}

/* --- tasks --- */

static int show_tasks(struct perfdata *data, bool has_maps, FILE *out)
{
	struct task_list *tasks = task_list_new(has_maps);
	int error = perfdata_read(data, task_list_sink(tasks));

	task_list_print(tasks, out);
	task_list_free(tasks);
	return error;
}

int report_print_records(const char *path, enum records_shown shown, FILE *out)
{
	CLEANUP(perfdata_closep) struct perfdata *data = NULL;
	int error = shown == RECORDS_COUNTED ? perfdata_open_listed(path, &data)
					     : perfdata_open(path, &data);

	if (error)
		return error;
	if (shown == RECORDS_COUNTED)
		return show_stats(data, out);
	return show_tasks(data, shown == RECORDS_WITH_MAPS, out);
}

/* --- counters of threads --- */

struct counter_reader {
	struct perfdata_listener listener; /* first */
	const struct perfdata *data;
	struct thread_counters *counters;
};

/* What readings are summed by; interned as bytes. */
struct reading_key {
	u32 pid, tid, source;
};

static int take_reading(struct perfdata_listener *self, const struct perfdata_record *record)
{
	struct counter_reader *reader = (struct counter_reader *)self;
	struct thread_counters *counters = reader->counters;
	struct counter_reading reading;
	struct reading_key key;
	u32 row;

	if (!perfdata_read_counter(reader->data, record, &reading))
		return 0;
	key = (struct reading_key){reading.pid, reading.tid, reading.source};
	row = intern_bytes(&counters->keys, &key, sizeof(key));
	if (row <= counters->readings.count)
		counters->readings.items[row - 1].value += reading.value;
	else
		*vec_add(&counters->readings) = reading;
	return 0;
}

void thread_counters_read(struct perfdata *data, struct thread_counters *ret_counters)
{
	struct counter_reader reader = {
		.listener.before = take_reading, .data = data, .counters = ret_counters};
	struct event_sink nobody = {0};

	perfdata_listen(data, &reader.listener, ORDER_IN_FILE);
	perfdata_read(data, &nobody);
	perfdata_listen(data, NULL, ORDER_IN_FILE);
}

/* A column: as wide as what stands in it. */
struct column {
	u32 source;
	int width;
};

static int digits_of(u64 number)
{
	return snprintf(NULL, 0, "%" PRIu64, number);
}

static void widen(int *width, int wanted)
{
	if (wanted > *width)
		*width = wanted;
}

struct counter_table {
	const struct thread_counters *counters;
	const struct event_source *sources;
	int pid_width, tid_width;
	VEC(struct column) columns;
};

static struct column *column_of(struct counter_table *table, u32 source)
{
	for (size_t i = 0; i < table->columns.count; i++)
		if (table->columns.items[i].source == source)
			return &table->columns.items[i];
	*vec_add(&table->columns) = (struct column){source,
						    (int)strlen(table->sources[source].name)};
	return &table->columns.items[table->columns.count - 1];
}

static void measure(struct counter_table *table)
{
	for (size_t i = 0; i < table->counters->readings.count; i++) {
		const struct counter_reading *reading = &table->counters->readings.items[i];

		widen(&table->pid_width, digits_of(reading->pid));
		widen(&table->tid_width, digits_of(reading->tid));
		widen(&column_of(table, reading->source)->width, digits_of(reading->value));
	}
}

static void print_row(const struct counter_table *table, const struct counter_reading *thread,
		      FILE *out)
{
	fprintf(out, "  %*d  %*d", table->pid_width, (int)thread->pid, table->tid_width,
		(int)thread->tid);
	for (size_t i = 0; i < table->columns.count; i++) {
		const struct column *column = &table->columns.items[i];
		struct reading_key key = {thread->pid, thread->tid, column->source};
		u32 row = intern_find(&table->counters->keys, &key, sizeof(key));

		fprintf(out, "  %*" PRIu64, column->width,
			row ? table->counters->readings.items[row - 1].value : 0);
	}
	fputc('\n', out);
}

static void print_title(const struct counter_table *table, const struct column *column, FILE *out)
{
	struct text name = {0};

	text_append_printable(&name, table->sources[column->source].name);
	fprintf(out, "  %*s", column->width, text_view(&name));
	text_release(&name);
}

/* A row for each thread, where it comes first. */
static void print_rows(const struct counter_table *table, FILE *out)
{
	struct intern threads = {0};
	u32 known = 0;

	for (size_t i = 0; i < table->counters->readings.count; i++) {
		const struct counter_reading *reading = &table->counters->readings.items[i];
		u32 key[] = {reading->pid, reading->tid};
		u32 thread = intern_bytes(&threads, key, sizeof(key));

		if (thread > known)
			print_row(table, reading, out);
		known = thread > known ? thread : known;
	}
	intern_release(&threads);
}

void thread_counters_print(const struct thread_counters *counters, const struct perfdata *data,
			   FILE *out)
{
	u32 count;
	struct counter_table table = {
		.counters = counters,
		.sources = perfdata_sources(data, &count),
		.pid_width = (int)strlen("PID"),
		.tid_width = (int)strlen("TID"),
	};

	if (!counters->readings.count)
		return;
	measure(&table);
	fprintf(out, "# %*s  %*s", table.pid_width, "PID", table.tid_width, "TID");
	for (size_t i = 0; i < table.columns.count; i++)
		print_title(&table, &table.columns.items[i], out);
	fputc('\n', out);
	print_rows(&table, out);
	vec_release(&table.columns);
}

void thread_counters_release(struct thread_counters *counters)
{
	vec_release(&counters->readings);
	intern_release(&counters->keys);
}
