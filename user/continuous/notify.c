/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Datagrams to systemd. Source of the protocol: sd_notify(3), sd_watchdog_enabled(3).
 */
#include "continuous/notify.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* "@NAME" is a name in the abstract name space, which begins with a NUL. */
static int address_of(const char *path, struct sockaddr_un *ret_address, socklen_t *ret_bytes)
{
	size_t length = strlen(path);

	*ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (length < 2 || length >= sizeof(ret_address->sun_path) || !strchr("/@", *path))
		return -EINVAL;
	memcpy(ret_address->sun_path, path, length);
	if (*path == '@')
		ret_address->sun_path[0] = 0;
	*ret_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (*path != '@'));
	return 0;
}

int notify_send(const char *format, ...)
{
	CLEANUP(text_release) struct text text = {0};
	CLEANUP(closep) int fd = -1;
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address;
	socklen_t bytes;
	va_list arguments;

	if (!path)
		return 0;
	if (address_of(path, &address, &bytes))
		return -EINVAL;
	va_start(arguments, format);
	text_appendv(&text, format, arguments);
	va_end(arguments);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || sendto(fd, text_view(&text), text.length, MSG_NOSIGNAL,
			     (const struct sockaddr *)&address, bytes) < 0)
		return -errno;
	return 0;
}

u64 notify_watchdog_ns(void)
{
	const char *span = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	u64 span_us, whose;

	if (!span || number_parse_u64(span, &span_us) || span_us > UINT64_MAX / 1000)
		return 0;
	if (pid && (number_parse_u64(pid, &whose) || whose != (u64)getpid()))
		return 0;
	return span_us * 1000 / 2;
}
