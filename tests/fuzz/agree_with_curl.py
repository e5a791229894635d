#!/usr/bin/env python3
"""Asks curl for a second opinion on answers: serves each of them to pepe and to curl, and says where they differ.

    agree_with_curl.py --bin build/release/pepe tests/fuzz/corpus/http1_response

They agree when both take the answer (with the same status and body) or both refuse it, and ask for the same after a
redirect. DIFFERENCES lists the answers over which they differ for a reason. Exit status: 0 they agree, 1 they do not,
77 there is no curl.
"""
import argparse
import base64
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

# Name of an answer, and why pepe is right to see it otherwise than curl does.
TWO_FRAMES = "what says twice how long it is may be two answers to one of two readers (RFC 9112, 6.3)"
NO_LENGTH = "a length is digits alone"
CUT_HEAD = "a head that breaks off is no answer"
NO_NAME = "a field has a name (RFC 9112, 5.1)"
DIFFERENCES = {
    "both_framings": TWO_FRAMES,
    "length_and_chunked": TWO_FRAMES,
    "lengths_differ": TWO_FRAMES,
    "two_lengths": TWO_FRAMES,
    "length_list": NO_LENGTH,
    "length_overflow": NO_LENGTH,
    "length_plus": NO_LENGTH,
    "cut_in_head": CUT_HEAD,
    "slow_head": CUT_HEAD,
    "field_without_name": NO_NAME,
    "field_without_name_after_another": NO_NAME,
    "chunked": "llhttp 8 knows no quoted value in the extension of a chunk, and is not asked to be lenient",
    "control_in_header": "a control character is no part of a value (RFC 9110, 5.5)",
    "gzip_members_chunked": "the members of a gzip body are one text (RFC 1952, 2.2); curl takes the first alone",
    "gzip_torn": "a body whose gzip breaks off is not whole",
    "location_not_ascii": "the same escapes, in capital letters",
    "switching": "nobody asked for another protocol",
    "too_many_headers": "the number of fields has a limit",
}

TO_HEAD = 1  # In the first byte of a seed.
HERE = b"127.0.0.1:8080"  # In a seed: where it is served.


class Server:
    """One connection, one request, one answer, one close."""

    def __init__(self, answers):
        self.answers = answers
        self.followed = {}
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection:
            connection.settimeout(10)
            head = b""
            try:
                while b"\r\n\r\n" not in head:
                    got = connection.recv(65536)
                    if not got:
                        return
                    head += got
                connection.sendall(self.answer_to(head))
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass
            except OSError:
                pass

    def answer_to(self, head):
        lines = head.decode("latin1").split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
        method, path, _ = lines[0].split(" ", 2)
        client = "curl" if fields["user-agent"].startswith("curl") else "pepe"
        name = fields["x-seed"]
        if path != "/start/" + name:
            self.followed.setdefault((client, name), []).append((method, path))
            return b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nthere"
        return self.answers[name].replace(HERE, b"127.0.0.1:%d" % self.port)


def ask_pepe(binary, server, names, method):
    targets = "".join(f"{method} http://127.0.0.1:{server.port}/start/{name}\nX-Seed: {name}\n\n" for name in names)
    attack = [binary, "attack", f"-rate={len(names)}/1s", "-duration=1s", "-keepalive=false", "-timeout=5s"]
    raw = subprocess.run(attack, input=targets.encode(), stdout=subprocess.PIPE, check=True, timeout=60).stdout
    text = subprocess.run([binary, "encode", "-to", "json"], input=raw, stdout=subprocess.PIPE, check=True).stdout
    seen = {}
    for line in text.splitlines():
        result = json.loads(line)
        body = base64.b64decode(result["body"] or "")
        seen[result["url"].rsplit("/", 1)[1]] = (result["code"], body, result["error"])
    return seen


def ask_curl(server, names, method, folder):
    seen = {}
    for name in names:
        body = pathlib.Path(folder, name)
        asked = ["curl", "--noproxy", "*", "--http1.1", "--silent", "--compressed", "--location", "--max-time", "5",
                 "--header", "X-Seed: " + name, "--output", str(body), "--write-out", "%{http_code}"]
        asked += ["--head"] if method == "HEAD" else []
        ended = subprocess.run(asked + [f"http://127.0.0.1:{server.port}/start/{name}"], stdout=subprocess.PIPE, text=True)
        code = 0 if ended.returncode != 0 else int(ended.stdout)
        seen[name] = (code, body.read_bytes() if body.exists() else b"", ended.returncode)
    return seen


def difference(pepe, curl, followed, name, method):
    if followed.get(("pepe", name)) != followed.get(("curl", name)):
        return f"asked for {followed.get(('pepe', name))}, curl for {followed.get(('curl', name))}"
    if (pepe[0] == 0) != (curl[0] == 0):
        return f"{pepe[0]} {pepe[2]!r}, curl {curl[0]} (exit status {curl[2]})"
    if pepe[0] != curl[0]:
        return f"status {pepe[0]}, curl {curl[0]}"
    if method == "GET" and pepe[0] != 0 and pepe[1] != curl[1]:
        return f"a body of {len(pepe[1])} bytes, curl of {len(curl[1])}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("corpus", type=pathlib.Path)
    arguments = parser.parse_args()
    if not shutil.which("curl"):
        print("skipped: there is no curl")
        return 77
    os.environ["no_proxy"] = os.environ["NO_PROXY"] = "*"

    seeds = {path.name: path.read_bytes() for path in arguments.corpus.iterdir()}
    server = Server({name: seed[1:] for name, seed in seeds.items()})
    failed = 0
    for method, to_head in (("GET", 0), ("HEAD", TO_HEAD)):
        names = sorted(name for name, seed in seeds.items() if seed and seed[0] & TO_HEAD == to_head)
        with tempfile.TemporaryDirectory() as folder:
            curl = ask_curl(server, names, method, folder)
            pepe = ask_pepe(arguments.bin, server, names, method)
        for name in names:
            what = difference(pepe[name], curl[name], server.followed, name, method)
            if what and name not in DIFFERENCES:
                failed += 1
                print(f"{name}: {what}")
            if name in DIFFERENCES and not what:
                failed += 1
                print(f"{name}: they agree, although: {DIFFERENCES[name]}")
    print(f"{len(seeds)} answers, {failed} judged otherwise than by curl, {len(DIFFERENCES)} for a reason")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
