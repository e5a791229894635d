"""Runs programs for bench/run.py and says what they used and did, as dictionaries of figures."""

import itertools
import json
import os
import subprocess
import tempfile
import threading
import time
from array import array
from dataclasses import dataclass
from pathlib import Path

from native import hits_of
from peers import Load

PUNCTUAL_SIZE = 16 * 1024  # of bodies; results with larger ones take too long to read for their timestamps


class RunFailed(Exception):
    """A tool that did not do what it was asked; the text says which and why."""


@dataclass(frozen=True)
class Used:
    """What one process used, from its own accounting, and what it printed."""

    wall_s: float
    user_s: float
    system_s: float
    peak_mb: float
    stdout: str
    stderr: str

    def cost(self, done):
        """The figures that every kind of run has, for `done` requests or results."""
        each = 1e6 / max(1, done)
        return {
            "wall_s": self.wall_s,
            "peak_mb": self.peak_mb,
            "cpu_us": (self.user_s + self.system_s) * each,
            "user_us": self.user_s * each,
        }


def run_measured(command, options, scratch, *, cpu, limit, wrapper=()):
    """Runs it to its end under bench/measure, killed after `limit` seconds."""
    measure = [options.build / "bench/measure", cpu, int(limit), scratch / "used"]
    with open(scratch / "stdout", "w+") as stdout, open(scratch / "stderr", "w+") as stderr:
        subprocess.run([str(word) for word in [*measure, *wrapper, *command]], stdout=stdout, stderr=stderr, check=True)
    used = json.loads((scratch / "used").read_text())
    out, err = (scratch / "stdout").read_text(errors="replace"), (scratch / "stderr").read_text(errors="replace")
    if used["timed_out"] or used["status"] != 0:
        raise RunFailed(
            f"status {used['status']}{' (too slow)' if used['timed_out'] else ''}: {err[-500:].strip()}\n"
            f"{' '.join(map(str, command))}"
        )
    return Used(used["wall_s"], used["user_s"], used["system_s"], used["peak_rss_kb"] / 1024, out, err)


class Attack:
    """A tool in a scenario, run as often as asked against one server."""

    def __init__(self, tool, scenario, server, options, flags=()):
        self.tool, self.scenario, self.server, self.options = tool, scenario, server, options
        self.flags = [*scenario.flags.get(tool.name, []), *flags]
        self.seconds = options.seconds or scenario.seconds
        self.cpu = options.client_cpu if scenario.pinned else -1
        self.calibrated = False

    def __call__(self):
        if self.scenario.requests and not self.tool.counts and not self.calibrated and not self.options.seconds:
            self.seconds = self.scenario.requests / self.run(2)["rate"]  # it can only be told how long
            self.calibrated = True
        return self.run(self.seconds)

    def run(self, seconds, traced=False):
        with tempfile.TemporaryDirectory(prefix="pepe-bench-", dir=self.folder()) as folder:
            scratch = Path(folder)
            requests = 0 if traced or self.options.seconds else self.scenario.requests
            load = Load(
                self.server.port,
                self.scenario.tls,
                self.scenario.connections,
                self.scenario.rate,
                seconds,
                requests,
                scratch,
                self.scenario.streams,
                self.flags,
            )
            command = [self.tool.program(), *self.tool.arguments(load)]
            limit = requests / 10_000 if requests and self.tool.counts else seconds
            wrapper = ["strace", "-c", "-f", "-o", scratch / "strace"] if traced else []
            sink = (
                SlowSink(load.results, self.scenario.sink_mb, self.options.server_cpu)
                if self.scenario.sink_mb
                else None
            )
            used = run_measured(command, self.options, scratch, cpu=self.cpu, limit=limit + 60, wrapper=wrapper)
            if sink:
                sink.finish()
            outcome = self.tool.outcome(load, used.stdout)
            if outcome.done == 0:
                raise RunFailed(f"no request was completed\n{' '.join(map(str, command))}")
            figures = self.figures(load, used, outcome)
            if sink:
                figures.update(self.output_figures(load, used))
            if traced:
                figures["calls"] = count_syscalls(scratch / "strace")
            figures["command"] = shown_command(command, scratch, self.server.port)
            return figures

    def folder(self):
        return "/dev/shm" if self.scenario.in_memory and os.access("/dev/shm", os.W_OK) else self.options.scratch

    def figures(self, load, used, outcome):
        figures = {
            "done": outcome.done,
            "failed": outcome.failed,
            "rate": outcome.done / used.wall_s,
            **used.cost(outcome.done),
        }
        if outcome.result_bytes:
            figures["result_kb"] = outcome.result_bytes / 1000
            figures["bytes_per_result"] = outcome.result_bytes / max(1, outcome.done + outcome.failed)
        if outcome.latency_us:
            figures["latency_p50_us"], figures["latency_p99_us"] = outcome.latency_us
        if self.scenario.kind == "variants":
            figures["threads"] = outcome.threads
        if load.rate:
            figures["reached"] = (outcome.done + outcome.failed) / (load.rate * load.seconds)
            if self.scenario.size <= PUNCTUAL_SIZE:
                figures.update(self.punctuality(load))
        return figures

    def punctuality(self, load):
        figures = {}
        if times := self.tool.send_times(load):
            figures.update(schedule_error(times, load.rate))
        if lags := self.tool.lags(load):
            figures.update(spread_of("lag", sorted(lag / 1000 for lag in lags)))
        return figures

    def output_figures(self, load, used):
        """Whether the tool said that its output was the limit, and how many of its results can't be read."""
        report = subprocess.run(
            [self.tool.program(), "report", "-type=json", load.results], capture_output=True, text=True, check=True
        )
        facts = json.loads(report.stdout)
        generator = facts.get("generator", {})
        return {
            "output_said": int("output took results" in used.stderr),
            "unread": generator.get("sent", 0) - facts["requests"],
        }

    def syscalls(self):
        """System calls per request: what a longer run has more of than a shorter one, so starting does not count."""
        short, long = self.run(1, traced=True), self.run(3, traced=True)
        return (long["calls"] - short["calls"]) / max(1, long["done"] - short["done"])


