#!/usr/bin/env python3
"""Measures pepe beside other load generators: CPU time per request, peak memory, bytes per result, schedule error.

    python3 bench/run.py                        the quick scenarios, every tool that is installed
    python3 bench/run.py get-64 https-64        some scenarios
    python3 bench/run.py --tools pepe,wrk ...   some tools
    python3 bench/run.py --record NAME ...      also writes bench/records/DATE-NAME.json
    python3 bench/run.py --list

The server has one core and the client another. Tools take turns, and each round starts with another one, so that what
the machine does meanwhile falls on all of them. Standard library only. bench/README.md says how each figure is meant.
"""

import argparse
import datetime
import json
import os
import platform
import re
import signal
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from peers import TOOLS, Load

HERE = Path(__file__).resolve().parent
ALL = ["pepe", "floor", "wrk", "oha", "h2load", "hey", "vegeta", "k6"]
OPEN = ["pepe", "vegeta", "oha", "k6"]


@dataclass(frozen=True)
class Scenario:
    name: str
    what: str
    tools: list
    connections: int = 64
    rate: int = 0
    size: int = 128
    seconds: float = 5
    requests: int = 0
    delay: str = ""
    unique: bool = False
    tls: bool = False
    runs: int = 5
    quick: bool = True


SCENARIOS = [
    Scenario("get-64", "closed loop, 64 connections, 128 bytes", ALL),
    Scenario("get-1000", "closed loop, 1,000 connections, 128 bytes", ALL, connections=1000),
    Scenario("https-64", "closed loop over TLS, 64 connections, 128 bytes", ALL, tls=True),
    Scenario("https-1000", "closed loop over TLS, 1,000 connections, 128 bytes", ALL, tls=True, connections=1000, quick=False),
    Scenario("open-500", "500 requests a second", OPEN, rate=500),
    Scenario("open-5000", "5,000 requests a second", OPEN, rate=5000),
    Scenario("tls-16k", "closed loop over TLS, 64 connections, 16 KiB", ALL, tls=True, size=16384),
    Scenario("body-130k", "500 requests a second for 3 s, one body of 130,780 bytes", OPEN, rate=500, size=130780, seconds=3),
    Scenario("body-unique", "the same, every body different", OPEN, rate=500, size=130780, seconds=3, unique=True, quick=False),
    Scenario("slow-1000", "closed loop, 1,000 connections, each answer after 50 ms", ALL, connections=1000, delay="50ms"),
    # About ten million where a tool can only be told how long; one run, since what shows is memory.
    Scenario("10m-256", "ten million requests, 256 connections", ["pepe", "floor", "wrk", "oha", "h2load"],
             connections=256, requests=10_000_000, seconds=150, runs=1, quick=False),
]


class Server:
    """bench/server for one scenario, on its own core; stops by itself should this script die."""

    def __init__(self, build, scenario, cpu):
        command = [str(build / "bench/server"), f"-size={scenario.size}", "-duration=60m"]
        command += [f"-delay={scenario.delay}"] if scenario.delay else []
        command += ["-unique"] if scenario.unique else []
        command += ["-tls"] if scenario.tls else []
        command += [f"-cpu={cpu}"] if cpu >= 0 else []
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])

    def stop(self):
        """Its own count and cost."""
        self.process.send_signal(signal.SIGTERM)
        return json.loads(self.process.communicate(timeout=10)[0])


