#!/usr/bin/env python3
"""Runs what reads results under valgrind's memcheck: no error, nothing lost.

    memcheck.py --bin build/release/pepe            each report, encoding and the plot, over one file of each encoding
    memcheck.py --bin build/release/pepe --apart    each of them over each of the files by itself

Ends with 77, which ctest takes for skipped, where there is no valgrind.
"""

import argparse
import base64
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
FOUND = 99  # a status that pepe has no use for
MEMCHECK = ["valgrind", "--quiet", f"--error-exitcode={FOUND}", "--leak-check=full",
            "--show-leak-kinds=definite,indirect", "--errors-for-leak-kinds=definite,indirect"]
ENCODINGS = ["msgpack", "gob", "json", "csv"]
COMMANDS = [
    ["report", "-type=text"],
    ["report", "-type=json", "-group-by=target"],
    ["report", "-type=hist[0,1ms,2ms]"],
    ["report", "-type=hdrplot", "-fail-if=p99>1h"],
    *(["encode", f"-to={encoding}"] for encoding in ENCODINGS),
    ["plot", "-threshold=10"],
]
HITS = 60


def results():
    """Answers with bodies and headers, failures without, two targets, times a little apart."""
    for i in range(HITS):
        failed = i % 7 == 3
        yield {
            "attack": "a", "seq": i, "code": 0 if failed else 200 + i % 3, "timestamp": f"2026-01-01T00:00:00.{i:03}Z",
            "latency": 1000 * (i + 1), "bytes_out": 0, "bytes_in": 0 if failed else 5,
            "error": "EOF, \"quoted\"\n" if failed else "",
            "body": None if failed else base64.b64encode(b"body%d" % (i % 4)).decode(), "method": "GET",
            "url": f"http://127.0.0.1/{i % 2}", "headers": None if failed else {"X-A": ["1", "2"], "Etag": [str(i)]},
        }


def make_inputs(pepe, folder):
    """A file of each encoding, and a native one that is damaged: torn, with something else in front of the tear."""
    lines = "".join(json.dumps(result) + "\n" for result in results()).encode()
    files = []
    for encoding in ENCODINGS:
        made = subprocess.run([pepe, "encode", f"-to={encoding}"], input=lines, capture_output=True, check=True)
        files.append(folder / encoding)
        files[-1].write_bytes(made.stdout)
    whole = files[0].read_bytes()
    damaged = folder / "damaged"
    damaged.write_bytes(whole + b"something else" + whole[: len(whole) // 2])
    return files, damaged


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, help="the binary")
    parser.add_argument("--apart", action="store_true", help="a run for each input")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("skipped: there is no valgrind")
        return SKIPPED
    wrong = runs = 0
    with tempfile.TemporaryDirectory(prefix="pepe-memcheck-") as folder:
        files, damaged = make_inputs(options.bin, Path(folder))
        inputs = [([file], 0) for file in files] if options.apart else [(files, 0)]
        for command in COMMANDS:
            for names, status in [*inputs, ([damaged], 1)]:
                ended = subprocess.run([*MEMCHECK, options.bin, *command, *names], capture_output=True, check=False)
                runs += 1
                if ended.returncode != status or not ended.stdout:
                    wrong += 1
                    said = ended.stderr.decode(errors="replace")
                    print(f"{' '.join(command)} {' '.join(file.name for file in names)}: status {ended.returncode}\n{said}")
    print(f"{runs} runs under memcheck, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
