/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Cuts the kernel's BTF down to what libbpf will look for in it.
 *
 * For each type that a program reads libbpf goes through all types of the kernel, 130,000 of them;
 * that was half of what a recording of some seconds cost in user space. Fields are found by name in
 * a struct and in what it embeds, never behind a pointer, so only that is kept.
 *
 * Source of the layout: include/uapi/linux/btf.h.
 */
#include "capture/kernel_types.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/vec.h"

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>

enum {
	BTF_FILE_BYTES = 256 << 20, /* of a kernel with everything built in: 10 MB */
	KIND_COUNT = BTF_KIND_ENUM64 + 1,
	ENUM64_BYTES = 12, /* older headers have no struct of it */
};

struct cut {
	const u8 *types;
	size_t type_bytes;
	const char *strings;
	size_t string_bytes;
	u32 *offsets;  /* in `types`, by id; [0] is void */
	u32 count;     /* ids are below that */
	u32 *new_ids;  /* by id; 0: not kept */
	VEC(u32) kept; /* ids, in the order of their new ones, which begin with 1 */
	struct text new_types, new_strings;
	bool is_damaged;
};

static void cut_release(struct cut *cut)
{
	free(cut->offsets);
	free(cut->new_ids);
	vec_release(&cut->kept);
	text_release(&cut->new_types);
	text_release(&cut->new_strings);
}

/* --- reading --- */

static int read_header(struct bytes full, struct cut *cut)
{
	struct btf_header header;
	u64 types, strings;

	if (full.length < sizeof(header))
		return -EBADMSG;
	memcpy(&header, full.start, sizeof(header));
	types = (u64)header.hdr_len + header.type_off;
	strings = (u64)header.hdr_len + header.str_off;
	if (header.magic != BTF_MAGIC || types % sizeof(u32) ||
	    types + header.type_len > full.length || strings + header.str_len > full.length ||
	    !header.str_len || full.start[strings + header.str_len - 1])
		return -EBADMSG;
	cut->types = full.start + types;
	cut->type_bytes = header.type_len;
	cut->strings = (const char *)full.start + strings;
	cut->string_bytes = header.str_len;
	return 0;
}

/* What stands behind a type of each kind: once, and for each of its members. */
static const struct {
	u8 bytes, member_bytes;
	bool is_known, is_sought; /* by programs, that is by name */
} kinds[KIND_COUNT] = {
	[BTF_KIND_INT] = {sizeof(u32), 0, true, true},
	[BTF_KIND_PTR] = {0, 0, true, false},
	[BTF_KIND_ARRAY] = {sizeof(struct btf_array), 0, true, false},
	[BTF_KIND_STRUCT] = {0, sizeof(struct btf_member), true, true},
	[BTF_KIND_UNION] = {0, sizeof(struct btf_member), true, true},
	[BTF_KIND_ENUM] = {0, sizeof(struct btf_enum), true, true},
	[BTF_KIND_FWD] = {0, 0, true, false},
	[BTF_KIND_TYPEDEF] = {0, 0, true, true},
	[BTF_KIND_VOLATILE] = {0, 0, true, false},
	[BTF_KIND_CONST] = {0, 0, true, false},
	[BTF_KIND_RESTRICT] = {0, 0, true, false},
	[BTF_KIND_FUNC] = {0, 0, true, false},
	[BTF_KIND_FUNC_PROTO] = {0, sizeof(struct btf_param), true, false},
	[BTF_KIND_VAR] = {sizeof(struct btf_var), 0, true, false},
	[BTF_KIND_DATASEC] = {0, sizeof(struct btf_var_secinfo), true, false},
	[BTF_KIND_FLOAT] = {0, 0, true, true},
	[BTF_KIND_DECL_TAG] = {sizeof(struct btf_decl_tag), 0, true, false},
	[BTF_KIND_TYPE_TAG] = {0, 0, true, false},
	[BTF_KIND_ENUM64] = {0, ENUM64_BYTES, true, true},
};

