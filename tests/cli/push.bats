#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# bpfprof daemon --push: each window to a server, once, whatever happens to the server meanwhile.
#
# Runs beside others.

load common
load daemons

setup() {
	enter_with_config
	mkdir server
}

# Starts the server that keeps what it gets, at the same port as before; its pid is $server.
start_server() {
	start python3 "$BATS_TEST_DIRNAME/recording_server.py" server "$@" 2>>server.log
	server=$!
	wait_for [ -s server/port ]
	port=$(<server/port)
}

stop_server() {
	kill "$server"
	wait "$server" || true
}

start_daemon() {
	start "$BPFPROF" daemon --store store --window 1s --max-cpu none "$@" 2>>log
	daemon=$!
	wait_for says "sampling at" || cat log
}

spooled() {
	[ "$(find store/push -name '*.push' | wc -l)" -ge "$1" ]
}

pushed() {
	[ "$(find server -name '*.query' | wc -l)" -ge "$1" ]
}

# Whether list says something of pushes.
lists() {
	"$BPFPROF" list --store store >listed && grep -q "$1" listed
}

# The last one is cut short, and may have none.
windows_with_samples() {
	find store/windows -name '*.data' | while read -r file; do
		"$BPFPROF" script -i "$file" -F comm 2>/dev/null | head -n 1
	done | wc -l
}

# Moves a process into a cgroup that is called as that of a service, where that is possible.
become_service() {
	local tree
	for tree in /sys/fs/cgroup/unified /sys/fs/cgroup; do
		[ -e "$tree/cgroup.subtree_control" ] || continue
		service=$tree/bpfprof-test-$$.service
		mkdir "$service" 2>/dev/null && echo "$1" 2>/dev/null >"$service/cgroup.procs"
		return
	done
	return 1
}

