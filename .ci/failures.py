#!/usr/bin/env python3
"""Prints what failed in the log of a step of .ci/run: compiler errors and the output of failing tests, else its end.

    failures.py LOG
"""

import re
import sys
from pathlib import Path

MOST_LINES = 40  # of one failure
MOST_FAILURES = 20
REST = 30

TEST_ENDS = re.compile(r"\s*\d+/\d+ Test +#\d+: .*?(Passed|\*\*\*[A-Z].*?) +[\d.]+ sec$")
TEST_STARTS = re.compile(r"\s+Start +\d+: ")
NOT_A_FAILURE = re.compile(r"Passed|\*\*\*Skipped|\*\*\*Not Run \(Disabled\)")


def failing_tests(lines):
    """The line that ctest ends each failing test with, and its output, which follows."""
    block = None
    for line in lines:
        ended = TEST_ENDS.match(line)
        if ended or TEST_STARTS.match(line) or "tests passed" in line:
            if block:
                yield block
            block = [line] if ended and not NOT_A_FAILURE.match(ended[1]) else None
        elif block:
            block.append(line)
    if block:
        yield block


def broken_builds(lines):
    """What ninja says of each command that failed."""
    block = None
    for line in lines:
        if line.startswith("FAILED: "):
            block = [line]
        elif block and (re.match(r"\[\d+/\d+\] |ninja: ", line)):
            yield block
            block = None
        elif block and len(line) < 2000:  # not the command
            block.append(line)
    if block:
        yield block


def main():
    lines = Path(sys.argv[1]).read_text(errors="replace").splitlines()
    found = [*broken_builds(lines), *failing_tests(lines)]
    for block in found[:MOST_FAILURES]:
        shown = [line for line in block if line.strip()]
        print("\n".join(shown[:MOST_LINES]))
        if len(shown) > MOST_LINES:
            print(f"... {len(shown) - MOST_LINES} more lines: {sys.argv[1]}")
    if len(found) > MOST_FAILURES:
        print(f"... {len(found) - MOST_FAILURES} more failures: {sys.argv[1]}")
    if not found:
        print("\n".join(lines[-REST:]))


if __name__ == "__main__":
    main()
