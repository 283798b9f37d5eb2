#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Debug files from a server: nobody waits for it, nobody believes it blindly.
#
# Runs beside others.

load common

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	command -v debuginfod >/dev/null || skip "debuginfod is not installed"
	export DEBUGINFOD_CACHE_PATH=$PWD/cache DEBUGINFOD_PROGRESS='' HOME=$PWD
	cat >app.c <<-END
		__attribute__((noinline)) static long busy(long n)
		{
			volatile long s = 0;
			while (n--)
				s += n;
			return s;
		}
		int main(void) { return busy(1000) == 3; }
	END
	gcc -O1 -g -Wl,--build-id -o app app.c
	mkdir served
	objcopy --only-keep-debug app served/app.debug
	strip app
	id=$(readelf -n app | sed -n 's/.*Build ID: //p')
	"$BATS_TEST_DIRNAME/spread.py" spread.data "$PWD/app" 300
}

# A server of what is in served/, at $DEBUGINFOD_URLS. It does not choose a free port itself: one below
# those that connections get meanwhile.
serve() {
	local port
	port=$(python3 - <<-'END'
		import random, socket
		for port in random.sample(range(10000, 32000), 1000):
		    try:
		        socket.create_server(("127.0.0.1", port)).close()
		        print(port)
		        break
		    except OSError:
		        pass
	END
	)
	unset DEBUGINFOD_URLS
	start debuginfod -p "$port" -d "$PWD/index.sqlite" -F served
	export DEBUGINFOD_URLS=http://127.0.0.1:$port
	wait_for server_has
}

server_has() {
	python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1])' \
		"$DEBUGINFOD_URLS/buildid/$id/debuginfo" 2>/dev/null
}

names() {
	"$BPFPROF" report -i spread.data -s srcline,sym
}

is_fetched() {
	[ -s "cache/$id/debuginfo" ]
}

@test "a missing debug file is fetched behind the report, and names the next one" {
	serve
	names >first
	run ! grep -q busy first
	grep -q '^# 1 debug file is being fetched (DEBUGINFOD_URLS): run this again in a while$' first
	wait_for is_fetched
	names >second
	grep -q 'app.c:[0-9]* .*\] busy$' second
	run ! grep 'being fetched' second
	# what is in the cache is not used by who does not name a server
	run ! grep busy <(DEBUGINFOD_URLS='' names)
}

@test "a server that is down, or never answers, holds nothing up" {
	start python3 -c '
import signal, socket
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
open("port", "w").write(str(server.getsockname()[1]))
signal.pause()'
	wait_for test -s port
	export DEBUGINFOD_TIMEOUT=3
	for url in http://127.0.0.1:1 "http://127.0.0.1:$(cat port)"; do
		DEBUGINFOD_URLS=$url timeout 5 "$BPFPROF" report -i spread.data -s sym >shown
		grep -q '\[fn 0x' shown
		grep -q 'being fetched' shown
	done
}

@test "the debug file of another build is not believed, nor asked for again" {
	sed 's/1000/1001/' app.c >other.c
	gcc -O1 -g -Wl,--build-id -o other other.c
	mkdir -p "cache/$id"
	objcopy --only-keep-debug other "cache/$id/debuginfo"
	DEBUGINFOD_URLS=http://127.0.0.1:1 names >shown
	run ! grep busy shown
	run ! grep 'being fetched' shown
}

@test "what no server had lately is not asked for again" {
	mkdir -p "cache/$id"
	: >"cache/$id/debuginfo"
	run ! grep 'being fetched' <(DEBUGINFOD_URLS=http://127.0.0.1:1 names)
	touch -d '1 hour ago' "cache/$id/debuginfo"
	grep 'being fetched' <(DEBUGINFOD_URLS=http://127.0.0.1:1 names)
}
