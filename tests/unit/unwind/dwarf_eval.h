/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What libdw says of a frame's caller, worked out over made-up registers and memory.
 */
#ifndef TESTS_DWARF_EVAL_H
#define TESTS_DWARF_EVAL_H

#include "bpfprof/unwind_table.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>

enum { EVAL_STACK = 16, EVAL_PC = 32, EVAL_REGISTERS };

/* The machine at one moment. Memory is a function of the address, so that there is a word
 * everywhere and nearly no two are alike. */
struct eval_machine {
	u64 registers[EVAL_REGISTERS]; /* by DWARF number; the pc behind them */
	u8 pc_register;		       /* of expressions; EVAL_PC if they have none */
};

/* A register of the caller. */
struct eval_value {
	bool is_undefined;
	u64 value;
};

/* A word above all registers, so that frames read from memory lie upwards too. */
static inline u64 eval_memory(u64 address)
{
	u64 word = (address ^ 0x5bd1e995) * 0x9e3779b97f4a7c15ULL;

	return (word >> 20 & 0x3ffffffffff8ULL) | 0x400000000000ULL;
}

struct eval {
	const struct eval_machine *machine;
	u64 cfa;
	u64 stack[EVAL_STACK + 2];
	size_t depth;
	bool is_value; /* the result is a value, not the place of one */
	bool is_unknown;
};

static u64 eval_register(const struct eval *eval, u64 number)
{
	if (number == eval->machine->pc_register)
		number = EVAL_PC;
	return eval->machine->registers[number < EVAL_REGISTERS ? number : 0];
}

static u64 eval_pop(struct eval *eval)
{
	if (!eval->depth) {
		eval->is_unknown = true;
		return 0;
	}
	return eval->stack[--eval->depth];
}

static void eval_push(struct eval *eval, u64 value)
{
	if (eval->depth < EVAL_STACK)
		eval->stack[eval->depth++] = value;
	else
		eval->is_unknown = true;
}

static void eval_two(struct eval *eval, u8 atom)
{
	u64 right = eval_pop(eval), left = eval_pop(eval);

	switch (atom) {
	case DW_OP_plus:
		eval_push(eval, left + right);
		return;
	case DW_OP_minus:
		eval_push(eval, left - right);
		return;
	case DW_OP_mul:
		eval_push(eval, left * right);
		return;
	case DW_OP_and:
		eval_push(eval, left & right);
		return;
	case DW_OP_shl:
		eval_push(eval, left << (right & 63));
		return;
	case DW_OP_ge:
		eval_push(eval, (s64)left >= (s64)right);
		return;
	}
	eval->is_unknown = true;
}

/* A register itself holds the value. */
static void eval_in_register(struct eval *eval, u64 number)
{
	eval_push(eval, eval_register(eval, number));
	eval->is_value = true;
}

static void eval_step(struct eval *eval, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		eval_push(eval, eval_register(eval, op->atom - DW_OP_breg0) + op->number);
	else if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		eval_push(eval, op->atom - DW_OP_lit0);
	else if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts)
		eval_push(eval, op->number);
	else if (op->atom == DW_OP_bregx)
		eval_push(eval, eval_register(eval, op->number) + op->number2);
	else if (op->atom == DW_OP_call_frame_cfa)
		eval_push(eval, eval->cfa);
	else if (op->atom == DW_OP_plus_uconst)
		eval_push(eval, eval_pop(eval) + op->number);
	else if (op->atom == DW_OP_deref)
		eval_push(eval, eval_memory(eval_pop(eval)));
	else if (op->atom == DW_OP_stack_value)
		eval->is_value = true;
	else if (op->atom == DW_OP_regx)
		eval_in_register(eval, op->number);
	else if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		eval_in_register(eval, op->atom - DW_OP_reg0);
	else
		eval_two(eval, op->atom);
}

/* Works out an expression. Returns false for an operation that is not known here. */
static bool eval_run(struct eval *eval, const Dwarf_Op *ops, size_t count)
{
	for (size_t i = 0; i < count; i++)
		eval_step(eval, &ops[i]);
	return !eval->is_unknown && eval->depth;
}

/* The CFA. Returns false if libdw has none. */
static bool eval_cfa(Dwarf_Frame *frame, const struct eval_machine *machine, u64 *ret_cfa)
{
	struct eval eval = {.machine = machine};
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_frame_cfa(frame, &ops, &count) || !eval_run(&eval, ops, count))
		return false;
	*ret_cfa = eval_pop(&eval);
	return true;
}

/* The caller's value of a register. Returns false if libdw has none. */
static bool eval_caller(Dwarf_Frame *frame, const struct eval_machine *machine, u64 cfa, int number,
			struct eval_value *ret_value)
{
	struct eval eval = {.machine = machine, .cfa = cfa};
	Dwarf_Op memory[3], *ops;
	size_t count;

	*ret_value = (struct eval_value){0};
	if (dwarf_frame_register(frame, number, memory, &ops, &count))
		return false;
	if (!count) {
		ret_value->is_undefined = ops == memory;
		ret_value->value = machine->registers[number];
		return true;
	}
	if (!eval_run(&eval, ops, count))
		return false;
	ret_value->value = eval_pop(&eval);
	if (!eval.is_value)
		ret_value->value = eval_memory(ret_value->value);
	return true;
}

#endif
