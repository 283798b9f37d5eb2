/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's types, cut down to those that programs name: what is kept is as it was.
 */
#include "base/file.h"
#include "capture/kernel_types.h"
#include "unit/unit.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* task: { int state; struct { struct owner owner; }; struct far *far; const u32_t last[2]; }, and
 * some that nobody asks for. */
static struct btf *some_types(void)
{
	struct btf *btf = btf__new_empty();
	int number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	int owner, inner, far, far_pointer, last;

	assert_true(btf__add_struct(btf, "unwanted", 4) > 0);
	btf__add_field(btf, "number", number, 0, 0);
	far = btf__add_struct(btf, "far", 4);
	btf__add_field(btf, "number", number, 0, 0);
	far_pointer = btf__add_ptr(btf, far);
	owner = btf__add_struct(btf, "owner", 8);
	btf__add_field(btf, "low", number, 0, 0);
	btf__add_field(btf, "high", number, 32, 0);
	inner = btf__add_struct(btf, NULL, 8);
	btf__add_field(btf, "owner", owner, 0, 0);
	last = btf__add_array(btf, number,
			      btf__add_const(btf, btf__add_typedef(btf, "u32_t", number)), 2);
	btf__add_struct(btf, "task", 32);
	btf__add_field(btf, "state", number, 0, 0);
	btf__add_field(btf, NULL, inner, 64, 0);
	btf__add_field(btf, "far", far_pointer, 128, 0);
	btf__add_field(btf, "last", last, 192, 0);
	btf__add_enum(btf, "helper", 4);
	btf__add_enum_value(btf, "first", 0);
	btf__add_enum_value(btf, "second", 17);
	return btf;
}

static struct bytes bytes_of(const struct btf *btf)
{
	u32 length;
	const void *start = btf__raw_data(btf, &length);

	assert_non_null(start);
	return (struct bytes){start, length};
}

/* Cut down to "task" and "helper"; NULL if that failed, with the error. */
static struct btf *cut(struct bytes full, int *ret_error)
{
	struct intern names = {0};
	struct text text = {0};
	struct btf *btf = NULL;

	intern_text(&names, "task");
	intern_text(&names, "helper");
	intern_text(&names, "nowhere");
	*ret_error = kernel_types_cut(full, &names, &text);
	if (!*ret_error)
		btf = btf__new(text.bytes, (u32)text.length);
	text_release(&text);
	intern_release(&names);
	return btf;
}

static struct btf *cut_some_types(void)
{
	struct btf *all = some_types(), *btf;
	int error;

	btf = cut(bytes_of(all), &error);
	assert_int_equal(error, 0);
	assert_non_null(btf);
	btf__free(all);
	return btf;
}

static const struct btf_type *find(const struct btf *btf, const char *name, u32 kind)
{
	int id = btf__find_by_name_kind(btf, name, kind);

	return id > 0 ? btf__type_by_id(btf, (u32)id) : NULL;
}

/* The member of that name, which must be there. */
static const struct btf_member *member_of(const struct btf *btf, const struct btf_type *type,
					  const char *name)
{
	for (u32 i = 0; i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), name))
			return &btf_members(type)[i];
	print_error("no member %s\n", name);
	assert_true(false);
	return NULL;
}

static void sizes_and_offsets_stay_as_they_are(void **state)
{
	struct btf *btf = cut_some_types();
	const struct btf_type *task = find(btf, "task", BTF_KIND_STRUCT);

	assert_non_null(task);
	assert_int_equal(task->size, 32);
	assert_int_equal(btf_vlen(task), 4);
	assert_int_equal(member_of(btf, task, "state")->offset, 0);
	assert_int_equal(member_of(btf, task, "last")->offset, 192);
	assert_int_equal(btf__resolve_size(btf, member_of(btf, task, "last")->type), 8);
	btf__free(btf);
	(void)state;
}

static void what_is_embedded_is_kept_with_its_members(void **state)
{
	struct btf *btf = cut_some_types();
	const struct btf_type *task = find(btf, "task", BTF_KIND_STRUCT);
	const struct btf_type *inner = btf__type_by_id(btf, member_of(btf, task, "")->type);
	const struct btf_type *owner = btf__type_by_id(btf, member_of(btf, inner, "owner")->type);

	assert_int_equal(member_of(btf, owner, "high")->offset, 32);
	btf__free(btf);
	(void)state;
}

