"""A client of MCP without hooks, which starts the server as such clients do: what it is told, its session."""

import json
import os
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp_types import Implementation, ListRootsResult, Root

from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.remember import remember
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft
from mcp_server.doors.server import opening
from tests.doors.test_server import Answers
from tests.live import ROOT

CODEX = Implementation(name="codex-mcp-client", version="1")
HERON = "The billing service is called heron"
MODES = ("legacy", "auto")
Converse = Callable[[Client], Awaitable[None]]


@pytest.fixture
def served(memory_dir: Path, project: Path, scratch_home: Path) -> Callable[..., None]:
    """Run a conversation with a server process; *cwd* is where the client starts it."""

    def run(converse: Converse, *, cwd: Path = project, mode: str = "legacy", **more: Any) -> None:
        env = {
            **os.environ,
            "MEMORY_DIR": str(memory_dir),
            "EMBEDDING_MODEL": "none",
            "PYTHONPATH": str(ROOT),
        }
        env = {name: value for name, value in env.items() if not name.startswith("CLAUDE")}
        env |= more.pop("env", {})
        server = StdioServerParameters(command=sys.executable, args=["-m", "mcp_server"], env=env, cwd=cwd)

        async def main() -> None:
            options = {"client_info": CODEX, "mode": mode, **more}
            async with Client(server, **options) as client:
                await converse(client)

        anyio.run(main)

    return run


@pytest.fixture
def heron(open_here: Callable[..., Opened], project: Path) -> str:
    store = open_here(EMBEDDING_MODEL="none").store()
    memory = remember(store, Draft(HERON, f"{HERON}, after the bird.", type="architecture")).memory
    sync(store)
    return memory.id


@pytest.mark.parametrize("mode", MODES)
def test_the_instructions_carry_the_brief_and_so_do_a_prompt_and_a_resource(
    served: Callable[..., None], heron: str, mode: str
) -> None:
    async def conversation(client: Client) -> None:
        told = client.instructions or ""
        assert told.startswith(opening.GUIDE)
        assert HERON in told
        (prompt,) = (await client.list_prompts()).prompts
        assert (prompt.name, prompt.arguments or []) == ("brief", [])
        (message,) = (await client.get_prompt("brief")).messages
        assert HERON in message.content.text
        resources = {str(each.uri) for each in (await client.list_resources()).resources}
        assert resources == {opening.BRIEF}
        (content,) = (await client.read_resource(opening.BRIEF)).contents
        assert HERON in content.text

    served(conversation, mode=mode)


@pytest.mark.parametrize("mode", MODES)
def test_claude_code_has_its_hooks_and_gets_no_instructions(
    served: Callable[..., None], heron: str, mode: str
) -> None:
    async def conversation(client: Client) -> None:
        assert not client.instructions
        assert "hook" in {tool.name for tool in (await client.list_tools()).tools}

    served(conversation, mode=mode, client_info=Implementation(name="claude-code", version="2"))


@pytest.mark.parametrize("mode", MODES)
def test_the_tool_of_the_hooks_is_for_claude_code_alone(served: Callable[..., None], mode: str) -> None:
    async def conversation(client: Client) -> None:
        before = {tool.name for tool in (await client.list_tools()).tools}
        await client.call_tool("recall", {"query": "x"})  # from then on the protocol library answers
        after = {tool.name for tool in (await client.list_tools()).tools}
        assert "recall" in before
        assert "hook" not in before
        assert before == after

    served(conversation, mode=mode)


def test_what_may_not_be_told_unasked_is_not_in_the_instructions(
    served: Callable[..., None], memory_dir: Path
) -> None:
    async def storing(client: Client) -> None:
        assert client.instructions == opening.GUIDE  # an empty memory
        stored = await Answers(client)("remember", title="Deploys", content="Deploys run from the gate host.")
        assert "not shown unasked until the person accepts it" in stored

    async def asking(client: Client) -> None:
        assert "gate host" not in str(client.instructions)
        assert "gate host" in await Answers(client)("recall", query="where do deploys run from")

    served(storing)
    served(asking)


def test_who_switched_hooks_off_is_told_nothing_unasked(served: Callable[..., None], heron: str) -> None:
    async def conversation(client: Client) -> None:
        assert client.instructions == opening.GUIDE
        (message,) = (await client.get_prompt("brief")).messages
        assert HERON in message.content.text

    served(conversation, env={"DAYBOOK_HOOKS": "off"})


@pytest.mark.feature("B-21")
@pytest.mark.parametrize("mode", MODES)
def test_the_session_tools_work_without_a_hook(
    served: Callable[..., None], project: Path, memory_dir: Path, mode: str
) -> None:
    async def first(client: Client) -> None:
        call = Answers(client)
        await call("save_session", title="Retries", context="Half done.", tasks="backoff", files="a.py")
        assert not call.failed
        assert "- [ ] backoff" in await call("restore_session")
        talk = [{"role": "user", "content": "why?"}, {"role": "assistant", "content": "because"}]
        kept = await call("save_conversation", title="Talk", messages=talk)
        assert "user\n   | why?" in await call("load_conversation", id=kept.split(": ")[0])
        assert "saved" in await call("summarize_session", summary="Retries got a backoff.")
        told = await call("get_session")
        assert not call.failed
        assert "Retries got a backoff." in told
        short = re.search(r"\b[0-9a-f]{8}\b", told)
        assert short
        assert short[0] in await call("get_sessions")

    async def later(client: Client) -> None:
        call = Answers(client)
        assert "Half done." in await call("restore_session")
        listed = await call("get_sessions")
        assert listed.count("Retries got a backoff.") == 1
        short = re.search(r"\b[0-9a-f]{8}\b", listed)
        assert short
        plan = await call("forget_session", id=short[0])
        assert not call.failed, plan

    served(first, mode=mode)
    served(later, mode=mode)

    texts = [path.read_text("utf-8") for path in (memory_dir / "ledger").glob("*.jsonl")]
    lines = [json.loads(line) for text in texts for line in text.splitlines()]
    started = [line for line in lines if line["event"] == "session_started"]
    assert len({line["session"] for line in started}) == 2
    assert {line["folder"] for line in started} == {str(project)}


@pytest.mark.parametrize("name", ["shop", "ein Laden mit Ümlauten"])
def test_a_client_that_starts_the_server_nowhere_is_asked_where_it_works(
    served: Callable[..., None], scratch_home: Path, tmp_path: Path, memory_dir: Path, name: str
) -> None:
    work = tmp_path / "work" / name
    work.mkdir(parents=True)
    asked: list[object] = []

    async def roots(context: object) -> ListRootsResult:
        asked.append(context)
        gone = Root(uri=(tmp_path / "gone").as_uri())
        return ListRootsResult(roots=[gone, Root(uri=work.as_uri()), Root(uri=tmp_path.as_uri())])

    async def conversation(client: Client) -> None:
        while not asked:
            await anyio.lowlevel.checkpoint()
        stored = await Answers(client)("remember", title="Deploys", content="Deploys run from the gate host.")
        assert str(memory_dir / "projects") in stored

    served(conversation, cwd=scratch_home, list_roots_callback=roots)


def test_a_client_that_starts_the_server_in_a_project_is_not_asked(
    served: Callable[..., None], project: Path
) -> None:
    async def roots(context: object) -> ListRootsResult:
        raise AssertionError("it is known where the client works")

    async def conversation(client: Client) -> None:
        assert "project" in await Answers(client)("remember", title="A", content="The build needs make 4.")

    served(conversation, list_roots_callback=roots)
