"""The runs in which a call is made to fail, and what each must come to whatever fails."""

import csv
import io
import json
import os
import re
import signal
import subprocess
from typing import NamedTuple

HITS = 10
# So that a sanitizer's report is never taken for an error of pepe's own.
CRASH_STATUS = 86
# Not a limit that a run is held to: it ends what would hang.
WATCHDOG_SECONDS = 30

NOTE = re.compile(r"pepe: [ -~]+|[ -~]+ in flight")
FAILURE = re.compile(r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d [ -~]+")
SHORTAGE = "pepe: out of memory"


class Ended(NamedTuple):
    """What came of a run."""

    status: int
    out: bytes
    err: str


def run(command, environment=None, text=None):
    """The run's end; a negative status is a signal's, None the watchdog's."""
    stdin = subprocess.DEVNULL if text is None else subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          close_fds=False) as process:
        try:
            out, err = process.communicate(text, timeout=WATCHDOG_SECONDS)
            return Ended(process.returncode, out, err.decode("utf-8", "replace"))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            _, err = process.communicate()
            return Ended(None, b"", err.decode("utf-8", "replace"))


def faults_of_the_end(ended, fault):
    """What is wrong with how it ended and what it said."""
    if ended.status == -signal.SIGPIPE and fault and fault.effect == "EPIPE" and not ended.err:
        return []  # as a program ends whose reader has gone
    if ended.status is None:
        return ["it hung"]
    if ended.status not in (0, 1):
        return [f"ended with status {ended.status}: {ended.err[-2000:]}"]
    lines = ended.err.splitlines()
    wrong = [f"said {line!r}" for line in lines if not NOTE.fullmatch(line) and not FAILURE.fullmatch(line)]
    failures = [line for line in lines if FAILURE.fullmatch(line) or line == SHORTAGE]
    if len(failures) != ended.status:
        wrong.append(f"status {ended.status} and {len(failures)} errors said: {ended.err!r}")
    return wrong


class Reading:
    """A command that reads results and writes figures or results: as without the fault, or an error."""

    def __init__(self, name, pepe, arguments, folder=None):
        self.name, self.command, self.folder = name, [pepe, *arguments], folder
        self.expected = self.whole = None

    def output(self, trial):
        """Where it writes to; None: to standard output."""
        return self.folder / f"{trial}.written" if self.folder else None

    def prepare(self, trial):
        output = self.output(trial)
        if output is None:
            return self.command
        return [*self.command[:2], f"-output={output}", *self.command[2:]]

    def written(self, ended, trial):
        output = self.output(trial)
        if output is None and "-to=msgpack" in self.command:  # in which each stream has a number of its own
            return run([self.command[0], "encode", "-to=csv"], text=ended.out).out
        if output is None:
            return ended.out
        return output.read_bytes() if output.exists() else b""

    def faults(self, ended, fault, trial):
        wrong = faults_of_the_end(ended, fault)
        if self.whole is None:
            self.expected, self.whole = ended, self.written(ended, trial)
            return wrong + (["the run without a fault failed"] if ended.status != 0 else [])
        if ended.status == 0 and (self.written(ended, trial) != self.whole or ended.err != self.expected.err):
            wrong.append(f"status 0, and not what comes without the fault: {ended.err!r}")
        if fault and fault.harmless and ended.status != 0:
            wrong.append(f"a fault to be put up with ended it: {ended.err!r}")
        return wrong


