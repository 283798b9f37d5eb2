/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * HTTP and TLS are libcurl's. It is loaded when it is needed: it brings two dozen libraries, which
 * would cost every other command 7 ms and 6 MB.
 */
#include "continuous/push_http.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "continuous/push.h"

/* A macro of that name checks types, and cannot be called through a pointer. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>

enum {
	CONNECT_MAX_S = 10,
	ANSWER_MAX_S = 30,
	ANSWER_KEPT_BYTES = 200, /* of what the server says of an error */
};

#define FUNCTIONS(X)      \
	X(global_init)    \
	X(easy_init)      \
	X(easy_cleanup)   \
	X(easy_reset)     \
	X(easy_setopt)    \
	X(easy_perform)   \
	X(easy_escape)    \
	X(easy_getinfo)   \
	X(easy_strerror)  \
	X(slist_append)   \
	X(slist_free_all) \
	X(free)           \
	X(url)            \
	X(url_cleanup)    \
	X(url_set)        \
	X(url_get)        \
	X(url_strerror)

/* What is used of it. */
struct library {
#define AS_MEMBER(name) __typeof__(curl_##name) *name;
	FUNCTIONS(AS_MEMBER)
	bool is_there;
};

struct push_http {
	const struct library *library;
	const atomic_ullong *ends_ns;
	CURL *handle;
	char why[CURL_ERROR_SIZE];
	struct text answer; /* what the server said, its beginning */
};

/* --- the library --- */

static struct library library;
static pthread_once_t library_once = PTHREAD_ONCE_INIT;

static void load_library(void)
{
	/* Two builds with one interface; that of GnuTLS has the licence that fits. */
	void *handle = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		handle = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return;
	library.is_there = true;
#define LOAD(name)                                              \
	*(void **)&library.name = dlsym(handle, "curl_" #name); \
	library.is_there = library.is_there && library.name;
	FUNCTIONS(LOAD)
	if (library.is_there && library.global_init(CURL_GLOBAL_DEFAULT))
		library.is_there = false;
}

static int need_library(void)
{
	pthread_once(&library_once, load_library);
	return library.is_there ? 0
				: fail_plain(-ENOPKG, "install libcurl3-gnutls",
					     "pushing needs libcurl, which cannot be loaded");
}

/* --- the address --- */

/* A part of the address, "" if it has none; owned by the library, as free() wants it. */
static bool has_part(CURLU *url, CURLUPart part)
{
	char *text = NULL;
	bool is_there = !library.url_get(url, part, &text, 0) && text && *text;

	library.free(text);
	return is_there;
}

static bool has_web_scheme(CURLU *url)
{
	char *scheme = NULL;
	bool found = !library.url_get(url, CURLUPART_SCHEME, &scheme, 0) &&
		     (!strcmp(scheme, "http") || !strcmp(scheme, "https"));

	library.free(scheme);
	return found;
}

static int check_parts(CURLU *url, const char *text)
{
	CURLUcode code = library.url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME);

	if (code)
		return fail_plain(-EINVAL, "give one such as https://pyroscope.example:4040",
				  "%s is no URL: %s", text, library.url_strerror(code));
	if (!has_web_scheme(url))
		return fail_plain(-EINVAL, "give one such as https://pyroscope.example:4040",
				  "%s is neither http nor https", text);
	if (has_part(url, CURLUPART_USER) || has_part(url, CURLUPART_PASSWORD))
		return fail_plain(-EINVAL, "put a token into a file, for --push-token-file",
				  "a password in a URL can be seen by everybody");
	if (has_part(url, CURLUPART_QUERY) || has_part(url, CURLUPART_FRAGMENT))
		return fail_plain(-EINVAL, "leave out what begins with ? or #",
				  "%s is more than the address of a server", text);
	return 0;
}

int push_url_check(const char *text)
{
	int error = need_library();
	CURLU *url;

	if (error)
		return error;
	url = library.url();
	error = check_parts(url, text);
	library.url_cleanup(url);
	return error;
}

/* --- one profile --- */

int push_http_open(const atomic_ullong *ends_ns, struct push_http **ret_http)
{
	struct push_http *http;
	int error = need_library();

	if (error)
		return error;
	http = must_alloc(sizeof(*http));
	http->library = &library;
	http->ends_ns = ends_ns;
	*ret_http = http;
	return 0;
}

void push_http_close(struct push_http *http)
{
	if (!http)
		return;
	if (http->handle)
		http->library->easy_cleanup(http->handle);
	text_release(&http->answer);
	free(http);
}

static size_t take_answer(char *bytes, size_t item_bytes, size_t count, void *context)
{
	struct push_http *http = context;
	size_t length = item_bytes * count, room = ANSWER_KEPT_BYTES - http->answer.length;

	text_append_bytes(&http->answer, bytes, length < room ? length : room);
	return length;
}

static int look_whether_to_go_on(void *context, curl_off_t down_total, curl_off_t down,
				 curl_off_t up_total, curl_off_t up)
{
	const struct push_http *http = context;

	(void)down_total;
	(void)down;
	(void)up_total;
	(void)up;
	return clock_ns(CLOCK_MONOTONIC) >= atomic_load(http->ends_ns);
}

