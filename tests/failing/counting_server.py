"""An HTTP/1.1 server that counts the hits it has read, by path and by the number that each carries.

How a path ends says how it is answered: /large, /slow (after 50 ms), /elsewhere (by a redirect to one of many hosts),
/silent (never).

    counting_server.py COMMAND...      serves at 127.0.0.1:8080 while COMMAND runs
"""

import asyncio
import collections
import ssl
import subprocess
import sys
import threading


class CountingServer:
    """Serves on a thread of its own, on free ports: plain, and over TLS where there is a certificate."""

    def __init__(self, certificate=None, host="127.0.0.1", port=0):
        self.host = host
        self.hits = collections.defaultdict(collections.Counter)  # path: {sequence number: times read}
        self.loop = asyncio.new_event_loop()
        self.port = self._listen(None, port)
        self.tls_port = self._listen(self._context(certificate), 0) if certificate else None
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    @staticmethod
    def _context(certificate):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        return context

    def _listen(self, context, port):
        serving = asyncio.start_server(self._serve, self.host, port, ssl=context, backlog=512)
        server = self.loop.run_until_complete(serving)
        return server.sockets[0].getsockname()[1]

    async def _serve(self, reader, writer):
        try:
            while await self._answer(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            pass
        finally:
            writer.close()

    async def _answer(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        path = head[0].split(" ")[1]
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:-2])}
        await reader.readexactly(int(fields.get("content-length", 0)))
        number = int(fields.get("x-vegeta-seq", -1))
        self.hits[path][number] += 1
        if path.endswith("/silent"):
            await reader.read()  # until the other side has had enough
            return False
        if path.endswith("/slow"):
            await asyncio.sleep(0.05)
        if path.endswith("/elsewhere"):
            writer.write(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.%d:%d/slow\r\nContent-Length: 0\r\n\r\n"
                         % (2 + number % 100, self.port))
            return True
        size = 3000 if path.endswith("/large") else 30
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % size + b"x" * size)
        await writer.drain()
        return True


def make_certificate(folder):
    """A self-signed certificate for 127.0.0.1 with its key, in one file. None: there is no openssl command."""
    key, certificate = folder / "key.pem", folder / "cert.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
               "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    certificate.write_bytes(key.read_bytes() + certificate.read_bytes())
    return certificate


if __name__ == "__main__":
    CountingServer(port=8080)
    sys.exit(subprocess.call(sys.argv[1:]))
