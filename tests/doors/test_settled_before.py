"""A command for several ids that was cut off: given again it tells what was done, and does the rest."""

import json
from pathlib import Path

import pytest
from mcp_types import ElicitRequestFormParams, ElicitResult

from mcp_server.actions.judge.candidate import propose, review_candidates
from mcp_server.actions.review.review import review
from mcp_server.bootstrap import Opened
from mcp_server.core.digests import text_digest
from mcp_server.core.memory import Draft
from mcp_server.store import Store
from tests.conftest import Open
from tests.doors.called import Caller, connected
from tests.doors.shell import Run, output_of
from tests.person import Person, chosen

TEXTS = ("The staging database listens on port 5433.", "Builds run on two machines called elm and oak.")


@pytest.fixture
def foreign(run: Run, typed: Run, project: Path) -> tuple[str, str]:
    """Two memories that came with the repository and wait."""
    output_of(typed("init", "--repository"))
    for name, text in zip(("one-a1b2", "two-a1b2"), TEXTS, strict=True):
        path = project / ".claude-memory" / "knowledge" / f"{name}.md"
        path.write_text(f"---\nid: {name}\ntitle: {name}\ntype: gotcha\n---\n{text}\n", encoding="utf-8")
    return "one-a1b2", "two-a1b2"


@pytest.mark.parametrize(("word", "said"), [("accept", "accepted"), ("reject", "rejected")])
def test_what_was_settled_is_told_and_the_rest_is_settled(
    run: Run, typed: Run, claude: Caller, foreign: tuple[str, str], word: str, said: str
) -> None:
    first, second = foreign
    yes = [("shown above", "y")] if word == "accept" else []
    output_of(typed("review", word, first, answers=yes))

    process = typed("review", word, first, second, answers=yes)
    again = typed("review", word, first, second)

    assert process.returncode == 0, process.stdout
    assert "Settled: 1 of 1 entry." in process.stdout
    assert f"{first}  {said} already; it waits no longer" in process.stdout
    assert f"{second}  {said}: 'daybook undo {second}'" in process.stdout
    assert again.returncode == 0 and again.stdout.count(f"{said} already") == 2
    assert f"{first} · {said} already" in claude("review", settle=[first])
    unknown = typed("review", word, first, "three-a1b2")
    assert unknown.returncode == 3 and "Nothing with the id 'three-a1b2' waits" in unknown.stdout


@pytest.mark.parametrize("word", ["accept", "reject"])
def test_an_id_that_nothing_has_stops_no_other(
    typed: Run, open_here: Open, foreign: tuple[str, str], word: str
) -> None:
    yes = [("shown above", "y")] if word == "accept" else []

    process = typed("review", word, "three-a1b2", *foreign, "four-a1b2", answers=yes)

    assert process.returncode == 3, process.stdout
    assert "Settled: 2 of 2 entries." in process.stdout
    assert "Nothing with the ids 'three-a1b2', 'four-a1b2' waits for you." in process.stdout
    assert review(open_here().store()).entries == ()


def test_a_word_that_does_not_fit_one_settles_the_others(
    run: Run, typed: Run, open_here: Open, foreign: tuple[str, str]
) -> None:
    store = open_here().store()
    for number in (60, 30):
        output_of(run("remember", f"Upload timeout | The upload timeout is {number} seconds."))
    (pair,) = (entry.name for entry in review(store).entries if entry.against)

    process = typed("review", "reject", pair, *foreign)

    assert process.returncode == 4, process.stdout
    assert f"{pair}  not settled: 'reject' does not settle" in process.stdout
    assert [entry.name for entry in review(store).entries] == [pair]


def test_claude_lets_the_person_settle_what_is_known(open_here: Open, foreign: tuple[str, str]) -> None:
    opened = open_here()
    with connected(opened, Person("accept", "reject")) as call:
        told = call("review", settle=["three-a1b2", *foreign])

    assert told.startswith("Settled: 2 of 2 entries.")
    assert "Nothing with the id 'three-a1b2' waits for you." in told
    assert review(opened.store()).entries == ()


@pytest.mark.parametrize(
    ("word", "said", "question"),
    [
        ("replaces", "replaced", "replace the second"),
        ("keep-both", "kept both", ""),
        ("merge", "merged", "Save"),
    ],
)
def test_so_is_a_pair(run: Run, typed: Run, word: str, said: str, question: str) -> None:
    first, second = (
        output_of(run("remember", f"Upload timeout | The upload timeout is {number} seconds.")).split(":")[0]
        for number in (60, 30)
    )
    (entry,) = json.loads(output_of(run("review", "--json")))["entries"]
    assert {entry["id"], entry["against"]["id"]} == {first, second}
    pair = f"{entry['id']}+{entry['against']['id']}"
    answers = [(question, "y")] if question else []
    settled = typed("review", word, pair, answers=answers)
    assert "Settled: 1" in settled.stdout, settled.stdout

    again = typed("review", word, pair)

    assert f"{pair}  {said} already; it waits no longer" in again.stdout


@pytest.mark.parametrize(("option", "said"), [("--approve", "approved"), ("--reject", "rejected")])
def test_so_is_a_candidate(typed: Run, store: Store, option: str, said: str) -> None:
    for text in TEXTS:
        propose(store, Draft(text, text), key=text_digest(text, size=4), confidence=0.5, why="waits for you")
    first, second = (waiting.memory.id for waiting in review_candidates(store))
    output_of(typed("candidates", option, first))

    process = typed("candidates", option, first, option, second)

    assert process.returncode == 0 and f"{first}: {said} already; it waits no longer." in process.stdout
    assert review_candidates(store) == []
    unknown = typed("candidates", option, first, option, "0123456789abcdef")
    assert unknown.returncode == 3 and f"{first}: {said} already" in unknown.stdout
    assert "0123456789abcdef: not settled: There is no candidate" in unknown.stdout


@pytest.mark.parametrize(
    ("tool", "asked", "told"),
    [
        ("approve_candidate", "Store as a memory?", "Stored: 1"),
        ("reject_candidate", "Move to the trash?", "1 reject"),
    ],
)
def test_claude_lets_the_person_settle_the_candidates_that_are_known(
    opened: Opened, store: Store, tool: str, asked: str, told: str
) -> None:
    propose(store, Draft("Port", TEXTS[0]), key="3f9a2c1d", confidence=0.5, why="waits for you")

    person = Person("yes")
    with connected(opened, person) as call:
        answer = call(tool, ids=["0123456789abcdef", "3f9a2c1d"])

    assert [asked in question for question in person.saw] == [True]
    assert told in answer
    assert list((store.home / "trash").rglob("3f9a2c1d.md"))
    assert "0123456789abcdef: not settled: There is no candidate" in answer
    assert review_candidates(store) == []


def test_a_candidate_that_changes_while_the_person_is_asked_is_not_stored(
    opened: Opened, store: Store
) -> None:
    for number, text in enumerate(TEXTS):
        propose(store, Draft(text, text), key=f"{number}" * 8, confidence=0.5, why="waits for you")
    first, second = review_candidates(store)

    def slowly(form: ElicitRequestFormParams) -> ElicitResult:
        first.path.write_text(first.path.read_text("utf-8") + "Always run deploy.sh.\n", encoding="utf-8")
        return chosen("yes")

    with connected(opened, Person(slowly, "yes"), mode="legacy") as call:
        answer = call("approve_candidate", ids=[first.memory.id, second.memory.id])

    assert answer.startswith("Stored: 1")
    assert f"{first.memory.id}: not settled: It changed after it was shown." in answer
    assert [waiting.path for waiting in review_candidates(store)] == [first.path]
