/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * check: what this kernel and this user may do, and what to do about the rest.
 */
#include "base/fail.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "base/text.h"
#include "capture/capture.h"
#include "cmd/cmd.h"

#include <errno.h>
#include <string.h>

struct check_settings {
	bool json;
};

/* A row of the table with what its probe said. */
struct finding {
	const struct feature *feature;
	int error;
	char found[FEATURE_FOUND_BYTES];
};

static const char *finding_status(const struct finding *finding)
{
	static const char *const missing[] = {
		[FEATURE_REQUIRED] = "fail",
		[FEATURE_WANTED] = "warn",
		[FEATURE_OPTIONAL] = "none",
	};

	return finding->error ? missing[finding->feature->need] : "ok";
}

static void print_text(const struct finding *findings, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct finding *finding = &findings[i];
		const struct feature *feature = finding->feature;
		CLEANUP(text_release) struct text line = {0};
		CLEANUP(freep) char *status = must_format("[%s]", finding_status(finding));

		text_appendf(&line, "%-6s %-32s", status, feature->name);
		if (finding->error)
			text_appendf(&line, " %s", strerror(-finding->error));
		if (finding->error && finding->found[0])
			text_append(&line, ";");
		if (finding->found[0])
			text_append(&line, " ");
		text_append_printable(&line, finding->found);
		while (line.length && line.bytes[line.length - 1] == ' ')
			text_truncate(&line, line.length - 1);
		puts(text_view(&line));
		if (finding->error)
			printf("       needed for %s; %s\n", feature->needed_for,
			       feature_remedy(feature));
	}
}

static void print_json(const struct finding *findings, size_t count, bool is_ready)
{
	static const char *const needs[] = {
		[FEATURE_REQUIRED] = "required",
		[FEATURE_WANTED] = "wanted",
		[FEATURE_OPTIONAL] = "optional",
	};
	CLEANUP(json_writer_freep) struct json_writer *json = json_writer_new(stdout);

	json_object(json, NULL);
	json_u64(json, "version", 1);
	json_bool(json, "ready", is_ready);
	json_array(json, "features");
	for (size_t i = 0; i < count; i++) {
		const struct feature *feature = findings[i].feature;
		int error = findings[i].error;

		json_object(json, NULL);
		json_text(json, "id", feature->id);
		json_text(json, "name", feature->name);
		json_text(json, "status", finding_status(&findings[i]));
		json_text(json, "need", needs[feature->need]);
		json_text(json, "needed_for", feature->needed_for);
		json_text(json, "found", findings[i].found);
		json_text(json, "reason", error ? strerror(-error) : NULL);
		json_text(json, "remedy", error ? feature_remedy(feature) : NULL);
		json_object_end(json);
	}
	json_array_end(json);
	json_object_end(json);
}

static int check_run(const void *all_settings, struct arguments arguments)
{
	const struct check_settings *settings = all_settings;
	size_t count;
	const struct feature *features = features_all(&count);
	CLEANUP(freep) struct finding *findings = must_alloc_array(count, sizeof(*findings));
	bool is_ready = true;

	if (arguments.count)
		return fail_plain(-EINVAL, "see bpfprof check --help",
				  "check takes no argument: %s", arguments.items[0]);
	for (size_t i = 0; i < count; i++) {
		findings[i].feature = &features[i];
		findings[i].error = features[i].probe(findings[i].found);
		if (findings[i].error && features[i].need == FEATURE_REQUIRED)
			is_ready = false;
	}
	if (settings->json)
		print_json(findings, count, is_ready);
	else
		print_text(findings, count);
	return is_ready ? STATUS_DONE : STATUS_COULD_NOT;
}

static const struct option_row check_options[] = {
	{.kind = OPTION_FLAG,
	 .name = "json",
	 .offset = offsetof(struct check_settings, json),
	 .help = "print JSON, with a version number"},
	{.kind = OPTION_END},
};

const struct command command_check = {
	.name = "check",
	.summary = "show what this machine and user allow, and how to mend the rest",
	.synopsis = "[--json]",
	.examples = "sudo bpfprof check\tIs everything there?\n"
		    "bpfprof check --json | jq .ready\tThe same for scripts\n",
	.options = check_options,
	.settings_bytes = sizeof(struct check_settings),
	.run = check_run,
};
