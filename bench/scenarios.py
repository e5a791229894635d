"""What bench/run.py measures: the workloads, and the figures that are asked of pepe in each."""

from dataclasses import dataclass, field

EVERY = ["pepe", "floor", "wrk", "oha", "h2load", "hey", "vegeta", "k6"]
CLOSED = ["pepe", "floor", "wrk", "oha", "h2load", "hey", "vegeta"]
OPEN = ["pepe", "floor", "vegeta", "oha", "k6"]
BODIES = {"pepe": ["-max-body=0"], "vegeta": ["-max-body=0"]}  # flags that keep no bodies


@dataclass(frozen=True)
class Goal:
    """A figure that is asked of pepe: of itself, or as a ratio to the same figure of another row."""

    figure: str  # a key of tables.COLUMNS
    limit: float
    than: str = ""  # the row that pepe's is divided by; "": the figure itself
    scenario: str = ""  # where that row is, if not in the same scenario
    at_least: bool = False
    row: str = "pepe"
    aim: bool = False  # hoped for: falling short of it is not marked


@dataclass(frozen=True)
class Scenario:
    name: str
    what: str
    rows: list  # names of tools; in the kinds "variants", "cores" and "read", of what else stands in a row
    goals: tuple = ()
    kind: str = "attack"  # attack, variants (pepe with several flags), cores, read, start, soak
    connections: int = 64
    streams: int = 0  # HTTP/2 streams on each connection; 0: HTTP/1.1
    rate: int = 0
    size: int = 100
    seconds: float = 2
    requests: int = 0
    delay: str = ""
    unique: bool = False
    tls: bool = False
    flags: dict = field(default_factory=dict)  # more flags: of a tool, or of each row of the kind "variants"
    sink_mb: float = 0  # results go to a pipe that is read at so many MB a second
    in_memory: bool = False  # results go to a file in memory, since a disk would be the limit
    syscalls: bool = False  # system calls are counted in further runs
    pinned: bool = True  # the client has a core of its own
    runs: int = 5
    quick: bool = False


def cpu(limit, than, **more):
    return Goal("cpu_us", limit, than, **more)


def memory(limit, than="", **more):
    return Goal("peak_mb", limit, than, **more)


CLOSED_LOOP = [
    Scenario(
        "get-64",
        "GET of 100 bytes, 64 connections, closed loop",
        EVERY,
        [cpu(1.10, "floor"), cpu(0.75, "wrk"), memory(1.0, "wrk"), Goal("bytes_per_result", 16), Goal("syscalls", 2.1)],
        syscalls=True,
        quick=True,
    ),
    Scenario(
        "get-1000",
        "GET of 100 bytes, 1,000 connections, closed loop",
        CLOSED,
        [cpu(1.15, "floor"), cpu(0.65, "wrk"), memory(1.0, "wrk"), Goal("bytes_per_result", 16), Goal("syscalls", 2.1)],
        connections=1000,
        seconds=3,
        syscalls=True,
        quick=True,
    ),
    Scenario(
        "https-64",
        "GET of 100 bytes over TLS, 64 connections, closed loop",
        EVERY,
        [cpu(1.10, "floor"), cpu(0.90, "wrk"), memory(1.0, "wrk")],
        tls=True,
        quick=True,
    ),
    Scenario(
        "https-1000",
        "GET of 100 bytes over TLS, 1,000 connections, closed loop",
        ["pepe", "floor", "wrk", "oha", "h2load", "vegeta"],
        [memory(1.0, "wrk")],
        tls=True,
        connections=1000,
        seconds=4,
    ),
    Scenario(
        "tls-16k",
        "GET of 16 KiB over TLS, 64 connections, closed loop",
        ["pepe", "floor", "wrk", "oha", "vegeta"],
        [cpu(0.95, "wrk")],
        tls=True,
        size=16384,
    ),
    Scenario(
        "body-kept",
        "GET of 130,780 bytes, 64 connections, closed loop, bodies kept",
        ["pepe", "floor", "wrk", "oha", "vegeta"],
        [cpu(1.5, "wrk")],
        size=130780,
        in_memory=True,
    ),
    Scenario(
        "body-dropped",
        "GET of 130,780 bytes, 64 connections, closed loop, bodies read and not kept (-max-body=0)",
        ["pepe", "floor", "wrk", "oha", "vegeta"],
        size=130780,
        flags=BODIES,
    ),
    Scenario(
        "unique-closed",
        "GET of 130,780 bytes, each body different and kept, 64 connections, closed loop",
        ["pepe", "wrk", "oha", "vegeta"],
        size=130780,
        unique=True,
        seconds=1,
        in_memory=True,
    ),
    Scenario(
        "slow-1000",
        "1,000 connections, closed loop, each answer after 50 ms",
        CLOSED,
        [cpu(1.0, "wrk")],
        connections=1000,
        delay="50ms",
    ),
    Scenario(
        "slow-10000",
        "10,000 connections, closed loop, each answer after 50 ms",
        ["pepe", "floor", "wrk", "oha"],
        [cpu(1.0, "wrk"), memory(64), Goal("failed", 0)],
        connections=10_000,
        delay="50ms",
        seconds=4,
    ),
]

