/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opens a perf.data, finds its parts, and hands its events over in order of time.
 */
#include "perfdata/reader.h"

#include "base/fail.h"
#include "base/file.h"
#include "bpfprof/counters.h"
#include "perfdata/attr.h"
#include "perfdata/session.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static const char pass_other[] = "give a file recorded by perf or bpfprof";

/* The header's numbers, turned to our byte order. */
static void turn_header(struct file_header *header)
{
	u64 words[sizeof(*header) / sizeof(u64)];

	memcpy(words, header, sizeof(words));
	for (size_t i = 0; i < ARRAY_COUNT(words); i++)
		words[i] = bswap_64(words[i]);
	memcpy(header, words, sizeof(words));
}

/* The bitmap is written in longs of the recording machine: where the host name's bit is not found,
 * they had 32 bits. */
static void turn_narrow_features(struct file_header *header)
{
	if (header->features[0] & (1ull << FEATURE_HOSTNAME))
		return;
	for (size_t i = 0; i < FEATURE_WORDS; i++)
		header->features[i] = header->features[i] << 32 | header->features[i] >> 32;
}

static int read_file_header(struct perfdata *data)
{
	struct file_header *header = &data->file_header;
	struct bytes bytes = data->input.bytes;

	if (!bytes.length)
		return fail_plain(-EBADMSG, "record again", "%s is empty: nothing was recorded",
				  data->path);
	memcpy(header, bytes.start,
	       bytes.length < sizeof(*header) ? bytes.length : sizeof(*header));
	if (bytes.length < sizeof(header->magic) ||
	    (header->magic != PERFDATA_MAGIC && bswap_64(header->magic) != PERFDATA_MAGIC))
		return fail_plain(-EBADMSG, pass_other, "%s is not a perf.data file", data->path);
	data->decoder.swap = header->magic != PERFDATA_MAGIC;
	data->header.is_swapped = data->decoder.swap;
	if (data->decoder.swap)
		turn_header(header);
	if (header->size_bytes == OLD_HEADER_BYTES)
		memset(header->features, 0, sizeof(header->features));
	else if (data->decoder.swap)
		turn_narrow_features(header);
	if (header->size_bytes != PIPE_HEADER_BYTES && header->size_bytes != OLD_HEADER_BYTES &&
	    header->size_bytes != sizeof(*header))
		return fail_plain(-EBADMSG, pass_other, "%s has a damaged header", data->path);
	if (bytes.length < header->size_bytes)
		return fail_plain(-EBADMSG, "record again", "%s is cut inside its header",
				  data->path);
	return 0;
}

/* A part of the file, cut where the file ends. */
static struct bytes file_part(const struct perfdata *data, struct file_section section)
{
	struct bytes bytes = data->input.bytes;

	if (section.offset > bytes.length)
		return (struct bytes){bytes.start + bytes.length, 0};
	if (section.size_bytes > bytes.length - section.offset)
		section.size_bytes = bytes.length - section.offset;
	return (struct bytes){bytes.start + section.offset, section.size_bytes};
}

static bool is_whole(const struct perfdata *data, struct file_section section)
{
	return file_part(data, section).length == section.size_bytes;
}

static struct file_section read_section(struct cursor *cursor)
{
	struct file_section section;

	section.offset = cursor_u64(cursor);
	section.size_bytes = cursor_u64(cursor);
	return section;
}

/* One event and its ids, of which so many more may come: several events may name the same ones. */
static int read_kind(struct perfdata *data, struct cursor *cursor, u64 *ids_left)
{
	struct wire_attr attr;
	struct file_section section;
	struct cursor ids;
	VEC(u64) list = {0};

	if (attr_read(cursor, &attr))
		return -EBADMSG;
	section = read_section(cursor);
	if (cursor->overrun || !is_whole(data, section) ||
	    section.size_bytes / sizeof(u64) > *ids_left)
		return -EBADMSG;
	*ids_left -= section.size_bytes / sizeof(u64);
	ids = cursor_of(file_part(data, section));
	ids.swap = data->decoder.swap;
	while (cursor_left(&ids) >= sizeof(u64))
		*vec_add(&list) = cursor_u64(&ids);
	decoder_add_kind(&data->decoder, &attr, list.items, list.count);
	vec_release(&list);
	return 0;
}

