/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Quantities with units, in and out.
 */
#include "base/number.h"

#include "base/memory.h"
#include "base/vec.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const u64 ns_per_s = 1000000000;

int number_parse_u64(const char *text, u64 *ret_value)
{
	unsigned long long value;
	char *end;

	if (!isdigit((unsigned char)text[0])) /* strtoull() takes a sign and leading spaces */
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 0);
	if (*end)
		return -EINVAL;
	if (errno)
		return -ERANGE;
	*ret_value = value;
	return 0;
}

int number_parse_u32(const char *text, u32 *ret_value)
{
	u64 value = 0;
	int error = number_parse_u64(text, &value);

	if (error)
		return error;
	if (value > UINT32_MAX)
		return -ERANGE;
	*ret_value = (u32)value;
	return 0;
}

/* A decimal number in two parts, so that times stay exact: whole + billionths / 10^9. */
struct decimal {
	u64 whole, billionths;
};

/* Reads "12", "12.5", ".5"; digits behind the ninth place are dropped. *ret_rest is what follows.
 */
static int parse_decimal(const char *text, struct decimal *ret_decimal, const char **ret_rest)
{
	struct decimal decimal = {0};
	const char *next = text;
	u64 place = ns_per_s;

	for (; isdigit((unsigned char)*next); next++)
		if (__builtin_mul_overflow(decimal.whole, 10, &decimal.whole) ||
		    __builtin_add_overflow(decimal.whole, (u64)(*next - '0'), &decimal.whole))
			return -ERANGE;
	if (*next == '.' && isdigit((unsigned char)next[1])) {
		for (next++; isdigit((unsigned char)*next); next++) {
			place /= 10;
			decimal.billionths += (u64)(*next - '0') * place;
		}
	}
	if (next == text)
		return -EINVAL;
	*ret_decimal = decimal;
	*ret_rest = next;
	return 0;
}

static int scale_decimal(struct decimal decimal, u64 unit, u64 *ret_value)
{
	unsigned __int128 value = (unsigned __int128)decimal.whole * unit +
				  (unsigned __int128)decimal.billionths * unit / ns_per_s;

	if (value > UINT64_MAX)
		return -ERANGE;
	*ret_value = (u64)value;
	return 0;
}

int number_parse_bytes(const char *text, u64 *ret_bytes)
{
	static const char letters[] = "KMGT";
	struct decimal decimal;
	const char *rest, *letter;
	u64 unit = 1;
	int error = parse_decimal(text, &decimal, &rest);

	if (error)
		return error;
	letter = *rest ? strchr(letters, toupper((unsigned char)*rest)) : NULL;
	if (letter) {
		unit = 1ULL << (10 * (letter - letters + 1));
		rest++;
		if (!strcasecmp(rest, "iB"))
			rest++;
	}
	if (*rest && strcasecmp(rest, "B") != 0)
		return -EINVAL;
	return scale_decimal(decimal, unit, ret_bytes);
}

int number_parse_duration(const char *text, u64 *ret_ns)
{
	static const struct {
		const char *name;
		u64 ns;
	} units[] = {
		{"", ns_per_s},
		{"s", ns_per_s},
		{"ms", 1000000},
		{"us", 1000},
		{"ns", 1},
		{"m", 60 * ns_per_s},
		{"min", 60 * ns_per_s},
		{"h", 3600 * ns_per_s},
		{"d", 86400 * ns_per_s},
	};
	struct decimal decimal;
	const char *rest;
	int error = parse_decimal(text, &decimal, &rest);

	if (error)
		return error;
	for (size_t i = 0; i < ARRAY_COUNT(units); i++)
		if (!strcmp(rest, units[i].name))
			return scale_decimal(decimal, units[i].ns, ret_ns);
	return -EINVAL;
}

int number_parse_percent(const char *text, double *ret_percent)
{
	struct decimal decimal;
	const char *rest;
	double percent;
	int error = parse_decimal(text, &decimal, &rest);

	if (error)
		return error;
	if (*rest && strcmp(rest, "%") != 0)
		return -EINVAL;
	percent = (double)decimal.whole + (double)decimal.billionths / 1e9;
	if (percent > 100)
		return -ERANGE;
	*ret_percent = percent;
	return 0;
}

int number_parse_timestamp(const char *text, u64 *ret_ns)
{
	struct decimal decimal;
	const char *rest;
	int error = parse_decimal(text, &decimal, &rest);

	if (error)
		return error;
	if (*rest)
		return -EINVAL;
	return scale_decimal(decimal, ns_per_s, ret_ns);
}

struct range {
	u32 first, last;
};

/* More ids than any machine has CPUs, so that "0-4000000000" is refused instead of listed. */
enum { LIST_LONGEST = 1 << 20 };

