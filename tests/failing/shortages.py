#!/usr/bin/env python3
"""Attacks with too few file descriptors or local ports, alone and together with what needs more of them.

    shortages.py --bin build/release/pepe --object build/release/tests/failing/libfailing_calls.so [--only files,ports]

A run goes on with what it has: each hit has one result, that of a hit which found nothing left says so, and the run says
once how many these were, what the limit is and what helps. Where it cannot begin it ends with one clear line.
"""

import csv
import io
import json
import os
import re
import resource
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

from claims import judge
from counting_server import CountingServer, make_certificate

RATE, HITS = 2000, 400
MOST_RUNS = 10  # which are over before one is scraped, where the machine is busy
NO_FILE, NO_PORT = "too many open files", "connect: cannot assign requested address"
NO_FILE_ANYWHERE = "too many open files in system"
NOTES = {
    NO_FILE: r"pepe: (\d+) hits? found no free file descriptor: no more than {limit} files may be open \(ulimit -n\)",
    NO_FILE_ANYWHERE: r"pepe: (\d+) hits? found no free file descriptor: the system has none left \(fs.file-max\)",
    NO_PORT: r"pepe: (\d+) hits? found no free local port: keep connections alive, widen net.ipv4.ip_local_port_range"
             r"( \(\d+ to \d+\))?, or send from more addresses",
}


class Attack(NamedTuple):
    """What came of one."""

    status: int
    said: str
    rows: list
    report: dict

    def lacking(self, error):
        return sum(error in row[5] for row in self.rows)

    def successes(self):
        return sum(row[1] == "200" for row in self.rows)


class Scraper:
    """Holds connections to the metrics endpoint of a run, and asks on one of them."""

    def __init__(self):
        self.sockets = []
        self.answered = False

    def begin(self, port, results):
        """Once there are results: before that it could take what the run needs to start."""
        begun = 0
        for _ in range(500):
            size = results.stat().st_size if results.exists() else 0
            if 0 < begun < size:
                break
            begun = begun or size
            time.sleep(0.01)
        try:
            for _ in range(20):
                self.sockets.append(socket.create_connection(("127.0.0.1", port), timeout=10))
            self.sockets[0].sendall(b"GET /metrics HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            self.answered = b" 200 OK" in self.sockets[0].recv(100)
        except OSError:
            pass  # where the run has ended


class Bench:
    """Where attacks are made: the binary, the object to preload, a server on every address of the loopback."""

    def __init__(self, options, folder):
        self.pepe, self.object, self.folder = options.bin, options.object, folder
        self.certificate = make_certificate(folder)
        self.server = CountingServer(self.certificate, host="0.0.0.0")
        self.plain = f"http://127.0.0.1:{self.server.port}"
        self.secure = f"https://127.0.0.1:{self.server.tls_port}"

    def attack(self, arguments, url, *, files=None, fault=None, before=(), scraper=None):
        """`files`: how many may be open. `fault`: CALL:N:EFFECT. `before`: a command that runs the attack."""
        results = self.folder / "results"
        results.unlink(missing_ok=True)
        environment = {**os.environ, "LD_PRELOAD": self.object, "PEPE_FAIL": fault} if fault else None
        limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))) if files else None
        command = [*before, self.pepe, "attack", f"-rate={RATE}", f"-duration={HITS * 1000 // RATE}ms", *arguments,
                   f"-output={results}", url]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment,
                              preexec_fn=limit) as process:
            said = process.stderr.readline() if scraper else ""
            if port := re.search(r"listening on port (\d+)", said):
                threading.Thread(target=scraper.begin, args=[int(port[1]), results], daemon=True).start()
                said = ""
            said += process.stderr.read()
        if not results.exists() or results.stat().st_size == 0:
            return Attack(process.returncode, said, [], {})
        return Attack(process.returncode, said, *self.read(results))

    def read(self, results):
        rows = subprocess.run([self.pepe, "encode", "-to=csv", results], capture_output=True, text=True, check=True).stdout
        report = subprocess.run([self.pepe, "report", "-type=json", results], capture_output=True, check=True).stdout
        return sorted(csv.reader(io.StringIO(rows)), key=lambda row: int(row[8])), json.loads(report)