teardown() {
	show_failure
	[ ${#background[@]} -eq 0 ] || end_background
	[ ! -d "${service:-}" ] || rmdir "$service" || true
}

# Whether a profile has the names of what ran: binaries are read after their first sample.
named() {
	for file in server/*.pb.gz; do
		[ -e "$file.told" ] || python3 "$BATS_TEST_DIRNAME/read_pprof.py" "$file" >"$file.told"
	done
	grep -q '^leaf foo ' server/*.told
}

# The profiles that still waited when the daemon ended, told as if they had come.
tell_rest() {
	for file in store/push/*.push; do
		[ ! -e "$file" ] || { tail -n +4 "$file" >rest.pb.gz &&
			python3 "$BATS_TEST_DIRNAME/read_pprof.py" rest.pb.gz; }
	done
}

@test "windows arrive once and in order, over TLS and with a token, though the server fails and dies" {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=server \
		-addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out ca.pem 2>openssl.log
	(umask 077 && echo "  secret-42" >token)
	cp "$WORKLOADS/mainbarfoo" ./worker
	start_low ./worker 1000000
	! become_service $! || label=",unit=${service##*/}"
	echo 503 >server/answer
	start_server ca.pem key.pem
	printf '[daemon]\n\tpush = https://127.0.0.1:%s/\n\tpush-ca = ca.pem\n\tpush-token-file = token\n' \
		"$port" >config
	start_daemon --metrics-file metrics.prom
	wait_for says "cannot push to https://127.0.0.1:$port/ since 20[0-9: -]*: the server answers 503; trying again"
	stop_server
	wait_for spooled 2
	wait_for lists '^#   failing since 20[0-9: -]* ([1-9][0-9]* attempts since the daemon.s start): [a-zA-Z]'
	grep -Eq "^# pushed to https://127.0.0.1:$port/: 0 profiles \(0 B\); [1-9][0-9]* wait \([0-9.]+ k?B\), as of 20" listed
	rm server/answer
	start_server ca.pem key.pem
	kill -HUP "$daemon" # settings that are read anew are tried at once
	wait_for says "works again"
	wait_for named
	kill -TERM "$daemon"
	wait "$daemon"

	lists "^# pushed to https://127.0.0.1:$port/: $(find server -name '*.query' | wc -l) profiles .*, the last 20.* wait (.*), as of 20"
	lacks failing listed
	[ "$("$BPFPROF" list --store store --json | python3 -c 'import json, sys
push = json.load(sys.stdin)["push"]
print(push["sent"], push["failing_since_ns"], sum(push["lost"].values()))')" = "$(find server -name '*.query' | wc -l) 0 0" ]
	[ ! -e server/wrong ]
	[ "$(grep -c 'trying again' log)" -le 3 ] # 503, then it was gone, and perhaps cut in between
	cat log
	# none twice, and of each window some
	count=$(find server -name '*.query' | wc -l)
	[ "$(cat server/*.query | paste -d' ' - - - - | sort | uniq -d | wc -l)" = 0 ]
	[ "$({ awk 'FNR == 2' server/*.query; find store/push -name '*.push' -printf '%f\n' | cut -c2-20; } |
		sort -u | wc -l)" = "$(windows_with_samples)" ]
	host=$(uname -n)
	for ((i = 1; i <= count; i++)); do
		mapfile -t query <"server/$i.query"
		[[ ${query[0]} == "bpfprof{host=$host"*"}" ]]
		[ "${query[3]}" = "Bearer secret-42" ]
		[ "${query[1]}" -lt "${query[2]}" ]
		[ "${query[1]}" -ge "${before:-0}" ]
		before=${query[1]}
		python3 "$BATS_TEST_DIRNAME/read_pprof.py" "server/$i.pb.gz" >>told
	done
	# the same samples as in the store, and their names
	tell_rest >>told
	sum=$("$BPFPROF" export --store store --since 1h | awk '{ sum += $NF } END { print sum }')
	[ "$(awk '$1 == "samples" { sum += $3 } END { print sum }' told)" = "$sum" ]
	grep -q '^leaf foo ' told
	grep -q '^root worker ' told
	# the word of who made the format, where it is there: PPROF='go tool pprof'
	[ -z "${PPROF:-}" ] || $PPROF -top server/1.pb.gz | grep -q 'Type: cpu'
	grep -q "^bpfprof{host=$host${label:-}}$" server/*.query
	grep -q '^bpfprof_push_lost_total{reason="refused"} 0$' metrics.prom
}

@test "what the server refuses is dropped, said once and counted" {
	echo 400 >server/answer
	start_server
	start_daemon --push "http://127.0.0.1:$port/ingest" --metrics-file metrics.prom
	wait_for says "was refused by http://127.0.0.1:$port/ingest: the server answers 400; dropped"
	wait_for grep -q '^bpfprof_push_lost_total{reason="refused"} [2-9]' metrics.prom
	[ "$(grep -c refused log)" = 1 ]
	wait_for lists '^#   [1-9][0-9]* lost: the server refused them'
	rm server/answer
	wait_for pushed 1
	wait_for says "works again"
	kill -TERM "$daemon"
	wait "$daemon"
	[ ! -e server/wrong ]
}

@test "what is not about a profile loses none: redirects, rights, addresses, and who has no time" {
	start_server
	echo 302 >server/answer
	start_daemon --push "http://127.0.0.1:$port" --metrics-file metrics.prom
	for status in 302 401 403 404 405 407 408 425 429 500; do
		echo "$status" >server/answer
		kill -HUP "$daemon" # settings that are read anew are tried at once
		wait_for says "cannot push to http://127.0.0.1:$port since 20[0-9: -]*: the server answers $status; trying again"
	done
	wait_for lists '^#   failing since 20[0-9: -]* ([1-9][0-9]* attempts since the daemon.s start): the server answers 500$'
	# all trouble since one and the same time, which list tells, too
	since=$(grep -o 'failing since 20[0-9: -]*[0-9]' listed)
	[ "$(grep 'cannot push' log | grep -vc "${since#failing }: ")" = 0 ]
	rm server/answer
	kill -HUP "$daemon"
	wait_for says "works again"
	kill -TERM "$daemon"
	wait "$daemon"
	grep -q '^bpfprof_push_lost_total{reason="refused"} 0$' metrics.prom
	[ "$({ awk 'FNR == 2' server/*.query; find store/push -name '*.push' -printf '%f\n' | cut -c2-20; } |
		sort -u | wc -l)" = "$(windows_with_samples)" ]
	[ ! -e server/wrong ]
}

@test "a token that was replaced is read again when the server does not take the old one" {
	(umask 077 && echo old >token)
	echo new >server/token
	start_server
	start_daemon --push "http://127.0.0.1:$port" --push-token-file token --metrics-file metrics.prom
	wait_for lists '^#   failing since 20.*: the server answers 401$'
	rm token
	wait_for says "cannot read the token in token: No such file or directory (the token is as before)"
	before=$(awk '$1 == "bpfprof_push_failures_total" { print $2 }' metrics.prom)
	fails_again() {
		awk -v before="$before" '$1 == "bpfprof_push_failures_total" && $2 > before + 1 { found = 1 }
			END { exit !found }' metrics.prom
	}
	wait_for fails_again
	[ "$(grep -c 'the token is as before' log)" = 1 ]
	(umask 077 && echo new >token.made && mv token.made token)
	wait_for says "works again"
	kill -TERM "$daemon"
	wait "$daemon"
	[ "$(sed -n 4p server/1.query)" = "Bearer new" ]
	grep -q '^bpfprof_push_lost_total{reason="refused"} 0$' metrics.prom
	[ ! -e server/wrong ]
}

@test "what cannot work is answered in one line" {
	echo secret >token
	chmod 644 token
	refused() {
		fails_with "$1" "$2" "$BPFPROF" daemon --store store --once "${@:3}"
	}
	refused 2 "ftp://server is neither http nor https; give one such as https://pyroscope.example:4040" \
		--push ftp://server
	refused 2 "http:// is no URL: No host part in the URL; give one such as https://pyroscope.example:4040" \
		--push http://
	refused 2 "a password in a URL can be seen by everybody; put a token into a file, for --push-token-file" \
		--push http://me:secret@server
	refused 1 "others can read the token in token; chmod o= it" \
		--push http://server --push-token-file token
	refused 1 "cannot read the certificates in none.pem: No such file or directory" \
		--push https://server --push-ca none.pem
	refused 1 "cannot make the spool /proc/spool: No such file or directory; name another folder with --push-spool" \
		--push http://server --push-spool /proc/spool
}
