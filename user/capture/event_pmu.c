/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Turns pmu/term,term=value/ into the numbers of a perf_event_attr.
 *
 * A PMU is a folder in sysfs: `type` is its number, format/NAME says which bits of which config
 * word a term fills ("config:0-7,32-35"), events/NAME holds ready-made terms ("event=0x3c").
 * Source: Documentation/ABI/testing/sysfs-bus-event_source-devices-{format,events}.
 */
#include "capture/event_pmu.h"

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/vec.h"
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

enum { SYSFS_FILE_BYTES = 4096 };

/* What is being parsed. */
struct pmu {
	const char *sysfs, *name;
	struct parsed_event *event;
};

/* A name that may stand for another in events/: perf's users know both. */
static const char *const synonyms[][2] = {
	{"cycles", "cpu-cycles"},
	{"branches", "branch-instructions"},
};

/* The text of a file of the PMU without its newline; NULL if there is none. Owned by the caller. */
static char *read_pmu_file(const struct pmu *pmu, const char *folder, const char *name)
{
	CLEANUP(freep)
	char *path = must_format("%s/bus/event_source/devices/%s/%s%s", pmu->sysfs, pmu->name,
				 folder, name);
	char *text;

	if (strchr(name, '/') || name[0] == '.' || file_read(path, SYSFS_FILE_BYTES, &text, NULL))
		return NULL;
	text[strcspn(text, "\n")] = 0;
	return text;
}

/* The names in a folder, with `more` behind them, as an array that NULL ends. */
struct names {
	VEC(const char *) list;
};

static void names_release(struct names *names)
{
	for (size_t i = 0; i < names->list.count; i++)
		free((void *)names->list.items[i]);
	vec_release(&names->list);
}

static void names_add_folder(struct names *names, const char *path)
{
	CLEANUP(closedirp) DIR *folder = opendir(path);
	const struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			*vec_add(&names->list) = must_copy(entry->d_name);
}

static int refuse_unknown(const struct names *names, const char *kind, const char *word)
{
	const char *nearest = nearest_name(word, names->list.items);
	CLEANUP(freep) char *remedy = nearest ? must_format("did you mean '%s'?", nearest) : NULL;

	return fail_plain(-ENOENT, remedy, "unknown %s '%s'", kind, word);
}

static int refuse_term(const struct pmu *pmu, const char *term)
{
	CLEANUP(names_release) struct names names = {0};
	static const char *const folders[] = {"format", "events"};
	static const char *const fixed[] = {"config", "config1", "config2",
					    "name",   "period",	 "freq"};
	CLEANUP(freep) char *kind = must_format("term of PMU %s", pmu->name);

	for (size_t i = 0; i < ARRAY_COUNT(folders); i++) {
		CLEANUP(freep)
		char *path = must_format("%s/bus/event_source/devices/%s/%s", pmu->sysfs, pmu->name,
					 folders[i]);
		names_add_folder(&names, path);
	}
	for (size_t i = 0; i < ARRAY_COUNT(fixed); i++)
		*vec_add(&names.list) = must_copy(fixed[i]);
	*vec_add(&names.list) = NULL;
	return refuse_unknown(&names, kind, term);
}

/* The words that terms fill, by the name that format files use. */
static const struct config_row {
	const char *name;
	size_t offset;
} config_rows[] = {
	{"config", offsetof(struct parsed_event, config)},
	{"config1", offsetof(struct parsed_event, config1)},
	{"config2", offsetof(struct parsed_event, config2)},
};

static const struct config_row *find_config(const char *name)
{
	for (size_t i = 0; i < ARRAY_COUNT(config_rows); i++)
		if (!strcmp(name, config_rows[i].name))
			return &config_rows[i];
	return NULL;
}

static u64 *config_word(const struct config_row *row, struct parsed_event *event)
{
	return (u64 *)((char *)event + row->offset);
}

/* Puts `value` into the bits that a format file names, lowest bit first. */
static int spread_bits(const struct pmu *pmu, char *format, const char *term, u64 value)
{
	CLEANUP(freep) u32 *bits = NULL;
	char *colon = strchr(format, ':');
	const struct config_row *row;
	size_t count;
	u64 *word;

	if (colon)
		*colon++ = 0;
	row = find_config(format);
	if (!row || !colon || number_parse_list(colon, 63, &bits, &count))
		return fail_plain(-EINVAL, NULL,
				  "PMU %s: the format of term '%s' is not one we know: %s",
				  pmu->name, term, format);
	if (count < 64 && value >> count)
		return fail_plain(-EINVAL, NULL, "PMU %s: %s=%#llx is too large, it has %zu bits",
				  pmu->name, term, (unsigned long long)value, count);
	word = config_word(row, pmu->event);
	for (size_t i = 0; i < count; i++) {
		*word &= ~(1ULL << bits[i]);
		*word |= (value >> i & 1) << bits[i];
	}
	return 0;
}

static int parse_value(const struct pmu *pmu, const char *term, const char *text, u64 *ret_value)
{
	if (!text) {
		*ret_value = 1; /* a term alone switches its bit on */
		return 0;
	}
	if (!strcmp(text, "?"))
		return fail_plain(-EINVAL, "name it in the event",
				  "PMU %s: term '%s' needs a value", pmu->name, term);
	if (number_parse_u64(text, ret_value))
		return fail_plain(-EINVAL, NULL, "PMU %s: %s=%s is not a number", pmu->name, term,
				  text);
	return 0;
}