def faults_of_shortage(run, error, limit=""):
    """A run that went on although hits met `error`."""
    if run.status != 0:
        yield f"status {run.status}: {run.said}"
    if [int(row[8]) for row in run.rows] != list(range(HITS)) or run.report["requests"] != HITS:
        yield f"{len(run.rows)} results of {HITS} hits"
    notes = re.findall(NOTES[error].format(limit=limit), run.said)
    counts = [int(note if isinstance(note, str) else note[0]) for note in notes]
    if counts != ([run.lacking(error)] if run.lacking(error) else []):
        yield f"{run.lacking(error)} hits met it, and it says {run.said!r}"
    if not run.lacking(error):
        yield f"no hit met it: {run.said!r} {[row[5] for row in run.rows if row[5]][:1]}"


def few_files(bench):
    """Limits of open files at which it cannot begin, can do little, and can do some of what is asked for."""
    plain, secure = bench.plain, bench.secure
    ways = {
        "plain": ([], plain + "/slow"),
        "two threads": (["-threads=2"], plain + "/slow"),
        "no keep-alive": (["-keepalive=false"], plain + "/slow"),
        "redirects to many hosts": ([], plain + "/elsewhere"),
        "names": (["-resolvers=127.0.0.1:1"], f"http://localhost:{bench.server.port}/slow"),
    }
    if bench.certificate:
        ways["TLS"] = ([f"-root-certs={bench.certificate}", "-http2=false"], secure + "/slow")
        ways["HTTP/2 wanted"] = ([f"-root-certs={bench.certificate}"], secure + "/slow")
    for name, (arguments, url) in ways.items():
        for files in 8, 16, 64:
            run = bench.attack(arguments, url, files=files)
            for text in faults_of_few_files(run, files):
                yield f"{name}, {files} files: {text}"
            if files == 64 and not run.successes():
                yield f"{name}: it does nothing with what it has"


def faults_of_few_files(run, files):
    if run.status == 1 and files < 20:
        if not re.fullmatch(r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d [^\n]*too many open files[^\n]*\n", run.said):
            yield f"it cannot begin, and says {run.said!r}"
        return
    yield from faults_of_shortage(run, NO_FILE, files)


def no_files_anywhere(bench):
    """Not the limit of the process, but that of the machine."""
    run = bench.attack([], bench.plain + "/slow", fault="socket:20+:ENFILE")
    yield from faults_of_shortage(run, NO_FILE_ANYWHERE)
    if "ulimit" in run.said:
        yield f"it says {run.said!r}"


def files_and_scrapes(bench):
    """Who reads the metrics takes descriptors too. The endpoint answers, and the hits have their results."""
    answered = False
    for files in 24, 64:
        for _ in range(MOST_RUNS):
            scraper = Scraper()
            run = bench.attack(["-prometheus-addr=127.0.0.1:0"], bench.plain + "/slow", files=files, scraper=scraper)
            for text in faults_of_few_files(run, files):
                yield f"with scrapes, {files} files: {text}"
            answered = scraper.answered
            if files == 24 or answered:
                break
    if not answered:
        yield "no scrape was answered"


def few_ports(bench):
    """No local port is left: as the system says it when connecting, and for real where a network of its own can be had."""
    for arguments in ([], ["-laddr=127.0.0.1"], ["-threads=2", "-keepalive=false"]):
        run = bench.attack(arguments, bench.plain + "/slow", fault="connect:20+:EADDRNOTAVAIL")
        yield from faults_of_shortage(run, NO_PORT)
        if not run.successes():
            yield "it does nothing with what it has"


def own_network(folder):
    """A command that runs another in a network of its own, with its server and eleven local ports; () where none may be had."""
    script = folder / "network.sh"
    script.write_text("ip link set lo up && echo 40000 40010 >/proc/sys/net/ipv4/ip_local_port_range && exec \"$@\"\n")
    command = ["unshare", "-n", "sh", str(script)]
    if not shutil.which("unshare") or subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        return ()
    return command


def exhausted_ports(bench):
    """Eleven ports, and many more hits at a time."""
    before = own_network(bench.folder)
    if not before:
        return
    server = Path(__file__).with_name("counting_server.py")
    serving = [*before, sys.executable, str(server)]
    for arguments in ([], ["-laddr=127.0.0.1"], ["-keepalive=false"]):
        run = bench.attack(arguments, "http://127.0.0.1:8080/slow", before=serving)
        yield from faults_of_shortage(run, NO_PORT)
        if not run.successes():
            yield "it does nothing with what it has"
        if "(40000 to 40010)" not in run.said:
            yield f"it does not name the range: {run.said!r}"


CLAIMS = {"files": few_files, "system": no_files_anywhere, "scrapes": files_and_scrapes, "ports": few_ports, "exhausted": exhausted_ports}


if __name__ == "__main__":
    sys.exit(judge(__doc__, CLAIMS, Bench))