static void a_pointer_leads_to_nothing(void **state)
{
	struct btf *btf = cut_some_types();
	const struct btf_type *task = find(btf, "task", BTF_KIND_STRUCT);
	const struct btf_type *far = btf__type_by_id(btf, member_of(btf, task, "far")->type);

	assert_true(btf_is_ptr(far));
	assert_int_equal(far->type, 0);
	assert_null(find(btf, "far", BTF_KIND_STRUCT));
	btf__free(btf);
	(void)state;
}

static void what_nobody_names_is_left_out(void **state)
{
	struct btf *btf = cut_some_types();

	assert_null(find(btf, "unwanted", BTF_KIND_STRUCT));
	btf__free(btf);
	(void)state;
}

static void values_of_an_enum_are_kept(void **state)
{
	struct btf *btf = cut_some_types();
	const struct btf_type *helper = find(btf, "helper", BTF_KIND_ENUM);

	assert_int_equal(btf_vlen(helper), 2);
	assert_string_equal(btf__name_by_offset(btf, btf_enum(helper)[1].name_off), "second");
	assert_int_equal(btf_enum(helper)[1].val, 17);
	btf__free(btf);
	(void)state;
}

/* Cut off anywhere, the header says more than there is. */
static void damaged_types_are_refused(void **state)
{
	struct btf *all = some_types();
	struct bytes full = bytes_of(all);
	int error;

	for (size_t length = 0; length < full.length; length++) {
		assert_null(cut((struct bytes){full.start, length}, &error));
		assert_int_equal(error, -EBADMSG);
	}
	btf__free(all);
	(void)state;
}

/* A byte of the types that says something else may make other types, or none: never a crash. */
static void any_byte_may_be_wrong(void **state)
{
	struct btf *all = some_types();
	struct bytes full = bytes_of(all);
	u8 *changed = test_malloc(full.length);
	int error;

	for (size_t at = 0; at < full.length; at++) {
		memcpy(changed, full.start, full.length);
		changed[at] ^= 0xff;
		btf__free(cut((struct bytes){changed, full.length}, &error));
		assert_true(error <= 0);
	}
	test_free(changed);
	btf__free(all);
	(void)state;
}

static void every_field_of_the_running_kernel_has_its_place(void **state)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";
	char *text;
	size_t length;
	struct intern names = {0};
	struct text small = {0};
	struct btf *all, *btf;

	if (file_read(path, 256 << 20, &text, &length))
		skip();
	all = btf__new(text, (u32)length);
	intern_text(&names, "task_struct");
	assert_int_equal(kernel_types_cut((struct bytes){(u8 *)text, length}, &names, &small), 0);
	assert_true(small.length < length / 10);
	btf = btf__new(small.bytes, (u32)small.length);
	assert_non_null(btf);

	const struct btf_type *theirs = find(all, "task_struct", BTF_KIND_STRUCT);
	const struct btf_type *ours = find(btf, "task_struct", BTF_KIND_STRUCT);

	assert_int_equal(ours->size, theirs->size);
	assert_int_equal(ours->info, theirs->info);
	for (u32 i = 0; i < btf_vlen(theirs); i++) {
		const struct btf_member *member = &btf_members(theirs)[i],
					*kept = &btf_members(ours)[i];

		assert_string_equal(btf__name_by_offset(all, member->name_off),
				    btf__name_by_offset(btf, kept->name_off));
		assert_int_equal(member->offset, kept->offset);
		assert_int_equal(btf__resolve_size(all, member->type),
				 btf__resolve_size(btf, kept->type));
	}
	btf__free(all);
	btf__free(btf);
	free(text);
	text_release(&small);
	intern_release(&names);
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_and_offsets_stay_as_they_are),
		cmocka_unit_test(what_is_embedded_is_kept_with_its_members),
		cmocka_unit_test(a_pointer_leads_to_nothing),
		cmocka_unit_test(what_nobody_names_is_left_out),
		cmocka_unit_test(values_of_an_enum_are_kept),
		cmocka_unit_test(damaged_types_are_refused),
		cmocka_unit_test(any_byte_may_be_wrong),
		cmocka_unit_test(every_field_of_the_running_kernel_has_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