OPEN_LOOP = [
    Scenario(
        "open-500",
        "500 requests a second",
        OPEN,
        [Goal("error_p50_us", 30), Goal("error_p99_us", 200)],
        rate=500,
        seconds=3,
        quick=True,
    ),
    Scenario(
        "open-5000",
        "5,000 requests a second",
        OPEN,
        [cpu(1 / 5, "vegeta"), Goal("error_p50_us", 30), Goal("error_p99_us", 200)],
        rate=5000,
        quick=True,
    ),
    Scenario(
        "open-20000",
        "20,000 requests a second",
        ["pepe", "floor", "vegeta", "oha"],
        [Goal("reached", 0.999, at_least=True)],
        rate=20_000,
    ),
    Scenario(
        "open-50000",
        "50,000 requests a second",
        ["pepe", "floor", "vegeta", "oha"],
        [Goal("reached", 0.999, at_least=True)],
        rate=50_000,
    ),
    Scenario(
        "body-open",
        "500 requests a second for 3 s, one body of 130,780 bytes, kept",
        ["pepe", "vegeta"],
        [Goal("result_kb", 200)],
        rate=500,
        size=130780,
        seconds=3,
    ),
    Scenario(
        "unique-open",
        "500 requests a second for 3 s, bodies of 130,780 bytes, each different and kept",
        ["pepe", "vegeta"],
        rate=500,
        size=130780,
        seconds=3,
        unique=True,
    ),
]

OTHERS = [
    # Without room on the way the results wait in memory, sending waits for them, and the run says so. Bodies that results may
    # still refer to are 256 MB at most.
    Scenario(
        "slow-output",
        "different bodies of 130,780 bytes, results read at 20 MB/s",
        ["pepe"],
        [memory(320), Goal("output_said", 1, at_least=True), Goal("unread", 0), Goal("failed", 0)],
        size=130780,
        unique=True,
        sink_mb=20,
        seconds=3,
        runs=3,
    ),
    Scenario(
        "h2-4x64",
        "HTTP/2 over TLS, 4 connections with 64 streams each",
        ["pepe", "floor", "h2load", "oha", "vegeta"],
        [cpu(1.0, "h2load", aim=True)],
        connections=4,
        streams=64,
        tls=True,
    ),
    Scenario(
        "h2-64x1",
        "HTTP/2 over TLS, 64 connections with one stream each",
        ["pepe", "floor", "h2load", "oha"],
        [cpu(0.75, "h2load", aim=True)],
        connections=64,
        streams=1,
        tls=True,
    ),
    Scenario(
        "1m-256",
        "one million requests, 256 connections",
        ["pepe", "wrk", "oha"],
        [memory(1.0, "wrk")],
        connections=256,
        requests=1_000_000,
        runs=3,
    ),
    Scenario(
        "10m-256",
        "ten million requests, 256 connections",
        ["pepe", "wrk", "oha"],
        [memory(1.0, "wrk"), memory(1.05, "pepe", scenario="1m-256")],
        connections=256,
        requests=10_000_000,
        runs=1,
    ),
    Scenario(
        "threads-slow",
        "1,000 connections, each answer after 50 ms, sending threads on any core",
        ["-threads=1", "-threads=2", "-threads=auto"],
        kind="variants",
        connections=1000,
        delay="50ms",
        pinned=False,
    ),
    Scenario(
        "threads-open",
        "20,000 requests a second, sending threads on any core",
        ["-threads=1", "-threads=2", "-threads=auto"],
        kind="variants",
        rate=20_000,
        pinned=False,
    ),
    Scenario(
        "threads-cores",
        "closed loop, 64 connections a core; each core has a sending thread and a server of its own",
        ["1 core", "2 cores"],
        [Goal("rate", 1.7, "1 core", at_least=True, row="2 cores")],
        kind="cores",
    ),
    Scenario(
        "start",
        "the start of the program; one request, from start to end",
        ["true", "pepe -version", "vegeta -version", "pepe", "vegeta", "oha", "hey"],
        kind="start",
        runs=20,
    ),
]