def run_once(tool, scenario, server, options, traced=False):
    """One run of a tool, as a dictionary of figures. Traced, its times say nothing."""
    with tempfile.TemporaryDirectory(prefix="pepe-bench-") as folder:
        scratch = Path(folder)
        seconds = options.seconds or scenario.seconds
        load = Load(server.port, scenario.tls, scenario.connections, scenario.rate, seconds, scenario.requests, scratch)
        command = [tool.program(), *tool.arguments(load)]
        limit = max(30, 4 * seconds) if tool.counts and scenario.requests else seconds + 30
        measure = [str(options.build / "bench/measure"), str(options.client_cpu), str(int(limit)), str(scratch / "used")]
        wrapper = ["strace", "-c", "-f", "-o", str(scratch / "strace")] if traced else []
        with open(scratch / "stdout", "w+") as stdout, open(scratch / "stderr", "w+") as stderr:
            subprocess.run([*measure, *wrapper, *command], stdout=stdout, stderr=stderr, check=True)
        used = json.loads((scratch / "used").read_text())
        if used["timed_out"] or used["status"] != 0:
            sys.exit(f"{tool.name}: status {used['status']}{' (too slow)' if used['timed_out'] else ''}: "
                     f"{(scratch / 'stderr').read_text()[-500:]}\n{' '.join(command)}")
        outcome = tool.outcome(load, (scratch / "stdout").read_text())
        figures = {
            "done": outcome.done, "failed": outcome.failed, "wall_s": used["wall_s"],
            "cpu_us": (used["user_s"] + used["system_s"]) * 1e6 / max(1, outcome.done),
            "user_us": used["user_s"] * 1e6 / max(1, outcome.done),
            "rate": outcome.done / used["wall_s"], "peak_mb": used["peak_rss_kb"] / 1024,
        }
        if outcome.result_bytes:
            figures["result_bytes"] = outcome.result_bytes
            figures["bytes_per_result"] = outcome.result_bytes / max(1, outcome.done + outcome.failed)
        if scenario.rate and (times := tool.send_times(load)):
            figures.update(schedule_error(times, scenario.rate))
        if scenario.rate and (lags := tool.lags(load)):
            figures.update(lag_p50_us=quantile(sorted(lags), 0.5) / 1000, lag_p99_us=quantile(sorted(lags), 0.99) / 1000)
        if traced:
            figures["syscalls"] = count_syscalls(scratch / "strace") / max(1, outcome.done)
        figures["command"] = shown_command(command, scratch, server.port)
        return figures


