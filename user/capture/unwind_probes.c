/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the BPF programs find in the structs of this kernel: by its BTF, as they ask for it.
 */
#include "capture/feature_probes.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Whether the struct has the member, be it in an anonymous struct or union of it. */
static bool has_member(const struct btf *btf, u32 type_id, const char *name)
{
	const struct btf_type *type = btf__type_by_id(btf, type_id);

	while (btf_is_mod(type) || btf_is_typedef(type))
		type = btf__type_by_id(btf, type->type);
	if (!btf_is_composite(type))
		return false;
	for (u32 i = 0; i < btf_vlen(type); i++) {
		const struct btf_member *member = &btf_members(type)[i];
		const char *found = btf__name_by_offset(btf, member->name_off);

		if (!strcmp(found, name) || (!*found && has_member(btf, member->type, name)))
			return true;
	}
	return false;
}

int probe_members(const char *struct_name, const char *const *names)
{
	libbpf_print_fn_t printer = libbpf_set_print(NULL);
	struct btf *btf = btf__load_vmlinux_btf();
	int type_id, place = -EOPNOTSUPP;

	libbpf_set_print(printer);
	if (!btf)
		return -ENOENT;
	type_id = btf__find_by_name_kind(btf, struct_name, BTF_KIND_STRUCT);
	for (int i = 0; type_id > 0 && place < 0 && names[i]; i++)
		if (has_member(btf, (u32)type_id, names[i]))
			place = i;
	btf__free(btf);
	return place;
}

int probe_mapping_tree(char *found)
{
	static const char *const members[] = {"mm_mt", "mm_rb", NULL};
	static const char *const trees[] = {"maple tree", "red-black tree"};
	int place = probe_members("mm_struct", members);

	if (place < 0)
		return place;
	snprintf(found, FEATURE_FOUND_BYTES, "%s", trees[place]);
	return 0;
}

int probe_mapping_sequence(char *found)
{
	static const char *const members[] = {"mm_lock_seq", NULL};
	int place = probe_members("mm_struct", members);

	(void)found;
	return place < 0 ? place : 0;
}
