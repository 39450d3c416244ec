"""The hooks of capture, as processes and as the tool of a running server."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.actions.context.brief import brief
from mcp_server.actions.context.compaction import KEEP
from mcp_server.actions.files.read import is_accepted, read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.remember import remember
from mcp_server.adapters.ledger import read_events
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft
from mcp_server.store import Store
from tests.actions.work.worked import conversations, worked
from tests.adapters.project.repositories import git, needs_git, repository
from tests.conftest import Open
from tests.doors.called import connected
from tests.hook_process import run_hook
from tests.memories import stored
from tests.patience import PATIENCE
from tests.recorded import Recorded

pytestmark = pytest.mark.usefixtures("no_worker_is_left")


@pytest.fixture
def recorded(tmp_path: Path, project: Path) -> Recorded:
    transcript = Recorded(tmp_path / "transcripts", cwd=project)
    transcript.user("We decided to keep invoices in Postgres because of the reports.")
    transcript.claude("Noted.")
    return transcript


def hook(event: str, memory_dir: Path, recorded: Recorded, **environment: str) -> str:
    event_json = {
        "session_id": recorded.session, "transcript_path": str(recorded.path), "cwd": str(recorded.cwd),
        "hook_event_name": event, "reason": "other", "source": environment.pop("source", "startup"),
    }  # fmt: skip
    usual = {"EMBEDDING_MODEL": "none", **environment}
    process = run_hook(memory_dir, event, event_json, folder=recorded.cwd, **usual)
    assert (process.returncode, process.stderr) == (0, b"")
    return process.stdout.decode()


def told_by(recorded: Recorded) -> dict[str, str]:
    """Return what Claude Code tells every hook of that session."""
    return {
        "session_id": recorded.session, "transcript_path": str(recorded.path), "cwd": str(recorded.cwd)
    }  # fmt: skip


def noted_folders(store: Store) -> list[str]:
    """Return where a worker looks for the project of each transcript that was noted."""
    read_lines = [event for path in store.ledger.paths() for event, _ in read_events(path, 0)]
    return [str(event.data["folder"]) for event in read_lines if event.event == "transcript_seen"]


def events(store: Store) -> list[str]:
    return [event.event for path in store.ledger.paths() for event, _ in read_events(path, 0)]


def wait_for(holds: Callable[[], object]) -> None:
    """Look until *holds* says so: the worker is a process that nobody waits for."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        os.sched_yield()


@pytest.mark.feature("A-01", "A-08", "A-09")
def test_the_end_of_a_session_starts_a_worker_that_keeps_it(
    memory_dir: Path, recorded: Recorded, store: Store
) -> None:
    assert hook("SessionEnd", memory_dir, recorded) == ""

    wait_for(lambda: "transcript_kept" in events(store))
    (path,) = memory_dir.rglob(f"conversations/{recorded.session}.md")
    wait_for(lambda: "keep invoices in Postgres" in path.read_text(encoding="utf-8"))


def test_switched_off_nothing_is_noted(memory_dir: Path, recorded: Recorded, store: Store) -> None:
    hook("SessionEnd", memory_dir, recorded, DAYBOOK_HOOKS="off")
    hook("SessionEnd", memory_dir, recorded, DAYBOOK_CAPTURE="manual")

    assert events(store) == []


def test_a_session_without_a_transcript_ends_in_silence(
    memory_dir: Path, project: Path, store: Store
) -> None:
    recorded = Recorded(project, cwd=project)
    recorded.path = Path("relative.jsonl")

    assert hook("SessionEnd", memory_dir, recorded) == ""
    assert events(store) == []


def test_a_key_in_the_environment_is_offered_once_and_not_used(
    memory_dir: Path, recorded: Recorded, store: Store
) -> None:
    remember(store, Draft("Webhook", "Skip body parsing.", type="gotcha"))
    key = {"ANTHROPIC_API_KEY": "sk-test"}

    answers = [json.loads(hook("SessionStart", memory_dir, recorded, **key)) for _ in range(2)]

    assert "daybook setup" in answers[0]["systemMessage"]
    assert "systemMessage" not in answers[1]


def test_a_session_that_was_never_kept_is_told(memory_dir: Path, recorded: Recorded, store: Store) -> None:
    remember(store, Draft("Webhook", "Skip body parsing.", type="gotcha"))
    hook("SessionEnd", memory_dir, recorded, DAYBOOK_SETUP="missing")  # so that no worker is started
    (path,) = store.ledger.paths()
    lines = path.read_text(encoding="utf-8").replace('"at": "20', '"at": "19')
    path.write_text(lines, encoding="utf-8")
    from mcp_server.actions.files.sync import rebuild

    rebuild(store)

    answer = json.loads(hook("SessionStart", memory_dir, recorded))

    assert "not captured an hour after the session ended: 1 session;" in answer["systemMessage"]


def test_after_a_compaction_the_session_is_told_what_survived_and_what_was_of_use(
    memory_dir: Path, recorded: Recorded, open_here: Open, project: Path
) -> None:
    opened = open_here(DAYBOOK_SETUP="missing")
    store = opened.store()
    shown_only = remember(store, Draft("Tea", "Green tea, never black.", type="preference")).memory.id
    assert shown_only in hook("SessionStart", memory_dir, recorded)
    used = remember(store, Draft("Rounding", "Totals are rounded half to even.", type="note")).memory.id

    event_json = {"session_id": recorded.session, "transcript_path": str(recorded.path), "cwd": str(project)}
    with connected(opened) as call:
        prompt = "how are totals rounded, half to even?"
        assert used in call("hook", **event_json, event="UserPromptSubmit", prompt=prompt)
        call("hook", **event_json, event="Told")
    assert hook("PreCompact", memory_dir, recorded, DAYBOOK_SETUP="missing").startswith(KEEP)

    output = hook("SessionStart", memory_dir, recorded, source="compact")
    context = json.loads(output)["hookSpecificOutput"]["additionalContext"]
    assert "asked: We decided to keep invoices in Postgres" in context
    of_use = context.index("Of use in this session:")
    assert of_use < context.index(used) < context.index("Preferences:") < context.index(shown_only)
    assert len(context) <= 4000
    assert used in brief(store, again=recorded.session).text


