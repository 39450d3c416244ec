"""A client of MCP without hooks, which starts the server as such clients do: what it is told, its session."""

import json
import os
import re
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import Implementation, ListRootsResult, Root

from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.remember import remember
from mcp_server.core.memory import Draft
from mcp_server.doors.server import opening
from mcp_server.doors.server.hook_tool import REFUSED
from tests.conftest import Open
from tests.doors.called import Caller, calling
from tests.live import ROOT
from tests.patience import PATIENCE

CODEX = Implementation(name="codex-mcp-client", version="1")
CLAUDE_CODE = Implementation(name="claude-code", version="2")
HERON = "The billing service is called heron"
MODES = ("legacy", "auto")
Calling = AbstractContextManager[Caller]


@pytest.fixture
def served(memory_dir: Path, project: Path, scratch_home: Path) -> Callable[..., Calling]:
    """Call the tools of a server process; *cwd* is where the client starts it."""

    def run(*, cwd: Path = project, mode: str = "legacy", **more: Any) -> Calling:
        env = {
            **os.environ,
            "MEMORY_DIR": str(memory_dir),
            "EMBEDDING_MODEL": "none",
            "PYTHONPATH": str(ROOT),
        }
        env = {name: value for name, value in env.items() if not name.startswith("CLAUDE")}
        env |= more.pop("env", {})
        server = StdioServerParameters(command=sys.executable, args=["-m", "mcp_server"], env=env, cwd=cwd)
        return calling(Client(server, **{"client_info": CODEX, "mode": mode, **more}))

    return run


@pytest.fixture
def heron(open_here: Open, project: Path) -> str:
    store = open_here(EMBEDDING_MODEL="none").store()
    memory = remember(store, Draft(HERON, f"{HERON}, after the bird.", type="architecture")).memory
    sync(store)
    return memory.id


@pytest.mark.parametrize("mode", MODES)
def test_instructions_prompt_and_resource_carry_the_brief_and_the_tool_of_the_hooks_is_not_listed(
    served: Callable[..., Calling], heron: str, mode: str
) -> None:
    with served(mode=mode) as call:
        instructions = call.client.instructions or ""
        assert instructions.startswith(opening.GUIDE)
        assert HERON in instructions
        (prompt,) = call.wait_for(call.client.list_prompts).prompts
        assert (prompt.name, prompt.arguments or []) == ("brief", [])
        (message,) = call.wait_for(call.client.get_prompt, "brief").messages
        assert HERON in message.content.text
        resources = {str(resource.uri) for resource in call.wait_for(call.client.list_resources).resources}
        assert resources == {opening.BRIEF}
        (content,) = call.wait_for(call.client.read_resource, opening.BRIEF).contents
        assert HERON in content.text
        before = {tool.name for tool in call.wait_for(call.client.list_tools).tools}
        call("recall", query="x")  # from then on the protocol library answers
        assert {tool.name for tool in call.wait_for(call.client.list_tools).tools} == before
        assert "recall" in before and "hook" not in before


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("client", "answer"), [(CODEX, "There is no tool 'hook'"), (CLAUDE_CODE, REFUSED)])
def test_no_model_can_say_what_the_person_typed(
    served: Callable[..., Calling], memory_dir: Path, mode: str, client: Implementation, answer: str
) -> None:
    prompt = {"event": "UserPromptSubmit", "prompt": "#remember Deploys run as root."}
    meta = {"claudecode/toolUseId": "toolu_01AbC"} if client is CLAUDE_CODE else {}
    with served(mode=mode, client_info=client) as call:
        for _ in ("before the protocol library is loaded", "after it"):
            assert answer in call("hook", meta=meta, **prompt)
            call("recall", query="x")
    assert not list(memory_dir.rglob("knowledge/*.md"))


@pytest.mark.parametrize("mode", MODES)
def test_claude_code_has_its_hooks_and_gets_no_instructions(
    served: Callable[..., Calling], heron: str, mode: str
) -> None:
    with served(mode=mode, client_info=CLAUDE_CODE) as call:
        assert not call.client.instructions
        assert "hook" in {tool.name for tool in call.wait_for(call.client.list_tools).tools}


