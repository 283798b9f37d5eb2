/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Details of samples as text.
 *
 * Source of the words: output of perf 6.1; include/uapi/linux/perf_event.h for PERF_TXN_*.
 */
#include "export/detail_text.h"

#include "export/memory_words.h"

#include "host/host.h"

#include <inttypes.h>

enum { NS_OF_US = 1000, NS_OF_S = 1000000000 };

static void append_time(struct text *text, u64 time_ns, bool has_nanoseconds)
{
	if (has_nanoseconds)
		text_appendf(text, "%" PRIu64 ".%09" PRIu64, time_ns / NS_OF_S, time_ns % NS_OF_S);
	else
		text_appendf(text, "%" PRIu64 ".%06" PRIu64, time_ns / NS_OF_S,
			     time_ns % NS_OF_S / NS_OF_US);
}

/* An id that no record names is "unknown", a sample without cgroup "N/A". */
static void append_cgroup(struct text *text, const struct profile *profile, u64 id)
{
	const char *path = id ? profile_cgroup(profile, id) : "N/A";

	text_append_printable(text, path ? path : "unknown");
}

static void append_transaction(struct text *text, u64 flags)
{
	enum { ABORT_SHIFT = 32 };
	static const char *const words[] = {"EL ",    "TX ",  "SYNC ",	    "ASYNC ",
					    "RETRY ", "CON ", "CAP-WRITE ", "CAP-READ "};
	static const u64 sync_or_async = 1 << 2 | 1 << 3;

	for (u32 i = 0; i < ARRAY_COUNT(words); i++)
		if (flags & 1ull << i)
			text_append(text, words[i]);
	if (flags && !(flags & sync_or_async))
		text_append(text, "NEITHER ");
	if (flags >> ABORT_SHIFT)
		text_appendf(text, ":%" PRIx64, flags >> ABORT_SHIFT);
}

/* The ids of containers are shown as short as their tools do it. */
static void append_name(struct text *text, const char *name)
{
	enum { ID_DIGITS = 64 };
	size_t length = strspn(name, "0123456789abcdef");

	if (length == ID_DIGITS && !name[length])
		text_append_bytes(text, name, CONTAINER_SHORT_DIGITS);
	else
		text_append_printable(text, name);
}

void detail_append(struct text *text, const struct entry_list *list, const struct entry *entry,
		   u8 field, bool has_nanoseconds)
{
	const struct profile *profile = list->fold->profile;
	enum sample_detail detail = entry_field_detail(field);
	u64 value = detail == DETAIL_COUNT ? 0 : entry_detail(list, entry, field);

	switch (detail) {
	case DETAIL_TIME:
		append_time(text, value, has_nanoseconds);
		break;
	case DETAIL_SOCKET:
		text_appendf(text, "%.3d", (int)value);
		break;
	case DETAIL_CGROUP:
		append_cgroup(text, profile, value);
		break;
	case DETAIL_TRANSACTION:
		append_transaction(text, value);
		break;
	case DETAIL_CODE_PAGE:
		memory_append_page(text, value);
		break;
	case DETAIL_PARENT:
		text_append_printable(text,
				      value ? profile_text(profile, (string_id)value) : "[other]");
		break;
	case DETAIL_CONTAINER:
	case DETAIL_UNIT:
		append_name(text, value ? profile_text(profile, (string_id)value) : "[none]");
		break;
	case DETAIL_TRACE:
		text_append(text, value ? profile_text(profile, (string_id)value) : "N/A");
		break;
	case DETAIL_COST:
	case DETAIL_INSTRUCTION_CYCLES:
		text_appendf(text, "%" PRIu64, value);
		break;
	default:
		value = entry_symbol_bytes(list, entry);
		if (value)
			text_appendf(text, "%" PRIu64, value);
		else
			text_append(text, "unknown");
		break;
	}
}
