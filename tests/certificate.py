"""A certificate of a server on loopback, made for a test and signed by itself."""

import ssl
import subprocess
from pathlib import Path
from typing import NamedTuple


class Certificate(NamedTuple):
    """The files of a certificate and of its key."""

    path: Path
    key: Path

    def context(self) -> ssl.SSLContext:
        """Return what a server does TLS with."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path, self.key)
        return context


def certified(folder: Path) -> Certificate:
    """Make a certificate for 127.0.0.1 and localhost in *folder*, with openssl."""
    certificate = Certificate(folder / "certificate.pem", folder / "key.pem")
    request_words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1".split()
    names = ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    files = ["-keyout", str(certificate.key), "-out", str(certificate.path)]
    subprocess.run(["openssl", *request_words, *names, *files], check=True, capture_output=True)
    return certificate
