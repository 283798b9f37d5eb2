/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The JSON writer; jq and Python read the same text.
 */
#include "base/json_writer.h"
#include "base/memory.h"
#include "unit/unit.h"

#include <math.h>
#include <string.h>

/* One string as JSON, without the newline. The caller owns it. */
static char *json_of(const char *foreign)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct json_writer *json = json_writer_new(out);

	json_text(json, NULL, foreign);
	json_writer_free(json);
	fclose(out);
	text[length - 1] = 0;
	return text;
}

static void assert_json(const char *foreign, const char *expected)
{
	CLEANUP(freep) char *text = json_of(foreign);

	assert_string_equal(text, expected);
}

static void strings_are_escaped(void **state)
{
	assert_json("plain /path", "\"plain /path\"");
	assert_json("\"\\\b\f\n\r\t", "\"\\\"\\\\\\b\\f\\n\\r\\t\"");
	assert_json("\x01\x1b[31m\x7f", "\"\\u0001\\u001b[31m\\u007f\"");
	assert_json("", "\"\"");
	assert_json(NULL, "null");
	(void)state;
}

static void bytes_that_are_not_utf8_become_the_replacement_character(void **state)
{
	assert_json("gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80",
		    "\"gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80\"");
	assert_json("a\xff"
		    "b",
		    "\"a\xef\xbf\xbd"
		    "b\"");
	assert_json("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""); /* a surrogate */
	assert_json("cut \xe2\x82", "\"cut \xef\xbf\xbd\xef\xbf\xbd\"");
	(void)state;
}

static FILE *open_json(struct json_writer **ret_json, char **text)
{
	static size_t length;
	FILE *out = open_memstream(text, &length);

	*ret_json = json_writer_new(out);
	return out;
}

static void members_stand_on_lines_and_plain_values_share_one(void **state)
{
	CLEANUP(freep) char *text = NULL;
	struct json_writer *json;
	FILE *out = open_json(&json, &text);

	json_object(json, NULL);
	json_text(json, "event", "cycles");
	json_array(json, "cpus");
	json_u64(json, NULL, 0);
	json_u64(json, NULL, 1);
	json_array_end(json);
	json_array(json, "rows");
	json_object(json, NULL);
	json_bool(json, "cut", false);
	json_object_end(json);
	json_array_end(json);
	json_object(json, "nothing");
	json_object_end(json);
	json_object_end(json);
	json_writer_free(json);
	fclose(out);
	assert_string_equal(text, "{\n\t\"event\": \"cycles\",\n\t\"cpus\": [0, 1],\n"
				  "\t\"rows\": [\n\t\t{\n\t\t\t\"cut\": false\n\t\t}\n\t],\n"
				  "\t\"nothing\": {}\n}\n");
	(void)state;
}

static void numbers_are_exact_and_finite(void **state)
{
	CLEANUP(freep) char *text = NULL;
	struct json_writer *json;
	FILE *out = open_json(&json, &text);

	json_array(json, NULL);
	json_u64(json, NULL, UINT64_MAX);
	json_double(json, NULL, 39.996, 2);
	json_double(json, NULL, NAN, 2);
	json_double(json, NULL, -INFINITY, 2);
	json_array_end(json);
	json_writer_free(json);
	fclose(out);
	assert_string_equal(text, "[18446744073709551615, 40.00, null, null]\n");
	(void)state;
}

static void *read_back(FILE *tool)
{
	char *line = must_alloc(256);

	if (!fgets(line, 256, tool))
		line[0] = 0;
	assert_int_equal(pclose(tool), 0);
	return line;
}

/* Every byte but NUL, as one string, through a tool that prints how many characters it read. */
static void assert_read_by(const char *command)
{
	static char path[] = "/tmp/json_writer_test.XXXXXX";
	CLEANUP(freep) char *whole = NULL, *line = NULL, *count = NULL;
	char bytes[256];
	int fd = mkstemp(path);

	for (int i = 0; i < 255; i++)
		bytes[i] = (char)(i + 1);
	bytes[255] = 0;
	line = json_of(bytes);
	assert_int_equal(write(fd, line, strlen(line)), strlen(line));
	close(fd);
	whole = must_format("%s < %s", command, path);
	count = read_back(popen(whole, "r"));
	unlink(path);
	strcpy(path, "/tmp/json_writer_test.XXXXXX");
	assert_string_equal(count, "255\n");
}

static void every_byte_is_valid_json_for_jq_and_python(void **state)
{
	assert_read_by("jq length");
	assert_read_by("python3 -c 'import json,sys; print(len(json.load(sys.stdin)))'");
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_are_escaped),
		cmocka_unit_test(bytes_that_are_not_utf8_become_the_replacement_character),
		cmocka_unit_test(members_stand_on_lines_and_plain_values_share_one),
		cmocka_unit_test(numbers_are_exact_and_finite),
		cmocka_unit_test(every_byte_is_valid_json_for_jq_and_python),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