def test_what_may_not_be_told_unasked_is_not_in_the_instructions(
    served: Callable[..., Calling], memory_dir: Path
) -> None:
    with served() as call:
        assert call.client.instructions == opening.GUIDE  # an empty memory
        stored = call("remember", title="Deploys", content="Deploys run from the gate host.")
        assert "not shown unasked until the person accepts it" in stored

    with served() as call:
        assert "gate host" not in str(call.client.instructions)
        assert "gate host" in call("recall", query="where do deploys run from")


def test_who_switched_hooks_off_is_told_nothing_unasked(served: Callable[..., Calling], heron: str) -> None:
    with served(env={"DAYBOOK_HOOKS": "off"}) as call:
        assert call.client.instructions == opening.GUIDE
        (message,) = call.wait_for(call.client.get_prompt, "brief").messages
        assert HERON in message.content.text


@pytest.mark.feature("B-21", "D-11", "D-33", "D-34", "D-35")
@pytest.mark.parametrize("mode", MODES)
def test_the_session_tools_work_without_a_hook(
    served: Callable[..., Calling], project: Path, memory_dir: Path, mode: str
) -> None:
    with served(mode=mode) as call:
        saved = call("save_session", title="Retries", context="Half done.", tasks="backoff", files="a.py")
        assert not call.failed
        assert "- [ ] backoff" in call("restore_session")
        assert "Half done." in call("restore_session", id=saved.split(": ")[0])
        talk = [{"role": "user", "content": "why?"}, {"role": "assistant", "content": "because"}]
        answer = call("save_conversation", title="Talk", messages=talk)
        assert "user\n   | why?" in call("load_conversation", id=answer.split(": ")[0])
        assert "saved" in call("summarize_session", summary="Retries got a backoff.")
        session = call("get_session")
        assert not call.failed
        assert "Retries got a backoff." in session
        short = re.search(r"\b[0-9a-f]{8}\b", session)
        assert short
        assert short[0] in call("get_sessions")

    with served(mode=mode) as call:
        assert "Half done." in call("restore_session")
        listed = call("get_sessions")
        assert listed.count("Retries got a backoff.") == 1
        short = re.search(r"\b[0-9a-f]{8}\b", listed)
        assert short
        plan = call("forget_session", id=short[0])
        assert not call.failed, plan

    texts = [path.read_text("utf-8") for path in (memory_dir / "ledger").glob("*.jsonl")]
    lines = [json.loads(line) for text in texts for line in text.splitlines()]
    started = [line for line in lines if line["event"] == "session_started"]
    assert len({line["session"] for line in started}) == 2
    assert {line["folder"] for line in started} == {str(project)}


@pytest.mark.parametrize("name", ["shop", "ein Laden mit Ümlauten"])
def test_a_client_that_starts_the_server_nowhere_is_asked_where_it_works(
    served: Callable[..., Calling], scratch_home: Path, tmp_path: Path, memory_dir: Path, name: str
) -> None:
    work = tmp_path / "work" / name
    work.mkdir(parents=True)
    was_asked = Event()

    async def roots(context: object) -> ListRootsResult:
        was_asked.set()
        gone = Root(uri=(tmp_path / "gone").as_uri())
        return ListRootsResult(roots=[gone, Root(uri=work.as_uri()), Root(uri=tmp_path.as_uri())])

    with served(cwd=scratch_home, list_roots_callback=roots) as call:
        assert was_asked.wait(PATIENCE)
        stored = call("remember", title="Deploys", content="Deploys run from the gate host.")
        assert str(memory_dir / "projects") in stored


def test_a_client_that_starts_the_server_in_a_project_is_not_asked(
    served: Callable[..., Calling], project: Path
) -> None:
    async def roots(context: object) -> ListRootsResult:
        raise AssertionError("it is known where the client works")

    with served(list_roots_callback=roots) as call:
        assert "project" in call("remember", title="A", content="The build needs make 4.")
