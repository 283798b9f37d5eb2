/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parsing conditions and asking them.
 */
#include "profile/conditions.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum subject { OF_DELTA, OF_ABS, OF_RATIO, OF_P, IS_NEW, IS_VANISHED, OF_SYMBOL, OF_DSO };
enum relation { NONE, LESS, AT_MOST, MORE, AT_LEAST, EQUAL };
enum form { A_WORD, A_NUMBER, A_NAME };

static const struct {
	const char *name;
	enum form form;
} subjects[] = {
	[OF_DELTA] = {"delta", A_NUMBER}, [OF_ABS] = {"abs", A_NUMBER},
	[OF_RATIO] = {"ratio", A_NUMBER}, [OF_P] = {"p", A_NUMBER},
	[IS_NEW] = {"new", A_WORD},	  [IS_VANISHED] = {"vanished", A_WORD},
	[OF_SYMBOL] = {"sym", A_NAME},	  [OF_DSO] = {"dso", A_NAME},
};

/* The longer ones first. */
static const struct {
	const char *text;
	enum relation relation;
} operators[] = {
	{"<=", AT_MOST}, {">=", AT_LEAST}, {"<", LESS}, {">", MORE}, {"=", EQUAL},
};

struct condition {
	enum subject subject;
	enum relation relation;
	double number;
	char *name;
};

struct conditions {
	VEC(struct condition) items;
};

void conditions_free(struct conditions *conditions)
{
	if (!conditions)
		return;
	for (size_t i = 0; i < conditions->items.count; i++)
		free(conditions->items.items[i].name);
	vec_release(&conditions->items);
	free(conditions);
}

static void conditions_freep(struct conditions **conditions)
{
	conditions_free(*conditions);
}

/* --- parsing --- */

struct parsing {
	const char *expression, *at;
};

static int refuse(const struct parsing *parsing, const char *what)
{
	return fail_plain(-EINVAL,
			  "conditions are delta, abs, ratio or p with < <= > >= and a number; new; "
			  "vanished; sym=NAME; dso=NAME; with commas between them",
			  "'%s', character %zu, '%.20s': %s", parsing->expression,
			  (size_t)(parsing->at - parsing->expression) + 1, parsing->at, what);
}

static int parse_subject(struct parsing *parsing, struct condition *condition)
{
	size_t length = strspn(parsing->at, "abcdefghijklmnopqrstuvwxyz");

	for (size_t i = 0; i < ARRAY_COUNT(subjects); i++) {
		if (strlen(subjects[i].name) != length ||
		    strncmp(subjects[i].name, parsing->at, length) != 0)
			continue;
		condition->subject = (enum subject)i;
		parsing->at += length;
		return 0;
	}
	return refuse(parsing, "no such condition");
}

static void parse_operator(struct parsing *parsing, struct condition *condition)
{
	for (size_t i = 0; i < ARRAY_COUNT(operators); i++) {
		size_t length = strlen(operators[i].text);

		if (strncmp(operators[i].text, parsing->at, length) != 0)
			continue;
		condition->relation = operators[i].relation;
		parsing->at += length;
		return;
	}
}

static int parse_number(struct parsing *parsing, struct condition *condition)
{
	char *end;

	if (condition->relation == NONE || condition->relation == EQUAL)
		return refuse(parsing, "here should be < <= > or >=");
	condition->number = strtod(parsing->at, &end);
	if (end == parsing->at || !isfinite(condition->number))
		return refuse(parsing, "here should be a number");
	parsing->at = end;
	if (*parsing->at != '%')
		return 0;
	/* Points and p come in per cent; a ratio of 150% is 1.5. */
	parsing->at++;
	if (condition->subject == OF_RATIO || condition->subject == OF_P)
		condition->number /= 100;
	return 0;
}