def test_after_a_compaction_a_prompt_brings_again_what_it_brought_before(
    memory_dir: Path, recorded: Recorded, open_here: Open
) -> None:
    opened = open_here(DAYBOOK_SETUP="missing")
    subjects = ("port", "owner", "retry rule", "log format", "time limit")
    told = {subject: f"The {subject} of the gateway is settled" for subject in subjects}
    for subject, beginning in told.items():
        text = f"{beginning}, {9 * 'because of what was measured in spring, '}"
        stored(opened.store(), f"Gateway {subject}", text)
    prompts = {subject: f"what is the {subject} of the gateway?" for subject in subjects}
    session = told_by(recorded)

    with connected(opened) as call:
        for subject, prompt in prompts.items():
            assert told[subject] in call("hook", **session, event="UserPromptSubmit", prompt=prompt)
            call("hook", **session, event="Told")
        assert call("hook", **session, event="UserPromptSubmit", prompt=prompts["port"]) == "{}"
        hook("PreCompact", memory_dir, recorded, DAYBOOK_SETUP="missing")
        context = hook("SessionStart", memory_dir, recorded, source="compact")
        left_out = [subject for subject in subjects if told[subject] not in context]
        event_json = {**session, "prompt": prompts[left_out[0]]}
        by_a_process = run_hook(memory_dir, "UserPromptSubmit", event_json, folder=recorded.cwd)
        again = {
            subject: call("hook", **session, event="UserPromptSubmit", prompt=prompt)
            for subject, prompt in prompts.items()
        }

    assert told[left_out[0]] in by_a_process.stdout.decode()
    brought = [subject for subject in subjects if told[subject] in again[subject]]
    assert brought == left_out[1:]
    assert 1 < len(left_out) < len(subjects)


def test_after_a_compaction_the_best_of_the_latest_answer_comes_first(store: Store) -> None:
    early, best, second = (stored(store, title) for title in ("Herons", "Locks", "Queues"))
    session = store.in_session("s1")
    for memory_ids in ([early, second], [best, second]):
        session.record("injected", refs=[read(store, own).ref for own in memory_ids], prompt="what now?")
    sync(store)

    of_use = brief(store, again="s1").text.partition("Of use in this session:")[2]

    assert sorted((early, best, second), key=of_use.index) == [best, second, early]


@pytest.mark.feature("A-08")
def test_an_answer_is_noted_by_the_running_server(recorded: Recorded, opened: Opened, project: Path) -> None:
    recorded.claude("A third line, so that it counts.")

    event_json = {"session_id": recorded.session, "cwd": str(project), "event": "Stop"}
    with connected(opened) as call:
        for path in (recorded.path, "/dev/zero.jsonl"):
            assert call("hook", **event_json, transcript_path=str(path)) == "{}"

    assert events(opened.store()) == ["transcript_seen"]


def test_where_no_module_is_an_answer_is_noted_and_judged_by_a_process(
    memory_dir: Path, recorded: Recorded, store: Store
) -> None:
    words = "Invoices are kept in Postgres because of the reports."
    stored = remember(store, Draft("Invoices", words, source="assistant", session=recorded.session)).memory.id
    recorded.claude("A third line, so that it counts.")

    assert hook("Stop", memory_dir, recorded) == ""

    assert "transcript_seen" in events(store)
    assert "judged_origin" in events(store)
    sync(store)
    assert is_accepted(store, read(store, stored))


@needs_git
@pytest.mark.parametrize("event", ["Stop", "SessionEnd", "PreCompact"])
def test_a_session_in_a_worktree_is_noted_for_the_repository_for_the_worktree_may_go(
    memory_dir: Path, recorded: Recorded, project: Path, store: Store, tmp_path: Path, event: str
) -> None:
    repository(project)
    git(project, "worktree", "add", "-q", str(tmp_path / "second"))
    recorded.cwd = tmp_path / "second"
    recorded.claude("A third line, so that it counts.")

    hook(event, memory_dir, recorded, DAYBOOK_SETUP="missing")

    assert noted_folders(store) == [str(project)]


@needs_git
def test_a_session_whose_worktree_goes_before_its_end_is_noted_is_kept_for_the_repository(
    memory_dir: Path, recorded: Recorded, project: Path, opened: Opened, tmp_path: Path
) -> None:
    repository(project)
    second = tmp_path / "second"
    git(project, "worktree", "add", "-q", str(second))
    remember(opened.store(), Draft("Carts", "Carts live for a day."))
    recorded.cwd = second
    hook("SessionStart", memory_dir, recorded, DAYBOOK_SETUP="missing")
    git(project, "worktree", "remove", "--force", str(second))
    hook("SessionEnd", memory_dir, recorded, DAYBOOK_SETUP="missing")

    worked(opened)

    assert conversations(opened.store(), "invoices in Postgres") == [recorded.session]


def test_an_answer_is_noted_for_the_project_of_the_session_wherever_its_shell_is(
    memory_dir: Path, recorded: Recorded, project: Path, opened: Opened, tmp_path: Path
) -> None:
    recorded.claude("A third line, so that it counts.")
    told = {**told_by(recorded), "cwd": str(tmp_path), "hook_event_name": "Stop"}

    run_hook(memory_dir, "Stop", told, folder=project)

    assert noted_folders(opened.store()) == [str(project)]
