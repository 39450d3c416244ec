"""A session that began while there was no index is shown its brief with the next prompt, once."""

import json
import os
from pathlib import Path

import pytest

from mcp_server.actions.files.sync import sync
from mcp_server.actions.files.take_in import take_in
from mcp_server.actions.memory.archive import archive
from mcp_server.actions.sessions.quality import why
from mcp_server.bootstrap import Opened
from tests.conftest import Open
from tests.doors.called import connected
from tests.hook_process import run_hook
from tests.memories import stored
from tests.opened import opened_at

FACT = "Production deploys run on Tuesdays only."
PROMPT = "hello, what do you know of glaciers?"  # which calls for nothing


def delete_index(opened: Opened) -> None:
    opened.database.close()
    for path in opened.home.glob("memory.db*"):
        path.unlink()


@pytest.fixture
def opened(open_here: Open) -> Opened:
    """A store with a memory and without its index, as an update leaves it."""
    opened = open_here()
    stored(opened.store(), "Deploys", FACT, type="decision")
    delete_index(opened)
    return open_here()


def context(memory_dir: Path, project: Path, event: str, **fields: object) -> str:
    """Return what the hook of *event* shows a session."""
    event_json = {"session_id": "s1", "source": "startup", **fields}
    process = run_hook(memory_dir, event, event_json, folder=project, EMBEDDING_MODEL="none")
    answer = json.loads(process.stdout or b"{}")
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def notes(memory_dir: Path) -> list[str]:
    return [path.name for path in (memory_dir / "work").glob("brief-owed-*")]


def test_the_module_brings_it_with_a_prompt_until_one_was_sent(
    opened: Opened, memory_dir: Path, project: Path
) -> None:
    assert context(memory_dir, project, "SessionStart") == ""

    with opened.store().database.write():
        pass  # the index is there, and nothing is taken in yet
    with connected(opened) as call:
        prompt = {"event": "UserPromptSubmit", "prompt": PROMPT}
        late, again = (call("hook", session_id="s1", **prompt) for _ in range(2))
        assert call("hook", session_id="another", **prompt) == "{}"
        assert call("hook", event="Told", session_id="another") == "{}"
        assert FACT in late and late == again
        call("hook", session_id="s1", **prompt)
        call("hook", event="Told", session_id="s1")
        assert call("hook", session_id="s1", **prompt) == "{}"

    assert [(receipt.session, receipt.why) for receipt in why(opened.store())] == [("s1", "session start")]
    assert notes(memory_dir) == []


def test_an_index_that_was_just_made_and_holds_nothing_yet_is_none(
    opened: Opened, memory_dir: Path, project: Path
) -> None:
    with opened.store().database.write():
        pass  # as the server begins, while the hook of the session's start reads

    assert context(memory_dir, project, "SessionStart") == ""

    with connected(opened) as call:
        assert FACT in call("hook", event="UserPromptSubmit", session_id="s1", prompt=PROMPT)
        call("hook", event="Told", session_id="s1")
    assert FACT in context(memory_dir, project, "SessionStart", session_id="s2")
    assert notes(memory_dir) == []


def test_an_index_that_holds_a_part_yet_gives_no_part_of_a_brief(
    opened: Opened, memory_dir: Path, project: Path
) -> None:
    store = opened.store()
    of_project = store.vaults[-1]
    mint = of_project.root / "knowledge" / "mint.md"
    mint.write_text("---\ntype: decision\n---\nThe brand green is mint.\n", encoding="utf-8")
    take_in(store, of_project, mint)

    assert context(memory_dir, project, "SessionStart") == ""

    sync(store)
    late = context(memory_dir, project, "UserPromptSubmit", prompt=PROMPT)
    assert FACT in late and "mint" in late


def test_an_index_that_was_last_used_at_another_place_gives_it_once_it_is_at_this_one(
    opened: Opened, memory_dir: Path, project: Path
) -> None:
    """As of a store that moved, or that a container has at another path than its host."""
    elsewhere = memory_dir.with_name("mounted")
    sync(opened.store())
    opened.database.close()
    for here, there in ((memory_dir, elsewhere), (elsewhere, memory_dir)):
        here.rename(there)
        session = f"in-{there.name}"
        assert context(there, project, "SessionStart", session_id=session) == ""

        prompt = {"session_id": session, "prompt": PROMPT}
        context(there, project, "UserPromptSubmit", **prompt)  # the server has not looked at the files yet
        moved = opened_at(there, project)
        sync(moved.store())
        moved.database.close()
        assert FACT in context(there, project, "UserPromptSubmit", **prompt)


def test_what_the_brief_shows_is_not_shown_again_for_the_prompt_that_brings_it(
    opened: Opened, memory_dir: Path, project: Path
) -> None:
    context(memory_dir, project, "SessionStart")

    with connected(opened) as call:
        shown = call(
            "hook", event="UserPromptSubmit", session_id="s1", prompt="When do production deploys run?"
        )

    assert shown.count(FACT) == 1


def test_where_hooks_work_alone_they_bring_it(opened: Opened, memory_dir: Path, project: Path) -> None:
    assert context(memory_dir, project, "SessionStart") == ""
    assert context(memory_dir, project, "UserPromptSubmit", prompt=PROMPT) == ""
    sync(opened.store())

    assert FACT in context(memory_dir, project, "UserPromptSubmit", prompt=PROMPT)
    assert context(memory_dir, project, "UserPromptSubmit", prompt=PROMPT) == ""


def test_a_session_with_nothing_to_be_told_is_owed_nothing_later(
    open_here: Open, memory_dir: Path, project: Path
) -> None:
    first = open_here()
    archive(first.store(), [stored(first.store(), "Deploys", FACT)])
    delete_index(first)
    context(memory_dir, project, "SessionStart")
    opened = open_here()
    sync(opened.store())

    with connected(opened) as call:
        prompt = {"event": "UserPromptSubmit", "session_id": "s1", "prompt": PROMPT}
        assert call("hook", **prompt) == "{}"
        stored(opened.store(), "Colours", "The brand green is mint.", type="decision")
        assert call("hook", **prompt) == "{}"


def test_a_session_before_the_first_memory_is_owed_nothing(
    open_here: Open, memory_dir: Path, project: Path
) -> None:
    context(memory_dir, project, "SessionStart")
    opened = open_here()
    stored(opened.store(), "Deploys", FACT, type="decision")

    assert context(memory_dir, project, "UserPromptSubmit", prompt=PROMPT) == ""
    assert notes(memory_dir) == []


def test_what_sessions_were_owed_a_day_ago_is_swept(opened: Opened, memory_dir: Path, project: Path) -> None:
    context(memory_dir, project, "SessionStart", session_id="old")
    os.utime(memory_dir / "work" / "brief-owed-old", (0, 0))

    context(memory_dir, project, "SessionStart")

    assert notes(memory_dir) == ["brief-owed-s1"]
