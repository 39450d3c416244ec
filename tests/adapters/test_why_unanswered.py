"""Whoever does not answer, each client says in the same words why, and what the person does about it."""

import base64
import contextlib
import re
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from mcp_server.adapters.claude_model import ClaudeModel
from mcp_server.adapters.endpoint_embedder import EndpointEmbedder
from mcp_server.adapters.team_client import TeamClient
from mcp_server.core.budget import CallFailed
from mcp_server.core.embedding_models import Endpoint
from mcp_server.core.errors import DaybookError
from mcp_server.core.search.query import Query
from tests.certificate import certified
from tests.patience import PATIENCE
from tests.scripted_model import RESET, ScriptedModel


def ask_model(url: str, *, own_network: bool = True) -> None:
    model = ClaudeModel("key", url, consent=True, own_network=own_network, deadline=PATIENCE)
    model.ask(system="quagga", prompt="quagga", most_tokens=9)


def ask_embedder(url: str, *, own_network: bool = True) -> None:
    EndpointEmbedder(Endpoint(url, "name", 2), own_network=own_network).embed_queries(["quagga"])


def ask_team(url: str, *, own_network: bool = True) -> None:
    TeamClient(url, "token", own_network=own_network, deadline=PATIENCE).search(Query("quagga"))


@contextlib.contextmanager
def nobody(_: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{free.getsockname()[1]}"


@contextlib.contextmanager
def no_such_name(_: Path) -> Iterator[str]:
    yield "https://nowhere.invalid"


@contextlib.contextmanager
def one_that_breaks_off(_: Path) -> Iterator[str]:
    with ScriptedModel([RESET]) as server:
        yield server.url


@contextlib.contextmanager
def one_without_tls(_: Path) -> Iterator[str]:
    with ScriptedModel() as server:
        yield server.url.replace("http:", "https:")
        assert server.calls == 0


@contextlib.contextmanager
def a_stranger(folder: Path) -> Iterator[str]:
    with ScriptedModel() as server:
        server.socket = certified(folder).context().wrap_socket(server.socket, server_side=True)
        yield server.url.replace("http:", "https:")
        assert server.calls == 0


CLIENTS = pytest.mark.parametrize("ask", [ask_model, ask_embedder, ask_team])


@CLIENTS
@pytest.mark.parametrize(
    ("place", "why"),
    [
        (nobody, "could not be reached: nothing answers at that address. Start it there,"),
        (no_such_name, "could not be reached: its name is not known. Look at the address,"),
        (one_without_tls, "could not be reached: no encrypted connection came about. Look at the address,"),
        (a_stranger, "could not be reached: its certificate is not trusted here. If it is your"),
        (one_that_breaks_off, "did not answer in full: the connection broke off. Try again"),
    ],
)
def test_each_client_says_why_and_what_to_do(
    ask: Callable[[str], None],
    place: Callable[[Path], contextlib.AbstractContextManager[str]],
    why: str,
    tmp_path: Path,
) -> None:
    with place(tmp_path) as url, pytest.raises((DaybookError, CallFailed)) as failed:
        ask(url)

    check(failed.value, why)


def check(failure: Exception, why: str) -> None:
    assert why in str(failure)
    assert not re.search(r"[a-z](Error|Timeout|Exception)\b|Errno|quagga|p4ssw0rd", str(failure))


class Proxy(BaseHTTPRequestHandler):
    """Answers each CONNECT with the status that the user's name of its address is, and hangs up."""

    def do_CONNECT(self) -> None:
        login = base64.b64decode(self.headers["proxy-authorization"].split()[1]).decode()
        if status := int(login.partition(":")[0]):
            self.send_error(status, "quagga")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def proxy() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


class SocksProxy(socketserver.StreamRequestHandler):
    """Says as RFC 1928 has it that it is connected, notes to whom it should be, and speaks no TLS."""

    asked: ClassVar[list[bytes]] = []

    def handle(self) -> None:
        _, methods = self.rfile.read(2)
        self.rfile.read(methods)
        self.wfile.write(b"\5\0")  # no name and password are wanted
        *_, length = self.rfile.read(5)
        self.asked.append(self.rfile.read(length + 2)[:-2])
        self.wfile.write(b"\5\0\0\1" + bytes(6))
        *_, high, low = self.rfile.read(5)
        self.rfile.read(high * 256 + low)
        self.wfile.write(b"quagga")


@CLIENTS
def test_a_socks_proxy_is_asked_also_where_another_is_named(
    ask: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), SocksProxy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        SocksProxy.asked.clear()
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        monkeypatch.setenv("ALL_PROXY", f"socks5://127.0.0.1:{server.server_address[1]}")
        with pytest.raises((DaybookError, CallFailed)) as failed:
            ask("https://team.example.org")
        server.shutdown()

    check(failed.value, "no encrypted connection came about")
    assert set(SocksProxy.asked) == {b"team.example.org"}


@CLIENTS
@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        (
            "HTTPS_PROXY",
            "http://407:p4ssw0rd@{proxy}",
            "wants a name and a password (HTTP 407). Give HTTPS_PROXY",
        ),
        (
            "HTTPS_PROXY",
            "http://403:p4ssw0rd@{proxy}",
            "refuses to connect to it (HTTP 403). Look at HTTPS_PROXY",
        ),
        ("HTTPS_PROXY", "http://000:p4ssw0rd@{proxy}", "the proxy 127.0.0.1 does not connect to it. Look at"),
        ("HTTPS_PROXY", "http://a:p4ssw0rd@{nobody}", "the proxy 127.0.0.1 does not connect to it. Look at"),
        (
            "ALL_PROXY",
            "http://a:p4ssw0rd@no.invalid:3128",
            "the proxy no.invalid does not connect to it. Look",
        ),
        ("ALL_PROXY", "gopher://a:p4ssw0rd@{proxy}", "names a proxy that Daybook cannot use. The address of"),
        ("SSL_CERT_FILE", "/nowhere/at/all.pem", "names no certificates that can be read. Correct it"),
        ("SSL_CERT_FILE", __file__, "names no certificates that can be read. Correct it"),
    ],
)
def test_what_is_wrong_with_the_persons_own_network_is_not_told_of_the_other_side(
    ask: Callable[[str], None],
    proxy: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    name: str,
    value: str,
    why: str,
) -> None:
    with nobody(tmp_path) as url:
        monkeypatch.setenv(name, value.format(proxy=proxy, nobody=url.removeprefix("http://")))
        with pytest.raises((DaybookError, CallFailed)) as failed:
            ask("https://team.example.org")

    check(failed.value, why)
    assert not getattr(failed.value, "charged", False)


@CLIENTS
def test_a_proxy_that_only_a_repository_names_is_said_to_be_unused_where_one_would_help(
    ask: Callable[..., None], tmp_path: Path
) -> None:
    said = []
    with nobody(tmp_path) as here:
        for url, own_network in (
            ("https://nowhere.invalid", False),
            ("https://nowhere.invalid", True),
            (here, False),
        ):
            with pytest.raises((DaybookError, CallFailed)) as failed:
                ask(url, own_network=own_network)
            said.append("that the settings of this repository name were not used." in str(failed.value))

    assert said == [True, False, False]
