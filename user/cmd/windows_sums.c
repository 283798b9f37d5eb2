/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sums as a file: a head, and the packed profile.
 */
#include "cmd/windows_sums.h"

#include "base/compress.h"
#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

enum {
	COMPRESS_LEVEL = 9,
	VERSION = 2, /* of what is packed, and of how it was counted */
	MOST_EXPANSION = 1024,
};

static const char sums_magic[8] = "bpfsums";

/* Little endian, as all hosts are. */
struct sums_head {
	char magic[8];
	u32 version, counters; /* COUNTERS_MAX, which totals have */
	u64 windows;	       /* hash of what the index knows of each */
	u64 bytes;	       /* of the profile, when it is unpacked */
	u64 checksum;	       /* of the packed profile */
};

const struct builder_settings windows_sums_settings = {.max_stack = UINT16_MAX};

bool windows_sums_do(const struct builder_settings *builder, const struct filter_settings *filter)
{
	return !builder->keep && !builder->details.kept && !builder->count_branches &&
	       builder->max_stack == UINT16_MAX && !filter->pid_count && !filter->tid_count &&
	       !filter->cpu_count && !filter->time_count && !filter->takes_cgroup;
}

static u64 hash_of(const struct windows_run *run)
{
	u64 hash = run->count;

	for (size_t i = 0; i < run->count; i++) {
		const struct store_window *window = &run->windows[i].facts;
		u64 facts[] = {hash, window->start_ns, window->end_ns, window->bytes,
			       window->samples};

		hash = XXH3_64bits(facts, sizeof(facts));
	}
	return hash;
}

static char *path_of(const struct windows_run *run)
{
	return store_sums_path(run->directory, run->windows[0].facts.start_ns);
}

int windows_sums_read(const struct windows_run *run, struct profile **ret_profile)
{
	CLEANUP(freep) char *path = path_of(run);
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	CLEANUP(file_unmap) struct bytes file = {0};
	struct bytes packed, unpacked = {0};
	struct sums_head head;
	int error = fd < 0 ? -errno : file_map_fd(fd, &file);

	if (!error && file.length < sizeof(head))
		error = -EBADMSG;
	if (error)
		return error;
	memcpy(&head, file.start, sizeof(head));
	packed = (struct bytes){file.start + sizeof(head), file.length - sizeof(head)};
	if (memcmp(head.magic, sums_magic, sizeof(sums_magic)) != 0 || head.version != VERSION ||
	    head.counters != COUNTERS_MAX || head.windows != hash_of(run) ||
	    head.bytes / MOST_EXPANSION > packed.length ||
	    head.checksum != XXH3_64bits(packed.start, packed.length))
		return -EBADMSG;
	error = block_unpack(packed, head.bytes, &unpacked);
	if (!error)
		error = profile_unpack(unpacked, ret_profile);
	free((u8 *)unpacked.start);
	return error;
}

/* Under another name first: a reader sees all of it, or nothing. */
static int write_file(const struct windows_run *run, const char *path, const struct sums_head *head,
		      struct bytes packed)
{
	CLEANUP(freep) char *made = must_format("%s-new", path);
	CLEANUP(closep)
	int fd = open(made, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		      store_file_mode(run->directory));
	int error = fd < 0 ? -errno : file_write_all(fd, head, sizeof(*head));

	if (!error)
		error = file_write_all(fd, packed.start, packed.length);
	if (!error && (fsync(fd) || rename(made, path)))
		error = -errno;
	if (error && fd >= 0)
		unlink(made);
	return error;
}

static bool save_little(const struct windows_run *run, u64 sums_bytes)
{
	u64 bytes = 0;

	for (size_t i = 0; i < run->count; i++)
		bytes += run->windows[i].facts.bytes;
	return sums_bytes > bytes / WINDOWS_SUMS_PART;
}

int windows_sums_write(const struct windows_run *run, const struct profile *profile,
		       bool *ret_little)
{
	CLEANUP(freep) char *path = path_of(run);
	CLEANUP(text_release) struct text text = {0};
	struct bytes packed = {0};
	struct sums_head head = {
		.version = VERSION,
		.counters = COUNTERS_MAX,
		.windows = hash_of(run),
	};
	int error = profile_pack(profile, &text);

	if (!error)
		error = block_pack(COMPRESS_LEVEL,
				   (struct bytes){(const u8 *)text.bytes, text.length}, &packed);
	if (error)
		return error;
	memcpy(head.magic, sums_magic, sizeof(sums_magic));
	head.bytes = text.length;
	head.checksum = XXH3_64bits(packed.start, packed.length);
	*ret_little = save_little(run, sizeof(head) + packed.length);
	if (*ret_little)
		unlink(path);
	else
		error = write_file(run, path, &head, packed);
	free((u8 *)packed.start);
	return error;
}
