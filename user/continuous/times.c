/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Times as a person types them: a date or none, a time of day or none, a zone or none.
 */
#include "continuous/times.h"

#include "base/memory.h"
#include "base/number.h"

#include <errno.h>
#include <string.h>
#include <time.h>

static const u64 second_ns = 1000000000;

enum { DAY_S = 86400, HOUR_S = 3600, MINUTE_S = 60 };

/* A moment in its parts. */
struct moment {
	struct tm parts; /* local, or as the zone says */
	bool has_date, has_clock, has_seconds;
	bool has_zone;
	long zone_s; /* east of UTC */
	bool is_exact;
	u64 exact_ns;
};

static struct tm local_parts(u64 ns)
{
	time_t seconds = (time_t)(ns / second_ns);
	struct tm parts = {0};

	localtime_r(&seconds, &parts);
	return parts;
}

/* --- parts of the text --- */

/* Exactly `digits` of them. Returns what follows; NULL: they are not there. */
static const char *read_digits(const char *text, int digits, int *ret_value)
{
	int value = 0;

	for (; digits; digits--, text++) {
		if (*text < '0' || *text > '9')
			return NULL;
		value = value * 10 + (*text - '0');
	}
	*ret_value = value;
	return text;
}

/* "2026-11-21", whether there was such a day or not. Returns what follows; NULL: it is none. */
static const char *read_date(const char *text, struct tm *parts)
{
	int year, month, day;
	const char *next = read_digits(text, 4, &year);

	next = next && *next == '-' ? read_digits(next + 1, 2, &month) : NULL;
	next = next && *next == '-' ? read_digits(next + 1, 2, &day) : NULL;
	if (!next)
		return NULL;
	parts->tm_year = year - 1900;
	parts->tm_mon = month - 1;
	parts->tm_mday = day;
	return next;
}

/* Not the 30th of February, nor what was before 1970. */
static bool is_day(struct tm parts)
{
	struct tm same = {
		.tm_year = parts.tm_year, .tm_mon = parts.tm_mon, .tm_mday = parts.tm_mday};

	return timegm(&same) >= 0 && same.tm_mon == parts.tm_mon && same.tm_mday == parts.tm_mday;
}

/* "14:00", "9:05" or "14:00:30". Returns what follows; NULL: it is none. */
static const char *read_clock(const char *text, struct moment *moment)
{
	struct tm *parts = &moment->parts;
	const char *next = read_digits(text, text[0] && text[1] == ':' ? 1 : 2, &parts->tm_hour);

	next = next && *next == ':' ? read_digits(next + 1, 2, &parts->tm_min) : NULL;
	parts->tm_sec = 0;
	if (next && *next == ':') {
		next = read_digits(next + 1, 2, &parts->tm_sec);
		moment->has_seconds = true;
	}
	/* a fraction is below what is told apart here */
	if (next && moment->has_seconds && *next == '.')
		next += 1 + strspn(next + 1, "0123456789");
	if (!next || parts->tm_hour > 24 || parts->tm_min > 59 || parts->tm_sec > 60 ||
	    (parts->tm_hour == 24 && (parts->tm_min || parts->tm_sec)))
		return NULL;
	moment->has_clock = true;
	return next;
}

/* "Z", "+01:00", "+0100" or nothing. Returns what follows; NULL: it is none of them. */
static const char *read_zone(const char *text, struct moment *moment)
{
	int hours, minutes;
	const char *next;

	if (*text == 'Z' || *text == 'z') {
		moment->has_zone = true;
		return text + 1;
	}
	if (*text != '+' && *text != '-')
		return text;
	next = read_digits(text + 1, 2, &hours);
	if (!next)
		return NULL;
	next = read_digits(next + (*next == ':'), 2, &minutes);
	if (!next || hours > 14 || minutes > 59)
		return NULL;
	moment->has_zone = true;
	moment->zone_s = (hours * HOUR_S + minutes * MINUTE_S) * (*text == '-' ? -1L : 1L);
	return next;
}

