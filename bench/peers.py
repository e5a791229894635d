"""The load generators that bench/run.py compares: how each is called and what it says it did."""

import csv
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from native import hits_of

TOOL_PATHS = [str(Path.home() / "go/bin"), str(Path.home() / ".cargo/bin")]


@dataclass(frozen=True)
class Load:
    """What a scenario asks of a tool."""

    port: int
    tls: bool
    connections: int
    rate: int  # requests a second; 0: each connection sends as soon as it has its answer
    seconds: float
    requests: int  # stop after so many; 0: after `seconds`
    scratch: Path  # an empty folder
    streams: int = 0  # HTTP/2 streams on each connection; 0: HTTP/1.1
    flags: list = field(default_factory=list)  # more of them

    @property
    def url(self):
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}/"

    @property
    def in_flight(self):
        """Requests under way at any time in a closed loop."""
        return self.connections * max(1, self.streams)

    @property
    def results(self):
        return self.scratch / "results"


@dataclass(frozen=True)
class Outcome:
    """What one run came to, in the tool's own words."""

    done: int
    failed: int
    result_bytes: int = 0  # size of the results that it kept; 0: it keeps none
    latency_us: tuple = ()  # median and 99th percentile
    threads: int = 0  # that sent; 0: it does not say


class Tool:
    name = ""
    counts = False  # can stop after a number of requests
    install = ""

    def __init__(self, build):
        self.build = Path(build)

    def program(self):
        """The path of the program, or None where it is not installed."""
        return shutil.which(self.name, path=os.pathsep.join([os.environ.get("PATH", ""), *TOOL_PATHS]))

    def version(self):
        return ""

    def arguments(self, load):
        raise NotImplementedError

    def outcome(self, load, stdout):
        raise NotImplementedError

    def send_times(self, load):
        """(sequence number, nanoseconds) of each hit; None where the tool does not keep them."""
        return None

    def lags(self, load):
        """How late each hit was sent, in nanoseconds, as the tool recorded it; None where it does not."""
        return None

    def first_line(self, *arguments):
        run = subprocess.run([self.program(), *arguments], capture_output=True, text=True, timeout=30, check=False)
        text = (run.stdout + run.stderr).strip()
        return text.splitlines()[0] if text else ""


class Vegeta(Tool):
    name = "vegeta"
    install = "go install github.com/tsenart/vegeta/v12@v12.13.0"

    def version(self):
        run = subprocess.run(["go", "version", "-m", self.program()], capture_output=True, text=True, check=False)
        found = re.search(r"^\s+mod\s+\S+\s+(\S+)", run.stdout, re.MULTILINE)
        return found.group(1) if found else self.first_line("-version")

    def arguments(self, load):
        (load.scratch / "targets").write_text(f"GET {load.url}\n")
        pace = [f"-rate={load.rate}"] if load.rate else ["-rate=0", f"-max-workers={load.in_flight}"]
        return [
            "attack",
            *pace,
            f"-duration={load.seconds:g}s",
            f"-targets={load.scratch / 'targets'}",
            f"-output={load.results}",
            *(["-insecure"] if load.tls else []),
            *([f"-max-connections={load.connections}"] if load.streams else []),
            *load.flags,
        ]

    def outcome(self, load, stdout):
        run = subprocess.run(
            [self.program(), "report", "-type=json", load.results], capture_output=True, text=True, check=True
        )
        report = json.loads(run.stdout)
        done = sum(count for code, count in report["status_codes"].items() if code == "200")
        latencies = report["latencies"]
        return Outcome(
            done,
            report["requests"] - done,
            load.results.stat().st_size,
            (latencies["50th"] / 1000, latencies["99th"] / 1000),
            len(report.get("generator", {}).get("busy_shares", [])),
        )

    def send_times(self, load):
        command = [self.program(), "encode", "-to=csv", load.results]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        csv.field_size_limit(1 << 30)
        return [(int(row[8]), int(row[0])) for row in csv.reader(run.stdout.splitlines())]


class Pepe(Vegeta):
    name = "pepe"
    install = "cmake --preset release && cmake --build --preset release"

    def program(self):
        path = self.build / "pepe"
        return str(path) if os.access(path, os.X_OK) else None

    def version(self):
        return self.first_line("-version")

    def lags(self, load):
        return [lag for _, lag in hits_of(load.results, "lag")]


class Floor(Tool):
    name = "floor"
    counts = True
    install = "cmake --preset release && cmake --build --preset release"

    def program(self):
        path = self.build / "bench/floor"
        return str(path) if os.access(path, os.X_OK) else None

    def arguments(self, load):
        stop = [f"-requests={load.requests}"] if load.requests else [f"-duration={load.seconds:g}s"]
        tls = ["-tls"] if load.tls else []
        pace = [f"-rate={load.rate}"] if load.rate else []
        http2 = [f"-streams={load.streams}"] if load.streams else []
        return [f"-port={load.port}", f"-connections={load.connections}", *stop, *pace, *tls, *http2]

    def outcome(self, load, stdout):
        return Outcome(json.loads(stdout)["requests"], 0)


