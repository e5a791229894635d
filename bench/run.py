#!/usr/bin/env python3
"""Measures pepe beside other load generators: CPU time per request, memory, bytes per result, punctuality, reading.

    python3 bench/run.py                          the quick scenarios, every tool that is installed
    python3 bench/run.py --all --record NAME --readme   everything but the soak, kept, and written into README.md
    python3 bench/run.py get-64 https-64          some scenarios
    python3 bench/run.py --tools pepe,wrk ...     some tools
    python3 bench/run.py --list                   the scenarios, with what is asked of pepe
    python3 bench/run.py soak long                long runs with their memory watched

The server has one core and the client another. Tools take turns, and each round starts with another one, so that what
the machine does meanwhile falls on all of them. Standard library only. bench/README.md says how each figure is meant.
"""

import argparse
import resource
import shlex
import shutil
import sys
import tempfile
import time
from pathlib import Path

import records
import tables
from measuring import Attack, alternate
from peers import TOOLS
from readers import ResultFiles, reading_rows
from scenarios import SCENARIOS
from servers import BenchServer
from scaling import Cores
from soak import Soak
from starting import starting_rows

HERE = Path(__file__).resolve().parent
TRACED = ("pepe", "floor", "wrk")
OTHER_FILES = 100  # that a program has open besides its connections


def make_server(scenario, options):
    if scenario.kind in ("read", "cores"):
        return None
    return BenchServer(options.build, scenario, options.server_cpu)


def make_rows(scenario, tools, server, files, options):
    """{row: what runs it once and returns its figures}"""
    if scenario.kind == "read":
        return reading_rows(scenario, files)
    if scenario.kind == "start":
        return starting_rows(scenario, tools, server, options)
    if scenario.kind == "cores":
        return {row: Cores(tools["pepe"], scenario, int(row[0]), options) for row in scenario.rows}
    if scenario.kind == "variants":
        return {flag: Attack(tools["pepe"], scenario, server, options, [flag]) for flag in scenario.rows}
    kind = Soak if scenario.kind == "soak" else Attack
    return {name: kind(tools[name], scenario, server, options) for name in scenario.rows if name in tools}