class SlowSink:
    """A pipe in place of the result file, read at a steady pace into the file that takes its place afterwards."""

    def __init__(self, path, megabytes, cpu):
        self.path, self.kept = path, path.with_name("kept")
        self.pace, self.cpu = megabytes * 1e6, cpu
        os.mkfifo(path)
        self.descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # so that the writer need not wait for a reader
        self.thread = threading.Thread(target=self.drain, daemon=True)
        self.over = threading.Event()
        self.thread.start()

    def drain(self):
        if self.cpu >= 0:
            os.sched_setaffinity(0, {self.cpu})  # this thread alone
        taken, start = 0, None
        with open(self.kept, "wb") as kept:
            while True:
                try:
                    piece = os.read(self.descriptor, 64 * 1024)
                except BlockingIOError:
                    piece = None
                if not piece:
                    if self.over.is_set():
                        return
                    time.sleep(0.002)
                    continue
                start = start or time.monotonic()
                kept.write(piece)
                taken += len(piece)
                time.sleep(max(0, start + taken / self.pace - time.monotonic()))

    def finish(self):
        self.over.set()
        self.thread.join()
        os.close(self.descriptor)
        os.replace(self.kept, self.path)


def schedule_error(times, rate):
    """How far apart from its place in the schedule each hit was sent, in microseconds, against the hit that was most
    punctual: no tool says when its schedule began, and none can send a hit before it is due."""
    errors = sorted(nanos - seq * 1_000_000_000 // rate for seq, nanos in times)
    return spread_of("error", [(error - errors[0]) / 1000 for error in errors])


def spread_of(name, ordered):
    return {
        f"{name}_p50_us": quantile(ordered, 0.5),
        f"{name}_p99_us": quantile(ordered, 0.99),
        f"{name}_max_us": ordered[-1],
    }


def quantile(ordered, q):
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


def count_syscalls(summary):
    for line in reversed(summary.read_text().splitlines()):
        if line.rstrip().endswith("total"):
            return int(line.split()[3])
    raise RunFailed("strace printed no total")


def shown_command(command, scratch, port):
    words = [os.path.basename(str(command[0])), *map(str, command[1:])]
    return " ".join(words).replace(f"{scratch}/", "").replace(str(port), "PORT")


def quantiles_by(path, column, hits_per_group, q):
    """A quantile of a column over each group of hits that follow each other in the schedule, in microseconds."""
    groups = {}
    for seq, nanos in hits_of(path, column):
        groups.setdefault(seq // hits_per_group, array("q")).append(nanos)
    return [quantile(sorted(values), q) / 1000 for _, values in sorted(groups.items())]


def alternate(rows, rounds, show):
    """{row: [figures of each run]}, and {row: why it failed}. Rows take turns, each round with another one first."""
    names, runs, failures = list(rows), {name: [] for name in rows}, {}
    for number in range(rounds):
        turn = number % len(names)
        for name in itertools.chain(names[turn:], names[:turn]):
            if name in failures:
                continue
            show(f"run {number + 1} of {rounds}, {name}")
            try:
                runs[name].append(rows[name]())
            except (RunFailed, subprocess.CalledProcessError, ValueError, KeyError, TypeError) as failure:
                failures[name] = str(failure) or repr(failure)
    return runs, failures
