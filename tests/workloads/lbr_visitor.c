/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Passes over a syntax tree, as a compiler makes them: nodes accept visitors, which visit the nodes
 * below, all by pointers to functions. Three passes share the way down and differ at the nodes.
 *
 * usage: lbr_visitor [ROUNDS]
 */
#include "lbr.h"

enum { NODES_MAX = 600, BELOW_MAX = 3 };

struct node {
	struct node *below[BELOW_MAX];
	unsigned long count, kind;
};

typedef unsigned long visitor(const struct node *node);

static struct node nodes[NODES_MAX];
static unsigned long node_count;
static visitor *const *pass;

/* NOLINTBEGIN(misc-no-recursion): recursion is what it is for */
static struct node *grow(unsigned long height)
{
	struct node *node = &nodes[node_count++];

	node->kind = pick(3);
	for (node->count = 0; height && node->count < BELOW_MAX && node_count < NODES_MAX;
	     node->count++) {
		if (node->count && pick(3))
			break;
		node->below[node->count] = grow(height - 1);
	}
	return node;
}

FRAME static unsigned long accept(const struct node *node)
{
	burn(20);
	return pass[node->kind](node) + 1;
}

FRAME static unsigned long visit_below(const struct node *node)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < node->count; i++)
		sum += accept(node->below[i]);
	burn(30);
	return sum;
}

#define VISITOR(name, before, after)                             \
	FRAME static unsigned long name(const struct node *node) \
	{                                                        \
		unsigned long sum;                               \
                                                                 \
		burn(before);                                    \
		sum = visit_below(node);                         \
		burn(after);                                     \
		return sum + node->kind;                         \
	}

VISITOR(name_scope, 200, 20)
VISITOR(name_statement, 60, 60)
VISITOR(name_value, 300, 10)
VISITOR(type_value, 20, 400)
VISITOR(type_call, 100, 200)
VISITOR(emit_code, 30, 700)
/* NOLINTEND(misc-no-recursion) */

int main(int argc, char **argv)
{
	visitor *const naming[] = {name_scope, name_statement, name_value};
	visitor *const typing[] = {name_scope, type_call, type_value};
	visitor *const emitting[] = {emit_code, type_call, emit_code};
	visitor *const *const passes[] = {naming, typing, emitting};
	unsigned long sum = 0;

	for (unsigned long round = rounds(argc, argv, 30); round; round--) {
		const struct node *root;

		node_count = 0;
		root = grow(6 + pick(22));
		for (int i = 0; i < 3; i++) {
			pass = passes[i];
			sum += accept(root);
		}
	}
	return sum == 42;
}
