"""Figures that need a running server: asked over stdio, as Claude Code asks it."""

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import NamedTuple

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult, Implementation

from benchmarks.processor_time import of_process

EDITS = 10
WARM = 10  # questions that do not count
SERVERS = 4
CLIENT = {"name": "claude-code", "version": "2"}  # any other has no hooks
ASKED = (
    ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}),
    ("tools/list", {}),
)
"""What Claude Code asks of a server that it starts."""
PATIENCE = 60.0  # seconds until what never comes is an error


class Served(NamedTuple):
    """
    Milliseconds of each prompt hook by a question, and by three of them as sentences of one prompt.

    Then seconds until each edit is found, and resident megabytes.
    """

    hooks: list[float]
    hooks_of_three: list[float]
    edits: list[float]
    memory: float


def started(
    command: Sequence[str], environment: Mapping[str, str], project: Path, prompt: str
) -> tuple[float, float]:
    """Run a server; return (ms of the processor, ms of the clock) until it answered a prompt's hook."""
    began = time.perf_counter()
    with subprocess.Popen(
        command, env=environment, cwd=project, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        hook = {"event": "UserPromptSubmit", "session_id": prompt[:9], "prompt": prompt}
        for number, (method, params) in enumerate(
            (*ASKED, ("tools/call", {"name": "hook", "arguments": hook}))
        ):
            _say(server, {"id": number, "method": method, "params": params})
            assert server.stdout
            result = json.loads(server.stdout.readline())["result"]
            assert not result.get("isError"), result
            if number == 0:
                _say(server, {"method": "notifications/initialized"})
        waited = time.perf_counter() - began
        spent = of_process(server.pid)
        server.stdin and server.stdin.close()
    return spent * 1000, waited * 1000


def _say(server: "subprocess.Popen[bytes]", message: dict[str, object]) -> None:
    assert server.stdin
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    server.stdin.flush()


def served(
    command: Sequence[str],
    environment: Mapping[str, str],
    project: Path,
    questions: Sequence[str],
    path: Path,
) -> Served:
    """
    Run the server that *command* starts and return its figures; the file at *path* is edited.

    There are no edits when EMBEDDING_MODEL is `none`.
    """
    return anyio.run(_served, command, environment, project, questions, path)


async def _served(
    command: Sequence[str],
    environment: Mapping[str, str],
    project: Path,
    questions: Sequence[str],
    path: Path,
) -> Served:
    server = StdioServerParameters(command=command[0], args=[*command[1:]], env={**environment}, cwd=project)
    with_model = environment["EMBEDDING_MODEL"] != "none"
    async with _client(server) as client:
        with anyio.fail_after(PATIENCE):
            while with_model and "words only" in await _asked(client, questions[0]):
                await anyio.sleep(0.1)
        hooks = [await _prompted(client, number, text) for number, text in enumerate(questions)]
        sentences = [text if text.endswith("?") else f"{text}?" for text in questions]
        prompts = map(" ".join, zip(sentences[::3], sentences[1::3], sentences[2::3], strict=False))
        of_three = [await _prompted(client, number, text) for number, text in enumerate(prompts)]
        edits = [await _edited(client, path, number) for number in range(EDITS if with_model else 0)]
        return Served(hooks[WARM:], of_three, edits, _resident())


def beside(
    command: Sequence[str], environment: Mapping[str, str], project: Path, questions: Sequence[str]
) -> tuple[list[float], float]:
    """
    Run four servers of one store, each asked one question after the other while all are, one remembering.

    Return (milliseconds of each prompt hook, megabytes of all four together, what they share counted once).
    """
    return anyio.run(_beside, command, environment, project, questions)


async def _beside(
    command: Sequence[str], environment: Mapping[str, str], project: Path, questions: Sequence[str]
) -> tuple[list[float], float]:
    server = StdioServerParameters(command=command[0], args=[*command[1:]], env={**environment}, cwd=project)
    async with AsyncExitStack() as opened:
        clients = [await opened.enter_async_context(_client(server)) for _ in range(SERVERS)]
        with anyio.fail_after(PATIENCE):
            for client in clients:
                while "words only" in await _asked(client, questions[0]):
                    await anyio.sleep(0.1)
        times: list[float] = []

        async def ask(number: int, client: Client) -> None:
            for count, text in enumerate(questions[number::SERVERS]):
                times.append(await _prompted(client, SERVERS * count + number, text))
                if number == 0:
                    await client.call_tool("remember", {"title": f"Note {count}", "content": text})

        async with anyio.create_task_group() as group:
            for number, client in enumerate(clients):
                group.start_soon(ask, number, client)
        return times[WARM:], _together()


def _client(server: StdioServerParameters) -> Client:
    return Client(stdio_client(server), client_info=Implementation(**CLIENT))


async def _prompted(client: Client, number: int, text: str) -> float:
    """Return the milliseconds of a prompt hook in a session of its own."""
    event = {"event": "UserPromptSubmit", "session_id": f"session-{number}", "prompt": text}
    request = CallToolRequest(params=CallToolRequestParams(name="hook", arguments=event))
    started = time.perf_counter()
    # Not `call_tool`: it lists the tools again at each call of one that is not in the list, as this is not.
    result = await client.session.send_request(request, CallToolResult)
    milliseconds = (time.perf_counter() - started) * 1000
    assert not result.is_error, result
    return milliseconds


async def _edited(client: Client, path: Path, number: int) -> float:
    """Return the seconds until a word written into a file by hand is found."""
    word = f"quagga{number}"
    text = path.read_text(encoding="utf-8")
    path.write_text(f"{text}The {word} is extinct.\n", encoding="utf-8")
    started = time.perf_counter()
    with anyio.fail_after(PATIENCE):
        while f"The {word} is" not in await _asked(client, word):
            await anyio.sleep(0.01)
    return time.perf_counter() - started


async def _asked(client: Client, text: str) -> str:
    result = await client.call_tool("recall", {"query": text, "limit": 1})
    return "".join(block.text for block in result.content if block.type == "text")


def _resident() -> float:
    """Return the resident megabytes of the one server that runs as a child of this process."""
    return max(resident for _, resident in _servers())


def _together() -> float:
    """
    Return the megabytes of all servers that run as children of this process, what they share counted once.

    Linux tells it ("proportional set size"); elsewhere it is the sum of what is resident of each, which
    counts libraries and the model's weights once for each server.
    """
    return sum(_proportional(pid) or resident for pid, resident in _servers())


def _proportional(pid: int) -> float:
    """Return the megabytes of a process, of what it shares with others its part; 0 where nobody tells."""
    try:
        status = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("Pss:")) / 1024


def _servers() -> list[tuple[int, float]]:
    """Return (process id, resident megabytes) of each server that runs as a child of this process."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,rss=,args="], capture_output=True, text=True, check=True
    )
    lines = [line.split(maxsplit=3) for line in listed.stdout.splitlines()]
    return [
        (int(pid), int(rss) / 1024)
        for pid, parent, rss, args in lines
        if int(parent) == os.getpid() and "mcp_server" in args
    ]