static int read_kinds(struct perfdata *data)
{
	const struct file_header *header = &data->file_header;
	struct cursor cursor = cursor_of(file_part(data, header->attrs));
	u64 ids_left = data->input.bytes.length / sizeof(u64);

	cursor.swap = data->decoder.swap;
	if (!is_whole(data, header->attrs) || !header->attr_size_bytes)
		return fail_plain(-EBADMSG, "record again",
				  "%s is cut: its events are not described", data->path);
	for (u64 i = 0; i < header->attrs.size_bytes / header->attr_size_bytes; i++)
		if (read_kind(data, &cursor, &ids_left))
			return fail_plain(-EBADMSG, "record again",
					  "%s: the description of event %llu is damaged",
					  data->path, (unsigned long long)i + 1);
	if (!data->decoder.kinds.count)
		return fail_plain(-EBADMSG, "record again", "%s holds no event", data->path);
	return 0;
}

static bool has_feature(const struct file_header *header, u32 feature)
{
	return header->features[feature / 64] & (1ull << feature % 64);
}

/* The table behind the records: one entry for each bit that is set. */
static void find_features(struct perfdata *data)
{
	const struct file_header *header = &data->file_header;
	u64 end = header->records.offset + header->records.size_bytes;
	struct cursor table = cursor_of(file_part(data, (struct file_section){end, UINT64_MAX}));
	bool is_cut = false;

	table.swap = data->decoder.swap;
	for (u32 feature = 0; feature < FEATURE_BITS; feature++) {
		struct file_section section;

		if (!has_feature(header, feature))
			continue;
		section = read_section(&table);
		/* an instant of our writer leaves nonsense for the place of an empty one */
		if (table.overrun || !is_whole(data, section))
			is_cut = true;
		else
			data->features[feature] = file_part(data, section);
	}
	if (is_cut)
		session_damaged(data, "cut at byte %zu: the features behind the records are gone",
				data->input.bytes.length);
	for (u32 feature = 0; feature < FEATURE_BITS; feature++)
		session_read_feature(data, feature);
}

/* Our mark at the head of the records is wanted before they are read. */
static void look_for_mark(struct perfdata *data)
{
	struct record_header header;

	if (data->records.length < sizeof(header))
		return;
	header = decode_header(&data->decoder, data->records.start);
	if (header.type == RECORD_NOTE && header.size_bytes >= sizeof(header) &&
	    header.size_bytes <= data->records.length)
		session_read_note(data, (struct bytes){data->records.start, header.size_bytes});
}

static int open_file_mode(struct perfdata *data)
{
	struct file_header *header = &data->file_header;
	int error = read_kinds(data);

	if (error)
		return error;
	if (!header->records.size_bytes) {
		/* perf writes the size last: without it there are no features either */
		data->is_unterminated = data->input.bytes.length > header->records.offset;
		header->records.size_bytes = UINT64_MAX - header->records.offset;
		data->records = file_part(data, header->records);
		header->records.size_bytes = data->records.length;
	} else {
		data->records = file_part(data, header->records);
		find_features(data);
	}
	look_for_mark(data);
	session_read_sources(data);
	return 0;
}

static int open_pipe_mode(struct perfdata *data)
{
	data->header.is_pipe = true;
	data->records = file_part(
		data, (struct file_section){PIPE_HEADER_BYTES, UINT64_MAX - PIPE_HEADER_BYTES});
	session_index(data);
	if (!data->decoder.kinds.count)
		return fail_plain(-EBADMSG, "record again", "%s holds no event", data->path);
	return 0;
}

/* Branch records of a later kernel may be longer than we take them for, and all that follows in a
 * sample would then be read from the wrong place. */
static int refuse_unknown_branches(const struct perfdata *data)
{
	for (u32 i = 0; i < data->decoder.kinds.count; i++) {
		const struct wire_attr *attr = &data->decoder.kinds.items[i].attr;
		u64 unknown = attr->branch_sample_type & ~(BRANCH_UNKNOWN - 1ull);

		if (!(attr->sample_type & SAMPLE_BRANCH_STACK) || !unknown)
			continue;
		return fail_plain(-ENOTSUP, "read it with the tool that recorded it",
				  "%s: the branch stacks of event %s are of a kind that is not "
				  "known here (branch_sample_type 0x%llx)",
				  data->path, data->sources.items[i].name,
				  (unsigned long long)unknown);
	}
	return 0;
}