SOAK = [
    Scenario(
        "soak",
        "2,000 requests a second for 20 minutes, bodies of 2 KB, each different and kept",
        ["pepe"],
        [
            Goal("rss_growth", 1.05),
            Goal("reached", 0.9999, at_least=True),
            Goal("drift_us", 100),
            Goal("unreadable", 0),
            Goal("failed", 0),
        ],
        kind="soak",
        rate=2000,
        size=2048,
        unique=True,
        seconds=1200,
        runs=1,
    ),
    Scenario(
        "long",
        "5,000 requests a second for 30 minutes",
        ["pepe"],
        [
            Goal("lost", 0),
            Goal("failed", 0),
            Goal("growth_kb", 1023),
            Goal("descriptor_growth", 64),  # a machine that stands still for 10 ms has 50 hits to send at once
            Goal("p99_ratio", 1.1),
            Goal("unreadable", 0),
        ],
        kind="soak",
        rate=5000,
        seconds=1800,
        runs=1,
    ),
]

SIZES = {"pepe 50m": 50_000_000, "pepe 10m": 10_000_000, "pepe 1m": 1_000_000, "vegeta 1m": 1_000_000}


def reading(name, what, rows, goals=(), **more):
    return Scenario(name, what, rows, goals, kind="read", **more)


def faster(factor, row):
    return Goal("results_s", factor, "vegeta 1m", at_least=True, row=row)


READERS = [
    reading(
        "report",
        "report by pepe on its own files of 10 and 50 million results, by vegeta on its gob of one million",
        ["pepe 10m", "pepe 50m", "vegeta 1m"],
        [faster(40, "pepe 10m"), memory(16, row="pepe 10m"), memory(16, row="pepe 50m")],
    ),
    *(
        reading(
            f"report-{name}",
            f"report on vegeta's {name} of one million results",
            ["pepe 1m", "vegeta 1m"],
            [faster(5, "pepe 1m")],
        )
        for name in ("gob", "csv", "json")
    ),
    *(
        reading(
            f"encode-{name}",
            f"encode to {name} by pepe from its own files of 10 and 50 million results, by vegeta from its gob",
            ["pepe 10m", "pepe 50m", "vegeta 1m"],
            [memory(16, row="pepe 10m"), memory(16, row="pepe 50m")],
            runs=3,
        )
        for name in ("gob", "csv", "json")
    ),
    reading(
        "plot",
        "plot by pepe on its own files of 10 and 50 million results, by vegeta on its gob of one million",
        ["pepe 10m", "pepe 50m", "vegeta 1m"],
        runs=3,
    ),
]

SCENARIOS = [*CLOSED_LOOP, *OPEN_LOOP, *OTHERS, *READERS, *SOAK]
