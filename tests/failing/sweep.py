#!/usr/bin/env python3
"""Makes the n-th call of each kind fail, for each n in turn, in runs of the built binary.

    sweep.py --bin build/release/pepe --object build/release/tests/failing/libfailing_calls.so
    sweep.py ... --every 40 --draw     # every 40th position, from one that is drawn anew each time
    sweep.py ... --only attack --calls recv,alloc
    sweep.py ... --tally FILE --seconds 120     # in pieces: FILE says how far each row has come and what was found

Each run must end by itself with a right result or one clear error, its results readable, each hit recorded once. The
last lines are the figures; the status is 0 only when nothing was wrong.
"""

import argparse
import collections
import itertools
import json
import queue
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from counting_server import CountingServer, make_certificate
from faults import faults
from scenarios import HITS, Attacking, Reading, environment, run

# A position that is not reached ends the row; threads make their calls in another number each time.
IN_VAIN = 3


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, help="the binary")
    parser.add_argument("--object", required=True, help="the object to preload")
    parser.add_argument("--only", default="", help="scenarios, by the beginning of their names, with commas between")
    parser.add_argument("--calls", default="", help="kinds of calls, with commas between")
    parser.add_argument("--without", default="", help="kinds of calls left out")
    parser.add_argument("--first", type=int, default=1, help="the first position")
    parser.add_argument("--most", type=int, default=2000, help="the last position")
    parser.add_argument("--every", type=int, default=1, help="of so many positions one is tried")
    parser.add_argument("--draw", action="store_true", help="begin up to EVERY positions later, by chance")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="when to end, wherever it is by then")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--tally", type=Path, help="a file that is gone on from, and kept")
    return parser.parse_args()


def attacks(pepe, server, folder, certificate):
    plain = f"http://127.0.0.1:{server.port}/{{trial}}/"
    named = f"http://localhost:{server.port}/{{trial}}/"
    listed = "GET {url}\n\nGET {url}large\n\nPOST {url}post\nX-Extra: 1\n\n"
    one = folder / "body"
    one.write_text("a body" * 40)

    def attack(name, arguments, url=plain, **more):
        return Attacking(f"attack-{name}", pepe, server, folder, arguments, url=url, **more)

    table = [
        attack("http", []),
        attack("list", [f"-body={one}", "-encoding=csv"], named, targets=listed),
        attack("lazy", ["-lazy", "-progress=on", "-encoding=gob"], targets=listed * HITS),
        attack("threads", ["-threads=2", "-keepalive=false", "-prometheus-addr=127.0.0.1:0", "-encoding=json"]),
    ]
    if certificate:
        secure = f"https://127.0.0.1:{server.tls_port}/{{trial}}/"
        table.append(attack("tls", [f"-root-certs={certificate}", "-http2=false"], secure))
    return table


