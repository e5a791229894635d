"""How the rate grows with sending threads, for bench/run.py. Each core has a server of its own beside a sending thread, so
that a second core brings as much of both as the first."""

import tempfile
from pathlib import Path

from measuring import run_measured, shown_command
from peers import Load
from servers import BenchServer


class Cores:
    """pepe with a sending thread for each of the first `count` cores, in a closed loop over the servers of all of them."""

    def __init__(self, tool, scenario, count, options):
        self.tool, self.scenario, self.options = tool, scenario, options
        self.cores = [max(0, options.client_cpu), max(1, options.server_cpu)][:count]
        self.seconds = options.seconds or scenario.seconds

    def __call__(self):
        servers = [BenchServer(self.options.build, self.scenario, core) for core in self.cores]
        try:
            with tempfile.TemporaryDirectory(prefix="pepe-bench-", dir=self.options.scratch) as folder:
                return self.run(Path(folder), [server.port for server in servers])
        finally:
            for server in servers:
                server.stop()

    def run(self, scratch, ports):
        connections = self.scenario.connections * len(ports)
        load = Load(ports[0], False, connections, 0, self.seconds, 0, scratch, 0, [f"-threads={len(ports)}"])
        command = [self.tool.program(), *self.tool.arguments(load)]
        (scratch / "targets").write_text("".join(f"GET http://127.0.0.1:{port}/\n" for port in ports))
        wrapper = ["taskset", "-c", ",".join(map(str, self.cores))]
        used = run_measured(command, self.options, scratch, cpu=-1, limit=self.seconds + 60, wrapper=wrapper)
        outcome = self.tool.outcome(load, used.stdout)
        return {
            "done": outcome.done,
            "failed": outcome.failed,
            "rate": outcome.done / used.wall_s,
            **used.cost(outcome.done),
            "threads": outcome.threads,
            "command": shown_command(command, scratch, ports[0]),
        }
