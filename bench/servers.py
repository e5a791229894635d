"""What the tools of bench/run.py attack: bench/server, and nghttpd where HTTP/2 is spoken."""

import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path


class BenchServer:
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


class Http2Server:
    """nghttpd with a certificate made for it, which answers with a file of the scenario's size."""

    PROGRAM = "nghttpd"
    INSTALL = "apt-get install nghttp2-server openssl"

    @staticmethod
    def is_installed():
        return all(Http2Server.find(name) for name in (Http2Server.PROGRAM, "openssl"))

    @staticmethod
    def find(name):
        return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"]))

    def __init__(self, scenario, cpu):
        self.folder = tempfile.TemporaryDirectory(prefix="pepe-bench-h2-")
        folder = Path(self.folder.name)
        (folder / "index.html").write_text("a" * scenario.size)
        key, certificate = folder / "key.pem", folder / "certificate.pem"
        subprocess.run(
            [
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-days",
                "7",
                "-subj",
                "/CN=localhost",
                "-keyout",
                key,
                "-out",
                certificate,
            ],
            capture_output=True,
            check=True,
        )
        self.port = free_port()
        command = [
            self.find(self.PROGRAM),
            "-a",
            "127.0.0.1",
            "-d",
            folder,
            "-m",
            str(scenario.streams),
            str(self.port),
            key,
            certificate,
        ]
        pin = (lambda: os.sched_setaffinity(0, {cpu})) if cpu >= 0 else None
        self.process = subprocess.Popen(command, preexec_fn=pin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for_port(self.port)

    def stop(self):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.process.terminate()
        self.process.wait(timeout=10)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.folder.cleanup()
        return {"program": self.PROGRAM, "cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def wait_for_port(port):
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError(f"nothing listens on port {port}")