static int parse_id(const char **next, u32 highest, u32 *ret_id)
{
	u64 id = 0;

	if (!isdigit((unsigned char)**next))
		return -EINVAL;
	for (; isdigit((unsigned char)**next); (*next)++) {
		id = id * 10 + (u64)(**next - '0');
		if (id > highest)
			return -ERANGE;
	}
	*ret_id = (u32)id;
	return 0;
}

static int parse_range(const char **next, u32 highest, struct range *ret_range)
{
	struct range range;
	int error = parse_id(next, highest, &range.first);

	if (error)
		return error;
	range.last = range.first;
	if (**next == '-') {
		(*next)++;
		error = parse_id(next, highest, &range.last);
		if (error)
			return error;
	}
	if (range.last < range.first)
		return -EINVAL;
	*ret_range = range;
	return 0;
}

static int compare_ranges(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	return (a->first > b->first) - (a->first < b->first);
}

/* Writes the ids of sorted ranges, each once. Returns their count; NULL `ids` only counts. */
static size_t expand_ranges(const struct range *ranges, size_t range_count, u32 *ids)
{
	size_t count = 0;
	u64 next = 0; /* the lowest id that is not written yet */

	for (size_t i = 0; i < range_count; i++) {
		u64 from = ranges[i].first > next ? ranges[i].first : next;

		if (from > ranges[i].last)
			continue;
		next = (u64)ranges[i].last + 1;
		if (!ids)
			count += next - from;
		else
			for (; from < next; from++)
				ids[count++] = (u32)from;
	}
	return count;
}

typedef VEC(struct range) range_vec;

static int parse_ranges(const char *text, u32 highest, range_vec *ranges)
{
	for (const char *next = text;; next++) {
		struct range range;
		int error = parse_range(&next, highest, &range);

		if (error)
			return error;
		*vec_add(ranges) = range;
		if (!*next)
			return 0;
		if (*next != ',')
			return -EINVAL;
	}
}

int number_parse_list(const char *text, u32 highest, u32 **ret_ids, size_t *ret_count)
{
	range_vec ranges = {0};
	size_t count;
	int error = parse_ranges(text, highest, &ranges);

	if (error)
		goto out;
	qsort(ranges.items, ranges.count, sizeof(*ranges.items), compare_ranges);
	count = expand_ranges(ranges.items, ranges.count, NULL);
	if (count > LIST_LONGEST) {
		error = -ERANGE;
		goto out;
	}
	*ret_ids = must_alloc_array(count, sizeof(**ret_ids));
	*ret_count = expand_ranges(ranges.items, ranges.count, *ret_ids);
out:
	vec_release(&ranges);
	return error;
}

const char *number_format_count(u64 count, char text[static NUMBER_TEXT_BYTES])
{
	char digits[24];
	size_t length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count);
	char *to = text;

	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*to++ = ' ';
		*to++ = digits[i];
	}
	*to = 0;
	return text;
}

const char *number_format_bytes(u64 bytes, char text[static NUMBER_TEXT_BYTES])
{
	static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
	double value = (double)bytes / 1000;
	size_t unit = 0;

	if (bytes < 1000) {
		snprintf(text, NUMBER_TEXT_BYTES, "%" PRIu64 " B", bytes);
		return text;
	}
	/* 999.95 would be written as 1000.0 */
	for (; value >= 999.95 && unit + 1 < ARRAY_COUNT(units); unit++)
		value /= 1000;
	snprintf(text, NUMBER_TEXT_BYTES, "%.1f %s", value, units[unit]);
	return text;
}

const char *number_format_duration(u64 ns, char text[static NUMBER_TEXT_BYTES])
{
	u64 seconds = (ns + ns_per_s / 2) / ns_per_s;
	double us = (double)ns / 1e3;

	if (ns < 1000)
		snprintf(text, NUMBER_TEXT_BYTES, "%" PRIu64 " ns", ns);
	else if (us < 999.5)
		snprintf(text, NUMBER_TEXT_BYTES, "%.*f us", us < 9.95, us);
	else if (us < 999500)
		snprintf(text, NUMBER_TEXT_BYTES, "%.*f ms", us < 9950, us / 1e3);
	else if (us < 59950000)
		snprintf(text, NUMBER_TEXT_BYTES, "%.1f s", us / 1e6);
	else if (seconds < 3600)
		snprintf(text, NUMBER_TEXT_BYTES, "%" PRIu64 " min %02" PRIu64 " s", seconds / 60,
			 seconds % 60);
	else
		snprintf(text, NUMBER_TEXT_BYTES, "%" PRIu64 " h %02" PRIu64 " min", seconds / 3600,
			 seconds / 60 % 60);
	return text;
}
