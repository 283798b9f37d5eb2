# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A server that profiles are pushed to: checks that each comes as the protocol wants it, and keeps it.

usage: recording_server.py FOLDER [CERTIFICATE KEY]

Its port, on 127.0.0.1, goes to FOLDER/port; each profile to FOLDER/N.pb.gz, with what it was called in
FOLDER/N.query; what is wrong with one to FOLDER/wrong. What it answers stands in FOLDER/answer, if that is
there (503: come again; 400: no), else 200. If FOLDER/token is there, who does not bring it is answered 401.
"""

import http.server
import os
import random
import ssl
import sys
import urllib.parse

folder = sys.argv[1]
count = 0


def path(name):
    return os.path.join(folder, name)


def write(name, data):
    """Whoever waits for the file finds it whole."""
    with open(path("unfinished"), "wb") as file:
        file.write(data)
    os.rename(path("unfinished"), path(name))


def complaints(request, query, body):
    if request.path.split("?")[0] != "/ingest":
        yield "path " + request.path
    if sorted(query) != ["format", "from", "name", "spyName", "until"]:
        yield f"query {sorted(query)}"
    elif query["format"] != ["pprof"] or not query["name"][0].endswith("}"):
        yield f"query {query}"
    elif not all(len(query[end][0]) == 19 for end in ("from", "until")):
        yield "times are not in nanoseconds"
    if body[:2] != b"\x1f\x8b":
        yield "no gzip"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self):
        global count
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if os.path.exists(path("answer")):
            with open(path("answer")) as file:
                self.answer(int(file.read()))
            write("asked", b"")
            return
        right = self.headers.get("Authorization", "none")
        if os.path.exists(path("token")):
            with open(path("token")) as file:
                if right != "Bearer " + file.read().strip():
                    self.answer(401)
                    return
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        for complaint in complaints(self, query, body):
            with open(path("wrong"), "a") as file:
                print(complaint, file=file)
        count += 1
        text = "\n".join([query["name"][0], query["from"][0], query["until"][0], right, ""])
        write(f"{count}.query", text.encode())
        write(f"{count}.pb.gz", body)
        self.answer(200)

    def log_message(self, *arguments):
        pass


def listen(ports):
    """At the first of them that is free."""
    for port in ports:
        try:
            return http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        except OSError:
            pass
    sys.exit("no port is free")


# Below those that connections get as theirs: while the server is down nobody else takes it then, who looks for
# it least of all.
ports = random.sample(range(10000, 32000), 1000)
if os.path.exists(path("port")):
    with open(path("port")) as file:
        ports = [int(file.read())]
count = sum(name.endswith(".query") for name in os.listdir(folder))
server = listen(ports)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
write("port", str(server.server_port).encode())
server.serve_forever()
