#!/usr/bin/env python3
"""Flips random bits of a result file, one at a time, and reads what is left.

    flips.py --bin build/release/pepe --count 1000

Each flip must be noticed, or change nothing; it may cost one chunk of results, never more, and of others only the bodies
that came with that chunk.
"""

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import native  # noqa: E402

RESULTS = 20_000
BODY = 6  # column of vegeta's CSV


def make_results(pepe, path):
    """A native file of many chunks, two targets, some failures and bodies."""
    lines = []
    for i in range(RESULTS):
        code, error = (200, "") if i % 7 else (500, "500 Internal Server Error")
        lines.append(
            f'{{"attack":"a","seq":{i},"code":{code},"timestamp":"2026-01-01T00:00:{i % 60:02}.{i:09}Z","latency":{1000 + i},'
            f'"bytes_out":0,"bytes_in":3,"error":"{error}","body":"{["YWJj", "ZGVm"][i % 2]}","method":"GET",'
            f'"url":"http://127.0.0.1/{i % 2}","headers":{{"Date":["{i // 1000}"]}}}}\n'
        )
    made = subprocess.run([pepe, "encode", "-to=msgpack"], input="".join(lines).encode(), capture_output=True, check=True)
    path.write_bytes(made.stdout)


def largest_chunk(path):
    """Hits of the chunk that has the most."""
    data, at, most = path.read_bytes(), 0, 0
    while at < len(data):
        size = int.from_bytes(data[at + 8 : at + 12], "big")
        chunk, _ = native.unpack(data[at + native.HEAD_BYTES :][:size], 0)
        if "hits" in chunk:
            most = max(most, len(chunk["hits"]) // len(chunk["columns"]))
        at += native.HEAD_BYTES + size
    return most


def read(pepe, path):
    ended = subprocess.run([pepe, "encode", "-to=csv", str(path)], capture_output=True, timeout=60, check=False)
    return ended.returncode, ended.stdout.splitlines(), ended.stderr.decode(errors="replace")


def without_body(line):
    columns = line.split(b",")
    columns[BODY] = b""
    return b",".join(columns)


def fault_of(whole, most, status, lines, said):
    """What is wrong with the reading of a flipped file, or nothing."""
    if status not in (0, 1):
        return f"exit status {status}"
    if status == 0 and lines == whole:
        return ""
    if status == 0 or not said:
        return "what is lost is not said"
    known = set(whole) | {without_body(line) for line in whole}
    if not set(lines) <= known or len(set(lines)) != len(lines):
        return "results that are not those of the file"
    lost = len(whole) - len(lines)
    return f"{lost} results are lost, of a chunk of {most}" if lost > most else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    dice = random.Random(options.seed)
    wrong = unnoticed = lost = 0
    with tempfile.TemporaryDirectory() as folder:
        path, flipped = Path(folder) / "whole", Path(folder) / "flipped"
        make_results(options.bin, path)
        data, most = path.read_bytes(), largest_chunk(path)
        _, whole, _ = read(options.bin, path)
        for _ in range(options.count):
            at, bit = dice.randrange(len(data)), dice.randrange(8)
            flipped.write_bytes(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])
            status, lines, said = read(options.bin, flipped)
            unnoticed += status == 0
            lost += len(whole) - len(lines)
            if fault := fault_of(whole, most, status, lines, said):
                wrong += 1
                print(f"bit {bit} of byte {at}: {fault}")
    print(
        f"{options.count} flips in {len(data)} bytes with {RESULTS} results (seed {options.seed}): {wrong} wrong, "
        f"{unnoticed} without effect, {lost / options.count:.0f} results lost a flip, {most} in the largest chunk"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
