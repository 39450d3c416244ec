"""A memory is moved to another level in a terminal and by Claude: what is told, and whose word is needed."""

import json

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.repository import init, share
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level, Status
from mcp_server.store import Store
from tests.actions.test_change_level import LONGER, UPLOADS, level, of_project, of_user
from tests.conftest import Open
from tests.doors.called import Caller
from tests.doors.shell import Run, output_of
from tests.recorded import Recorded

NEEDED = "Moving what the person said to another level needs the person's consent"


@pytest.fixture(autouse=True)
def question_asked(session: Recorded) -> None:
    """The person asked, which is no word for a change."""
    session.user("how long may uploads take?")


def of_claude(store: Store, **more: object) -> str:
    draft = Draft("Uploads", UPLOADS, level=Level.PROJECT, source="assistant", **more)  # type: ignore[arg-type]
    return remember(store, draft).memory.id


def test_a_terminal_moves_a_memory_says_where_it_is_and_takes_it_back(run: Run, store: Store) -> None:
    memory_id = of_project(store)

    output = output_of(run("revise", memory_id, "--level", "user"))

    assert output.startswith(
        f"{memory_id}: moved to user level: it applies in every project.\nlevel    user\n"
    )
    assert str(store.home / "knowledge" / f"{memory_id}.md") in output
    assert "moved to user level" in output_of(run("history"))
    again = json.loads(output_of(run("revise", memory_id, "--level", "user", "--json")))
    assert (again["became"], again["level"]) == ("at user level already.", "user")
    assert json.loads(output_of(run("read", memory_id, "--json")))["level"] == "user"
    assert "Taken back: 1 memory." in output_of(run("undo"))
    back = json.loads(output_of(run("revise", memory_id, "--level", "project", "--json")))
    assert (back["became"], back["level"]) == ("at project level already.", "project")


def test_words_and_level_are_given_in_one_command_and_neither_when_one_is_refused(
    run: Run, store: Store
) -> None:
    memory_id = of_project(store)
    output = output_of(run("revise", memory_id, "--text", LONGER, "--level", "user"))
    assert "moved to user level" in output
    file = read(store, memory_id)
    assert (file.memory.text, file.vault.level) == (LONGER, Level.USER)

    other = of_project(store, "Other", UPLOADS)
    of_user(store, "Other", UPLOADS)
    refused = run("revise", other, "--tags", "a", "--level", "user")
    assert "already says the same at user level." in refused.stderr
    assert read(store, other).memory.tags == ()
    late = run("revise", memory_id, "--tags", "a", "--level", "project", "--version", "0123")
    assert f"'{memory_id}' changed since version 0123 was read." in late.stderr
    assert level(store, memory_id) is Level.USER
    assert "--level" in run("revise", other).stderr


def test_what_goes_into_a_shared_repository_and_leaves_it_is_told(
    run: Run, store: Store, open_here: Open
) -> None:
    init(store)
    share(open_here().store())
    memory_id = of_user(store)

    output = output_of(run("revise", memory_id, "--level", "project"))

    assert "moved to project level: it applies in this project only." in output
    assert (
        "Git sees its file" in output
        and "once committed, everyone with the repository can read it." in output
    )
    assert "Git shows its file as deleted from the repository." in output_of(
        run("revise", memory_id, "--level", "user")
    )


def test_claude_moves_its_own_and_what_the_person_said_by_their_word(
    claude: Caller, session: Recorded, store: Store
) -> None:
    own, theirs = of_claude(store), of_project(store, "Upload timeout", LONGER)
    assert f"{own}: moved to user level" in claude("revise", id=own, level="user")
    assert level(store, own) is Level.USER

    answer = claude("revise", id=theirs, level="user")
    assert NEEDED in answer and f"daybook revise {theirs} --level user" in answer
    assert level(store, theirs) is Level.PROJECT

    session.user("the upload timeout holds everywhere, not just here")
    assert "moved to user level" in claude("revise", id=theirs, level="user")
    assert "at user level already." in claude("revise", id=theirs, level="user")


def test_claude_takes_nothing_of_the_persons_level_away_by_a_move(claude: Caller, store: Store) -> None:
    old = of_user(store, "Upload timeout", LONGER)
    own = of_claude(store, supersedes=(old,))

    assert NEEDED in claude("revise", id=own, level="user")

    assert read(store, old).memory.status is Status.ACTIVE
    assert level(store, own) is Level.PROJECT


def test_claude_in_a_shell_needs_the_word_too(run: Run, store: Store) -> None:
    theirs = of_project(store)

    refused = run("revise", theirs, "--level", "user", CLAUDECODE="1")

    assert NEEDED in refused.stderr
    assert level(store, theirs) is Level.PROJECT


def test_other_words_beside_the_persons_change_no_level(
    claude: Caller, session: Recorded, store: Store
) -> None:
    theirs = of_project(store, "Upload timeout", UPLOADS)
    session.user("move the upload timeout to the user level")

    answer = claude("revise", id=theirs, level="user", content="Uploads are ended after 90 seconds.")

    assert "not changed, because the person said it." in answer
    assert "The level of neither was changed." in answer
    assert level(store, theirs) is Level.PROJECT
