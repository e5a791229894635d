"""A long run, for bench/run.py: memory, descriptors, punctuality and the growing file of results are watched while it
lasts."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from measuring import RunFailed, quantiles_by, run_measured, shown_command
from peers import Load

SAMPLE_EVERY = 10
MINUTE = 60


class Soak:
    """pepe at a steady rate, every result kept."""

    def __init__(self, tool, scenario, server, options):
        self.tool, self.scenario, self.server, self.options = tool, scenario, server, options
        self.seconds = options.seconds or scenario.seconds

    def __call__(self):
        with tempfile.TemporaryDirectory(prefix="pepe-bench-", dir=self.options.scratch) as folder:
            scratch = Path(folder)
            body = self.scenario.size if self.scenario.unique else 0
            needed = self.scenario.rate * self.seconds * (body + 200) * 1.1
            if shutil.disk_usage(scratch).free < needed:
                raise RunFailed(f"needs {needed / 1e9:.0f} GB of space")
            load = Load(self.server.port, False, 0, self.scenario.rate, self.seconds, 0, scratch)
            command = [self.tool.program(), *self.tool.arguments(load)]
            watch = Watch(self.tool.program(), load.results, self.seconds, self.options.server_cpu)
            watch.start()
            used = run_measured(command, self.options, scratch, cpu=self.options.client_cpu, limit=self.seconds + 120)
            watch.finish()
            outcome = self.tool.outcome(load, used.stdout)
            figures = {
                "done": outcome.done,
                "failed": outcome.failed,
                **used.cost(outcome.done),
                "reached": (outcome.done + outcome.failed) / (load.rate * load.seconds),
                "lost": round(load.rate * load.seconds) - outcome.done - outcome.failed,
                "bytes_per_result": outcome.result_bytes / max(1, outcome.done + outcome.failed),
                **watch.figures(),
                "command": shown_command(command, scratch, self.server.port),
            }
            in_a_minute = load.rate * min(MINUTE, max(1, int(self.seconds / 4)))
            lags = quantiles_by(load.results, "lag", in_a_minute, 0.5)
            latencies = quantiles_by(load.results, "latency", in_a_minute, 0.99)
            figures.update(
                drift_us=max(lags) - lags[0],
                p99_ratio=latencies[-1] / latencies[0],
                lag_p50_by_minute_us=lags,
                latency_p99_by_minute_us=latencies,
            )
            return figures


class Watch(threading.Thread):
    """Samples the memory and the descriptors of the process that writes `results`, and reports on that file while it
    grows."""

    def __init__(self, pepe, results, seconds, cpu):
        super().__init__(daemon=True)
        self.pepe, self.results, self.cpu = pepe, results, cpu
        self.every = min(SAMPLE_EVERY, seconds / 12)
        self.report_every = self.settled = min(MINUTE, seconds / 4)
        self.memory_kb, self.descriptors, self.counts, self.failures = [], [], [], []
        self.over = threading.Event()

    def run(self):
        if self.cpu >= 0:
            os.sched_setaffinity(0, {self.cpu})  # this thread and what it starts
        start = last_report = time.monotonic()
        pid = None
        while not self.over.wait(self.every):
            pid = pid or find_process(self.pepe, self.results)
            if (memory := resident_kb(pid)) is not None:
                self.memory_kb.append((round(time.monotonic() - start, 1), memory))
                self.descriptors.append(len(os.listdir(f"/proc/{pid}/fd")))
            if time.monotonic() - last_report >= self.report_every:
                last_report = time.monotonic()
                self.report()

    def report(self):
        run = subprocess.run(
            ["nice", "-n", "19", self.pepe, "report", "-type=json", self.results],
            capture_output=True,
            text=True,
            check=False,
        )
        count = json.loads(run.stdout)["requests"] if run.returncode == 0 else 0
        if run.returncode != 0 or count <= (self.counts[-1] if self.counts else 0):
            self.failures.append(run.stderr.strip() or f"{count} results")
        self.counts.append(count)

    def finish(self):
        self.over.set()
        self.join()

    def figures(self):
        samples = [memory for _, memory in self.memory_kb]
        settled = [memory for second, memory in self.memory_kb if second >= self.settled]
        open_files = self.descriptors[-len(settled) :]
        quarter = max(1, len(samples) // 4)
        # The second quarter against the last: buffers have reached their size by then.
        growth = max(samples[-quarter:]) / max(samples[quarter : 2 * quarter] or samples) if samples else 0
        return {
            "rss_growth": growth,
            "growth_kb": settled[-1] - settled[0] if settled else 0,
            "descriptor_growth": max(open_files) - open_files[0] if open_files else 0,
            "rss_mb": samples[-1] / 1024 if samples else 0,
            "rss_kb": self.memory_kb,
            "descriptors": self.descriptors,
            "reports": len(self.counts),
            "reported": self.counts,
            "unreadable": len(self.failures),
            "report_errors": self.failures,
        }


def find_process(program, results):
    """The id of the process of this program that was told to write there."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0] == os.fsencode(program) and f"-output={results}".encode() in words:
            return int(folder.name)
    return None


def resident_kb(pid):
    try:
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return None
    return int(found.group(1)) if found else None