def start_http2(folder):
    """A server of HTTP/2 without TLS: (process, port); None where there is none."""
    program = shutil.which("nghttpd")
    if program is None:
        return None
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    (folder / "file").write_text("x" * 100)
    process = subprocess.Popen([program, "--no-tls", "-a", "127.0.0.1", "-d", folder, str(port)],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return process, port


def readings(pepe, folder, results):
    table = []
    inputs = {}
    for encoding in ("msgpack", "gob", "csv", "json"):
        inputs[encoding] = folder / f"in.{encoding}"
        run([pepe, "encode", f"-to={encoding}", f"-output={inputs[encoding]}", results])
        table.append(Reading(f"encode-{encoding}", pepe, ["encode", f"-to={encoding}", results]))
        for kind in ("text", "json", "hist[0,1ms,10ms]", "hdrplot"):
            table.append(Reading(f"report-{kind.partition('[')[0]}-{encoding}", pepe,
                                 ["report", f"-type={kind}", inputs[encoding]]))
    for name, command in (("report", ["report", "-type=json"]), ("encode", ["encode", "-to=csv"]), ("plot", ["plot"])):
        table.append(Reading(f"{name}-output", pepe, [*command, *inputs.values()], folder))
    return table


class Tally:
    """What was tried and what was wrong, of this sweep and of those that it goes on from."""

    def __init__(self, path):
        self.path = path
        kept = json.loads(path.read_text()) if path and path.exists() else {}
        self.next = kept.get("next", {})  # {row: the position to go on with; None: the row is at its end}
        self.tried = collections.defaultdict(collections.Counter, {
            kind: collections.Counter(calls) for kind, calls in kept.get("tried", {}).items()})
        self.wrong = kept.get("wrong", [])

    def keep(self):
        if self.path is None:
            return
        written = self.path.with_suffix(".new")
        written.write_text(json.dumps({"next": self.next, "tried": self.tried, "wrong": self.wrong}, indent=1))
        written.replace(self.path)


class Sweep:
    """Goes through the positions of every row (a scenario and a fault) on several threads."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.rows = queue.Queue()
        self.lock = threading.Lock()
        self.numbers = itertools.count()
        self.tally = Tally(options.tally)
        self.first = options.first + (random.randrange(options.every) if options.draw else 0)
        self.end = time.monotonic() + options.seconds
        self.cut = 0

    def rows_of(self, scenario):
        self.trial(scenario, None, 0)
        chosen = self.options.calls.split(",") if self.options.calls else None
        for fault in faults():
            if (chosen and fault.call not in chosen) or fault.call in self.options.without.split(","):
                continue
            if self.tally.next.get(f"{scenario.name} {fault}", 0) is not None:
                yield scenario, fault

    def trial(self, scenario, fault, position):
        """Whether it came to the fault."""
        # A name for each: what a server reads after a run's end is not to be taken for another run's.
        name = f"t{next(self.numbers)}"
        seen = self.folder / f"{name}.seen"
        ended = run(scenario.prepare(name), environment(self.options.object, fault, position, seen))
        wrong = scenario.faults(ended, fault, name)
        happened = seen.exists()
        with self.lock:
            if happened:
                self.tally.tried[scenario.name.partition("-")[0]][fault.call] += 1
            for text in wrong:
                self.note_wrong(f"{scenario.name} {fault and fault.setting(position)}: {text[:3000]}")
        for path in self.folder.glob(f"{name}.*"):
            path.unlink()
        return happened

    def note_wrong(self, text):
        print(text, flush=True)
        self.tally.wrong.append(text)

    def go_through(self):
        while True:
            try:
                scenario, fault = self.rows.get_nowait()
            except queue.Empty:
                return
            if time.monotonic() > self.end:
                with self.lock:
                    self.cut += 1
                continue
            self.go_along(scenario, fault)

    def go_along(self, scenario, fault):
        """The positions of one row, from where it stands."""
        row = f"{scenario.name} {fault}"
        in_vain = 0
        position = self.tally.next.get(row, self.first)
        while position <= self.options.most and in_vain < IN_VAIN:
            if time.monotonic() > self.end:
                self.tally.next[row] = position
                return
            try:
                happened = self.trial(scenario, fault, position)
            except Exception as error:  # what cannot be judged is wrong
                with self.lock:
                    self.note_wrong(f"{scenario.name}, {fault.setting(position)}: {error!r}")
                happened = False
            in_vain = 0 if happened else in_vain + 1
            position += self.options.every
        self.tally.next[row] = None

    def run(self, rows):
        for row in rows:
            self.rows.put(row)
        threads = [threading.Thread(target=self.go_through) for _ in range(self.options.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def show(self, seconds):
        tried = self.tally.tried
        for kind, calls in sorted(tried.items()):
            print(f"{kind}: {sum(calls.values())} positions: "
                  + ", ".join(f"{call} {count}" for call, count in sorted(calls.items())))
        if self.cut:
            print(f"out of time: {self.cut} pairs of a run and a fault were not begun")
        print(f"{sum(sum(calls.values()) for calls in tried.values())} positions of "
              f"{len(set().union(*tried.values()))} kinds of calls tried, "
              f"every {self.options.every} from {self.first} on, {len(self.tally.wrong)} wrong, "
              f"{seconds:.0f} s")


def main():
    options = parse_arguments()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="pepe-failing-") as name:
        folder = Path(name)
        certificate = make_certificate(folder)
        server = CountingServer(certificate)
        table = attacks(options.bin, server, folder, certificate)
        http2 = start_http2(folder)
        if http2:
            table.append(Attacking("attack-http2", options.bin, server, folder, ["-h2c"],
                                   url=f"http://127.0.0.1:{http2[1]}/file", counted=False))
        results = folder / "results"
        run([options.bin, "attack", "-rate=2000", "-duration=100ms", f"-output={results}", f"-targets={listed(folder, server)}"])
        table += readings(options.bin, folder, results)
        sweep = Sweep(options, folder)
        chosen = [scenario for scenario in table if scenario.name.startswith(tuple(options.only.split(",")))]
        rows = [row for scenario in chosen for row in sweep.rows_of(scenario)]
        random.shuffle(rows)  # so that a sweep that is cut short has seen some of everything
        sweep.run(rows)
        if http2:
            http2[0].terminate()
            http2[0].wait()
    sweep.tally.keep()
    sweep.show(time.monotonic() - started)
    return 1 if sweep.tally.wrong or not sweep.tally.tried else 0


def listed(folder, server):
    """Targets whose results have all that results can have: bodies, headers, failures."""
    path = folder / "targets"
    path.write_text("".join(f"{method} http://127.0.0.1:{port}/{end}\n\n" for method, port, end in (
        ("GET", server.port, "a"), ("POST", server.port, "b/large"), ("GET", 1, "refused"))))
    return path


if __name__ == "__main__":
    sys.exit(main())