static int parse_name(struct parsing *parsing, struct condition *condition)
{
	struct text name = {0};

	if (condition->relation != EQUAL)
		return refuse(parsing, "here should be =");
	for (; *parsing->at && *parsing->at != ','; parsing->at++) {
		if (*parsing->at == '\\' && parsing->at[1])
			parsing->at++;
		text_appendf(&name, "%c", *parsing->at);
	}
	if (!name.length) {
		text_release(&name);
		return refuse(parsing, "here should be a name");
	}
	condition->name = text_take(&name);
	return 0;
}

static int parse_condition(struct parsing *parsing, struct condition *condition)
{
	int error = parse_subject(parsing, condition);

	if (error)
		return error;
	switch (subjects[condition->subject].form) {
	case A_WORD:
		break;
	case A_NUMBER:
		parse_operator(parsing, condition);
		error = parse_number(parsing, condition);
		break;
	case A_NAME:
		parse_operator(parsing, condition);
		error = parse_name(parsing, condition);
		break;
	}
	if (!error && *parsing->at && *parsing->at != ',')
		error = refuse(parsing, "here should be a comma, or the end");
	return error;
}

int conditions_parse(const char *expression, struct conditions **ret_conditions)
{
	CLEANUP(conditions_freep)
	struct conditions *conditions = must_alloc(sizeof(*conditions));
	struct parsing parsing = {.expression = expression, .at = expression};
	int error;

	for (;;) {
		struct condition *condition = vec_add(&conditions->items);

		*condition = (struct condition){0};
		error = parse_condition(&parsing, condition);
		if (error)
			return error;
		if (!*parsing.at)
			break;
		parsing.at++;
	}
	*ret_conditions = TAKE(conditions);
	return 0;
}

/* --- asking --- */

static bool compare(double value, enum relation relation, double number)
{
	switch (relation) {
	case LESS:
		return value < number;
	case AT_MOST:
		return value <= number;
	case MORE:
		return value > number;
	case AT_LEAST:
		return value >= number;
	case NONE:
	case EQUAL:
		break;
	}
	return value == number;
}

static double ratio_of(const struct comparison *comparison, u32 entry, u32 side)
{
	if (!comparison_value(comparison, entry, 0)->period)
		return INFINITY;
	return comparison_ratio(comparison, entry, side);
}

static bool is_called(const struct comparison *comparison, u32 entry,
		      const struct condition *condition)
{
	const struct entry_list *list;
	const struct entry *shown = comparison_shown(comparison, entry, &list);

	if (condition->subject == OF_DSO)
		return !strcmp(entry_dso(list, shown, FIELD_DSO), condition->name);
	return !strcmp(fold_frame_name(comparison->fold, shown->frame), condition->name);
}

static bool holds(const struct condition *condition, const struct changes *changes, u32 entry,
		  u32 side)
{
	const struct comparison *comparison = changes->comparison;
	const struct change *change = changes_of(changes, entry, side);
	double points = (change->after - change->before) * 100, value = 0;

	switch (condition->subject) {
	case OF_DELTA:
		value = points;
		break;
	case OF_ABS:
		value = fabs(points);
		break;
	case OF_RATIO:
		value = ratio_of(comparison, entry, side);
		break;
	case OF_P:
		value = change->adjusted_p;
		break;
	case IS_NEW:
		return !comparison_value(comparison, entry, 0)->is_there &&
		       comparison_value(comparison, entry, side)->is_there;
	case IS_VANISHED:
		return comparison_value(comparison, entry, 0)->is_there &&
		       !comparison_value(comparison, entry, side)->is_there;
	case OF_SYMBOL:
	case OF_DSO:
		return is_called(comparison, entry, condition);
	}
	return compare(value, condition->relation, condition->number);
}

bool conditions_hold(const struct conditions *conditions, const struct changes *changes, u32 entry,
		     u32 side)
{
	for (size_t i = 0; i < conditions->items.count; i++)
		if (!holds(&conditions->items.items[i], changes, entry, side))
			return false;
	return true;
}