static int open_input(struct perfdata *data)
{
	int error = read_file_header(data);

	if (error)
		return error;
	data->header.file_bytes = data->input.bytes.length;
	if (data->file_header.size_bytes == PIPE_HEADER_BYTES)
		error = open_pipe_mode(data);
	else
		error = open_file_mode(data);
	return error ? error : refuse_unknown_branches(data);
}

static void input_release(struct input *input)
{
	if (input->is_mapped) {
		file_unmap(&input->bytes);
		closep(&input->fd);
	}
	if (input->is_heap)
		free((void *)input->bytes.start);
	*input = (struct input){0};
}

/* Whether it may yet become a perf.data: /dev/zero has no end to wait for. */
static bool may_be_recording(const u8 *bytes, size_t length)
{
	u64 magic;

	if (length < sizeof(magic))
		return true;
	memcpy(&magic, bytes, sizeof(magic));
	return magic == PERFDATA_MAGIC || bswap_64(magic) == PERFDATA_MAGIC;
}

/* All that comes out of a pipe or file, or enough to see that it is something else; `capacity`
 * bytes of memory are enough for most. */
static int read_stream(int fd, size_t capacity, struct input *ret_input)
{
	size_t length = 0;
	u8 *bytes = must_resize_array(NULL, capacity, 1);
	ssize_t got;

	while ((got = read(fd, bytes + length, capacity - length))) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			free(bytes);
			return -errno;
		}
		length += (size_t)got;
		if (!may_be_recording(bytes, length))
			break;
		if (length == capacity)
			bytes = must_resize_array(bytes, capacity *= 2, 1);
	}
	*ret_input = (struct input){.bytes = {bytes, length}, .is_heap = true};
	return 0;
}

/* A file that is cut, or cannot be read, ends who has it mapped (SIGBUS). Who must go on reads it,
 * but for one that would take too much memory. */
static int input_open(struct perfdata *data, int fd, const struct stat *status,
		      struct input *ret_input)
{
	enum { PIPE_BYTES = 1 << 20, READ_BYTES_MAX = 64 << 20 };

	if (!S_ISREG(status->st_mode))
		return read_stream(fd, PIPE_BYTES, ret_input);
	if (data->is_window && status->st_size <= READ_BYTES_MAX)
		return read_stream(fd, (size_t)status->st_size + 1, ret_input); /* 1: its end */
	*ret_input = (struct input){.is_mapped = true, .fd = -1};
	return file_map_fd(fd, &ret_input->bytes);
}

/* A recording of `perf record --threads` is a folder: "data", and a stream in each "data.N". */
static int open_folder(struct perfdata *data, int folder)
{
	for (unsigned int i = 0;; i++) {
		CLEANUP(freep) char *name = must_format("data.%u", i);
		CLEANUP(closep) int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
		struct stat status;
		int error;

		if (fd < 0 && errno == ENOENT)
			return 0;
		if (fd < 0 || fstat(fd, &status))
			return -errno;
		error = input_open(data, fd, &status, vec_add(&data->more_inputs));
		if (error) {
			data->more_inputs.count--;
			return error;
		}
	}
}

/* The lowest number is taken: who reads many recordings at once does without. */
static int keep_open(int fd)
{
	enum { FILES_OPEN_MAX = 256 };
	int kept = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (kept < FILES_OPEN_MAX)
		return kept;
	close(kept);
	return -1;
}

static int open_path(struct perfdata *data, const char *path)
{
	CLEANUP(closep) int named = -1;
	CLEANUP(closep) int inner = -1;
	int fd = STDIN_FILENO, error;
	struct stat status;

	if (strcmp(path, "-"))
		fd = named = open(path, O_RDONLY | O_CLOEXEC | (data->is_window ? O_NONBLOCK : 0));
	if (fd < 0 || fstat(fd, &status))
		return -errno;
	if (data->is_window && !S_ISREG(status.st_mode))
		return -EINVAL; /* a store may hold what nobody writes into */
	if (S_ISDIR(status.st_mode)) {
		error = open_folder(data, fd);
		if (error)
			return error;
		fd = inner = openat(fd, "data", O_RDONLY | O_CLOEXEC);
		if (fd < 0 || fstat(fd, &status))
			return errno == ENOENT ? -EISDIR : -errno; /* no folder of perf's */
	}
	data->header.captured_s = status.st_mtime;
	error = input_open(data, fd, &status, &data->input);
	if (!error && data->input.is_mapped)
		data->input.fd = keep_open(fd);
	return error;
}

