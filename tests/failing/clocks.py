#!/usr/bin/env python3
"""Disturbs the clocks of running attacks, and stops their process, and looks at what the results say of it.

    clocks.py --bin build/release/pepe --object build/release/tests/failing/libfailing_calls.so [--only wall,stop]

The wall clock is set, the monotonic clock jumps, the machine sleeps (its monotonic clock stands still), the process is
stopped for a while. Every hit must have one result, in the order of the schedule, with a latency that can be true; what
was late is counted and said. Machines that are busy with other things make hits late as well, so nothing is wrong with more
lateness than was made here.
"""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from claims import judge
from counting_server import CountingServer

SECOND = 1_000_000_000
HOUR = 3600 * SECOND
# More than any machine is held up here, less than any step of a clock.
AGES = 600 * SECOND
RATE, HITS = 1000, 500
# A reading of a clock in the middle of such a run: each hit takes one or two at least, the start some ten.
MIDDLE = 300
LATE_NOTE = re.compile(r"pepe: (\d+) hits? sent over 10ms late, the worst (\S+)")
# What a closed loop on a machine that holds it up is limited by: the first of these that applies.
OWN_LIMIT = re.compile(r"the machine held it up for [\d.]+m?s|the output took results more slowly than they were made|"
                       r"a sending thread was busy all the time")


class Attack(NamedTuple):
    """What came of one."""

    status: int
    said: str
    rows: list      # of CSV, in the order of the hits' numbers
    report: dict
    began: int      # wall clock
    ended: int

    def stamps(self):
        return [int(row[0]) for row in self.rows]

    def codes(self):
        return [int(row[1]) for row in self.rows]

    def latencies(self):
        return [int(row[2]) for row in self.rows]


