/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Containers and units of cgroup paths as they are met on machines.
 */
#include "host/cgroup_identity.h"

#include "base/memory.h"
#include "unit/unit.h"

#include <string.h>

#define ID    "3f0e5a9b6c1d2e4f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f"
#define OTHER "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define POD   "pod1b2c3d4e_5f60_7182_93a4_b5c6d7e8f901"

static const struct known_path {
	const char *path, *runtime, *container, *unit;
} known_paths[] = {
	/* systemd */
	{"/", NULL, "", ""},
	{"", NULL, "", ""},
	{"/init.scope", NULL, "", "init.scope"},
	{"/system.slice/nginx.service", NULL, "", "nginx.service"},
	{"/system.slice/system-getty.slice/getty@tty1.service", NULL, "", "getty@tty1.service"},
	{"/system.slice/nginx.service/workers", NULL, "", "nginx.service"},
	{"/system.slice/_cpu.service", NULL, "", "cpu.service"},
	{"/system.slice/dev-hugepages.mount", NULL, "", "dev-hugepages.mount"},
	{"/user.slice/user-1000.slice/session-3.scope", NULL, "", "session-3.scope"},
	{"/user.slice/user-1000.slice/user@1000.service/app.slice/firefox.service", NULL, "",
	 "firefox.service"},
	{"/user.slice/user-1000.slice", NULL, "", "user-1000.slice"},
	{"/system.slice/a.service/b.slice", NULL, "", "a.service"},
	{"/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt", NULL, "",
	 "machine-qemu\\x2d1\\x2dvm.scope"},
	/* docker */
	{"/system.slice/docker-" ID ".scope", "docker", ID, "docker-" ID ".scope"},
	{"/docker/" ID, "docker", ID, ""},
	{"/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" ID ".scope", "docker",
	 ID, "docker-" ID ".scope"},
	{"/docker/" ID "/system.slice/nginx.service", "docker", ID, "nginx.service"},
	{"/ecs/cluster/0123456789abcdef0123456789abcdef/" ID, "container", ID, ""},
	{"/system.slice/docker.service", NULL, "", "docker.service"},
	/* kubernetes */
	{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-" POD
	 ".slice/cri-containerd-" ID ".scope",
	 "containerd", ID, "cri-containerd-" ID ".scope"},
	{"/kubepods/besteffort/pod1b2c3d4e-5f60-7182-93a4-b5c6d7e8f901/" ID, "kubernetes", ID, ""},
	{"/kubepods.slice/kubepods-" POD ".slice/crio-" ID ".scope/container", "cri-o", ID,
	 "crio-" ID ".scope"},
	{"/kubepods.slice/kubepods-" POD ".slice/crio-conmon-" ID ".scope", NULL, "",
	 "crio-conmon-" ID ".scope"},
	{"/system.slice/containerd.service/kubepods-besteffort-" POD ".slice:cri-containerd:" ID,
	 "containerd", ID, "containerd.service"},
	{"/docker/" OTHER "/kubelet.slice/kubelet-kubepods.slice/cri-containerd-" ID ".scope",
	 "containerd", ID, "cri-containerd-" ID ".scope"},
	{"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-" POD ".slice", NULL, "",
	 "kubepods-besteffort-" POD ".slice"},
	/* podman, nerdctl */
	{"/machine.slice/libpod-" ID ".scope/container", "podman", ID, "libpod-" ID ".scope"},
	{"/machine.slice/libpod-conmon-" ID ".scope", NULL, "", "libpod-conmon-" ID ".scope"},
	{"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope", "podman",
	 ID, "libpod-" ID ".scope"},
	{"/libpod_parent/libpod-" ID, "podman", ID, ""},
	{"/default/" ID, "container", ID, ""},
	{"/system.slice/nerdctl-" ID ".scope", "containerd", ID, "nerdctl-" ID ".scope"},
	/* lxc, incus, nspawn */
	{"/lxc.payload.web/system.slice/cron.service", "lxc", "web", "cron.service"},
	{"/lxc/web", "lxc", "web", ""},
	{"/lxc.payload/web", "lxc", "web", ""},
	{"/lxc.monitor.web", NULL, "", ""},
	{"/machine.slice/machine-debian\\x2dsid.scope/payload/init.scope", "nspawn", "debian-sid",
	 "init.scope"},
	{"/machine.slice/systemd-nspawn@web.service/payload", "nspawn", "web",
	 "systemd-nspawn@web.service"},
	/* what only looks like one */
	{"/docker/buildkit", NULL, "", ""},
	{"/system.slice/docker-0123.scope", NULL, "", "docker-0123.scope"},
	{"/a/docker-" ID "0.scope", NULL, "", "docker-" ID "0.scope"},
	{"/libpod-", NULL, "", ""},
	{"/.scope/.service", NULL, "", ""},
	{"/machine-\\x2.scope", "nspawn", "\\x2", "machine-\\x2.scope"},
};

static void paths_tell_container_and_unit(void **state)
{
	for (size_t i = 0; i < ARRAY_COUNT(known_paths); i++) {
		const struct known_path *known = &known_paths[i];
		struct cgroup_identity identity = cgroup_identify(known->path);

		if (!known->runtime)
			assert_null(identity.runtime);
		else
			assert_string_equal(identity.runtime, known->runtime);
		assert_string_equal(identity.container, known->container);
		assert_string_equal(identity.unit, known->unit);
	}
	(void)state;
}

static void names_longer_than_any_are_cut(void **state)
{
	char path[2048] = "/system.slice/";
	struct cgroup_identity identity;

	memset(path + strlen(path), 'a', 1000);
	strcat(path, ".service");
	identity = cgroup_identify(path);
	assert_int_equal(strlen(identity.unit), CGROUP_NAME_BYTES - 1);
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_tell_container_and_unit),
		cmocka_unit_test(names_longer_than_any_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
