"""Hosts of a git repository on loopback, as a person has them: git's own program behind TLS, and sshd."""

import base64
import contextlib
import getpass
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from tests.certificate import certified
from tests.durability.served import eventually

NAME, PASSWORD = "me", "correct-horse"
SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


class Host(NamedTuple):
    """The address of an empty repository, and two HOMEs: whose git is let in, and whose is not."""

    url: str
    home: Path
    stranger: Path


def lacks(program: str) -> str:
    """Return why *program* cannot be had, '' when it can."""
    return "" if shutil.which(program) else f"{program} is not here"


def no_sshd() -> str:
    """Return why sshd cannot be started by this account, '' when it can."""
    if not SSHD:
        return "sshd is not here: install openssh-server"
    if getpass.getuser() == "root" and not Path("/run/sshd").is_dir():
        return "sshd of root needs the folder /run/sshd: mkdir -m 755 /run/sshd"
    return ""


def backend() -> Path:
    """Return git's program that serves HTTP, whether or not it is there."""
    command = ["git", "--exec-path"]
    folder = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout.strip()
    return Path(folder) / "git-http-backend"


@contextlib.contextmanager
def https_host(folder: Path) -> Iterator[Host]:
    """Serve an empty repository over HTTPS to who has the password, with a certificate made for it."""
    certificate = certified(folder)
    _empty(folder / "served" / "memory.git")
    server = _Server(folder / "served")
    server.socket = certificate.context().wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    port = server.server_address[1]
    git_config = f"[http]\n\tsslCAInfo = {certificate.path}\n\tpostBuffer = 65536\n"
    password = folder / "passwords"
    password.write_text(f"https://{NAME}:{PASSWORD}@127.0.0.1:{port}\n", encoding="utf-8")
    helper = f"[credential]\n\thelper = store --file={password}\n"
    try:
        yield Host(
            f"https://127.0.0.1:{port}/memory.git",
            _home(folder / "person", git_config + helper),
            _home(folder / "stranger", git_config),
        )
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def ssh_host(folder: Path) -> Iterator[Host]:
    """Serve an empty repository over SSH to who has the key, by a real sshd of this account."""
    assert SSHD
    for name in ("host", "person", "other"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / f"{name}-key")]
        subprocess.run(command, check=True)
    _empty(folder / "memory.git")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = (
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder / 'host-key'}\nPidFile none\nUsePAM no\n"
        f"AuthorizedKeysFile {folder / 'person-key.pub'}\nStrictModes no\nPasswordAuthentication no\n"
    )
    (folder / "sshd.conf").write_text(settings, encoding="utf-8")
    public = " ".join((folder / "host-key.pub").read_text(encoding="utf-8").split()[:2])
    (folder / "known").write_text(f"[127.0.0.1]:{port} {public}\n", encoding="utf-8")
    server = subprocess.Popen([SSHD, "-D", "-e", "-f", str(folder / "sshd.conf")], stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: _listens(port), "sshd listens")
        yield Host(
            f"ssh://{getpass.getuser()}@127.0.0.1:{port}{folder / 'memory.git'}",
            _home(folder / "person", _by_ssh(folder, "person-key")),
            _home(folder / "stranger", _by_ssh(folder, "other-key")),
        )
    finally:
        server.terminate()
        server.wait()


def _by_ssh(folder: Path, key: str) -> str:
    options = f"-F none -o IdentitiesOnly=yes -o BatchMode=yes -o UserKnownHostsFile={folder / 'known'}"
    return f"[core]\n\tsshCommand = ssh -i {folder / key} {options}\n"


def _listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


def _home(folder: Path, settings: str) -> Path:
    folder.mkdir()
    (folder / ".gitconfig").write_text(settings, encoding="utf-8")
    return folder


def _empty(repository: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(repository)], check=True)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, root: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.root = root
        self.program = backend()


class _Handler(BaseHTTPRequestHandler):
    """Hands each request with the password to git's own program, as a web server does (CGI)."""

    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        if self.headers.get("Transfer-Encoding") != "chunked":
            self._answer(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
            return
        data = b""
        while size := int(self.rfile.readline(), 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        self._answer(data)

    def _answer(self, data: bytes) -> None:
        password = base64.b64encode(f"{NAME}:{PASSWORD}".encode()).decode()
        if self.headers.get("Authorization") != f"Basic {password}":
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="memory"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        about = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.server.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REMOTE_USER": NAME,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(data)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        process = subprocess.run(
            [self.server.program], input=data, env=about, capture_output=True, check=False
        )
        head, _, body = process.stdout.partition(b"\r\n\r\n")
        lines = [line.partition(": ") for line in head.decode("latin-1").split("\r\n")]
        status = next((value for name, _, value in lines if name == "Status"), "200 OK")
        self.send_response(int(status.split()[0]))
        for name, _, value in lines:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