/* "https://host/ingest?name=…"; a path of the server's own stays in front. Owned by the caller. */
static char *address_of(const struct push_http *http, const struct push_target *target,
			const struct push_profile *profile)
{
	static const char end[] = "/ingest";
	size_t length = strlen(target->url);
	char *name = http->library->easy_escape(http->handle, profile->name, 0), *address;

	while (length && target->url[length - 1] == '/')
		length--;
	if (length > strlen(end) && !strncmp(target->url + length - strlen(end), end, strlen(end)))
		length -= strlen(end);
	address = must_format("%.*s%s?name=%s&from=%" PRIu64 "&until=%" PRIu64
			      "&format=pprof&spyName=bpfprof",
			      (int)length, target->url, end, name ? name : "bpfprof",
			      profile->start_ns, profile->end_ns);
	http->library->free(name);
	return address;
}

static struct curl_slist *headers_of(const struct push_http *http, const struct push_target *target)
{
	/* No question first whether it is welcome: that is a round trip more. */
	struct curl_slist *headers = http->library->slist_append(NULL, "Expect:");
	CLEANUP(freep) char *right = NULL;

	headers = http->library->slist_append(headers, "Content-Type: application/octet-stream");
	if (!target->token)
		return headers;
	right = must_format("Authorization: Bearer %s", target->token);
	return http->library->slist_append(headers, right);
}

static void set_options(struct push_http *http, const struct push_target *target,
			const struct push_profile *profile)
{
	__typeof__(library.easy_setopt) set = http->library->easy_setopt;
	CURL *handle = http->handle;

	set(handle, CURLOPT_NOSIGNAL, 1L);
	set(handle, CURLOPT_PROTOCOLS_STR, "http,https");
	set(handle, CURLOPT_USERAGENT, "bpfprof");
	set(handle, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_MAX_S);
	set(handle, CURLOPT_TIMEOUT, (long)ANSWER_MAX_S);
	set(handle, CURLOPT_ERRORBUFFER, http->why);
	set(handle, CURLOPT_WRITEFUNCTION, take_answer);
	set(handle, CURLOPT_WRITEDATA, http);
	set(handle, CURLOPT_NOPROGRESS, 0L);
	set(handle, CURLOPT_XFERINFOFUNCTION, look_whether_to_go_on);
	set(handle, CURLOPT_XFERINFODATA, http);
	if (target->ca)
		set(handle, CURLOPT_CAINFO, target->ca);
	set(handle, CURLOPT_POST, 1L);
	set(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)profile->body.length);
	set(handle, CURLOPT_POSTFIELDS, profile->body.start);
}

/* Whether the answer is about this one profile, and not about who asks, the address, what stands in
 * between or how the server fares: those can be mended while profiles wait. */
static bool is_about_profile(long status)
{
	static const u16 about_others[] = {
		PUSH_STATUS_TOKEN, /* Unauthorized */
		403,		   /* Forbidden */
		404,		   /* Not Found */
		405,		   /* Method Not Allowed: who takes no POST is another server */
		407,		   /* Proxy Authentication Required */
		408,		   /* Request Timeout */
		425,		   /* Too Early */
		429,		   /* Too Many Requests */
	};

	for (size_t i = 0; i < ARRAY_COUNT(about_others); i++)
		if (about_others[i] == status)
			return false;
	return status >= 400 && status < 500;
}

static enum push_outcome judge_status(struct push_http *http, long status, struct text *why)
{
	if (status >= 200 && status < 300)
		return PUSH_SENT;
	text_appendf(why, "the server answers %ld", status);
	if (http->answer.length) {
		text_append(why, " (");
		text_append_printable(why, text_view(&http->answer));
		text_append(why, ")");
	}
	return is_about_profile(status) ? PUSH_REFUSED : PUSH_LATER;
}

static enum push_outcome judge(struct push_http *http, CURLcode code, struct push_answer *answer)
{
	curl_off_t after_s = 0;
	long status = 0;

	if (code) {
		text_append_printable(&answer->why,
				      *http->why ? http->why : http->library->easy_strerror(code));
		answer->trouble = code; /* all below 100 */
		return PUSH_LATER;
	}
	http->library->easy_getinfo(http->handle, CURLINFO_RESPONSE_CODE, &status);
	http->library->easy_getinfo(http->handle, CURLINFO_RETRY_AFTER, &after_s);
	answer->trouble = (u32)status;
	answer->after_s = after_s > 0 ? (u64)after_s : 0;
	return judge_status(http, status, &answer->why);
}

enum push_outcome push_http_send(struct push_http *http, const struct push_target *target,
				 const struct push_profile *profile, struct push_answer *ret_answer)
{
	CLEANUP(freep) char *address = NULL;
	struct curl_slist *headers;
	enum push_outcome outcome;

	/* The connection is kept for the next one. */
	if (http->handle)
		http->library->easy_reset(http->handle);
	else
		http->handle = http->library->easy_init();
	if (!http->handle) {
		text_append(&ret_answer->why, "libcurl has no memory");
		return PUSH_LATER;
	}
	http->why[0] = 0;
	text_truncate(&http->answer, 0);
	address = address_of(http, target, profile);
	headers = headers_of(http, target);
	set_options(http, target, profile);
	http->library->easy_setopt(http->handle, CURLOPT_URL, address);
	http->library->easy_setopt(http->handle, CURLOPT_HTTPHEADER, headers);
	outcome = judge(http, http->library->easy_perform(http->handle), ret_answer);
	http->library->slist_free_all(headers);
	return outcome;
}
