/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes the walk over copied stacks: registers and stacks of any kind, in a process that has
 * mapped what this one has (so that there are real unwind tables), code without a file, and
 * nothing.
 *
 * The first byte says which machine, the second which registers were recorded and what else; then
 * come pc, frame pointer and rbx, a word each, and the stack. Words are as they are, or lead into
 * code or the stack: see word_of().
 */
#include "base/cursor.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/vec.h"
#include "host/host.h"
#include "unwind/unwind.h"

#include <stdlib.h>

enum { PID = 7, MAPS_MAX_BYTES = 1 << 20, WORDS_MAX = 65536 / 8, PERF_REGISTERS = 33 };

static const u64 stack_start = 0x7ffc00000000, code_start = 0x100000000;

struct target {
	struct event_sink sink;
	struct sample_unwinder *unwinder;
	struct event_source source;
};

/* The fuzz target: 0, whatever the bytes are. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static struct target targets[2];
static VEC(struct mapping) mappings;

static int check_sample(struct event_sink *sink, const struct sample *sample)
{
	if (!sample->cut || sample->cut > CUT_NO_MAPPING || sample->chain_key)
		abort();
	/* A frame needs stack, but for the first and those that signals have interrupted. */
	if (sample->frame_count > 4096 + 1 || sample->frames[0].space != SPACE_KERNEL)
		abort();
	for (u32 i = 1; i < sample->frame_count; i++)
		if (sample->frames[i].space != SPACE_USER)
			abort();
	(void)sink;
	return 0;
}

static void add_mapping(const struct mapping *found)
{
	struct mapping mapping = *found;

	mapping.pid = mapping.tid = PID;
	mapping.space = SPACE_USER;
	mapping.start = code_start + 0x10000000 * mappings.count;
	mapping.path = must_copy(found->path);
	*vec_add(&mappings) = mapping;
}

/* At the same addresses in each run. */
static void read_mappings(void)
{
	char *maps = NULL, path[MAPS_PATH_BYTES];
	struct bytes text = {0};
	struct mapping mapping;

	if (file_read("/proc/self/maps", MAPS_MAX_BYTES, &maps, &text.length))
		abort();
	text.start = (const u8 *)maps;
	while (proc_maps_next(&text, PID, path, &mapping) == 1)
		add_mapping(&mapping);
	add_mapping(&(struct mapping){.bytes = 4096, .path = "//anon"});
	add_mapping(&(struct mapping){.bytes = 4096, .path = "/nowhere/at/all"});
	free(maps);
}

static void prepare(struct target *target, const char *arch)
{
	struct sample_unwinder_settings settings = {.arch = arch, .has_our_kernel = true};

	target->sink.on_sample = check_sample;
	target->source = (struct event_source){.has_chain = true,
					       .has_copied_stack = true,
					       .user_registers = (1ULL << PERF_REGISTERS) - 1};
	target->unwinder = sample_unwinder_new(&settings, &target->source, &target->sink);
	for (size_t i = 0; i < mappings.count; i++)
		sink_call(sample_unwinder_sink(target->unwinder), on_mapping, &mappings.items[i]);
}

/* By its highest byte: an address in code, one in the stack, or the word itself. */
static u64 word_of(u64 word)
{
	const struct mapping *mapping = &mappings.items[(word >> 48 & 0xff) % mappings.count];

	if (word >> 56 == 'c')
		return mapping->start + (u32)word % (mapping->bytes + 1);
	if (word >> 56 == 's')
		return stack_start + (word & 0xffff);
	return word;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static u64 words[WORDS_MAX], registers[PERF_REGISTERS];
	struct cursor cursor = cursor_of((struct bytes){bytes, length});
	struct frame kernel = {.address = 0xffffffff81000000, .space = SPACE_KERNEL};
	bool is_arm = cursor_u8(&cursor) & 1;
	struct target *target = &targets[is_arm];
	u8 kind = cursor_u8(&cursor);
	struct sample sample = {.pid = kind & 1 ? PID : 1,
				.space = SPACE_USER,
				.has_chain = true,
				.frames = &kernel,
				.frame_count = 1,
				.chain_key = 1,
				.user_abi = kind >> 1 & 3,
				.stack_is_full = kind & 8,
				.user_registers = (const u8 *)registers,
				.user_stack = (const u8 *)words};
	u32 count = 0;

	if (!mappings.count) {
		read_mappings();
		prepare(&targets[0], "x86_64");
		prepare(&targets[1], "aarch64");
	}
	target->source.user_registers = (1ULL << PERF_REGISTERS) - 1;
	if (kind & 16)
		target->source.user_registers &= ~(1ULL << (is_arm ? 29 : 6));
	registers[is_arm ? 31 : 7] = stack_start + (kind & 32 ? 0 : 1);
	registers[is_arm ? 32 : 8] = word_of(cursor_u64(&cursor));
	registers[is_arm ? 29 : 6] = word_of(cursor_u64(&cursor));
	registers[is_arm ? 30 : 1] = word_of(cursor_u64(&cursor));
	while (count < WORDS_MAX && cursor_left(&cursor) >= sizeof(u64))
		words[count++] = word_of(cursor_u64(&cursor));
	sample.stack_bytes = count * (u32)sizeof(u64);
	if (sample.stack_bytes && (kind & 64))
		sample.stack_bytes -= 3;
	sink_call(sample_unwinder_sink(target->unwinder), on_sample, &sample);
	return 0;
}
