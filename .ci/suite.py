#!/usr/bin/env python3
"""Runs one black-box suite against build/release/pepe and compares with .ci/expected-failures.

    suite.py NAME RUNNER [ARGUMENT...]

A case that fails and is not expected to is an error. One that passes though it is expected to fail is named, so that its
line is taken out. The suites print their verdicts as JSON in two ways; both are read.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BINARY = HERE.parent / "build/release/pepe"
SECONDS = 420


def expected_failures():
    """The cases that are known to fail: a name a line, then why after a #."""
    lines = (line.partition("#")[0].strip() for line in (HERE / "expected-failures").read_text().splitlines())
    return {line for line in lines if line}


def verdicts(name, runner, arguments):
    """{case: (passed, detail)}"""
    command = [sys.executable, runner, "--bin", str(BINARY), *arguments, "--json"]
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command += [out.name] if name == "faults" else []
        run = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        text = Path(out.name).read_text() if name == "faults" else run.stdout
    if not text:
        sys.exit(f"{name}: no verdicts: {run.stderr[-500:]}")
    cases = json.loads(text)["cases"]
    if name == "faults":
        return {case["case"]: (case["passed"], "; ".join(case["failures"])) for case in cases}
    return {case["name"]: (case["result"] != "fail", case["detail"]) for case in cases}


def main():
    name, runner, *arguments = sys.argv[1:]
    expected = expected_failures()
    found = verdicts(name, runner, arguments)
    failing = {case for case, (passed, _) in found.items() if not passed}
    for case in sorted(failing - expected):
        print(f"{name}: {case} fails: {found[case][1][:600]}")
    for case in sorted(expected & found.keys() - failing):
        print(f"{name}: {case} passes: take it out of .ci/expected-failures")
    print(f"{name}: {len(found) - len(failing)} passed, {len(failing & expected)} failed as expected, "
          f"{len(failing - expected)} failed")
    sys.exit(1 if failing - expected else 0)


if __name__ == "__main__":
    main()
