"""How long programs take to start, for bench/run.py, and what one request costs from start to end."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from measuring import run_measured, shown_command


class Start:
    """One row: "pepe -version" starts and ends, "pepe" sends one request as well, "true" does nothing."""

    def __init__(self, row, tools, server, options):
        self.server, self.options = server, options
        self.name, _, self.only = row.partition(" ")
        self.tool = tools.get(self.name)
        self.program = shutil.which("true") if row == "true" else self.tool and self.tool.program()

    def __call__(self):
        with tempfile.TemporaryDirectory(prefix="pepe-bench-", dir=self.options.scratch) as folder:
            scratch = Path(folder)
            url = f"http://127.0.0.1:{self.server.port}/"
            command = [self.program, *self.arguments(url, scratch)]
            used = run_measured(command, self.options, scratch, cpu=self.options.client_cpu, limit=30)
            figures = {
                "done": 1,
                "wall_ms": used.wall_s * 1000,
                "cpu_ms": (used.user_s + used.system_s) * 1000,
                "peak_mb": used.peak_mb,
                "command": shown_command(command, scratch, self.server.port),
            }
            if self.keeps_results():
                figures["request_ms"] = self.request_ms(scratch / "results")
            return figures

    def keeps_results(self):
        return self.name in ("pepe", "vegeta") and not self.only

    def arguments(self, url, scratch):
        if self.tool is None or self.only:
            return [self.only] if self.only else []
        if self.keeps_results():
            (scratch / "targets").write_text(f"GET {url}\n")
            return [
                "attack",
                "-rate=1000",
                "-duration=1ms",
                f"-targets={scratch / 'targets'}",
                f"-output={scratch / 'results'}",
            ]
        return {"oha": ["--no-tui", "-n", "1", "-c", "1", url], "hey": ["-n", "1", "-c", "1", url]}[self.name]

    def request_ms(self, results):
        report = subprocess.run(
            [self.program, "report", "-type=json", results], capture_output=True, text=True, check=True
        )
        return json.loads(report.stdout)["latencies"]["max"] / 1e6


def starting_rows(scenario, tools, server, options):
    rows = {row: Start(row, tools, server, options) for row in scenario.rows}
    return {row: start for row, start in rows.items() if start.program}
