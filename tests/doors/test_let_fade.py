"""What the person said or pinned stays in sight: Claude needs their word to unpin, fade or forget it."""

import json
import shlex

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.memory.promote import pin
from mcp_server.actions.memory.remember import remember
from mcp_server.core.errors import NotFound
from mcp_server.core.memory import Draft
from mcp_server.store import Store
from tests.doors.called import Caller
from tests.doors.shell import Run, output_of
from tests.recorded import Recorded

NEEDED = "Letting out of sight what the person said or pinned needs the person's consent"
FORGETTING = "Forgetting what the person said needs the person's consent"
TAKING_BACK = "Taking back what the person said or did needs the person's consent"
FADING = ("progress", "context")
SESSION = "8d7cabcd-1111"


@pytest.fixture(autouse=True)
def question_asked(session: Recorded) -> None:
    """The person asked, which is no word for a change."""
    session.user("which day do we deploy on?")


@pytest.fixture
def said(store: Store) -> str:
    """The id of a decision that the person said."""
    return remember(store, Draft("Deploy day", "We deploy on Tuesdays.", type="decision")).memory.id


@pytest.fixture
def pinned(store: Store) -> str:
    """The id of a memory that Claude stored and the person pinned."""
    draft = Draft("Cache key", "The key has the tenant in it.", source="assistant")
    return pin(store, remember(store, draft).memory.id, pinned=True).file.memory.id


@pytest.mark.parametrize("type", FADING)
def test_claude_lets_what_the_person_said_fade_by_their_word_alone(
    claude: Caller, session: Recorded, store: Store, said: str, type: str
) -> None:
    answer = claude("revise", id=said, type=type)
    assert NEEDED in answer and f"daybook revise {said} --type {type}" in answer
    assert read(store, said).memory.type == "decision"

    assert "revised" in claude("revise", id=said, type="architecture")
    session.user(f"the deploy day is only {type}")
    assert "revised" in claude("revise", id=said, type=type)


TEXT = 'We deploy on Tuesdays, as of May.\nNot before Ada\'s "go".'
ALL = {
    "title": "Deploys",
    "content": TEXT,
    "type": "progress",
    "tags": ["ops", "a b"],
    "category": "calendar",
    "use_when": ["plan a deploy, or move one"],
    "touches": ["deploy.sh:3"],
    "level": "user",
    "metadata": {"port": "80"},
    "pinned": True,
}


@pytest.mark.parametrize("left_out", ["type", "level", "nothing"])
def test_the_command_that_the_person_is_to_type_makes_the_whole_change(
    claude: Caller, typed: Run, store: Store, said: str, left_out: str
) -> None:
    wanted = {name: value for name, value in ALL.items() if name != left_out}
    answer = claude("revise", id=said, **wanted)
    assert "needs the person's consent" in answer and read(store, said).memory.title == "Deploy day"

    for command in answer.partition("started: daybook ")[2].strip().split(" && daybook "):
        output_of(typed(*shlex.split(command)))

    file = read(store, said)
    memory = file.memory
    assert (memory.title, memory.text, memory.tags) == ("Deploys", TEXT, ("ops", "a-b"))
    assert (memory.use_when, memory.touches) == (("plan a deploy, or move one",), ("deploy.sh:3",))
    assert (memory.category, memory.notes, memory.pinned) == ("calendar", ("port: 80",), True)
    assert memory.type == wanted.get("type", "decision")
    assert file.vault.level.value == wanted.get("level", "project")


def test_a_command_that_claude_typed_is_told_whole(run: Run, said: str, pinned: str) -> None:
    for words in (
        ("revise", said, "--text", "We deploy.", "--type", "progress"),
        ("archive", said, pinned),
        ("unpin", pinned),
        ("forget", said),
    ):
        refused = run(*words, CLAUDECODE="1")
        assert refused.returncode == 12
        assert refused.stderr.rstrip().endswith(f": daybook {shlex.join(words)}")


def test_claude_unpins_by_the_persons_word_alone_and_so_cannot_forget_what_was_pinned(
    claude: Caller, session: Recorded, store: Store, pinned: str
) -> None:
    for answer in (claude("unpin", id=pinned), claude("revise", id=pinned, pinned=False)):
        assert NEEDED in answer and f"daybook unpin {pinned}" in answer
    assert "needs the person's consent" in claude("forget", id=pinned)
    assert read(store, pinned).memory.pinned

    session.user("unpin the cache key")
    assert "no longer pinned" in claude("unpin", id=pinned)


def test_claude_in_a_shell_needs_the_word_too_and_the_person_does_not(
    run: Run, store: Store, said: str, pinned: str
) -> None:
    commands = ("unpin", pinned), ("revise", said, "--type", "progress")
    for words in commands:
        assert NEEDED in run(*words, CLAUDECODE="1").stderr
    for words in commands:
        output_of(run(*words))
    assert not read(store, pinned).memory.pinned
    assert read(store, said).memory.type == "progress"


def test_claude_forgets_a_session_in_which_the_person_said_something_by_their_word_alone(
    run: Run, claude: Caller, session: Recorded, store: Store
) -> None:
    draft = Draft("Deploy day", "We deploy on Tuesdays.", session=session.session)
    said = remember(store, draft).memory.id
    short = session.session[:8]

    assert f"[{said}] goes to the trash" in claude("forget_session", id=short)
    answer = claude("forget_session", id=short, apply=True)
    assert FORGETTING in answer and f"daybook forget-session {short}" in answer
    assert FORGETTING in run("forget-session", short, CLAUDECODE="1").stderr
    assert read(store, said).memory.title == "Deploy day"

    session.user(f"forget everything that session {short} taught")
    assert "Done;" in claude("forget_session", id=short, apply=True)
    assert "brings it back" in output_of(run("forget-session", short))


def test_claude_brings_no_session_back_that_the_person_forgot(run: Run, store: Store) -> None:
    draft = Draft("Deploy day", "We deploy on Tuesdays.", session=SESSION, source="assistant")
    learned = remember(store, draft).memory.id

    output_of(run("forget-session", SESSION, CLAUDECODE="1"))
    output_of(run("forget-session", SESSION, "--undo", CLAUDECODE="1"))
    done = json.loads(output_of(run("forget-session", SESSION, "--json")))
    refused = run("forget-session", SESSION, "--undo", CLAUDECODE="1")
    by_run = run("undo", done["run"], CLAUDECODE="1")

    for process in (refused, by_run):
        assert (process.returncode, TAKING_BACK in process.stderr) == (12, True)
    with pytest.raises(NotFound):
        read(store, learned)
    output_of(run("forget-session", SESSION, "--undo"))
    assert read(store, learned).memory.title == "Deploy day"


def test_what_claude_said_it_lets_fade_at_once(claude: Caller, store: Store) -> None:
    own = remember(store, Draft("Rollout", "It goes on.", type="decision", source="assistant")).memory.id

    assert "revised" in claude("revise", id=own, type="progress")
