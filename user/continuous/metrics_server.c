/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * HTTP is libmicrohttpd's; the socket is ours, for the sake of what is said when it fails.
 */
#include "continuous/metrics_server.h"

#include "base/fail.h"
#include "base/memory.h"
#include "bpfprof/types.h"

#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

enum {
	CONNECTIONS_MAX = 8,
	IDLE_MAX_S = 30,
	BACKLOG = 8,
	ADDRESS_BYTES = 64,
};

/* What is used of the library. */
struct library {
	__typeof__(MHD_start_daemon) *start;
	__typeof__(MHD_stop_daemon) *stop;
	__typeof__(MHD_create_response_from_buffer) *response;
	__typeof__(MHD_destroy_response) *destroy;
	__typeof__(MHD_add_response_header) *header;
	__typeof__(MHD_queue_response) *queue;
	bool is_there;
};

struct metrics_server {
	void (*write)(void *context, FILE *out);
	void *context;
	struct MHD_Daemon *daemon;
	char *url;
};

static struct library library;
static pthread_once_t library_once = PTHREAD_ONCE_INIT;

static void load_library(void)
{
	const struct {
		void **function;
		const char *name;
	} rows[] = {
		{(void **)&library.start, "MHD_start_daemon"},
		{(void **)&library.stop, "MHD_stop_daemon"},
		{(void **)&library.response, "MHD_create_response_from_buffer"},
		{(void **)&library.destroy, "MHD_destroy_response"},
		{(void **)&library.header, "MHD_add_response_header"},
		{(void **)&library.queue, "MHD_queue_response"},
	};
	void *handle = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);

	library.is_there = handle;
	for (size_t i = 0; handle && i < ARRAY_COUNT(rows); i++) {
		*rows[i].function = dlsym(handle, rows[i].name);
		library.is_there = library.is_there && *rows[i].function;
	}
}

static int need_library(void)
{
	pthread_once(&library_once, load_library);
	return library.is_there
		       ? 0
		       : fail_plain(-ENOPKG, "install libmicrohttpd12, or use --metrics-file",
				    "--metrics needs libmicrohttpd, which cannot be loaded");
}

/* --- the socket --- */

static int refuse_address(const char *address)
{
	return fail_plain(-EINVAL, "give one such as 127.0.0.1:9464",
			  "%s is no address and port to listen at", address);
}

/* "HOST:PORT", "[HOST]:PORT" or "PORT" into its parts; false: it is none. */
static bool split(const char *address, char host[static ADDRESS_BYTES], const char **ret_port)
{
	const char *colon = strrchr(address, ':'), *start = address;
	size_t length = colon ? (size_t)(colon - address) : 0;

	*ret_port = colon ? colon + 1 : address;
	strcpy(host, "127.0.0.1");
	if (!**ret_port || strlen(*ret_port) > strlen("65535") ||
	    strspn(*ret_port, "0123456789") != strlen(*ret_port) || atoi(*ret_port) > UINT16_MAX)
		return false;
	if (length >= ADDRESS_BYTES)
		return false;
	if (length > 2 && *address == '[' && address[length - 1] == ']') {
		start++;
		length -= 2;
	} else if (memchr(address, ':', length)) {
		return false;
	}
	if (length) {
		memcpy(host, start, length);
		host[length] = 0;
	}
	return true;
}

static int listen_at(const struct addrinfo *place, const char *address, int *ret_fd)
{
	int fd = socket(place->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, error = 0;

	if (fd < 0)
		return fail(-errno, NULL, "cannot make a socket for --metrics");
	/* Connections of a daemon that has just ended are no reason to wait. */
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, place->ai_addr, place->ai_addrlen) || listen(fd, BACKLOG))
		error = fail(-errno, errno == EADDRINUSE ? "name another port" : NULL,
			     "cannot listen at %s for --metrics", address);
	if (error)
		close(fd);
	else
		*ret_fd = fd;
	return error;
}

static int open_socket(const char *address, int *ret_fd)
{
	const struct addrinfo wanted = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
		.ai_socktype = SOCK_STREAM,
	};
	char host[ADDRESS_BYTES];
	struct addrinfo *place;
	const char *port;
	int error;

	if (!split(address, host, &port) || getaddrinfo(host, port, &wanted, &place))
		return refuse_address(address);
	error = listen_at(place, address, ret_fd);
	freeaddrinfo(place);
	return error;
}

/* With the port that it has become. Owned by the caller. */
static char *url_of(int fd)
{
	struct sockaddr_storage place = {0};
	socklen_t length = sizeof(place);
	char host[ADDRESS_BYTES] = "", port[sizeof("65535")] = "";
	bool is_v6;

	getsockname(fd, (struct sockaddr *)&place, &length);
	getnameinfo((struct sockaddr *)&place, length, host, sizeof(host), port, sizeof(port),
		    NI_NUMERICHOST | NI_NUMERICSERV);
	is_v6 = strchr(host, ':');
	return must_format("http://%s%s%s:%s/metrics", is_v6 ? "[" : "", host, is_v6 ? "]" : "",
			   port);
}

/* --- answering --- */

static struct MHD_Response *response_of(struct metrics_server *server)
{
	struct MHD_Response *response;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	server->write(server->context, out);
	fclose(out);
	response = library.response(length, text, MHD_RESPMEM_MUST_FREE);
	if (response)
		library.header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
			       "text/plain; version=0.0.4; charset=utf-8");
	else
		free(text);
	return response;
}

/* NOLINTNEXTLINE(readability-function-size): it is the library that calls it */
static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *path,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_bytes, void **request)
{
	static char elsewhere[] = "It is at /metrics.\n";
	bool is_asked = !strcmp(method, MHD_HTTP_METHOD_GET) && !strcmp(path, "/metrics");
	struct MHD_Response *response;
	enum MHD_Result result;

	(void)version;
	(void)upload;
	(void)request;
	*upload_bytes = 0;
	response = is_asked
			   ? response_of(context)
			   : library.response(strlen(elsewhere), elsewhere, MHD_RESPMEM_PERSISTENT);
	if (!response)
		return MHD_NO;
	result = library.queue(connection, is_asked ? MHD_HTTP_OK : MHD_HTTP_NOT_FOUND, response);
	library.destroy(response);
	return result;
}

/* --- beginning and end --- */

static int start_daemon(struct metrics_server *server, int fd)
{
	const unsigned int flags = MHD_USE_AUTO_INTERNAL_THREAD;

	server->daemon = library.start(flags, 0, NULL, NULL, answer, server,
				       MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
				       (unsigned int)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
				       (unsigned int)IDLE_MAX_S, MHD_OPTION_END);
	return server->daemon ? 0 : fail_plain(-EIO, NULL, "--metrics: no thread to answer with");
}

int metrics_server_start(const struct metrics_server_settings *settings,
			 struct metrics_server **ret_server)
{
	struct metrics_server *server;
	int fd = -1, error = need_library();

	if (!error)
		error = open_socket(settings->address, &fd);
	if (error)
		return error;
	server = must_alloc(sizeof(*server));
	server->write = settings->write;
	server->context = settings->context;
	server->url = url_of(fd);
	error = start_daemon(server, fd);
	if (!error) {
		*ret_server = server;
		return 0;
	}
	close(fd);
	metrics_server_stop(server);
	return error;
}

const char *metrics_server_url(const struct metrics_server *server)
{
	return server->url;
}

void metrics_server_stop(struct metrics_server *server)
{
	if (!server)
		return;
	if (server->daemon)
		library.stop(server->daemon); /* and the socket */
	free(server->url);
	free(server);
}
