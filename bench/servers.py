"""What the tools of bench/run.py attack."""

import json
import signal
import subprocess


class BenchServer:
    """bench/server for one scenario, on its own core; stops by itself should this script die."""

    def __init__(self, build, scenario, cpu):
        command = [str(build / "bench/server"), f"-size={scenario.size}", "-duration=60m"]
        command += [f"-delay={scenario.delay}"] if scenario.delay else []
        command += ["-unique"] if scenario.unique else []
        command += ["-tls"] if scenario.tls else []
        command += ["-http2", f"-streams={scenario.streams}"] if scenario.streams else []
        command += [f"-cpu={cpu}"] if cpu >= 0 else []
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])

    def stop(self):
        """Its own count and cost."""
        self.process.send_signal(signal.SIGTERM)
        return json.loads(self.process.communicate(timeout=10)[0])