static u32 kind_of(const struct btf_type *type)
{
	return BTF_INFO_KIND(type->info);
}

static size_t bytes_of(const struct btf_type *type)
{
	return sizeof(*type) + kinds[kind_of(type)].bytes +
	       (size_t)BTF_INFO_VLEN(type->info) * kinds[kind_of(type)].member_bytes;
}

static const struct btf_type *type_of(const struct cut *cut, u32 id)
{
	return (const void *)(cut->types + cut->offsets[id]);
}

static const char *name_of(struct cut *cut, u32 offset)
{
	if (offset < cut->string_bytes)
		return cut->strings + offset;
	cut->is_damaged = true;
	return "";
}

/* --- keeping --- */

/* The new id of a type, which is kept from now on. */
static u32 keep(struct cut *cut, u32 id)
{
	if (!id || id >= cut->count) {
		cut->is_damaged |= id;
		return 0;
	}
	if (!cut->new_ids[id]) {
		*vec_add(&cut->kept) = id;
		cut->new_ids[id] = (u32)cut->kept.count;
	}
	return cut->new_ids[id];
}

/* Finds where each type is, and keeps those with one of the names. */
static int read_types(struct cut *cut, const struct intern *names)
{
	size_t most = cut->type_bytes / sizeof(struct btf_type) + 1, at = 0;

	cut->offsets = must_alloc_array(most, sizeof(u32));
	cut->new_ids = must_alloc_array(most, sizeof(u32));
	for (cut->count = 1; at < cut->type_bytes; cut->count++) {
		const struct btf_type *type = (const void *)(cut->types + at);

		if (cut->type_bytes - at < sizeof(*type))
			return -EBADMSG;
		if (kind_of(type) >= KIND_COUNT || !kinds[kind_of(type)].is_known)
			return -ENOTSUP;
		if (cut->type_bytes - at < bytes_of(type))
			return -EBADMSG;
		cut->offsets[cut->count] = (u32)at;
		at += bytes_of(type);
		if (kinds[kind_of(type)].is_sought && type->name_off) {
			const char *name = name_of(cut, type->name_off);

			if (intern_find(names, name, strlen(name)))
				*vec_add(&cut->kept) = cut->count;
		}
	}
	for (u32 i = 0; i < cut->kept.count; i++)
		cut->new_ids[cut->kept.items[i]] = i + 1;
	return 0;
}

/* --- writing --- */

static u32 keep_name(struct cut *cut, u32 offset)
{
	const char *name = name_of(cut, offset);
	size_t new_offset = cut->new_strings.length;

	if (!*name)
		return 0;
	text_append_bytes(&cut->new_strings, name, strlen(name) + 1);
	return (u32)new_offset;
}

static void keep_members(struct cut *cut, struct btf_type *type)
{
	struct btf_member *members = (void *)(type + 1);

	for (u32 i = 0; i < BTF_INFO_VLEN(type->info); i++) {
		members[i].name_off = keep_name(cut, members[i].name_off);
		members[i].type = keep(cut, members[i].type);
	}
}

static void keep_values(struct cut *cut, struct btf_type *type)
{
	u8 *value = (void *)(type + 1);

	for (u32 i = 0; i < BTF_INFO_VLEN(type->info); i++) {
		struct btf_enum *start = (void *)value; /* of a 64-bit one, too */

		start->name_off = keep_name(cut, start->name_off);
		value += kinds[kind_of(type)].member_bytes;
	}
}

/* Lets a type say the new ids and names. */
static void translate(struct cut *cut, struct btf_type *type)
{
	struct btf_array *array = (void *)(type + 1);

	type->name_off = keep_name(cut, type->name_off);
	switch (kind_of(type)) {
	case BTF_KIND_PTR:
		type->type = 0;
		break;
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		type->type = keep(cut, type->type);
		break;
	case BTF_KIND_ARRAY:
		array->type = keep(cut, array->type);
		array->index_type = keep(cut, array->index_type);
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		keep_members(cut, type);
		break;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		keep_values(cut, type);
		break;
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
	case BTF_KIND_FWD:
		break;
	default: /* no part of anything */
		cut->is_damaged = true;
	}
}

