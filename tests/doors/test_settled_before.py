"""A command for several ids that was cut off: given again it tells what was done, and does the rest."""

import json
from pathlib import Path

import pytest

from mcp_server.actions.judge.candidate import propose, review_candidates
from mcp_server.core.digests import text_digest
from mcp_server.core.memory import Draft
from mcp_server.store import Store
from tests.doors.called import Caller
from tests.doors.shell import Run, output_of

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
    assert unknown.returncode != 0 and "Nothing with the id 'three-a1b2' waits" in unknown.stdout


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
