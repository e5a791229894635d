#!/usr/bin/env python3
"""Kills attacks at random moments and looks at what they leave behind.

    kills.py --bin build/release/pepe --count 100 --oldest-ms 250

Each file must be readable up to its torn end, no hit in it twice, each of its hits one that the server has answered.
What the server answered and the file lacks is lost: the figures say how old the oldest of it was at the kill.
--oldest-ms makes more than that a failure, which is for a machine that is not busy with other things.
"""

import argparse
import csv
import io
import random
import re
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"
NUMBER = re.compile(rb"X-Vegeta-Seq: (\d+)\r\n")
TORN = re.compile(r".*: bytes \d+ to \d+ are lost: the stream ends inside a chunk\n"
                  r"(?:.*some results are lost, the others were read\n)?")


class LoggingServer:
    """Answers every request at once and notes when, by the number of its hit. Requests are small and come whole."""

    def __init__(self):
        self.answered = {}  # sequence number: when, on the monotonic clock
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        ready = select.epoll()
        ready.register(self.listener, select.EPOLLIN)
        sockets = {}
        while True:
            for fd, _ in ready.poll():
                if fd == self.listener.fileno():
                    client, _ = self.listener.accept()
                    sockets[client.fileno()] = client
                    ready.register(client, select.EPOLLIN)
                elif fd in sockets and not self._answer(sockets[fd]):
                    ready.unregister(fd)
                    sockets.pop(fd).close()

    def _answer(self, client):
        try:
            request = client.recv(65536)
            for number in NUMBER.findall(request):
                client.send(ANSWER)
                self.answered[int(number)] = time.monotonic()
            return bool(request)
        except OSError:
            return False


class Kill:
    """One attack, killed."""

    def __init__(self, pepe, server, rate, results):
        server.answered = {}
        arguments = ["attack", f"-rate={rate}", f"-output={results}", f"http://127.0.0.1:{server.port}/"]
        with subprocess.Popen([pepe, *arguments], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(random.uniform(0.3, 1.2))
            self.at = time.monotonic()
            process.kill()
        self.answered = dict(server.answered)
        if not results.exists() or results.stat().st_size == 0:  # killed before it had anything to write
            self.status, self.said, self.numbers = 0, "", []
            return
        ended = subprocess.run([pepe, "encode", "-to=csv", results], capture_output=True, text=True, check=False)
        self.status, self.said = ended.returncode, ended.stderr
        self.numbers = [int(row[8]) for row in csv.reader(io.StringIO(ended.stdout))]

    def lost(self):
        """How old each lost hit was, in seconds."""
        kept = set(self.numbers)
        return [self.at - when for number, when in self.answered.items() if when < self.at and number not in kept]

    def faults(self, oldest):
        wrong = []
        if (self.status, self.said) != (0, "") and not (self.status == 1 and TORN.fullmatch(self.said)):
            wrong.append(f"not readable: {self.said!r}")
        if len(set(self.numbers)) != len(self.numbers):
            wrong.append("a hit is in it twice")
        if not set(self.numbers) <= set(self.answered):
            wrong.append("a hit is in it that was not answered")
        age = max(self.lost(), default=0)
        if oldest is not None and age * 1000 > oldest:
            wrong.append(f"a hit is lost that was {age * 1000:.1f} ms old")
        return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, help="the binary")
    parser.add_argument("--count", type=int, default=100, help="kills")
    parser.add_argument("--rate", type=int, default=5000, help="hits a second")
    parser.add_argument("--oldest-ms", type=float, help="how old a lost hit may be")
    options = parser.parse_args()
    server = LoggingServer()
    wrong, hits, lost, torn = 0, 0, [], 0
    with tempfile.TemporaryDirectory(prefix="pepe-kills-") as folder:
        for number in range(options.count):
            kill = Kill(options.bin, server, options.rate, Path(folder) / str(number))
            for text in kill.faults(options.oldest_ms):
                print(f"kill {number}: {text}")
                wrong += 1
            hits += len(kill.numbers)
            torn += kill.status
            lost.append(kill.lost())
    ages = sorted(max(of, default=0) * 1000 for of in lost)
    print(f"{options.count} kills at {options.rate}/s: {hits} results read, none twice unless said above, {torn} torn "
          f"ends; lost a kill: {sum(map(len, lost)) / options.count:.0f} hits, the oldest {ages[len(ages) // 2]:.0f} ms "
          f"old (median), {ages[-1]:.1f} ms (most); {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