def what_is_missing(scenario):
    """Why this machine can't run the scenario; empty when it can."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if scenario.connections + OTHER_FILES > limit != resource.RLIM_INFINITY:
        return f"only {limit} open files are allowed (ulimit -Hn)"
    return ""


def measure_scenario(scenario, tools, files, options, show):
    """The scenario's entry of the record; None where it can't be run."""
    if missing := what_is_missing(scenario):
        show(f"skipped: {missing}", lasting=True)
        return None
    server = make_server(scenario, options)
    try:
        rows = make_rows(scenario, tools, server, files, options)
        runs, failures = alternate(rows, options.runs or scenario.runs, show)
        if scenario.syscalls and options.syscalls:
            for name in [name for name in TRACED if runs.get(name)]:
                show(f"system calls, {name}")
                runs[name][0]["syscalls"] = rows[name].syscalls()
    finally:
        said = server.stop() if server else None
    return records.make_entry(scenario, runs, failures, said)


class Progress:
    """What is being done: one line that is written over on a terminal, one line per scenario elsewhere."""

    def __init__(self, count):
        self.count, self.number, self.name, self.start = count, 0, "", time.monotonic()

    def begin(self, scenario):
        self.number, self.name = self.number + 1, scenario.name
        if not sys.stderr.isatty():
            self("begins", lasting=True)

    def __call__(self, text, lasting=False):
        minutes, seconds = divmod(int(time.monotonic() - self.start), 60)
        line = f"[{self.number}/{self.count} {minutes}:{seconds:02}] {self.name}: {text}"
        if sys.stderr.isatty():
            print(f"\r{line:78}", end="\n" if lasting else "", file=sys.stderr, flush=True)
        elif lasting:
            print(line, file=sys.stderr, flush=True)

    def clear(self):
        if sys.stderr.isatty():
            print(f"\r{'':78}\r", end="", file=sys.stderr, flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenarios", nargs="*", help="names; none: the quick ones")
    parser.add_argument("--all", action="store_true", help="all scenarios but the soak")
    parser.add_argument("--list", action="store_true", help="name the scenarios, their rows and what is asked")
    parser.add_argument("--tools", help="comma-separated; default: all that are installed")
    parser.add_argument(
        "--build", type=Path, default=HERE.parent / "build/release", help="build folder (build/release)"
    )
    parser.add_argument("--runs", type=int, default=0, help="runs of each row, instead of the scenario's")
    parser.add_argument("--seconds", type=float, default=0, help="length of a run, instead of the scenario's")
    parser.add_argument("--client-cpu", type=int, default=0, help="core of the client; -1: any (0)")
    parser.add_argument("--server-cpu", type=int, default=1, help="core of the server; -1: any (1)")
    parser.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()), help="where results are written")
    parser.add_argument(
        "--no-syscalls", dest="syscalls", action="store_false", help="do not count system calls (strace)"
    )
    parser.add_argument("--record", metavar="NAME", help="write bench/records/DATE-NAME.json")
    parser.add_argument(
        "--readme", action="store_true", help="write the figures of the newest records into bench/README.md"
    )
    return parser.parse_args()


def choose_tools(options):
    """{name: tool}; names those that are not there and how they are installed."""
    wanted = options.tools.split(",") if options.tools else [make.name for make in TOOLS]
    tools = [make(options.build) for make in TOOLS if make.name in wanted]
    for tool in tools:
        if tool.program() is None:
            print(f"skipped: {tool.name} is not installed ({tool.install})", file=sys.stderr)
    return {tool.name: tool for tool in tools if tool.program() is not None}


def choose_scenarios(options):
    unknown = set(options.scenarios) - {scenario.name for scenario in SCENARIOS}
    if unknown:
        sys.exit(f"no such scenario: {', '.join(sorted(unknown))}; --list names them")
    if options.scenarios:
        return [scenario for scenario in SCENARIOS if scenario.name in options.scenarios]
    return [s for s in SCENARIOS if s.quick or (options.all and s.kind != "soak")]


def list_scenarios():
    for scenario in SCENARIOS:
        print(
            f"{scenario.name:14} {scenario.what}{' (quick)' if scenario.quick else ''}\n"
            f"{'':14} {', '.join(scenario.rows)}"
        )
        for goal in scenario.goals:
            print(f"{'':14} asked: {tables.asked_text(goal)}")


def measure(options):
    """The record of all chosen scenarios; each is printed when it is done."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # not every tool raises its own
    tools, chosen, entries = choose_tools(options), choose_scenarios(options), {}
    record = {
        "date": records.now(),
        "command": shlex.join(["python3", "bench/run.py", *sys.argv[1:]]),
        "commit": records.commit(),
        "machine": records.machine(),
        "versions": {tool.name: tool.version() for tool in tools.values()},
    }
    if record["machine"]["load_average"] > 0.5:
        print(
            f"note: the machine is busy (load {record['machine']['load_average']}): figures will spread",
            file=sys.stderr,
        )
    progress = Progress(len(chosen))
    scratch = tempfile.mkdtemp(prefix="pepe-bench-", dir=options.scratch)
    options.scratch = Path(scratch)
    by_name = {make.name: make(options.build) for make in TOOLS}
    try:
        files = ResultFiles(options, by_name["pepe"], by_name["vegeta"])
        for scenario in chosen:
            progress.begin(scenario)
            entry = measure_scenario(scenario, tools, files, options, progress)
            progress.clear()
            if entry and entry["summary"]:
                entries[scenario.name] = entry
                records.judge_all(entries)
                tables.print_entry(entry)
                sys.stdout.flush()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return {**record, "scenarios": list(entries.values())}


def main():
    options = parse_arguments()
    if options.list:
        list_scenarios()
        return
    options.build = options.build.resolve()
    if options.record or not options.readme:
        record = measure(options)
        if options.record:
            print(f"\nrecorded: {records.write_record(options.record, record)}")
    if options.readme:
        print(f"written: {records.write_readme()}")


if __name__ == "__main__":
    main()
