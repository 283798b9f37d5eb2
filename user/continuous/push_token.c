/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is looked at is what was opened.
 */
#include "continuous/push_token.h"

#include "base/fail.h"
#include "base/memory.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { TOKEN_MAX_BYTES = 8192 };

static int check_file(int fd, const char *path)
{
	struct stat status;

	if (fstat(fd, &status))
		return fail(-errno, NULL, "cannot read the token in %s", path);
	if (!S_ISREG(status.st_mode))
		return fail_plain(-EINVAL, NULL, "%s is no file with a token", path);
	if (status.st_uid != 0 && status.st_uid != geteuid())
		return fail_plain(-EPERM, "make it root's", "the token in %s is another user's",
				  path);
	if (status.st_mode & S_IRWXO)
		return fail_plain(-EPERM, "chmod o= it", "others can read the token in %s", path);
	return 0;
}

/* Blanks around it are cut off; inside there may be none. */
static int take_token(char *text, const char *path, char **ret_token)
{
	size_t length;

	while (isspace((unsigned char)*text))
		text++;
	for (length = strlen(text); length && isspace((unsigned char)text[length - 1]); length--)
		text[length - 1] = 0;
	for (size_t i = 0; i < length; i++)
		if (!isgraph((unsigned char)text[i]))
			length = 0;
	if (!length)
		return fail_plain(-EINVAL, NULL, "there is no token in %s: one line, no blanks",
				  path);
	*ret_token = must_copy(text);
	return 0;
}

int push_token_read(const char *path, char **ret_token)
{
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char text[TOKEN_MAX_BYTES];
	ssize_t length;
	int error;

	if (fd < 0)
		return fail(-errno, NULL, "cannot read the token in %s", path);
	error = check_file(fd, path);
	if (error)
		return error;
	length = read(fd, text, sizeof(text));
	if (length < 0)
		return fail(-errno, NULL, "cannot read the token in %s", path);
	if (length == sizeof(text))
		return fail_plain(-EINVAL, NULL, "what is in %s is too long for a token", path);
	text[length] = 0;
	return take_token(text, path, ret_token);
}