class Attacking:
    """An attack of HITS hits: each is recorded once, as what it was, or the run ends with an error."""

    def __init__(self, name, pepe, server, folder, arguments, *, url, targets=None, counted=True):
        self.name, self.pepe, self.server, self.folder = name, pepe, server, folder
        self.arguments, self.url, self.targets, self.counted = arguments, url, targets, counted

    def results(self, trial):
        return self.folder / f"{trial}.results"

    def prepare(self, trial):
        url = self.url.format(trial=trial)
        arguments = [f"-rate={HITS * 100}", "-duration=10ms", "-timeout=5s", f"-output={self.results(trial)}"]
        if self.targets:
            listed = self.folder / f"{trial}.targets"
            listed.write_text(self.targets.format(url=url))
            return [self.pepe, "attack", *arguments, *self.arguments, f"-targets={listed}"]
        return [self.pepe, "attack", *arguments, *self.arguments, url]

    def faults(self, ended, fault, trial):
        wrong = faults_of_the_end(ended, fault)
        rows, readable = self._read(trial)
        seen = self._seen(trial)
        numbers = [int(row[8]) for row in rows]
        good = [int(row[8]) for row in rows if 200 <= int(row[1]) < 400]
        if len(set(numbers)) != len(numbers):
            wrong.append(f"a hit is recorded twice: {sorted(numbers)}")
        if wrong == [] and ended.status == 0:
            wrong += self._faults_of_a_whole_run(ended, trial, numbers, good, seen) + readable
        if ended.status == 1 and readable and not (fault and fault.call in ("write", "close", "alloc")):
            wrong += readable
        if self.counted and any(seen[number] < 1 for number in good):
            wrong.append(f"a success that the server has not seen: {sorted(good)}, seen {dict(seen)}")
        if self.counted and any(times > (2 if fault else 1) for times in seen.values()):
            wrong.append(f"a hit was sent too often: {dict(seen)}")
        if (fault is None or fault.harmless) and (ended.status != 0 or len(good) != len(numbers)):
            wrong.append(f"status {ended.status}, {len(good)} of {len(numbers)} succeeded: {ended.err!r} "
                         f"{[row[5] for row in rows if row[5]][:1]}")
        return wrong

    def _faults_of_a_whole_run(self, ended, trial, numbers, good, seen):
        wrong = []
        missed = re.search(r"pepe: (\d+) hits? missed", ended.err)  # which a machine that is busy may bring about
        sent = HITS - int(missed[1] if missed else 0)
        if sorted(numbers) != list(range(sent)):
            wrong.append(f"{sent} hits to be sent, recorded {sorted(numbers)}: {ended.err!r}")
        if self.counted and not set(seen) <= set(numbers):
            wrong.append(f"the server saw {dict(seen)}, recorded {sorted(numbers)}")
        said = re.search(r"pepe: (\d+) of (\d+) hits failed", ended.err)
        failed, of = (int(said[1]), int(said[2])) if said else (0, sent)
        if failed != len(numbers) - len(good) or of != len(numbers):
            wrong.append(f"{len(numbers) - len(good)} hits of {len(numbers)} failed, and it says {ended.err!r}")
        report = run([self.pepe, "report", "-type=json", self.results(trial)])
        if report.status != 0 or json.loads(report.out)["requests"] != len(numbers):
            wrong.append(f"the report says otherwise: {report}")
        return wrong

    def _seen(self, trial):
        paths = [path for path in list(self.server.hits) if f"/{trial}/" in path]
        return sum((self.server.hits.pop(path) for path in paths), start=type(self.server.hits[""])())

    def _read(self, trial):
        """The results as rows of CSV, and what is wrong with the file."""
        path = self.results(trial)
        if not path.exists() or path.stat().st_size == 0:
            return [], []
        ended = run([self.pepe, "encode", "-to=csv", path])
        rows = list(csv.reader(io.StringIO(ended.out.decode())))
        bad = ended.status != 0 or ended.err
        return rows, [f"the results are damaged: {ended.err!r}"] if bad else []


def environment(shared_object, fault, position, seen):
    """That of a run in which `fault` happens at `position`."""
    preloaded = {**os.environ, "LD_PRELOAD": str(shared_object), "PEPE_FAIL_SEEN": str(seen)}
    preloaded["ASAN_OPTIONS"] = (f"verify_asan_link_order=0:allocator_may_return_null=1:exitcode={CRASH_STATUS}:"
                                 "detect_leaks=1:" + os.environ.get("ASAN_OPTIONS", ""))
    preloaded["UBSAN_OPTIONS"] = f"exitcode={CRASH_STATUS}:print_stacktrace=1"
    if fault:
        preloaded["PEPE_FAIL"] = fault.setting(position)
    return preloaded