/* Behind a date. */
static bool read_rest(const char *text, struct moment *moment)
{
	if (*text != 'T' && *text != 't' && *text != ' ')
		return !*text;
	text += strspn(text, " Tt");
	text = read_clock(text, moment);
	text = text ? read_zone(text, moment) : NULL;
	return text && !*text;
}

/* "today", "yesterday", alone or in front of a time of day. */
static bool read_day_word(const char *text, u64 now_ns, struct moment *moment)
{
	size_t length = strcspn(text, " ");
	bool is_today = length == strlen("today") && !strncmp(text, "today", length);

	if (!is_today && (length != strlen("yesterday") || strncmp(text, "yesterday", length) != 0))
		return false;
	moment->parts = local_parts(now_ns);
	moment->parts.tm_hour = moment->parts.tm_min = moment->parts.tm_sec = 0;
	moment->parts.tm_mday -= !is_today;
	moment->has_date = true;
	return read_rest(text + length, moment);
}

/* "now", "@1795269600", "10m". */
static bool read_exact(const char *text, u64 now_ns, struct moment *moment)
{
	u64 ns;

	moment->is_exact = true;
	moment->exact_ns = now_ns;
	if (!strcmp(text, "now"))
		return true;
	moment->has_seconds = *text == '@';
	if (moment->has_seconds)
		return !number_parse_timestamp(text + 1, &moment->exact_ns);
	/* a bare number is no time span here: of what? */
	if (!strpbrk(text, "smhdu") || number_parse_duration(text, &ns) || ns > now_ns)
		return false;
	moment->exact_ns = now_ns - ns;
	return true;
}

static bool read_moment(const char *text, u64 now_ns, struct moment *moment)
{
	const char *next;

	*moment = (struct moment){.parts = local_parts(now_ns)};
	if (!*text)
		return false;
	next = read_clock(text, moment);
	if (next)
		return !*next;
	*moment = (struct moment){0};
	next = read_date(text, &moment->parts);
	if (next) {
		moment->has_date = true;
		return is_day(moment->parts) && read_rest(next, moment);
	}
	return read_day_word(text, now_ns, moment) || read_exact(text, now_ns, moment);
}

/* --- from parts to a moment --- */

/* Local time; of two moments of that name the first or the second. */
static bool local_moment(struct tm parts, bool is_second, u64 *ret_ns)
{
	struct tm wished = parts, guess = parts;
	time_t seconds;

	guess.tm_isdst = !is_second; /* summer time comes first when the clocks go back */
	seconds = mktime(&guess);
	/* Not the time that was asked for: there it is only the other one, or none. */
	if (seconds == -1 || guess.tm_isdst != !is_second) {
		wished.tm_isdst = -1;
		seconds = mktime(&wished);
	}
	if (seconds < 0)
		return false;
	*ret_ns = (u64)seconds * second_ns;
	return true;
}

static bool moment_ns(const struct moment *moment, bool is_end, u64 *ret_ns)
{
	struct tm parts = moment->parts;
	time_t seconds;

	*ret_ns = moment->exact_ns;
	if (moment->is_exact)
		return true;
	if (!moment->has_zone)
		return local_moment(parts, is_end, ret_ns);
	seconds = timegm(&parts) - moment->zone_s;
	if (seconds < 0)
		return false;
	*ret_ns = (u64)seconds * second_ns;
	return true;
}

/* A time of day without a date is the last one that was. */
static bool resolve(const char *text, u64 now_ns, bool is_end, struct moment *moment, u64 *ret_ns)
{
	if (!read_moment(text, now_ns, moment) || !moment_ns(moment, is_end, ret_ns))
		return false;
	if (moment->is_exact || moment->has_date || *ret_ns <= now_ns)
		return true;
	/* the second one of that name may be to come when the first was */
	if (is_end && moment_ns(moment, false, ret_ns) && *ret_ns <= now_ns)
		return true;
	moment->parts.tm_mday--;
	return moment_ns(moment, is_end, ret_ns);
}