def schedule_error(times, rate):
    """How far apart from its place in the schedule each hit was sent, in microseconds, against the hit that was most
    punctual: no tool says when its schedule began, and none can send a hit before it is due."""
    errors = sorted(nanos - seq * 1_000_000_000 // rate for seq, nanos in times)
    shares = {"error_p50_us": 0.5, "error_p99_us": 0.99, "error_max_us": 1.0}
    return {key: (quantile(errors, q) - errors[0]) / 1000 for key, q in shares.items()}


def quantile(ordered, q):
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


def count_syscalls(summary):
    for line in reversed(summary.read_text().splitlines()):
        if line.rstrip().endswith("total"):
            return int(line.split()[3])
    raise SystemExit("strace printed no total")


def shown_command(command, scratch, port):
    words = [os.path.basename(command[0]), *command[1:]]
    return " ".join(words).replace(str(scratch) + "/", "").replace(str(port), "PORT")


def measure_scenario(scenario, tools, options):
    """{tool name: [figures of each run]}, and what the server says."""
    server = Server(options.build, scenario, options.server_cpu)
    rounds = options.runs or scenario.runs
    runs = {tool.name: [] for tool in tools}
    try:
        for number in range(rounds):
            turn = number % len(tools)
            for tool in tools[turn:] + tools[:turn]:
                show_progress(f"{scenario.name}: run {number + 1} of {rounds}, {tool.name}")
                runs[tool.name].append(run_once(tool, scenario, server, options))
        if options.syscalls:
            for tool in tools:
                runs[tool.name][0]["syscalls"] = run_once(tool, scenario, server, options, traced=True)["syscalls"]
    finally:
        show_progress("")
        said = server.stop()
    return runs, said


def show_progress(text):
    if sys.stderr.isatty():
        print(f"\r{text:60}\r", end="", file=sys.stderr, flush=True)


COLUMNS = [
    ("cpu_us", "CPU us/request", "{:.2f}"), ("rate", "requests/s", "{:,.0f}"), ("peak_mb", "peak MB", "{:.1f}"),
    ("bytes_per_result", "bytes/result", "{:,.1f}"), ("error_p50_us", "late p50 us", "{:,.0f}"),
    ("error_p99_us", "late p99 us", "{:,.0f}"), ("lag_p50_us", "lag p50 us", "{:,.0f}"), ("lag_p99_us", "lag p99 us", "{:,.0f}"),
    ("syscalls", "syscalls/request", "{:.2f}"), ("failed", "failed", "{:.0f}"),
]


def summarize(runs):
    """{tool: {figure: {median, min, max}}}"""
    summary = {}
    for name, figures in runs.items():
        summary[name] = {}
        for key, _, _ in COLUMNS:
            values = [run[key] for run in figures if key in run]
            if values:
                summary[name][key] = {"median": statistics.median(values), "min": min(values), "max": max(values)}
    return summary


def print_table(scenario, summary, said):
    print(f"\n{scenario.name}: {scenario.what} (server: {said['cpu_us_per_request']:.2f} CPU us/request)")
    shown = [column for column in COLUMNS if any(column[0] in row for row in summary.values())]
    lines = [["tool"] + [title for _, title, _ in shown]]
    for name, row in summary.items():
        line = [name]
        for key, _, form in shown:
            cell = row.get(key)
            spread = f" ({form.format(cell['min'])}-{form.format(cell['max'])})" if cell and key == "cpu_us" else ""
            line.append(form.format(cell["median"]) + spread if cell else "-")
        lines.append(line)
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  " + line[0].ljust(widths[0]) + "".join("  " + cell.rjust(w) for cell, w in zip(line[1:], widths[1:])))


def machine():
    cpuinfo = Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*: (.*)", cpuinfo)
    release = Path("/etc/os-release").read_text()
    return {
        "cpu": model.group(1) if model else platform.machine(), "cores": os.cpu_count(), "kernel": platform.release(),
        "system": re.search(r'PRETTY_NAME="(.*)"', release).group(1), "load_average": os.getloadavg()[0],
    }


def write_record(options, record):
    day = datetime.date.today().isoformat()
    path = HERE / "records" / f"{day}-{options.record}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"date": day, **record}, indent=1) + "\n")
    print(f"\nrecorded: {path}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenarios", nargs="*", help="names; none: the quick ones")
    parser.add_argument("--list", action="store_true", help="name the scenarios and their tools")
    parser.add_argument("--tools", help="comma-separated; default: all that are installed")
    parser.add_argument("--build", type=Path, default=HERE.parent / "build/release", help="build folder (build/release)")
    parser.add_argument("--runs", type=int, default=0, help="runs of each tool (5)")
    parser.add_argument("--seconds", type=float, default=0, help="length of a run, instead of the scenario's")
    parser.add_argument("--client-cpu", type=int, default=0, help="core of the client; -1: any (0)")
    parser.add_argument("--server-cpu", type=int, default=1, help="core of the server; -1: any (1)")
    parser.add_argument("--syscalls", action="store_true", help="count system calls per request in one more run (strace)")
    parser.add_argument("--record", metavar="NAME", help="write bench/records/DATE-NAME.json")
    return parser.parse_args()


def choose_tools(options):
    """The tools to run; names those that are not there and how they are installed."""
    wanted = options.tools.split(",") if options.tools else ALL
    tools = [make(options.build) for make in TOOLS if make.name in wanted]
    for tool in tools:
        if tool.program() is None:
            print(f"skipped: {tool.name} is not installed ({tool.install})", file=sys.stderr)
    return [tool for tool in tools if tool.program() is not None]


def main():
    options = parse_arguments()
    if options.list:
        for scenario in SCENARIOS:
            print(f"{scenario.name:12} {scenario.what}: {', '.join(scenario.tools)}{'' if scenario.quick else ' (by name only)'}")
        return
    unknown = set(options.scenarios) - {scenario.name for scenario in SCENARIOS}
    if unknown:
        sys.exit(f"no such scenario: {', '.join(sorted(unknown))}; --list names them")
    options.build = options.build.resolve()
    tools = choose_tools(options)
    chosen = [s for s in SCENARIOS if s.name in options.scenarios or (not options.scenarios and s.quick)]
    record = {"machine": machine(), "versions": {t.name: t.version() for t in tools}, "scenarios": []}
    if record["machine"]["load_average"] > 0.5:
        print(f"note: the machine is busy (load {record['machine']['load_average']:.1f}): figures will spread", file=sys.stderr)
    for scenario in chosen:
        fitting = [tool for tool in tools if tool.name in scenario.tools]
        if not fitting:
            continue
        runs, said = measure_scenario(scenario, fitting, options)
        summary = summarize(runs)
        print_table(scenario, summary, said)
        record["scenarios"].append({**asdict(scenario), "server": said, "summary": summary, "runs": runs})
    if options.record:
        write_record(options, record)


if __name__ == "__main__":
    main()
