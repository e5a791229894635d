#!/usr/bin/env python3
"""Asks vegeta for a second opinion on gob: what one tool writes, the other reads as the same.

    agree_with_vegeta.py --bin build/release/pepe tests/fuzz/corpus/result_gob

First random results, which each tool writes as gob for the other; then the files of a corpus, which both read: pepe
reads at least the results that vegeta does, as the same, or refuses what is no more than noise. Exit status: 0 they agree, 1 they do not, 77 there is no
vegeta.
"""
import argparse
import base64
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

RUNS = 40
RESULTS = 50
TEXTS = ["", "a", "GET", "\u00fc\u20ac\U0001f600", "\"q\" \\ \t\r\n", "<&>\u2028", "\x00\x01\x7f", "x" * 300]


def number(dice, bits):
    return dice.choice([0, 1, (1 << bits) - 1, dice.getrandbits(bits), dice.getrandbits(dice.randint(1, bits))])


def moment(dice):
    zone = dice.choice(["Z", "+01:00", "-11:45", "+05:30"])
    return (f"{dice.randint(1700, 2200):04}-{dice.randint(1, 12):02}-{dice.randint(1, 28):02}T{dice.randint(0, 23):02}:"
            f"{dice.randint(0, 59):02}:{dice.randint(0, 59):02}.{number(dice, 29):09}{zone}")


def result(dice):
    text = lambda: dice.choice(TEXTS)
    headers = {dice.choice(["X-A", "Date", "Set-Cookie", "x-odd"]): [text() for _ in range(dice.randint(1, 3))]
               for _ in range(dice.randint(0, 3))}
    return {"attack": text(), "seq": number(dice, 64), "code": number(dice, 16), "timestamp": moment(dice),
            "latency": number(dice, 63), "bytes_out": number(dice, 64), "bytes_in": number(dice, 64), "error": text(),
            "body": dice.choice([None, base64.b64encode(dice.randbytes(dice.randint(0, 40))).decode()]),
            "method": text(), "url": text(), "headers": dice.choice([None, headers])}


def encode(tool, to, file):
    """The bytes, and whether it failed."""
    ended = subprocess.run([tool, "encode", "-to", to, str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           timeout=60)
    return ended.stdout, ended.returncode != 0


def results_in(text):
    results = [json.loads(line) for line in text.splitlines()]
    for one in results:
        one["body"] = one["body"] or None  # gob does not tell an empty one from none
        one["headers"] = one["headers"] or None
    return results


def check_random(pepe, vegeta, folder, dice):
    source = folder / "results.json"
    source.write_text("".join(json.dumps(result(dice), separators=(",", ":")) + "\n" for _ in range(RESULTS)))
    expected = results_in(encode(vegeta, "json", source)[0])
    problems = [] if len(expected) == RESULTS else [f"vegeta read {len(expected)} of {RESULTS} results"]
    for writer, reader in ((pepe, vegeta), (vegeta, pepe)):
        gob = folder / "results.gob"
        gob.write_bytes(encode(writer, "gob", source)[0])
        read = results_in(encode(reader, "json", gob)[0])
        for ours, theirs in zip(read, expected):
            if ours != theirs:
                problems.append(f"written by {writer}, read by {reader}:\n  {ours}\n  expected {theirs}")
        if len(read) != len(expected):
            problems.append(f"written by {writer}, {reader} reads {len(read)} results of {len(expected)}")
    return problems


def check_file(pepe, vegeta, file):
    theirs, their_failure = encode(vegeta, "json", file)
    ours, our_failure = encode(pepe, "json", file)
    theirs, ours = results_in(theirs), results_in(ours)
    # What a fuzzer made of gob may be refused where vegeta takes it for something.
    made_up = file.name.startswith("reaches_")
    if made_up and our_failure:
        theirs = theirs[:len(ours)]
    if ours[:len(theirs)] != theirs:
        return [f"{file.name}: vegeta reads {theirs}, pepe {ours}"]
    if len(ours) > len(theirs) and not their_failure:
        return [f"{file.name}: vegeta reads {len(theirs)} results, pepe {len(ours)}"]
    if their_failure and not our_failure:
        return [f"{file.name}: vegeta refuses it, pepe does not"]
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--vegeta", default=shutil.which("vegeta") or str(pathlib.Path.home() / "go/bin/vegeta"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("corpus", type=pathlib.Path)
    arguments = parser.parse_args()
    if not shutil.which(arguments.vegeta):
        print("skipped: there is no vegeta")
        return 77
    dice = random.Random(arguments.seed)
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(RUNS):
            problems += check_random(arguments.bin, arguments.vegeta, pathlib.Path(folder), dice)
    files = sorted(arguments.corpus.iterdir())
    for file in files:
        problems += check_file(arguments.bin, arguments.vegeta, file)
    print("\n".join(problems[:20]))
    print(f"{RUNS * RESULTS} results both ways and {len(files)} files: {len(problems)} read otherwise than by vegeta")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
