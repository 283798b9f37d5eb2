/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel runs: itself, its modules, BPF programs.
 *
 * BPF programs are asked for one by one, which is cheaper than to read all of kallsyms and tells
 * how long each function is. Only kallsyms knows the code that the kernel writes around a program
 * (trampolines, dispatchers): where one of their kinds is loaded, or asking is not allowed,
 * kallsyms is read as a whole. Names are those of kallsyms: kernel/bpf/core.c (bpf_get_prog_name),
 * Linux 6.18.
 */
#include "capture/kernel_code.h"

#include "base/memory.h"
#include "base/text.h"
#include "base/vec.h"
#include "host/host.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>

enum { FUNCTIONS_MAX = 4096 }; /* of a program; BPF_MAX_SUBPROGS is 256 */

/* Whether the kernel may write code around a program of this kind; yes for kinds we do not know. */
static bool may_have_trampoline(u32 type)
{
	return type == BPF_PROG_TYPE_XDP || type == BPF_PROG_TYPE_TRACING ||
	       type == BPF_PROG_TYPE_STRUCT_OPS || type == BPF_PROG_TYPE_EXT ||
	       type == BPF_PROG_TYPE_LSM || type > BPF_PROG_TYPE_SYSCALL;
}

/* A function of a BPF program. */
struct function {
	u64 start;
	u32 bytes;
	char *name;
};

struct functions {
	VEC(struct function) list;
};

static void functions_release(struct functions *functions)
{
	for (size_t i = 0; i < functions->list.count; i++)
		free(functions->list.items[i].name);
	vec_release(&functions->list);
}

/* What the kernel says of the functions of a program; `count` of each. */
struct details {
	u64 *starts;
	u32 *lengths;
	u8 (*tags)[BPF_TAG_SIZE];
	struct bpf_func_info *types;
	struct btf *btf; /* NULL: names from the program */
	u32 count;
};

static void details_release(struct details *details)
{
	free(details->starts);
	free(details->lengths);
	free(details->tags);
	free(details->types);
	btf__free(details->btf);
}

/* Asks for the functions of a program of which the counts are known. */
static int ask(int fd, const struct bpf_prog_info *known, struct details *details,
	       struct bpf_prog_info *ret_info)
{
	u32 count = known->nr_jited_ksyms, bytes = sizeof(*ret_info);
	bool has_types = known->btf_id && known->nr_func_info == count &&
			 known->func_info_rec_size == sizeof(struct bpf_func_info);

	if (!count || count > FUNCTIONS_MAX || known->nr_jited_func_lens != count)
		return -EACCES;
	details->count = count;
	details->starts = must_alloc_array(count, sizeof(*details->starts));
	details->lengths = must_alloc_array(count, sizeof(*details->lengths));
	details->tags = must_alloc_array(count, sizeof(*details->tags));
	details->types = must_alloc_array(count, sizeof(*details->types));
	*ret_info = (struct bpf_prog_info){
		.nr_jited_ksyms = count,
		.jited_ksyms = (u64)details->starts,
		.nr_jited_func_lens = count,
		.jited_func_lens = (u64)details->lengths,
		.nr_prog_tags = known->nr_prog_tags == count ? count : 0,
		.prog_tags = (u64)details->tags,
		.nr_func_info = has_types ? count : 0,
		.func_info_rec_size = has_types ? sizeof(struct bpf_func_info) : 0,
		.func_info = (u64)details->types,
	};
	if (bpf_obj_get_info_by_fd(fd, ret_info, &bytes))
		return -errno;
	if (has_types)
		details->btf = btf__load_from_kernel_by_id(known->btf_id);
	return ret_info->nr_jited_ksyms == count && details->starts[0] ? 0 : -EACCES;
}

static const char *name_of(const struct details *details, const struct bpf_prog_info *info, u32 row)
{
	const struct btf_type *type =
		details->btf ? btf__type_by_id(details->btf, details->types[row].type_id) : NULL;
	const char *name = type ? btf__name_by_offset(details->btf, type->name_off) : NULL;

	return name ? name : info->name;
}

/* "bpf_prog_" TAG "_" NAME, as kallsyms */
static char *symbol_name(const struct details *details, const struct bpf_prog_info *info, u32 row)
{
	const char *name = name_of(details, info, row);
	/* The first function is listed by the tag of the whole program. */
	const u8 *tag = row && info->nr_prog_tags ? details->tags[row] : info->tag;
	CLEANUP(text_release) struct text text = {0};

	text_append(&text, "bpf_prog_");
	for (u32 i = 0; i < BPF_TAG_SIZE; i++)
		text_appendf(&text, "%02x", tag[i]);
	if (name[0])
		text_appendf(&text, "_%s", name);
	return text_take(&text);
}

/* Adds the functions of a program. Returns 0 or a negative errno (-EOPNOTSUPP: kallsyms may know
 * of more). */
static int read_program(int fd, struct functions *functions)
{
	CLEANUP(details_release) struct details details = {0};
	struct bpf_prog_info known = {0}, info;
	u32 bytes = sizeof(known);
	int error;

	if (bpf_obj_get_info_by_fd(fd, &known, &bytes))
		return -errno;
	if (may_have_trampoline(known.type))
		return -EOPNOTSUPP;
	if (!known.jited_prog_len) /* interpreted */
		return 0;
	error = ask(fd, &known, &details, &info);
	if (error)
		return error;
	for (u32 row = 0; row < details.count; row++) {
		*vec_add(&functions->list) = (struct function){
			.start = details.starts[row],
			.bytes = details.lengths[row],
			.name = symbol_name(&details, &info, row),
		};
	}
	return 0;
}

/* All that are loaded. Returns 0 or a negative errno: kallsyms must be asked. */
static int read_programs(struct functions *functions)
{
	u32 id = 0;

	for (;;) {
		CLEANUP(closep) int fd = -1;
		int error;

		if (bpf_prog_get_next_id(id, &id))
			return errno == ENOENT ? 0 : -errno;
		fd = bpf_prog_get_fd_by_id(id);
		if (fd < 0 && errno == ENOENT) /* gone meanwhile */
			continue;
		error = fd < 0 ? -errno : read_program(fd, functions);
		if (error)
			return error;
	}
}

int kernel_code_send(struct event_sink *sink)
{
	CLEANUP(functions_release) struct functions functions = {0};
	bool is_known = !read_programs(&functions);
	int error = kernel_mappings(is_known ? KERNEL_AND_MODULES : KERNEL_MODULES_AND_BPF, sink);

	for (size_t i = 0; is_known && !error && i < functions.list.count; i++) {
		struct kernel_symbol symbol = {.start = functions.list.items[i].start,
					       .bytes = functions.list.items[i].bytes,
					       .type = 1,
					       .name = functions.list.items[i].name};

		error = sink_call(sink, on_kernel_symbol, &symbol);
	}
	return error;
}
