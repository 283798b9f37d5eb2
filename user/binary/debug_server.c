/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Debug files from debuginfod servers.
 *
 * The cache and its marks of what a server does not have: debuginfod_find_debuginfo(3), elfutils
 * 0.188. The library is loaded when it is needed: nothing links with it.
 */
#include "binary/debug_server.h"

#include "base/memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	FETCH_MAX_S = 120,
	MISSING_FOR_S = 600, /* how long the client believes in a server's no: cache_miss_s */
};

/* The part of the library that is used. */
struct client_library {
	void *(*begin)(void);
	int (*find)(void *client, const unsigned char *id, int length, char **path);
	void (*end)(void *client);
};

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* Owned by the caller; NULL: there is none. */
static char *cache_folder(void)
{
	const char *named = variable("DEBUGINFOD_CACHE_PATH"), *cache = variable("XDG_CACHE_HOME");
	const char *home = variable("HOME");

	if (named)
		return must_copy(named);
	if (cache)
		return must_format("%s/debuginfod_client", cache);
	return home ? must_format("%s/.cache/debuginfod_client", home) : NULL;
}

char *debug_server_kept(const struct build_id *id)
{
	CLEANUP(freep) char *folder = variable("DEBUGINFOD_URLS") ? cache_folder() : NULL;
	char text[BUILD_ID_TEXT_BYTES];

	if (!folder || id->length <= 1)
		return NULL;
	build_id_text(id, text);
	return must_format("%s/%s/debuginfo", folder, text);
}

bool debug_server_may_have(const struct build_id *id)
{
	CLEANUP(freep) char *path = debug_server_kept(id);
	struct stat status;

	if (!path)
		return false;
	/* An empty file marks what no server had. */
	return stat(path, &status) ||
	       (status.st_size == 0 && time(NULL) - status.st_mtime > MISSING_FOR_S);
}

static bool load_library(struct client_library *ret_library)
{
	void *handle = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_LOCAL);

	if (!handle)
		return false;
	*(void **)&ret_library->begin = dlsym(handle, "debuginfod_begin");
	*(void **)&ret_library->find = dlsym(handle, "debuginfod_find_debuginfo");
	*(void **)&ret_library->end = dlsym(handle, "debuginfod_end");
	return ret_library->begin && ret_library->find && ret_library->end;
}

static void fetch_all(const struct client_library *library, const struct build_id *ids,
		      size_t count)
{
	void *client = library->begin();

	for (size_t i = 0; client && i < count; i++) {
		int fd = library->find(client, ids[i].bytes, ids[i].length, NULL);

		if (fd >= 0)
			close(fd);
	}
	if (client)
		library->end(client);
}

/* Lets go of whoever started us: the terminal, pipes that somebody reads to their end. */
static void detach(void)
{
	int nowhere = open("/dev/null", O_RDWR);

	setsid();
	if (nowhere >= 0) {
		dup2(nowhere, STDIN_FILENO);
		dup2(nowhere, STDOUT_FILENO);
		dup2(nowhere, STDERR_FILENO);
	}
	/* Before Linux 5.9 there is no such call; a few files then stay open. */
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 0);
}

int debug_server_fetch(const struct build_id *ids, size_t count)
{
	struct client_library library = {0};
	pid_t child;

	if (!load_library(&library))
		return -ENOPKG;
	child = fork();
	if (child < 0)
		return -errno;
	if (child > 0) {
		waitpid(child, NULL, 0);
		return 0;
	}
	/* The grandchild is nobody's to wait for. */
	if (fork() == 0) {
		detach();
		alarm(FETCH_MAX_S);
		fetch_all(&library, ids, count);
	}
	_exit(0);
}
