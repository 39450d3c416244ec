"""The hooks that run as a process: they tell what is known, and never fail."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mcp_server.actions.context.inject import inject
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import catch_up, sync
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind, Level
from mcp_server.core.search.query import Filter
from mcp_server.store import Store
from tests.actions.work.worked import worked
from tests.hook_process import run_hook
from tests.live import ROOT
from tests.patience import PATIENCE

Hook = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def hook(memory_dir: Path, project: Path) -> Hook:
    """Run a hook as the launcher does, with *said* on stdin."""

    def run(
        event_json: object = None,
        *,
        event: str = "SessionStart",
        raw: bytes | None = None,
        **environment: str,
    ) -> subprocess.CompletedProcess[bytes]:
        if event_json is None:
            event_json = {"session_id": "s1", "source": "startup", "cwd": str(project)}
        return run_hook(memory_dir, event, event_json if raw is None else raw, folder=project, **environment)

    return run


def context(process: subprocess.CompletedProcess[bytes]) -> str:
    assert process.returncode == 0
    return (
        str(json.loads(process.stdout)["hookSpecificOutput"]["additionalContext"]) if process.stdout else ""
    )


def silent(process: subprocess.CompletedProcess[bytes]) -> bool:
    return (process.returncode, process.stdout, process.stderr) == (0, b"", b"")


@pytest.fixture
def webhook(store: Store) -> str:
    return remember(store, Draft("Webhook", "Skip body parsing.", type="gotcha")).memory.id


def test_a_new_session_is_told_what_earlier_ones_learned(hook: Hook, webhook: str) -> None:
    assert webhook in context(hook())


def test_a_resumed_session_is_not_told_again(hook: Hook, webhook: str) -> None:
    assert silent(hook({"source": "resume"}))
    assert webhook in context(hook({"source": "compact"}))


def test_what_the_brief_told_is_not_told_again_by_a_prompt(hook: Hook, store: Store, webhook: str) -> None:
    assert webhook in context(hook())

    assert inject(store.in_session("s1"), "why does the webhook body parsing fail") == ""
    assert webhook in inject(store.in_session("s2"), "why does the webhook body parsing fail")


def write_answer(folder: Path, session: str, seconds: int) -> None:
    """Write the transcript of a session whose last answer is so many *seconds* old."""
    at = f"{datetime.now(UTC) - timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%S.000Z}"
    lines = [{"type": "user"}, {"type": "assistant", "timestamp": at}, {"type": "last-prompt"}]
    (folder / f"{session}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def test_a_fork_is_not_told_again_what_its_own_conversation_holds(
    hook: Hook, store: Store, webhook: str, tmp_path: Path
) -> None:
    """A later session in the same folder is not the one that it forked off."""
    assert webhook in context(hook({"session_id": "before"}))
    sync(store)
    later = remember(
        store, Draft("Deploys", "Production deploys run on Tuesdays.", type="decision")
    ).memory.id
    assert later in context(hook({"session_id": "after"}))
    sync(store)
    write_answer(tmp_path, "before", 600)
    write_answer(tmp_path, "after", 30)
    forked = {"session_id": "fork", "source": "fork", "transcript_path": str(tmp_path / "fork.jsonl")}

    assert silent(hook({**forked, "seconds_since_last_response": 600}))
    assert silent(hook({**forked, "session_id": "unknown"}))

    sync(store)
    about_webhook, about_deploys = (
        "why does the webhook body parsing fail",
        "when do production deploys run on tuesdays",
    )
    assert inject(store.in_session("fork"), about_webhook) == ""
    assert later in inject(store.in_session("fork"), about_deploys)
    assert webhook in inject(store.in_session("unknown"), about_webhook)


def test_while_daybook_is_set_up_the_person_is_told_in_one_line(hook: Hook) -> None:
    answer = json.loads(hook(DAYBOOK_SETUP="missing").stdout)

    assert "setting itself up" in answer["systemMessage"]
    assert f"'{ROOT / 'bin' / 'daybook'} doctor' in a terminal shows why." in answer["systemMessage"]
    assert "\n" not in answer["systemMessage"]


@pytest.mark.feature("A-09")
@pytest.mark.parametrize(
    "raw", [b"", b"not json", b"[]", b"\xff\xfe", b"{" * 50_000, b'{"source": 3}', b"null"]
)
def test_odd_input_breaks_nothing(hook: Hook, raw: bytes) -> None:
    assert silent(hook(raw=raw))


def test_a_huge_input_breaks_nothing(hook: Hook, webhook: str) -> None:
    assert hook(raw=b'{"prompt": "' + b"x" * 50_000_000 + b'"}').returncode == 0


@pytest.mark.feature("A-17")
@pytest.mark.parametrize("damage", ["missing", "garbage", "empty", "folder", "truncated"])
def test_a_damaged_index_breaks_nothing(hook: Hook, webhook: str, memory_dir: Path, damage: str) -> None:
    index = memory_dir / "memory.db"
    for side in memory_dir.glob("memory.db-*"):
        side.unlink()
    data = index.read_bytes()
    index.unlink()
    match damage:
        case "garbage":
            index.write_bytes(b"not a database" * 1000)
        case "empty":
            index.write_bytes(b"")
        case "folder":
            index.mkdir()
        case "truncated":
            index.write_bytes(data[: len(data) // 3])

    process = hook()

    assert (process.returncode, process.stderr) == (0, b"")
    assert not process.stdout or json.loads(process.stdout)


@pytest.mark.parametrize(
    ("name", "value"),
    [("MEMORY_DIR", "relative"), ("MEMORY_DIR", "/etc/passwd"), ("HOT_CACHE_MAX_ITEMS", "many")],
)
def test_settings_that_make_no_sense_are_told_at_the_start_and_break_nothing(
    hook: Hook, name: str, value: str
) -> None:
    resumed = {"session_id": "s1", "source": "resume", "transcript_path": "/t.jsonl"}
    for started in (hook(**{name: value}), hook(resumed, **{name: value})):
        assert (started.returncode, started.stderr) == (0, b"")
        (message,) = json.loads(started.stdout).values()
        assert value in message
        assert "\n" not in message
    assert silent(hook(event="SessionEnd", **{name: value}))


def test_an_odd_environment_breaks_nothing(hook: Hook) -> None:
    assert silent(hook(HOME=""))
    assert silent(hook(LANG="C", LC_ALL="C"))
    assert silent(hook(event="Nonsense"))


def test_a_closed_stdout_breaks_nothing(memory_dir: Path, webhook: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.run(
        [sys.executable, "-P", "-s", "-S", "-m", "mcp_server.doors.hooks", "SessionStart"],
        input=b'{"source": "startup"}',
        stdout=writing,
        stderr=subprocess.PIPE,
        env={**os.environ, "MEMORY_DIR": str(memory_dir), "PYTHONPATH": str(ROOT)},
        timeout=PATIENCE,
    )
    os.close(writing)

    assert (process.returncode, process.stderr) == (0, b"")


def test_switched_off_a_hook_says_nothing(hook: Hook, webhook: str) -> None:
    assert silent(hook(DAYBOOK_HOOKS="off"))


def test_what_goes_wrong_is_one_line_in_the_log(hook: Hook, webhook: str, memory_dir: Path) -> None:
    hook(raw=b"not json")

    (line,) = (memory_dir / "logs" / "hooks.log").read_text(encoding="utf-8").splitlines()
    assert "JSONDecodeError" in line


def test_what_a_part_of_it_warns_of_is_one_line_in_the_log_and_nothing_else(
    hook: Hook, memory_dir: Path, project: Path
) -> None:
    memory_dir.mkdir()
    (memory_dir / "projects").write_bytes(b"")  # where a folder is needed
    event_json = {"session_id": "s1", "cwd": str(project), "prompt": "#remember Lamps are lit at dusk."}

    process = hook(event_json, event="UserPromptSubmit")

    assert "could not store it now" in context(process)
    assert process.stderr == b""
    (line,) = (memory_dir / "logs" / "hooks.log").read_text(encoding="utf-8").splitlines()
    assert "what was marked with #remember waits for the transcript" in line


def test_what_a_person_must_see_is_not_used_up_where_nobody_reads_it(hook: Hook, webhook: str) -> None:
    key = {"ANTHROPIC_API_KEY": "dummy"}  # its use is offered once

    unattended = hook(CLAUDE_CODE_ENTRYPOINT="sdk-cli", **key)
    first, second = (json.loads(hook(CLAUDE_CODE_ENTRYPOINT="cli", **key).stdout) for _ in range(2))

    assert webhook in context(unattended)
    assert "systemMessage" not in json.loads(unattended.stdout)
    assert "key" in first["systemMessage"]
    assert "systemMessage" not in second


def test_where_no_module_is_a_prompt_is_told_once_what_it_calls_for(
    hook: Hook, store: Store, webhook: str
) -> None:
    sync(store)  # as the server does that runs beside
    event_json = {"session_id": "s1", "prompt": "why does the webhook body parsing fail"}

    assert webhook in context(hook(event_json, event="UserPromptSubmit"))
    assert silent(hook(event_json, event="UserPromptSubmit"))  # the server took nothing in meanwhile
    sync(store)
    assert silent(hook(event_json, event="UserPromptSubmit"))
    assert webhook in context(hook(event_json | {"session_id": "s2"}, event="UserPromptSubmit"))
    assert silent(hook({"prompt": "write me a poem about autumn"}, event="UserPromptSubmit"))


def test_a_prompt_before_the_server_is_up_is_not_told_again_what_the_brief_or_a_title_told(
    hook: Hook, store: Store, webhook: str
) -> None:
    sync(store)
    assert webhook in context(hook({"session_id": "s1"}))
    long = {"session_id": "s1", "prompt": "why does the webhook body parsing fail"}
    assert silent(hook(long, event="UserPromptSubmit"))

    short = {"session_id": "s2", "prompt": "webhook"}
    assert webhook in context(hook(short, event="UserPromptSubmit"))
    assert silent(hook(short, event="UserPromptSubmit"))


def test_where_no_module_is_what_a_prompt_marks_is_stored_at_once(hook: Hook, store: Store) -> None:
    event_json = {"session_id": "s1", "prompt": "#remember Deploys run on Tuesdays only."}

    context_shown = context(hook(event_json, event="UserPromptSubmit", EMBEDDING_MODEL="none"))

    assert "Daybook has stored it" in context_shown
    sync(store)
    (row,) = list_memories(store, Filter()).rows
    assert read(store, row.id).memory.text == "Deploys run on Tuesdays only."


def test_a_subagent_is_told_what_is_settled(hook: Hook, webhook: str) -> None:
    assert webhook in context(hook({"agent_type": "Explore"}, event="SubagentStart"))


def test_a_prompt_before_the_index_is_whole_is_no_error(hook: Hook, store: Store, memory_dir: Path) -> None:
    by_hand(store)
    catch_up(store)

    process = hook(prompt(), event="UserPromptSubmit")

    assert (process.returncode, process.stdout) == (0, b"")
    assert not (memory_dir / "logs").exists()


def test_the_worker_leaves_an_index_that_hooks_can_ask(hook: Hook, opened: Opened) -> None:
    by_hand(opened.store())

    worked(opened)

    assert b"skip body parsing" in hook(prompt(), event="UserPromptSubmit").stdout


def by_hand(store: Store) -> None:
    """Write a memory as a person does; nobody takes it in."""
    folder = store.vault_for(Kind.KNOWLEDGE, Level.PROJECT).root / "knowledge"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "webhook.md").write_text(
        "# Webhook\n\nPayment callbacks skip body parsing.\n", encoding="utf-8"
    )


def prompt() -> dict[str, str]:
    return {"session_id": "s1", "prompt": "why do payment callbacks skip body parsing"}