class Bench:
    """Where attacks are made: the binary, the object to preload, a server."""

    def __init__(self, options, folder):
        self.pepe, self.object, self.folder = options.bin, options.object, folder
        self.server = CountingServer()
        self.number = 0

    def attack(self, arguments=(), *, path="", fault=None, stop=None, hits=HITS):
        """`fault`: CALL:N:EFFECT. `stop`: a Stop."""
        self.number += 1
        path = f"/{self.number}/{path}"
        results, seen = (self.folder / f"{self.number}.{end}" for end in ("results", "seen"))
        asked = [f"-rate={RATE}", f"-duration={hits * 1000 // RATE}ms", "-threads=1", *arguments, f"-output={results}"]
        environment = dict(os.environ)
        if fault:
            environment |= {"LD_PRELOAD": self.object, "PEPE_FAIL": fault, "PEPE_FAIL_SEEN": str(seen)}
            environment["ASAN_OPTIONS"] = "verify_asan_link_order=0:" + environment.get("ASAN_OPTIONS", "")
        began = time.time_ns()
        with subprocess.Popen([self.pepe, "attack", *asked, f"http://127.0.0.1:{self.server.port}{path}"], text=True,
                              env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            if stop:
                stop.happen(process, self.server.hits[path])
            _, said = process.communicate()
        ended = time.time_ns()
        if fault and not seen.exists():
            raise AssertionError(f"it never came to {fault}")
        return Attack(process.returncode, said, self.rows(results), self.report(results), began, ended)

    def rows(self, results):
        text = subprocess.run([self.pepe, "encode", "-to=csv", results], capture_output=True, text=True, check=True).stdout
        return sorted(csv.reader(io.StringIO(text)), key=lambda row: int(row[8]))

    def report(self, results, *arguments):
        command = [self.pepe, "report", "-type=json", *arguments, results]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def faults_of_counts(run, hits=HITS):
    """Each hit has one result, and everything that counts them agrees."""
    if run.status != 0:
        yield f"status {run.status}: {run.said}"
    if [int(row[8]) for row in run.rows] != list(range(hits)):
        yield f"{len(run.rows)} results of {hits} hits"
    if run.report["requests"] != hits:
        yield f"the report has {run.report['requests']} of {hits} hits"
    generator = run.report.get("generator", {"sent": hits, "missed": 0})
    if generator["sent"] != hits or generator["missed"] != 0:
        yield f"of {hits} hits {generator['sent']} were sent and {generator['missed']} missed, it says"


def faults_of_times(run, longest=AGES):
    """Hits are taken up in their order and take as long as can be; the report's times are those of the results."""
    stamps, latencies = run.stamps(), run.latencies()
    if stamps != sorted(stamps):
        yield "timestamps go back"
    if not all(0 < latency < longest for latency in latencies):
        yield f"latencies from {min(latencies)} to {max(latencies)} ns"
    if run.report["duration"] != stamps[-1] - stamps[0]:
        yield f"the report's duration is {run.report['duration']} ns, that of the results {stamps[-1] - stamps[0]} ns"
    if run.report["latencies"]["max"] != max(latencies):
        yield f"the report's worst latency is {run.report['latencies']['max']}"


def faults_of_lateness(run):
    """What the generator says of itself is what its results say; `late` hits or more are said on standard error."""
    stamps = run.stamps()
    lags = [stamp - stamps[0] - number * SECOND // RATE for number, stamp in enumerate(stamps)]
    generator = run.report["generator"]
    # The first hit's own lag is in none of these, and in all of those.
    slack = generator["worst_lag"] - max(lags)
    late = [sum(lag > limit for lag in lags) for limit in (10_000_000, 10_000_000 - slack)]
    if slack < 0 or not late[0] <= generator["late"] <= late[1]:
        yield f"{late} hits are late, the worst {max(lags)} ns: {generator}"
    said = LATE_NOTE.search(run.said)
    if bool(said) != (generator["late"] >= 3 or generator["worst_lag"] >= 100_000_000):
        yield f"{generator['late']} late, the worst {generator['worst_lag']} ns, and it says {run.said!r}"
    if said and int(said[1]) != generator["late"]:
        yield f"{generator['late']} late, and it says {run.said!r}"


def set_wall_clock(bench):
    """A wall clock that is set in mid-run changes nothing: it is read once."""
    for step in (3600, -3600, -10 * 365 * 86400, -int(time.time()) - 86400):
        run = bench.attack(fault=f"clock:{MIDDLE}+:{step}")
        yield from faults_of_counts(run)
        yield from faults_of_times(run)
        yield from faults_of_lateness(run)
        if not run.began <= run.stamps()[0] <= run.ended:
            yield f"the first timestamp is {run.stamps()[0]}, the run was from {run.began} to {run.ended}"
        if not run.report["duration"] < AGES or min(run.codes()) != 200:
            yield f"set by {step} s, the report says {run.report}"


def odd_wall_clock(bench):
    """A clock that is wrong from the start, before 1970 too, is taken as it is, in each encoding."""
    for encoding in ("msgpack", "gob", "csv", "json"):
        for step in (3600, -int(time.time()) - 86400):
            run = bench.attack([f"-encoding={encoding}"], fault=f"clock:1+:{step}", hits=50)
            yield from faults_of_counts(run, 50)
            yield from faults_of_times(run)
            if not run.began + step * SECOND <= run.stamps()[0] <= run.ended + step * SECOND:
                yield f"{encoding}: set by {step} s, the first timestamp is {run.stamps()[0]}"


def sleeping_machine(bench):
    """While a machine sleeps no time passes for hits: none is late for it, none waits for longer."""
    closed = ["-rate=0", "-max-workers=4"]
    for arguments, middle, seconds in ([], MIDDLE, 1.5), (["-timeout=250ms"], MIDDLE, 1), (closed, 100, 1):
        run = bench.attack(arguments, path="slow", fault=f"suspend:{middle}:{seconds}")
        yield from faults_of_counts(run, len(run.rows))
        yield from faults_of_times(run, longest=seconds * SECOND)
        if run.ended - run.began < seconds * SECOND:
            yield "it did not sleep"
        if not run.rows or (arguments is not closed and len(run.rows) != HITS):
            yield f"{arguments}: {len(run.rows)} results"


def jumping_clock(bench):
    """A monotonic clock that jumps makes hits late, or slow, by as much, and ends the run soon."""
    for arguments, path in ([], "slow"), (["-timeout=1s"], "silent"), (["-duration=500ms", "-timeout=0"], ""):
        run = bench.attack(arguments, path=path, fault=f"monotonic:{MIDDLE}+:3600")
        yield from faults_of_counts(run)
        yield from faults_of_times(run, longest=HOUR + AGES)
        yield from faults_of_lateness(run)
        if not HOUR - AGES < run.report["generator"]["worst_lag"] < HOUR + AGES:
            yield f"the worst lag of a jump of an hour: {run.report['generator']}"
        if path == "silent" and any(run.codes()):
            yield f"what is never answered has a code: {run.codes()}"


class Stop:
    """Stops a process in the middle of its hits for so many seconds."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.middle = None  # of it, on the wall clock

    def happen(self, process, seen):
        while len(seen) < 20 and process.poll() is None:
            time.sleep(0.002)
        if process.poll() is not None:
            return  # on a machine that let this one wait for longer than the run takes
        process.send_signal(signal.SIGSTOP)
        while Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] not in "TZ":
            time.sleep(0.001)
        self.middle = time.time_ns() + int(self.seconds * SECOND) // 2
        time.sleep(self.seconds)
        process.send_signal(signal.SIGCONT)

    def after(self, run):
        """How many hits were taken up after it; none: the run was over by then."""
        return 0 if self.middle is None else sum(stamp > self.middle for stamp in run.stamps())

    def faults(self, run):
        """In what a schedule says of it."""
        after = self.after(run)
        if after == 0:
            return
        generator = run.report["generator"]
        # The first of them was due an interval after it stopped, or earlier; each further one an interval later.
        worst = (self.seconds - 1 / RATE) * SECOND
        late = min(after, int((self.seconds - 0.01) * RATE) - 2)
        if generator["worst_lag"] < worst or generator["late"] < late:
            yield f"stopped for {self.seconds} s, {after} hits came after it: {generator}"


def stopped_process(bench):
    """What was due while the process stood still is sent late, and counted and said to be."""
    for seconds, arguments, path in (0.3, [], ""), (1.5, ["-timeout=250ms"], "silent"), (0.5, ["-timeout=250ms"], "slow"):
        stop = Stop(seconds)
        run = bench.attack(arguments, path=path, stop=stop, hits=2 * HITS)
        yield from faults_of_counts(run, 2 * HITS)
        yield from faults_of_times(run)
        yield from faults_of_lateness(run)
        yield from stop.faults(run)
        if path == "silent" and not all(row[1] == "0" and "deadline exceeded" in row[5] for row in run.rows):
            yield "what is never answered does not end by its deadline"


def stopped_closed_loop(bench):
    """Without a schedule no hit is late: that all in flight took longer is said not to be the server's doing."""
    stop = Stop(0.3)
    run = bench.attack(["-rate=0", "-max-workers=4"], path="slow", stop=stop, hits=3 * HITS)
    yield from faults_of_counts(run, len(run.rows))
    yield from faults_of_times(run)
    if stop.after(run) == 0:
        return
    generator = run.report["generator"]
    if not generator["limited"] or not OWN_LIMIT.fullmatch(generator["limit"]):
        yield f"stopped for 0.3 s: {generator}"
    elif f"pepe: the generator was the limit: {generator['limit']}\n" not in run.said:
        yield f"it says {run.said!r}"


CLAIMS = {"wall": set_wall_clock, "odd": odd_wall_clock, "sleep": sleeping_machine, "jump": jumping_clock,
          "stop": stopped_process, "closed": stopped_closed_loop}


if __name__ == "__main__":
    sys.exit(judge(__doc__, CLAIMS, Bench))
