/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Looks at the beginning only: the whole is read when a name of the kernel is wanted.
 */
#include "cmd/kernel_files.h"

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "host/host.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* /dev/null is the usual word for none. From other devices nothing may ever come. */
static bool is_readable(const struct stat *status)
{
	return S_ISREG(status->st_mode) ||
	       (S_ISCHR(status->st_mode) && status->st_rdev == makedev(1, 3));
}

static int read_start(const char *option, const char *path, char **ret_text, size_t *ret_length)
{
	enum { START_BYTES = 1 << 20 }; /* kallsyms may begin with thousands of variables */
	struct stat status;
	int error = stat(path, &status) ? -errno : 0;

	*ret_text = NULL;
	if (!*path)
		return fail_plain(-EINVAL, "give a file's path", "%s: the path is empty", option);
	if (!error && !is_readable(&status))
		return fail_plain(-EINVAL, NULL, "%s: %s is no file", option, path);
	if (!error)
		error = file_read_start(path, START_BYTES, ret_text, ret_length);
	return error ? fail(error, NULL, "%s: cannot read %s", option, path) : 0;
}

static int check_kallsyms(const char *path)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();
	CLEANUP(freep) char *text = NULL;
	struct bytes start = {0};
	int error = read_start("--kallsyms", path, &text, &start.length);

	if (error || !start.length)
		return error;
	start.start = (const u8 *)text;
	error = kernel_symbols_read(start, symbols);
	if (error == -EACCES)
		return fail_plain(-EINVAL, "copy /proc/kallsyms as root",
				  "--kallsyms: all addresses in %s are zero", path);
	return error ? fail_plain(-EINVAL, "give a copy of a machine's /proc/kallsyms",
				  "--kallsyms: %s has no lines of kallsyms", path)
		     : 0;
}

static int check_image(const char *path)
{
	CLEANUP(freep) char *text = NULL;
	size_t length = 0;
	int error = read_start("--vmlinux", path, &text, &length);

	if (error || !length || (length >= SELFMAG && !memcmp(text, ELFMAG, SELFMAG)))
		return error;
	return fail_plain(-EINVAL, "give an uncompressed kernel image, vmlinux",
			  "--vmlinux: %s is no ELF file", path);
}

int kernel_files_check(const struct symbolize_settings *settings)
{
	int error = settings->kallsyms ? check_kallsyms(settings->kallsyms) : 0;

	return error || !settings->vmlinux ? error : check_image(settings->vmlinux);
}