int times_parse_moment(const char *text, u64 now_ns, bool is_end, u64 *ret_ns)
{
	struct moment moment;

	return resolve(text, now_ns, is_end, &moment, ret_ns) ? 0 : -EINVAL;
}

/* What a moment alone names: its second, minute or day. */
static bool whole_moment(struct moment moment, struct time_span *span)
{
	struct moment end = moment;

	if (moment.has_seconds) {
		span->to_ns = span->from_ns + second_ns;
		return true;
	}
	if (moment.is_exact) {
		/* the one of the clock that it is in: windows begin with minutes */
		span->from_ns -= span->from_ns % (MINUTE_S * second_ns);
		span->to_ns = span->from_ns + MINUTE_S * second_ns;
		return true;
	}
	if (moment.has_clock)
		end.parts.tm_min++;
	else
		end.parts.tm_mday++;
	return moment_ns(&end, true, &span->to_ns);
}

/* The end of a range: a time of day alone is of the day on which the range begins, or the next. */
static bool resolve_end(const char *text, u64 now_ns, u64 from_ns, u64 *ret_ns)
{
	struct moment moment;
	struct tm day = local_parts(from_ns);

	if (!read_moment(text, now_ns, &moment))
		return false;
	if (moment.is_exact || moment.has_date)
		return moment_ns(&moment, true, ret_ns);
	moment.parts.tm_year = day.tm_year;
	moment.parts.tm_mon = day.tm_mon;
	moment.parts.tm_mday = day.tm_mday;
	if (!moment_ns(&moment, true, ret_ns))
		return false;
	if (*ret_ns > from_ns)
		return true;
	moment.parts.tm_mday++;
	return moment_ns(&moment, true, ret_ns);
}

int times_parse_end(const char *text, u64 now_ns, u64 from_ns, u64 *ret_ns)
{
	struct moment moment;
	u64 end_ns;

	if (!resolve(text, now_ns, true, &moment, &end_ns))
		return -EINVAL;
	if (end_ns <= from_ns && !resolve_end(text, now_ns, from_ns, &end_ns))
		return -EINVAL;
	*ret_ns = end_ns;
	return 0;
}

int times_parse_range(const char *text, u64 now_ns, struct time_span *ret_span)
{
	CLEANUP(freep) char *copy = must_copy(text);
	char *dots = strstr(copy, "..");
	struct time_span span = {0};
	struct moment first;
	bool is_right;

	if (dots)
		*dots = 0;
	is_right = resolve(copy, now_ns, false, &first, &span.from_ns);
	if (is_right && dots)
		is_right = resolve_end(dots + 2, now_ns, span.from_ns, &span.to_ns);
	else if (is_right)
		is_right = whole_moment(first, &span);
	if (!is_right || span.to_ns <= span.from_ns)
		return -EINVAL;
	*ret_span = span;
	return 0;
}

bool times_look_like_clock(const char *text)
{
	struct tm parts;

	return strchr(text, ':') || strstr(text, "..") || strpbrk(text, "@Tacdehmnorsty") ||
	       read_date(text, &parts);
}

struct time_span times_day(u64 now_ns, int days_ago)
{
	struct moment first = {.parts = local_parts(now_ns), .has_date = true};
	struct time_span span = {0};

	first.parts.tm_hour = first.parts.tm_min = first.parts.tm_sec = 0;
	first.parts.tm_mday -= days_ago;
	moment_ns(&first, false, &span.from_ns);
	whole_moment(first, &span);
	return span;
}

const char *times_text(u64 ns, char text[static 32])
{
	struct tm parts = local_parts(ns);

	strftime(text, 32, "%F %T", &parts);
	return text;
}
