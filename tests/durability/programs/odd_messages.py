"""
Messages of any shape for a server, and how often each of their ids must be answered.

    python -m tests.durability.programs.odd_messages COUNT [SEED]

Sends COUNT of them to a real server, with a ping behind every few. Prints one JSON object: how many were
sent, which ids were answered too often or too seldom, and what went to stdout that is no message.
"""

import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.durability.served import Served
from tests.patience import PATIENCE

AT_ONCE = 20  # messages between two looks at the answers
ONCE, PERHAPS, NEVER = (1, 1), (0, 1), (0, 0)  # least and most answers to an id

Expected = dict[object, tuple[int, int]]
Odd = tuple[bytes, Expected]
"""A line, and of each id how many answers are right; None is the id of what has none."""

VALUES: tuple[object, ...] = (
    None, True, False, 0, -1, 1.5, 10**30, "", "x", "\0", "é" * 300, [], [[]], [1, "a", None], {},
    {"a": {"b": []}},
    "../../etc/passwd", "NEAR( AND *", "2026-13-45", [f"t{number}" for number in range(300)], "w " * 2000,
)  # fmt: skip
METHODS: tuple[object, ...] = (
    "ping", "tools/list", "resources/list", "prompts/list", "resources/read", "frobnicate", "", "m" * 3000,
    "logging/setLevel", "completion/complete", "server/discover",
)  # fmt: skip


def odd_messages(rng: random.Random, tools: list[dict[str, Any]]) -> Iterator[Odd]:
    """Yield messages without end; *tools* are those that the server lists."""
    kinds = (
        _request,
        _call,
        _wrong_request,
        _wrong_id,
        _notification,
        _no_message,
        _batch,
        _cancelled,
        _twice,
    )
    number = 0
    while True:
        number += 1
        yield rng.choice(kinds)(rng, f"{rng.choice(('', 'm-'))}{number}", tools)


def exchange(server: Served, messages: list[Odd]) -> tuple[list[object], list[object]]:
    """Send *messages* and a ping; return the ids with too few answers, and those with too many."""
    expected: Counter[object] = Counter()
    most: Counter[object] = Counter()
    for line, answers in messages:
        server.send(line)
        for number, (least, limit) in answers.items():
            expected[number] += least
            most[number] += limit
    assert server.ask("ping")["result"] == {}
    answer_counts = Counter(answer.get("id") for answer in server.passed if "method" not in answer)
    server.passed.clear()
    end = time.monotonic() + PATIENCE
    while expected - answer_counts and (answer := server.next_line(end)):
        answer_counts[answer.get("id")] += 1
    return list((expected - answer_counts).elements()), list((answer_counts - most).elements())


def _request(rng: random.Random, number: str, _: list[dict[str, Any]]) -> Odd:
    request = {"jsonrpc": "2.0", "id": number, "method": rng.choice(METHODS)}
    if rng.random() < 0.5:
        request["params"] = rng.choice(({}, {"a": rng.choice(VALUES)}, {"_meta": rng.choice(VALUES)}))
    blank = rng.choice((b"", b"\r", b"\t ", b"\xef\xbb\xbf"))
    line = json.dumps(request).encode()
    return (blank + line if blank[:1] == b"\xef" else line + blank), {number: ONCE}


def _call(rng: random.Random, number: str, tools: list[dict[str, Any]]) -> Odd:
    tool = rng.choice(tools)
    names = list(tool["inputSchema"].get("properties", {}))
    arguments: object = {name: rng.choice((*VALUES, "x", "x")) for name in names if rng.random() < 0.6}
    if rng.random() < 0.1:
        arguments = rng.choice(VALUES)
    params = {"name": rng.choice((tool["name"], tool["name"], rng.choice(VALUES))), "arguments": arguments}
    request = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    return json.dumps(request).encode(), {number: ONCE}