/* How a recording is opened. */
enum opening { PLAIN, LISTED, WINDOW };

static int open_recording(const char *path, enum opening opening, struct perfdata **ret_data)
{
	CLEANUP(perfdata_closep) struct perfdata *data = must_alloc(sizeof(*data));
	int error;

	data->lists_records = opening == LISTED;
	data->is_window = opening == WINDOW;
	data->path = must_copy(strcmp(path, "-") ? path : "standard input");
	error = open_path(data, path);
	if (error == -EINVAL && data->is_window)
		return fail_plain(-EBADMSG, "remove it", "%s is no file", data->path);
	if (error)
		return fail(error, error == -ENOENT ? "record first, or name a file with -i" : NULL,
			    "cannot open %s", data->path);
	error = open_input(data);
	if (error)
		return error;
	*ret_data = TAKE(data);
	return 0;
}

int perfdata_open(const char *path, struct perfdata **ret_data)
{
	return open_recording(path, PLAIN, ret_data);
}

int perfdata_open_listed(const char *path, struct perfdata **ret_data)
{
	return open_recording(path, LISTED, ret_data);
}

int perfdata_open_window(const char *path, struct perfdata **ret_data)
{
	return open_recording(path, WINDOW, ret_data);
}

int perfdata_open_bytes(struct bytes bytes, struct perfdata **ret_data)
{
	CLEANUP(perfdata_closep) struct perfdata *data = must_alloc(sizeof(*data));
	int error;

	data->path = must_copy("recording");
	data->lists_records = true;
	data->input.bytes = bytes;
	error = open_input(data);
	if (error)
		return error;
	*ret_data = TAKE(data);
	return 0;
}

void perfdata_close(struct perfdata *data)
{
	if (!data)
		return;
	decoder_release(&data->decoder);
	decoder_release_sample(&data->second_look);
	decompressor_free(data->decompressor);
	for (size_t i = 0; i < data->blocks.count; i++)
		free(data->blocks.items[i]);
	vec_release(&data->blocks);
	for (size_t i = 0; i < data->more_inputs.count; i++)
		input_release(&data->more_inputs.items[i]);
	vec_release(&data->more_inputs);
	input_release(&data->input);
	intern_release(&data->strings);
	vec_release(&data->words);
	vec_release(&data->sockets);
	vec_release(&data->groups);
	vec_release(&data->sources);
	vec_release(&data->events);
	vec_release(&data->listed);
	bystanders_release(&data->bystanders);
	deferred_release(&data->deferred);
	vec_release(&data->unknown_types);
	text_release(&data->warnings);
	free(data->damage.what);
	free(data->path);
	free(data);
}

void perfdata_closep(struct perfdata **data)
{
	perfdata_close(*data);
}

const struct perfdata_header *perfdata_header(const struct perfdata *data)
{
	return &data->header;
}

bool perfdata_listed_binary(const struct perfdata *data, u32 row, const char **ret_path,
			    struct build_id *ret_id)
{
	if (row >= data->decoder.build_ids.count)
		return false;
	*ret_path = intern_view(&data->decoder.build_id_paths, row + 1);
	*ret_id = data->decoder.build_ids.items[row];
	return true;
}

const struct event_source *perfdata_sources(const struct perfdata *data, u32 *ret_count)
{
	*ret_count = (u32)data->sources.count;
	return data->sources.items;
}

void perfdata_on_progress(struct perfdata *data,
			  void (*show)(const char *what, u64 done, u64 total))
{
	data->show_progress = show;
}

const char *perfdata_warnings(const struct perfdata *data)
{
	return text_view(&data->warnings);
}

const struct perfdata_extra *perfdata_extra(const struct perfdata *data)
{
	return data->header.is_ours ? &data->extra : NULL;
}