static void write_types(struct cut *cut)
{
	text_append_bytes(&cut->new_strings, "", 1);
	for (size_t i = 0; i < cut->kept.count && !cut->is_damaged; i++) { /* their number grows */
		const struct btf_type *type = type_of(cut, cut->kept.items[i]);
		size_t start = cut->new_types.length;

		text_append_bytes(&cut->new_types, type, bytes_of(type));
		translate(cut, (void *)(cut->new_types.bytes + start));
	}
}

int kernel_types_cut(struct bytes full, const struct intern *names, struct text *ret_cut)
{
	CLEANUP(cut_release) struct cut cut = {0};
	struct btf_header header = {
		.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(header)};
	int error = read_header(full, &cut);

	if (!error)
		error = read_types(&cut, names);
	if (error)
		return error;
	write_types(&cut);
	if (cut.is_damaged)
		return -EBADMSG;
	header.type_len = header.str_off = (u32)cut.new_types.length;
	header.str_len = (u32)cut.new_strings.length;
	text_append_bytes(ret_cut, &header, sizeof(header));
	text_append_bytes(ret_cut, cut.new_types.bytes, cut.new_types.length);
	text_append_bytes(ret_cut, cut.new_strings.bytes, cut.new_strings.length);
	return 0;
}

/* --- the running kernel's --- */

/* What programs know a type by: what stands behind ___ is only theirs. */
static void collect_names(const struct btf *programs, struct intern *names)
{
	for (u32 id = 1; id < btf__type_cnt(programs); id++) {
		const struct btf_type *type = btf__type_by_id(programs, id);
		const char *name = btf__name_by_offset(programs, type->name_off);
		const char *end = strstr(name, "___");

		if (*name && kind_of(type) < KIND_COUNT && kinds[kind_of(type)].is_sought)
			intern_bytes(names, name,
				     end && end > name ? (size_t)(end - name) : strlen(name));
	}
}

static int write_cut(struct bytes full, const struct btf *programs, int fd)
{
	CLEANUP(intern_release) struct intern names = {0};
	CLEANUP(text_release) struct text cut = {0};
	int error;

	collect_names(programs, &names);
	error = kernel_types_cut(full, &names, &cut);
	/* What we do not understand, libbpf may, or says why not. */
	return error ? file_write_all(fd, full.start, full.length)
		     : file_write_all(fd, cut.bytes, cut.length);
}

/* The kernel's own file can be mapped since Linux 6.16. */
static int write_from_file(const struct btf *programs, int fd)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";
	CLEANUP(closep) int file = open(path, O_RDONLY | O_CLOEXEC);
	CLEANUP(file_unmap) struct bytes mapped = {0};
	CLEANUP(freep) char *text = NULL;
	size_t length;
	int error;

	if (file >= 0 && !file_map_fd(file, &mapped))
		return write_cut(mapped, programs, fd);
	error = file_read(path, BTF_FILE_BYTES, &text, &length);
	return error ? error : write_cut((struct bytes){(const u8 *)text, length}, programs, fd);
}

/* libbpf also looks for kernel images with BTF in /boot and /lib/modules. */
static int write_from_image(const struct btf *programs, int fd)
{
	struct btf *btf = btf__load_vmlinux_btf();
	struct bytes full = {0};
	u32 length;
	int error;

	if (!btf)
		return -ENOENT;
	full.start = btf__raw_data(btf, &length);
	full.length = length;
	error = full.start ? write_cut(full, programs, fd) : -ENOMEM;
	btf__free(btf);
	return error;
}

int kernel_types_write(const struct btf *programs, int fd)
{
	int error = write_from_file(programs, fd);

	return error ? write_from_image(programs, fd) : 0;
}
