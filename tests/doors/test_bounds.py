"""However much is given at once, the answer is a sentence."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_server.core.bounds import check_amount, session_id
from mcp_server.core.errors import Rejected
from mcp_server.core.settings import HOOK_TOOL
from mcp_server.doors.hooks import EVENTS
from tests.doors.shell import Run
from tests.durability.served import Served
from tests.hook_process import run_hook

MUCH, MANY = "x" * 1_500_000, ["x"] * 100_000  # more than anything takes


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a project, and a store in which one thing is known once there is a server."""
    place = tmp_path_factory.mktemp("much")
    (place / "shop").mkdir()
    return place


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[Served]:
    with Served(place / "memory", place / "shop", HOME=str(place)) as served:
        served.greet()
        served.call("remember", title="Herons", content="Herons stand in the water.")
        yield served


def test_every_argument_of_every_tool_is_measured_first(server: Served) -> None:
    accepted = []
    for tool in server.ask("tools/list")["result"]["tools"]:
        if tool["name"] == HOOK_TOOL:
            continue  # it never fails
        schema = tool["inputSchema"]
        for name, takes in schema.get("properties", {}).items():
            types = {takes.get("type"), *(option.get("type") for option in takes.get("anyOf", []))}
            values = [*([MUCH] if "string" in types else []), *([MANY] if "array" in types else [])]
            values += [{"a": MANY}] if "object" in types else []
            for value in values:
                arguments = dict.fromkeys(schema.get("required", []), "x") | {name: value}
                answer = server.call(tool["name"], **arguments)
                if len(answer) > 1000 or f"'{name}'" not in answer:
                    accepted.append((tool["name"], name, answer[:200]))
    assert accepted == []


def test_a_hook_of_anything_is_answered(server: Served) -> None:
    for event in ("UserPromptSubmit", "Stop", "PreToolUse", MUCH):
        for name in ("session_id", "prompt", "transcript_path", "cwd", "reply"):
            json.loads(server.call("hook", event=event, **{name: MUCH}))


@pytest.mark.parametrize("event", EVENTS)
def test_a_hook_process_ends_soon_whatever_it_is_given(place: Path, server: Served, event: str) -> None:
    names = ("session_id", "cwd", "transcript_path", "source", "hook_event_name", "prompt", "agent_type")
    names += ("last_assistant_message", "trigger", "custom_instructions")
    long, deep = "x" * 3_900_000, "/" + "y/" * 500_000
    odd: list[dict[str, object]] = [{"session_id": long}, {"cwd": deep}, {"transcript_path": deep}]
    odd += [{"prompt": long}, {"last_assistant_message": long}]
    odd += [dict.fromkeys(names, value) for value in ("a\0b", ["x"] * 1000, 7, None)]
    for odd_value in odd:
        event_json = {"session_id": "s", "source": "startup", "cwd": str(place / "shop"), **odd_value}
        usual = {"HOME": str(place), "EMBEDDING_MODEL": "none"}
        process = run_hook(place / "memory", event, event_json, folder=place / "shop", **usual)
        assert (process.returncode, process.stderr) == (0, b"")
        assert not process.stdout or json.loads(process.stdout)


@pytest.mark.parametrize(
    "arguments",
    [
        ["remember", "-"],
        ["save-session", "T", "--context", "-"],
        ["seed", "-"],
        ["save-conversation", "T", "-"],
        ["mine", "--log", "-"],
    ],
)
def test_much_on_standard_input_is_refused_in_a_sentence(run: Run, arguments: list[str]) -> None:
    process = run(*arguments, stdin="word " * 4_000_000)

    assert process.returncode == 4
    assert 1 <= len(process.stderr.splitlines()) <= 2


@pytest.mark.parametrize(
    "arguments",
    [
        {"content": "x" * 131_073},
        {"messages": [{"content": "x" * 1_048_577}]},
        {"metadata": {"x" * 131_073: 1}},
        {"tags": [[]] * 10_001},
        {"session_id": "x" * 201},
    ],
)
def test_what_is_too_much_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(Rejected, match=f"The argument '{next(iter(arguments))}' has"):
        check_amount(arguments)


def test_what_is_enough_is_not() -> None:
    check_amount({"content": "x" * 131_072, "tags": ["x"] * 9_999, "messages": [{"content": "x" * 700_000}]})
    check_amount({"level": None, "limit": 10**4000, "dry_run": True})
    assert session_id("0f5c6f0e-7a3f-4b44-9d43-7d0a9c1f7a11") != ""
    assert [session_id(odd) for odd in ("x" * 201, 7, None, ["x"])] == [""] * 4