def _wrong_request(rng: random.Random, number: str, _: list[dict[str, Any]]) -> Odd:
    request: dict[str, Any] = {"jsonrpc": "2.0", "id": number, "method": rng.choice(METHODS), "params": {}}
    match rng.randrange(6):
        case 0:
            request["params"] = rng.choice((5, "x", [], True, [dict(request)], 1.5))
        case 1:
            request["method"] = rng.choice((5, None, [], {}, True))
        case 2:
            request["jsonrpc"] = rng.choice(("1.0", 2.0, None, [], ""))
        case 3:
            del request["jsonrpc"]
        case 4:
            request["result"] = rng.choice(VALUES)
        case _:
            deep = b'{"jsonrpc":"2.0","id":"%b","method":"ping","params":{"a":%b%b}}'
            depth = rng.choice((150, 250, 900, 5000, 100_000))
            return deep % (number.encode(), b"[" * depth, b"]" * depth), {number: ONCE}
    return json.dumps(request).encode(), {number: ONCE}


def _wrong_id(rng: random.Random, _: str, __: list[dict[str, Any]]) -> Odd:
    number, answered_as = rng.choice(
        ((None, None), (True, None), ([], None), ({"a": 1}, None), (0.5, 0.5), (-2.25, -2.25))
    )
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}).encode(), {answered_as: ONCE}


def _notification(rng: random.Random, number: str, _: list[dict[str, Any]]) -> Odd:
    notification = {
        "jsonrpc": "2.0",
        "method": rng.choice(("notifications/x", "ping", "notifications/progress", "tools/call")),
    }
    notification["params"] = rng.choice(VALUES)
    if rng.random() < 0.3:
        notification = {"jsonrpc": "2.0", "id": number, rng.choice(("result", "error")): rng.choice(VALUES)}
    return json.dumps(notification).encode(), {number: NEVER}


def _no_message(rng: random.Random, number: str, _: list[dict[str, Any]]) -> Odd:
    line = json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}).encode()
    if rng.random() < 0.2:
        return rng.choice((b"", b"  ", b"\t", b"\r")), {}
    broken = (
        line[: rng.randrange(1, len(line))], line * 2, line[1:], b"\xff\xfe" + line, b"\0" + line, b"garbage",
        b"{}", b"7", b'"x"', b"null", b"[" * rng.randrange(2, 100_000), line.decode().encode("utf-16-le"),
        line.replace(b'"ping"', b"NaN"), b'{"a":' * 3000, rng.randbytes(50).replace(b"\n", b"x") + b"x",
    )  # fmt: skip
    return rng.choice(broken), {None: ONCE}


def _batch(rng: random.Random, number: str, _: list[dict[str, Any]]) -> Odd:
    ids = [f"{number}-{place}" for place in range(rng.randrange(4))]
    batch: list[object] = [{"jsonrpc": "2.0", "id": request_id, "method": "ping"} for request_id in ids]
    batch += [{"jsonrpc": "2.0", "method": "notifications/x"}] * rng.randrange(2)
    return json.dumps(batch).encode(), dict.fromkeys(ids, ONCE) if ids else {None: ONCE}


def _cancelled(rng: random.Random, number: str, _: list[dict[str, Any]]) -> Odd:
    call = {"name": "recall", "arguments": {"query": "herons"}}
    lines = [
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": rng.choice(VALUES)}},
    ]
    return b"\n".join(json.dumps(line).encode() for line in lines), {number: PERHAPS}


def _twice(_: random.Random, number: str, __: list[dict[str, Any]]) -> Odd:
    line = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/list"}).encode()
    return line + b"\n" + line, {number: (2, 2)}


def main(count: int, seed: int) -> None:
    """Send *count* messages and print what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "shop").mkdir()
        with Served(place / "memory", place / "shop", HOME=folder) as server:
            tools = server.greet().ask("tools/list")["result"]["tools"]
            messages = odd_messages(random.Random(seed), tools)
            seldom: list[object] = []
            often: list[object] = []
            for _ in range(0, count, AT_ONCE):
                few, many = exchange(server, [next(messages) for _ in range(AT_ONCE)])
                seldom, often = seldom + few, often + many
            noise = [line.decode(errors="replace") for line in server.noise]
    print(json.dumps({"sent": count, "seed": seed, "too seldom": seldom, "too often": often, "noise": noise}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
