/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names that a JIT compiler wrote to /tmp/perf-PID.map.
 *
 * Format: tools/perf/Documentation/jit-interface.txt, Linux 6.1. Anybody may make such a file: it
 * is believed only if it is a regular file (no link), owned by root, by us or by the process's
 * user.
 */
#include "symbolize/finder.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/vec.h"
#include "base/words.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAP_MAX_BYTES = 256 << 20, STATUS_MAX_BYTES = 64 << 10 };

/* The next hex number of a line, "0x" in front or not; false if there is none. */
static bool take_hex(struct bytes *line, u64 *ret_value)
{
	struct bytes word = word_take(line, ' ');

	word_drop_blanks(line);
	if (!word_drop(&word, "0x"))
		word_drop(&word, "0X");
	return word_number(word, 16, ret_value);
}

static void add_line(struct bytes line, struct symbols *symbols, struct idmap *seen)
{
	CLEANUP(freep) char *name = NULL;
	struct symbol symbol = {.binding = SYMBOL_GLOBAL};
	u64 bytes;
	u32 *place;

	if (!take_hex(&line, &symbol.start) || !take_hex(&line, &bytes) || !line.length)
		return;
	place = idmap_place(seen, symbol.start);
	if (*place)
		return;
	*place = 1;
	/* Without a size only the address itself is known. */
	symbol.end = symbol.start + (bytes ? bytes : 1);
	name = must_copy_bytes(line.start, line.length);
	symbol.name = name;
	symbols_add(symbols, &symbol);
}

int perf_map_read(struct bytes text, struct symbols *symbols)
{
	struct idmap seen = {0};

	/* From the end, so that the latest of those at one address is the first one met. */
	while (text.length) {
		const u8 *newline = memrchr(text.start, '\n', text.length);
		const u8 *start = newline ? newline + 1 : text.start;
		struct bytes line = {start, (size_t)(text.start + text.length - start)};

		add_line(line, symbols, &seen);
		text.length = newline ? (size_t)(newline - text.start) : 0;
	}
	idmap_release(&seen);
	symbols_finish(symbols);
	return symbols_count(symbols) ? 0 : -ENODATA;
}

/* The pid as the process itself knows it: the last of NSpid in its status; `pid` if unknown. */
static u32 pid_inside(u32 pid)
{
	CLEANUP(freep) char *path = must_format("/proc/%u/status", pid);
	CLEANUP(freep) char *status = NULL;
	const char *line, *last;

	if (file_read(path, STATUS_MAX_BYTES, &status, NULL))
		return pid;
	line = strstr(status, "\nNSpid:");
	if (!line)
		return pid;
	line++;
	last = line + strcspn(line, "\n");
	while (last > line && !isspace((u8)last[-1]))
		last--;
	return (u32)strtoul(last, NULL, 10);
}

static bool is_trusted(const struct stat *status, u32 pid)
{
	CLEANUP(freep) char *path = must_format("/proc/%u", pid);
	struct stat process;

	return status->st_uid == 0 || status->st_uid == geteuid() ||
	       (!stat(path, &process) && status->st_uid == process.st_uid);
}

/* Opens the map if it is to be believed. Returns as perf_map_open(). */
static int open_trusted(const char *root, u32 map_pid, u32 pid)
{
	CLEANUP(freep) char *path = must_format("/tmp/perf-%u.map", map_pid);
	struct stat status;
	int fd, error = open_below(root, path, LAST_LINK_REFUSED, &fd);

	if (error)
		return error;
	if (!fstat(fd, &status) && is_trusted(&status, pid))
		return fd;
	close(fd);
	return -EPERM;
}

/* Whether something lay there that was not believed. */
static bool is_refusal(int error)
{
	return error == -EPERM || error == -ELOOP || error == -EINVAL;
}

int perf_map_open(u32 pid)
{
	CLEANUP(freep) char *root = must_format("/proc/%u/root", pid);
	int fd = open_trusted(root, pid_inside(pid), pid);
	int ours = fd >= 0 ? fd : open_trusted("", pid, pid);

	return ours < 0 && is_refusal(fd) ? fd : ours;
}

/* The map as the process sees it, else as we do. Where names were kept they are of the time of the
 * recording, and the process may be another one by now; so may it where a store kept none: then the
 * map was not there in time. */
static int open_map(const struct finder_context *context, const struct binary_row *binary)
{
	const struct symbolize_settings *settings = context->settings;
	const char *symfs = settings->symfs;
	u32 pid = binary->owner_pid;

	if (settings->only_kept || binary->build_id_bytes)
		return -1;
	if (symfs && symfs[0])
		return open_trusted(symfs, pid, pid);
	if (settings->caches[CACHE_OF_STORE])
		return -1;
	return pid != ~0u ? perf_map_open(pid) : open_trusted("", pid, pid);
}

u64 perf_map_stamp_of(int fd)
{
	struct stat status;

	if (fstat(fd, &status))
		return 0;
	return (u64)status.st_size * 0x9e3779b97f4a7c15u ^ (u64)status.st_mtim.tv_nsec ^
	       (u64)status.st_mtim.tv_sec << 32 ^ status.st_ino << 16 ^ 1;
}

u64 perf_map_stamp(const struct finder_context *context, const struct binary_row *binary)
{
	CLEANUP(closep) int fd = open_map(context, binary);

	return fd < 0 ? 0 : perf_map_stamp_of(fd);
}

void perf_map_finder_load(const struct finder_context *context, const struct binary_row *binary,
			  struct name_source *ret_source)
{
	CLEANUP(closep) int fd = open_map(context, binary);
	CLEANUP(freep) char *path = must_format("/proc/self/fd/%d", fd);
	CLEANUP(freep) char *text = NULL;
	CLEANUP(kept_names_release) struct kept_names kept = {0};
	struct name_source source = {.unnamed = UNNAMED_NO_JIT_MAP};
	size_t length;

	if (fd >= 0)
		source.stamp = perf_map_stamp_of(fd);
	if (fd >= 0 && !file_read(path, MAP_MAX_BYTES, &text, &length)) {
		source.owned = symbols_new();
		perf_map_read((struct bytes){(const u8 *)text, length}, source.owned);
		source.symbols = source.owned;
		source.unnamed = UNNAMED_NOT;
	}
	if (binary->build_id_bytes && names_kept_for(context->settings, binary, &kept)) {
		source.symbols = source.owned = TAKE(kept.symbols);
		source.unnamed = UNNAMED_NOT;
	}
	*ret_source = source;
}