class Wrk(Tool):
    name = "wrk"
    install = "apt-get install wrk"

    def version(self):
        return self.first_line("--version").split(" [")[0]

    def arguments(self, load):
        return ["-t1", f"-c{load.connections}", f"-d{max(1, round(load.seconds))}s", load.url]

    def outcome(self, load, stdout):
        done = int(re.search(r"(\d+) requests in", stdout).group(1))
        bad = re.search(r"Non-2xx or 3xx responses: (\d+)", stdout)
        errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", stdout)
        return Outcome(done, int(bad.group(1) if bad else 0) + sum(map(int, errors.groups() if errors else [])))


class Oha(Tool):
    name = "oha"
    counts = True
    install = "cargo install oha --locked"

    def version(self):
        return self.first_line("--version")

    def arguments(self, load):
        stop = ["-n", str(load.requests)] if load.requests else ["-z", f"{load.seconds:g}s"]
        pace = ["-q", str(load.rate)] if load.rate else []
        tls = ["--insecure"] if load.tls else []
        http2 = ["--http2", "-p", str(load.streams)] if load.streams else []
        return [
            "--no-tui",
            "--output-format",
            "json",
            "-c",
            str(load.connections),
            *stop,
            *pace,
            *tls,
            *http2,
            load.url,
        ]

    def outcome(self, load, stdout):
        report = json.loads(stdout)
        failed = sum(n for text, n in report["errorDistribution"].items() if "deadline" not in text)
        done = sum(report["statusCodeDistribution"].values())
        percentiles = report["latencyPercentiles"]
        return Outcome(done, failed, latency_us=(percentiles["p50"] * 1e6, percentiles["p99"] * 1e6) if done else ())


class H2load(Tool):
    name = "h2load"
    counts = True
    install = "apt-get install nghttp2-client"

    def version(self):
        return self.first_line("--version")

    def arguments(self, load):
        stop = ["-n", str(load.requests)] if load.requests else ["-D", f"{max(1, round(load.seconds))}"]
        protocol = ["-m", str(load.streams)] if load.streams else ["--h1"]
        return [*protocol, "-t1", "-c", str(load.connections), *stop, load.url]

    def outcome(self, load, stdout):
        found = re.search(r"requests: .* (\d+) succeeded, (\d+) failed", stdout)
        return Outcome(int(found.group(1)), int(found.group(2)))


class Hey(Tool):
    name = "hey"
    counts = True
    install = "apt-get install hey"

    def arguments(self, load):
        stop = ["-n", str(load.requests)] if load.requests else ["-z", f"{load.seconds:g}s"]
        return [*stop, "-c", str(load.connections), load.url]

    def outcome(self, load, stdout):
        codes = re.findall(r"\[(\d+)\]\s+(\d+) responses", stdout)
        done = sum(int(count) for code, count in codes if code == "200")
        return Outcome(done, sum(int(count) for code, count in codes) - done)


class K6(Tool):
    name = "k6"
    counts = True
    install = "go install go.k6.io/k6@latest"

    def version(self):
        return self.first_line("version")

    def arguments(self, load):
        if load.rate:
            scenario = {
                "executor": "constant-arrival-rate",
                "rate": load.rate,
                "timeUnit": "1s",
                "duration": f"{load.seconds:g}s",
                "preAllocatedVUs": load.connections,
            }
        elif load.requests:
            scenario = {"executor": "shared-iterations", "vus": load.connections, "iterations": load.requests}
        else:
            scenario = {"executor": "constant-vus", "vus": load.connections, "duration": f"{load.seconds:g}s"}
        options = {
            "insecureSkipTLSVerify": True,
            "discardResponseBodies": True,
            "summaryTrendStats": ["med", "p(99)"],
            "scenarios": {"bench": scenario},
        }
        (load.scratch / "script.js").write_text(
            f"import http from 'k6/http';\nexport const options = {json.dumps(options)};\n"
            f"export default function () {{ http.get('{load.url}'); }}\n"
        )
        return [
            "run",
            "--quiet",
            "--no-usage-report",
            f"--summary-export={load.scratch / 'summary.json'}",
            str(load.scratch / "script.js"),
        ]

    def outcome(self, load, stdout):
        metrics = json.loads((load.scratch / "summary.json").read_text())["metrics"]
        failed = metrics["http_req_failed"]["passes"]
        times = metrics["http_req_duration"]
        return Outcome(
            metrics["http_reqs"]["count"] - failed, failed, latency_us=(times["med"] * 1000, times["p(99)"] * 1000)
        )


TOOLS = [Pepe, Floor, Wrk, Oha, H2load, Hey, Vegeta, K6]
