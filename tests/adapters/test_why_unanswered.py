"""Whoever does not answer, each client says in the same words why, and what the person does about it."""

import contextlib
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

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


def ask_model(url: str) -> None:
    ClaudeModel("key", url, consent=True, deadline=PATIENCE).ask(
        system="quagga", prompt="quagga", most_tokens=9
    )


def ask_embedder(url: str) -> None:
    EndpointEmbedder(Endpoint(url, "name", 2)).embed_queries(["quagga"])


def ask_team(url: str) -> None:
    TeamClient(url, "token", deadline=PATIENCE).search(Query("quagga"))


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


@pytest.mark.parametrize("ask", [ask_model, ask_embedder, ask_team])
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

    assert why in str(failed.value)
    assert not re.search(r"[a-z](Error|Timeout|Exception)\b|Errno|quagga", str(failed.value))