/* period=, freq=, name=, config…=: 1 if it was one of them. */
static int parse_fixed_term(const struct pmu *pmu, const char *term, const char *text)
{
	struct parsed_event *event = pmu->event;
	const struct config_row *row = find_config(term);
	bool is_freq = !strcmp(term, "freq");
	u64 value = 0;
	int error;

	if (!strcmp(term, "name") && text && *text) {
		free(event->name);
		event->name = must_copy(text);
		return 1;
	}
	if (!row && !is_freq && strcmp(term, "period") != 0)
		return 0;
	error = text ? parse_value(pmu, term, text, &value) : -EINVAL;
	if (error || (!row && value == 0))
		return fail_plain(-EINVAL, NULL, "PMU %s: %s needs a number", pmu->name, term);
	if (row) {
		*config_word(row, event) = value;
		return 1;
	}
	/* The analyzer takes a first member's address for the struct being NULL. */
	/* NOLINTNEXTLINE(clang-analyzer-core.*) */
	event->rate = value;
	event->is_frequency = is_freq;
	return 1;
}

/* rNNN: the config in hexadecimal. */
static bool parse_raw_term(const struct pmu *pmu, const char *term)
{
	char *end;

	if (term[0] != 'r' || !isxdigit((unsigned char)term[1]) || strlen(term) > 17)
		return false;
	pmu->event->config = strtoull(term + 1, &end, 16);
	return *end == 0;
}

/* The ready-made terms of a named event, or NULL. Owned by the caller. */
static char *find_alias(const struct pmu *pmu, const char *term)
{
	char *terms = read_pmu_file(pmu, "events/", term);

	for (size_t i = 0; !terms && i < ARRAY_COUNT(synonyms); i++)
		if (!strcmp(term, synonyms[i][0]))
			terms = read_pmu_file(pmu, "events/", synonyms[i][1]);
		else if (!strcmp(term, synonyms[i][1]))
			terms = read_pmu_file(pmu, "events/", synonyms[i][0]);
	return terms;
}

static int parse_plain_term(const struct pmu *pmu, const char *term, const char *text)
{
	CLEANUP(freep) char *format = NULL;
	int fixed = parse_fixed_term(pmu, term, text);
	u64 value = 0;
	int error;

	if (fixed)
		return fixed < 0 ? fixed : 0;
	format = read_pmu_file(pmu, "format/", term);
	if (!format)
		return !text && parse_raw_term(pmu, term) ? 0 : refuse_term(pmu, term);
	error = parse_value(pmu, term, text, &value);
	return error ? error : spread_bits(pmu, format, term, value);
}

/* Terms out of sysfs, which name no further events. */
static int parse_alias(const struct pmu *pmu, char *terms)
{
	int error = 0;

	for (char *term; !error && (term = strsep(&terms, ","));) {
		char *value = strchr(term, '=');

		if (value)
			*value++ = 0;
		if (*term)
			error = parse_plain_term(pmu, term, value);
	}
	return error;
}

static int parse_terms(const struct pmu *pmu, char *terms)
{
	int error = 0;

	for (char *term; !error && (term = strsep(&terms, ","));) {
		CLEANUP(freep) char *alias = NULL;
		char *value = strchr(term, '=');

		if (value)
			*value++ = 0;
		else
			alias = find_alias(pmu, term);
		if (alias)
			error = parse_alias(pmu, alias);
		else if (*term)
			error = parse_plain_term(pmu, term, value);
	}
	return error;
}

static int refuse_pmu(const char *sysfs, const char *name)
{
	CLEANUP(names_release) struct names names = {0};
	CLEANUP(freep) char *path = must_format("%s/bus/event_source/devices", sysfs);

	names_add_folder(&names, path);
	*vec_add(&names.list) = NULL;
	return refuse_unknown(&names, "PMU", name);
}

int event_pmu_parse(const char *sysfs, const char *name, const char *terms,
		    struct parsed_event *event)
{
	struct pmu pmu = {.sysfs = sysfs, .name = name, .event = event};
	CLEANUP(freep) char *type = strchr(name, '/') ? NULL : read_pmu_file(&pmu, "", "type");
	CLEANUP(freep) char *copy = must_copy(terms);

	if (!type || number_parse_u32(type, &event->type))
		return refuse_pmu(sysfs, name);
	return parse_terms(&pmu, copy);
}

char *event_pmu_with_alias(const char *sysfs, const char *alias)
{
	CLEANUP(freep) char *path = must_format("%s/bus/event_source/devices", sysfs);
	CLEANUP(names_release) struct names names = {0};

	*vec_add(&names.list) = must_copy("cpu");
	names_add_folder(&names, path);
	for (size_t i = 0; i < names.list.count; i++) {
		struct pmu pmu = {.sysfs = sysfs, .name = names.list.items[i]};
		CLEANUP(freep) char *terms = read_pmu_file(&pmu, "events/", alias);

		if (terms)
			return must_copy(pmu.name);
	}
	return NULL;
}
