"""Every request with an id gets one answer, whatever it looks like; nothing else gets one."""

import io
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_server.doors.json_rpc import LONGEST_LINE, Lines, Refusal, mended, refusals
from tests.durability.programs.odd_messages import exchange, odd_messages
from tests.durability.served import HELLO, Served
from tests.patience import PATIENCE

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    place = tmp_path_factory.mktemp("asked")
    (place / "shop").mkdir()
    with Served(place / "memory", place / "shop", HOME=str(place)) as served:
        served.greet()
        yield served


def test_generated_messages_are_each_answered_as_often_as_they_ask(server: Served) -> None:
    tools: list[dict[str, Any]] = server.ask("tools/list")["result"]["tools"]
    messages = odd_messages(random.Random(20261122), tools)

    for _ in range(15):
        messages_sent = [next(messages) for _ in range(20)]
        assert exchange(server, messages_sent) == ([], []), messages_sent
    assert server.noise == []


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"jsonrpc":"2.0","id":"q","method":"tools/call","params":5}', -32602),
        (b'{"jsonrpc":"2.0","id":"q","method":"ping","params":[1]}', -32602),
        (b'{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":5}}', -32602),
        (b'{"jsonrpc":"2.0","id":"q","method":5}', -32600),
        (b'{"jsonrpc":"2.0","id":"q"}', -32600),
        (b'{"jsonrpc":"1.0","id":"q","method":"ping"}', -32600),
        (b'[{"jsonrpc":"2.0","id":"q","method":"ping"}]', -32600),
        (b'{"jsonrpc":"2.0","id":"q","method":"frobnicate"}', -32601),
        (b'{"jsonrpc":"2.0","id":"q","method":"ping","params":' + b"[" * 9000 + b"]" * 9000 + b"}", -32700),
        (b'{"method":"ping","params":{"a":"' + b"x" * LONGEST_LINE + b'"},"jsonrpc":"2.0","id":"q"}', -32600),
    ],
)
def test_the_code_says_what_is_wrong(server: Served, line: bytes, code: int) -> None:
    server.send(line)
    answer = server.next_line(time.monotonic() + PATIENCE)

    assert answer
    assert (answer["id"], answer["error"]["code"]) == ("q", code)


def test_a_request_before_the_greeting_is_answered(tmp_path: Path) -> None:
    with Served(tmp_path / "memory", tmp_path) as server:
        for method in ("tools/list", "tools/call", "frobnicate"):
            assert "error" in server.ask(method)
        assert "error" in server.ask("initialize", {"protocolVersion": 7})
        assert "result" in server.ask("initialize", HELLO)


@pytest.mark.parametrize(
    ("message", "ids"),
    [
        ({"method": "x"}, []),
        ({"method": "x", "params": 5}, []),
        ({"id": 1, "result": 5}, []),
        ({"id": 1, "error": 5}, []),
        ({}, [None]),
        ({"method": 5}, [None]),
        ([], [None]),
        ([PING, {**PING, "id": True}, {"method": "x"}, 7], [1, None]),
        ({**PING, "id": None}, [None]),
        ({**PING, "id": 1.5}, [1.5]),
        ({**PING, "result": {}}, [1]),
        (PING, []),
        ({**PING, "params": None}, []),
    ],
)
def test_what_is_refused_is_refused_under_the_ids_it_names(message: object, ids: list[object]) -> None:
    assert [refusal.id for refusal in refusals(json.dumps(message))] == ids


def test_an_id_beyond_all_numbers_is_not_repeated() -> None:
    (refusal,) = refusals('{"jsonrpc": "2.0", "id": 1e999, "method": "ping"}')

    assert refusal.id is None


def test_a_line_without_end_is_refused_once_and_the_next_is_read() -> None:
    refused: list[Refusal] = []
    endless = b'{"jsonrpc":"2.0","id":7,"a":"' + b"x" * (3 * LONGEST_LINE) + b'"}\n'
    lines = Lines(io.BytesIO(endless + b'{"a":1}'), readable=lambda line: len(line) < 100)
    lines.refuse = refused.append

    assert lines.readline() == '{"a":1}'
    assert [(refusal.id, refusal.code) for refusal in refused] == [(7, -32600)]


@pytest.mark.parametrize(
    ("line", "read"),
    [
        (r"a \ud83d\ude00 b", r"a \ud83d\ude00 b"),
        (r"a \ud83d b", r"a \ufffd b"),
        (r"\ude00\ud83d", r"\ufffd\ufffd"),
        (r"\\ud83d", r"\\ud83d"),
        (r"\\\uD83D\n", r"\\\ufffd\n"),
        ("\ufeff{}", "{}"),
    ],
)
def test_of_what_is_sent_only_half_characters_and_the_order_mark_are_mended(line: str, read: str) -> None:
    assert mended(line) == read
