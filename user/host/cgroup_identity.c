/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A path is looked at part by part, from the top; what is found further down replaces what was
 * found before.
 *
 * Sources: what Docker 20 to 27, containerd 1.4 to 2.0, nerdctl 1.7, Podman 3 to 5, CRI-O 1.20 to
 * 1.31, kubelet 1.20 to 1.31, LXC 4 to 6 and systemd 247 to 257 make; systemd.unit(5) and
 * src/basic/cgroup-util.c, cg_escape(), for units.
 */
#include "host/cgroup_identity.h"

#include "base/memory.h"

#include <stdbool.h>
#include <string.h>

/* A piece of the path; not terminated. */
struct part {
	const char *start;
	size_t length;
};

enum { ID_DIGITS = 64 };

static bool is_text(struct part part, const char *text)
{
	return part.length == strlen(text) && !memcmp(part.start, text, part.length);
}

static bool begins_with(struct part part, const char *prefix)
{
	size_t length = strlen(prefix);

	return part.length > length && !memcmp(part.start, prefix, length);
}

static bool ends_with(struct part part, const char *suffix)
{
	size_t length = strlen(suffix);

	return part.length > length && !memcmp(part.start + part.length - length, suffix, length);
}

static struct part without(struct part part, const char *prefix, const char *suffix)
{
	size_t first = strlen(prefix);

	return (struct part){part.start + first, part.length - first - strlen(suffix)};
}

static void keep(char *name, struct part part)
{
	size_t length = part.length < CGROUP_NAME_BYTES ? part.length : CGROUP_NAME_BYTES - 1;

	memcpy(name, part.start, length);
	name[length] = '\0';
}

static bool is_id(struct part part)
{
	for (size_t i = 0; i < part.length; i++)
		if (!strchr("0123456789abcdef", part.start[i]) || !part.start[i])
			return false;
	return part.length == ID_DIGITS;
}

/* --- containers ---------------------------------------------------------------------------------
 */

/* PREFIX and an id, with or without ".scope": how those with systemd as their driver, and some
 * without, name a container. */
static const struct {
	const char *prefix, *runtime;
} id_prefixes[] = {
	{"docker-", "docker"},	    {"cri-containerd-", "containerd"},
	{"nerdctl-", "containerd"}, {"libpod-", "podman"},
	{"crio-", "cri-o"},	    {"cri-o-", "cri-o"},
	{"cri-dockerd-", "docker"},
};

static bool find_by_prefix(struct part part, struct cgroup_identity *identity)
{
	const char *suffix = ends_with(part, ".scope") ? ".scope" : "";

	for (size_t i = 0; i < ARRAY_COUNT(id_prefixes); i++) {
		const char *prefix = id_prefixes[i].prefix;
		struct part id;

		if (!begins_with(part, prefix))
			continue;
		id = without(part, prefix, suffix);
		if (!is_id(id))
			continue;
		identity->runtime = id_prefixes[i].runtime;
		keep(identity->container, id);
		return true;
	}
	return false;
}

/* SLICE:PREFIX:ID is what runc makes of a systemd name without systemd. */
static bool find_by_colons(struct part part, struct cgroup_identity *identity)
{
	struct part id = {part.start + part.length - ID_DIGITS, ID_DIGITS}, before;

	if (part.length <= ID_DIGITS + 1 || id.start[-1] != ':' || !is_id(id))
		return false;
	before = (struct part){part.start, part.length - ID_DIGITS - 1};
	identity->runtime = "container";
	if (ends_with(before, ":cri-containerd") || ends_with(before, ":nerdctl"))
		identity->runtime = "containerd";
	else if (ends_with(before, ":crio"))
		identity->runtime = "cri-o";
	else if (ends_with(before, ":docker"))
		identity->runtime = "docker";
	keep(identity->container, id);
	return true;
}

/* An id alone, which the folder above explains, if anything. */
static bool find_bare_id(struct part part, struct part parent, struct cgroup_identity *identity)
{
	if (!is_id(part))
		return false;
	identity->runtime = "container";
	if (is_text(parent, "docker"))
		identity->runtime = "docker";
	else if (begins_with(parent, "pod"))
		identity->runtime = "kubernetes";
	keep(identity->container, part);
	return true;
}

static u8 hex_value(char digit)
{
	return (u8)(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
}

/* A name out of a unit's, where bytes are \xHH. */
static void keep_unescaped(char *name, struct part part)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	size_t length = 0;

	for (size_t i = 0; i < part.length && length < CGROUP_NAME_BYTES - 1; i++) {
		const char *at = part.start + i;

		if (i + 4 <= part.length && at[0] == '\\' && at[1] == 'x' && at[2] && at[3] &&
		    strchr(digits, at[2]) && strchr(digits, at[3])) {
			name[length++] = (char)(hex_value(at[2]) << 4 | hex_value(at[3]));
			i += 3;
			continue;
		}
		name[length++] = *at;
	}
	name[length] = '\0';
}

/* What systemd-machined knows; virtual machines are none of ours. */
static bool find_machine(struct part part, struct cgroup_identity *identity)
{
	struct part name;

	if (begins_with(part, "systemd-nspawn@") && ends_with(part, ".service"))
		name = without(part, "systemd-nspawn@", ".service");
	else if (begins_with(part, "machine-") && ends_with(part, ".scope") &&
		 !begins_with(part, "machine-qemu\\x2d"))
		name = without(part, "machine-", ".scope");
	else
		return false;
	identity->runtime = begins_with(name, "lxc\\x2d") ? "lxc" : "nspawn";
	keep_unescaped(identity->container, name);
	return true;
}

static bool find_lxc(struct part part, struct part parent, struct cgroup_identity *identity)
{
	if (begins_with(part, "lxc.payload."))
		part = without(part, "lxc.payload.", "");
	else if (!is_text(parent, "lxc") && !is_text(parent, "lxc.payload"))
		return false;
	identity->runtime = "lxc";
	keep(identity->container, part);
	return true;
}

static void find_container(struct part part, struct part parent, struct cgroup_identity *identity)
{
	if (!find_by_prefix(part, identity) && !find_by_colons(part, identity) &&
	    !find_bare_id(part, parent, identity) && !find_machine(part, identity))
		find_lxc(part, parent, identity);
}

/* --- units --------------------------------------------------------------------------------------
 */

static void find_unit(struct part part, bool *has_proper, struct cgroup_identity *identity)
{
	static const char *const suffixes[] = {".service", ".scope", ".socket", ".mount", ".swap"};
	bool is_proper = false;

	if (begins_with(part, "_")) /* so that no file of the kernel has that name */
		part = without(part, "_", "");
	for (size_t i = 0; i < ARRAY_COUNT(suffixes); i++)
		is_proper |= ends_with(part, suffixes[i]);
	if (is_proper || (!*has_proper && ends_with(part, ".slice")))
		keep(identity->unit, part);
	*has_proper |= is_proper;
}

struct cgroup_identity cgroup_identify(const char *path)
{
	struct cgroup_identity identity = {0};
	struct part parent = {path, 0};
	bool has_proper = false;

	while (*path) {
		struct part part = {path, strcspn(path, "/")};

		path += part.length + (path[part.length] == '/');
		if (!part.length)
			continue;
		find_container(part, parent, &identity);
		find_unit(part, &has_proper, &identity);
		parent = part;
	}
	return identity;
}
