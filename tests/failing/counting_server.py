"""An HTTP/1.1 server that counts the hits it has read, by path and by the number that each carries."""

import asyncio
import collections
import ssl
import subprocess
import threading


class CountingServer:
    """Serves on a thread of its own, on free ports of 127.0.0.1: plain, and over TLS where there is a certificate."""

    def __init__(self, certificate=None):
        self.hits = collections.defaultdict(collections.Counter)  # path: {sequence number: times read}
        self.loop = asyncio.new_event_loop()
        self.port = self._listen(None)
        self.tls_port = self._listen(self._context(certificate)) if certificate else None
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    @staticmethod
    def _context(certificate):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        return context

    def _listen(self, context):
        serving = asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
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
        self.hits[path][int(fields.get("x-vegeta-seq", -1))] += 1
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
