"""The records of bench/run.py: one JSON file a run, and the figures of bench/README.md made from them."""

import datetime
import json
import os
import platform
import re
import subprocess
import textwrap
from dataclasses import asdict
from pathlib import Path

import tables
from scenarios import SCENARIOS

HERE = Path(__file__).resolve().parent
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


def machine():
    cpuinfo = Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*: (.*)", cpuinfo)
    memory = re.search(r"MemTotal:\s+(\d+) kB", Path("/proc/meminfo").read_text())
    release = Path("/etc/os-release").read_text()
    return {
        "cpu": model.group(1) if model else platform.machine(),
        "cores": os.cpu_count(),
        "memory_gb": round(int(memory.group(1)) / 1e6),
        "kernel": platform.release(),
        "system": re.search(r'PRETTY_NAME="(.*)"', release).group(1),
        "load_average": round(os.getloadavg()[0], 2),
    }


def make_entry(scenario, runs, failures, said):
    """A scenario's part of a record, without the verdicts, which may need another scenario's."""
    entry = {**asdict(scenario), "server": said, "summary": tables.summarize(runs), "runs": runs, "failures": failures}
    return {**entry, "goals": []}


def judge_all(entries):
    for scenario in SCENARIOS:
        if scenario.name in entries:
            entries[scenario.name]["goals"] = tables.judge(scenario, entries)


def write_record(name, record):
    path = HERE / "records" / f"{record['date'][:10]}-{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n")
    return path


def now():
    return datetime.datetime.now().astimezone().isoformat(timespec="seconds")


def newest_entries():
    """({scenario: its newest entry}, {scenario: the record that holds it}), in the order of the scenarios."""
    found = {}
    records = [json.loads(path.read_text()) for path in sorted((HERE / "records").glob("*.json"))]
    for record in sorted(records, key=lambda record: record["date"]):
        for entry in record["scenarios"]:
            found[entry["name"]] = (entry, record)
    order = [scenario.name for scenario in SCENARIOS if scenario.name in found]
    return {name: found[name][0] for name in order}, {name: found[name][1] for name in order}


def write_readme():
    """Puts the figures of the newest records into bench/README.md."""
    entries, sources = newest_entries()
    judge_all(entries)
    path = HERE / "README.md"
    text = path.read_text()
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    block = "\n".join(figures_block(entries, sources))
    path.write_text(f"{before}{BEGIN}\n{block}\n{END}{after}")
    return path


def figures_block(entries, sources):
    if not entries:
        return ["No record yet."]
    lines = []
    for record in {id(record): record for record in sources.values()}.values():
        count = sum(source is record for source in sources.values())
        text = (
            f"{record['date'][:10]}, {machine_text(record['machine'])}; {versions_text(record['versions'])}; pepe at "
            f"{record['commit']}. {count} workload{'s' if count != 1 else ''} by `{record['command']}`."
        )
        lines += [*textwrap.wrap(text, 120, break_on_hyphens=False), ""]
    lines += tables.summary_markdown(entries)
    if standings := tables.standings_markdown(entries):
        lines += ["", "pepe's CPU time per request over that of the others:", "", *standings]
    for entry in entries.values():
        lines += ["", *tables.entry_markdown(entry)]
    return lines


def machine_text(facts):
    return (
        f"{facts['cpu']}, {facts['cores']} cores, {facts['memory_gb']} GB, {facts['system']}, "
        f"kernel {facts['kernel']}, "
        f"load average {facts['load_average']} at the start"
    )


def versions_text(versions):
    words = {name: version.removeprefix("Version:").strip() for name, version in versions.items() if version}
    return ", ".join(version if version.startswith(name) else f"{name} {version}" for name, version in words.items())


def commit():
    """Which source was measured; what is changed on top of it shows as -dirty."""
    described = subprocess.run(
        ["git", "-C", HERE, "describe", "--always", "--dirty", "--exclude=*"],
        capture_output=True,
        text=True,
        check=False,
    )
    return described.stdout.strip() or "an unknown commit"
