#!/usr/bin/env python3
"""Signals at odd moments of attacks: before the first hit, while a name is looked up, while results are written.

    signals.py --bin build/release/pepe --object build/release/tests/failing/libfailing_calls.so [--only writing,still]

What the server has answered is in the results, whatever was signalled once or twice; only a reader that stands still, or a
third signal, can cost some.
"""

import csv
import fcntl
import io
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from claims import judge
from counting_server import CountingServer


class Bench:
    """Where attacks are made: the binary, the object to preload, a server."""

    def __init__(self, options, folder):
        self.pepe, self.object, self.folder = options.bin, options.object, folder
        self.server = CountingServer()
        self.number = 0

    def start(self, arguments, *, end="", fault=None, url=None, out=subprocess.DEVNULL):
        """The process, and what the server has seen of it."""
        self.number += 1
        path = f"/{self.number}/{end}"
        environment = dict(os.environ)
        if fault:
            environment |= {"LD_PRELOAD": self.object, "PEPE_FAIL": fault}
            environment["ASAN_OPTIONS"] = "verify_asan_link_order=0:" + environment.get("ASAN_OPTIONS", "")
        process = subprocess.Popen([self.pepe, "attack", "-rate=1000", *arguments,
                                    *([] if url == "" else [url or f"http://127.0.0.1:{self.server.port}{path}"])],
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, text=True, env=environment)
        return process, self.server.hits[path]

    def results(self):
        return self.folder / f"{self.number}.results"

    def numbers(self, results):
        """Of the hits in the results, with what each came to."""
        ended = subprocess.run([self.pepe, "encode", "-to=csv", results], capture_output=True, text=True, check=False)
        return {int(row[8]): row[5] for row in csv.reader(io.StringIO(ended.stdout))}, ended.stderr


def wait_for(what, process):
    while not what() and process.poll() is None:
        time.sleep(0.002)


def is_writing(process, seen, hits):
    """Nothing but the main thread and the one that writes is left."""
    wait_for(lambda: len(seen) >= hits, process)
    wait_for(lambda: len(list(Path(f"/proc/{process.pid}/task").iterdir())) <= 2, process)


def while_writing(bench):
    """The last results are on their way when one more signal comes: they arrive."""
    for encoding in "msgpack", "csv":
        for told in True, False:
            results = bench.folder / f"{encoding}.{told}"
            asked = [f"-encoding={encoding}", f"-output={results}", *([] if told else ["-duration=50ms"])]
            process, seen = bench.start(asked, fault="write:1:0.5")
            if told:
                wait_for(lambda: len(seen) >= 100, process)  # by when the first write has begun
                process.send_signal(signal.SIGINT)
            is_writing(process, seen, 100 if told else 50)
            time.sleep(0.05)  # so that it is not its first moment
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate()
            numbers, damage = bench.numbers(results)
            if process.returncode != 0 or damage:
                yield f"{encoding}, told to stop: {told}: status {process.returncode}: {said} {damage}"
            if sorted(numbers) != list(range(len(seen))):
                yield f"{encoding}, told to stop: {told}: {len(numbers)} results, and the server saw {len(seen)} hits"


def reader_standing_still(bench):
    """A pipe that nobody reads holds up the end of a run, but not its signals."""
    for told in True, False:
        ends = os.pipe()
        fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, 4096)
        process, seen = bench.start(["-encoding=json", *([] if told else ["-duration=200ms"])], out=ends[1])
        os.close(ends[1])
        if told:
            wait_for(lambda: len(seen) >= 200, process)
            process.send_signal(signal.SIGINT)
        is_writing(process, seen, 200)
        process.send_signal(signal.SIGINT)
        process.communicate()
        os.close(ends[0])
        if process.returncode != (0 if told else -signal.SIGINT):
            yield f"told to stop: {told}: status {process.returncode}"


def before_the_first_hit(bench):
    """While the targets are still to come there is nothing to lose."""
    pipe = bench.folder / "pipe"
    os.mkfifo(pipe)
    held = os.open(pipe, os.O_RDWR)
    for arguments in ([f"-targets={pipe}"], ["-lazy", f"-targets={pipe}"]):
        results = bench.folder / "none"
        process, _ = bench.start([*arguments, f"-output={results}"], url="")
        time.sleep(0.1)  # some moment in the start
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
        if process.returncode not in (0, -signal.SIGINT) or "hits" in said:
            yield f"{arguments[0]}: status {process.returncode}: {said}"
        if results.exists() and bench.numbers(results)[0]:
            yield "there are results"
    os.close(held)


def while_a_name_is_looked_up(bench):
    """Hits that wait for a name are in flight: they end by their deadline, or at the second signal."""
    for signals, timeout in ([signal.SIGINT], "300ms"), ([signal.SIGINT, signal.SIGTERM], "1m"):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
            silent.bind(("127.0.0.1", 0))
            results = bench.folder / f"names{len(signals)}"
            process, _ = bench.start([f"-resolvers=127.0.0.1:{silent.getsockname()[1]}", f"-timeout={timeout}",
                                      f"-output={results}"], url="http://name.test/")
            silent.settimeout(10)
            try:
                silent.recv(500)
            except TimeoutError:
                yield f"{signals}: no name was asked for"
            for number in signals:
                process.send_signal(number)
            _, said = process.communicate()
            numbers, damage = bench.numbers(results)
            if process.returncode != 0 or damage or sorted(numbers) != list(range(len(numbers))) or not numbers:
                yield f"{signals}: status {process.returncode}: {said} {damage} {sorted(numbers)}"
            ends = "context canceled" if len(signals) == 2 else "deadline exceeded"
            if not all(ends in error for error in numbers.values()):
                yield f"{signals}: {list(numbers.values())[:1]}"


def thirty_moments(bench):
    """One signal, or two of two kinds, at thirty moments, 2 ms apart, from the start of the process on."""
    for number in range(30):
        results = bench.folder / f"any{number}"
        process, seen = bench.start([*([], ["-threads=2"], ["-encoding=gob"])[number % 3], f"-output={results}"],
                                    end="slow" if number % 2 else "")
        time.sleep(number * 0.002)
        for kind in (signal.SIGINT, signal.SIGTERM)[: 1 + number // 3 % 2]:
            process.send_signal(kind)
        _, said = process.communicate()
        numbers, damage = bench.numbers(results) if results.exists() and results.stat().st_size else ({}, "")
        if process.returncode == 0 and (damage or not set(seen) <= set(numbers)):
            yield f"{number}: {len(seen)} hits seen, {len(numbers)} recorded: {said} {damage}"
        if process.returncode != 0 and (process.returncode not in (-signal.SIGINT, -signal.SIGTERM) or seen):
            yield f"{number}: status {process.returncode}, {len(seen)} hits seen: {said}"


CLAIMS = {"writing": while_writing, "still": reader_standing_still, "first": before_the_first_hit,
          "names": while_a_name_is_looked_up, "moments": thirty_moments}


if __name__ == "__main__":
    sys.exit(judge(__doc__, CLAIMS, Bench))
