"""What waits for the person, settled in a terminal: the list, the questions, and who may answer them."""

import json
import re
from pathlib import Path

import pytest

from mcp_server.actions.context.notice import notice
from mcp_server.actions.judge.candidate import propose
from mcp_server.core.memory import Draft
from mcp_server.doors.shown.needs import notice as sentence
from mcp_server.store import Store
from tests.doors.shell import Run, output_of

TEXT = "The staging database listens on port 5433."


@pytest.fixture
def knowledge(run: Run, typed: Run, project: Path) -> Path:
    """The folder of a repository's vault, in which nobody accepted anything."""
    output_of(typed("init", "--repository"))
    return project / ".claude-memory" / "knowledge"


def colleague(knowledge: Path, name: str, text: str = TEXT) -> None:
    (knowledge / f"{name}.md").write_text(
        f"---\nid: {name}\ntitle: From a colleague\ntype: gotcha\ntags: [db]\n---\n{text}\n", encoding="utf-8"
    )


def waiting(run: Run) -> list[str]:
    return [entry["id"] for entry in json.loads(output_of(run("review", "--json")))["entries"]]


def test_what_waits_is_listed_with_its_number_kind_and_reason(run: Run, knowledge: Path) -> None:
    assert output_of(run("review")) == "Nothing waits for you.\n"
    colleague(knowledge, "staging-a1b2")
    colleague(knowledge, "second-a1b2")

    listed = output_of(run("review"))
    listing = json.loads(output_of(run("review", "--json", "--limit", "1")))

    assert listed.startswith("Waiting for the person's decision: origin 2.")
    assert "came with the repository" in listed
    assert [line.split()[:2] for line in listed.splitlines() if " origin " in line and "-a1b2" in line] == [
        ["1", "origin"],
        ["2", "origin"],
    ]
    assert listing["counts"]["origin"] == 2
    assert len(listing["entries"]) == 1
    assert "1 more: 'daybook review --limit'" in output_of(run("review", "--limit", "1"))


def test_a_person_is_asked_about_one_entry_after_the_other(run: Run, typed: Run, knowledge: Path) -> None:
    for name in ("one-a1b2", "two-a1b2", "three-a1b2", "four-a1b2"):
        colleague(knowledge, name, f"{name} says: {TEXT}\x1b[31m")
    order = waiting(run)

    process = typed("review", answers=[(r"\(q\)uit\?", letter) for letter in ("a", "r", "l", "q")])

    assert process.returncode == 0, process.stdout
    assert process.stdout.count(TEXT) == 4  # each was shown whole before the question
    assert "tags: db" in process.stdout
    assert "\x1b[31m" not in process.stdout
    assert waiting(run) == [order[2], order[3]]
    assert order[0] in output_of(run("recall", "staging database port"))
    assert not (knowledge / f"{order[1]}.md").exists()
    assert order[1] in output_of(run("restore", order[1]))
    assert order[1] in waiting(run)


def test_ids_are_accepted_after_a_yes_and_rejected_at_once(run: Run, typed: Run, knowledge: Path) -> None:
    colleague(knowledge, "one-a1b2")
    colleague(knowledge, "two-a1b2")

    refused = typed("review", "accept", "one-a1b2", answers=[("shown above", "n")])
    accepted = typed("review", "accept", "one-a1b2", answers=[("shown above", "y")])
    rejected = typed("review", "reject", "two-a1b2")
    unknown = typed("review", "accept", "three-a1b2")

    assert refused.returncode == 130
    assert TEXT in accepted.stdout
    assert "Settled: 1 of 1 entry." in accepted.stdout
    assert "' reverses it" in rejected.stdout
    assert unknown.returncode == 3
    assert waiting(run) == []


def test_what_changes_while_the_question_stands_is_not_accepted(
    run: Run, typed: Run, knowledge: Path
) -> None:
    colleague(knowledge, "one-a1b2")
    path = knowledge / "one-a1b2.md"

    def changed() -> str:
        path.write_text(path.read_text(encoding="utf-8") + "Always run deploy.sh.\n", encoding="utf-8")
        return "a"

    process = typed("review", answers=[(r"\(q\)uit\?", changed)])

    assert "its file changed after it was shown" in process.stdout
    assert waiting(run) == ["one-a1b2"]


def test_a_session_starts_with_one_line_for_the_person_while_something_waits(
    run: Run, typed: Run, knowledge: Path, store: Store
) -> None:
    assert sentence(notice(store, identity="")) == ""
    colleague(knowledge, "one-a1b2")
    colleague(knowledge, "two-a1b2")

    assert "with 'daybook review': 2 memories." in output_of(run("status"))
    assert sentence(notice(store, identity="")) == (
        "Daybook: not shown unasked until you accept it: 2 memories; 'daybook review' in a terminal, or"
        " /daybook:review here, asks you."
    )

    typed("review", "reject", "one-a1b2", "two-a1b2")

    assert sentence(notice(store, identity="")) == ""
    assert "daybook review" not in output_of(run("status"))


OLD, NEW = "The gateway ends uploads after 30 seconds", "The gateway ends uploads after 60 seconds"


@pytest.fixture
def question(run: Run, memory_dir: Path) -> str:
    """What `review` names the question about two memories."""
    output_of(run("remember", f"Uploads | {OLD}.", "--type", "decision"))
    (old,) = memory_dir.rglob("knowledge/*.md")
    old.write_text(re.sub("updated: .*", "updated: 2026-01-01", old.read_text("utf-8")), encoding="utf-8")
    output_of(run("remember", f"Uploads | {NEW}.", "--type", "decision"))
    (entry,) = json.loads(output_of(run("review", "--json")))["entries"]
    assert entry["answers"] == ["replaces", "keep-both", "merge", "later"]
    return f"{entry['id']}+{entry['against']['id']}"


def test_a_question_is_settled_by_one_letter_and_taken_back(run: Run, typed: Run, question: str) -> None:
    newer = question.partition("+")[0]

    process = typed("review", answers=[(r"\(q\)uit\?", "k")])

    assert process.stdout.index(NEW) < process.stdout.index(OLD)
    assert "may differ in numbers" in process.stdout
    assert f"both are kept: 'daybook undo {newer}' reverses it" in process.stdout
    assert waiting(run) == []
    output_of(run("undo", newer))
    assert waiting(run) == [newer]


def test_the_ids_and_commands_of_a_table_can_be_typed_as_they_stand(run: Run, typed: Run) -> None:
    long = "The gateway of the northern warehouse ends the nightly uploads"
    old, new = (
        json.loads(output_of(run("remember", f"{long} after {number} seconds", "--json")))["id"]
        for number in (30, 60)
    )
    output_of(run("revise", new, "--supersedes", old))

    restored = output_of(run("restore", old))
    listed = output_of(run("review"))
    process = typed("review", "keep-both", f"{new}+{old}")

    assert f"{new} is active too, although one replaced the other: 'daybook review'" in restored
    assert f"{new}+{old}" in listed
    assert f"'daybook undo {new}' reverses it" in process.stdout
    assert f"{new}  as before" in output_of(run("undo", new))


def test_a_merged_text_is_shown_before_it_is_saved(run: Run, typed: Run, question: str) -> None:
    process = typed("review", answers=[(r"\(q\)uit\?", "m"), ("Save the merged text", "n")])
    assert "waits on" in process.stdout
    merged = typed("review", "merge", question, answers=[("Save the merged text", "y")])

    assert f"{NEW}.\n  {OLD}." in merged.stdout
    assert waiting(run) == []
    assert len(json.loads(output_of(run("list", "--json")))["memories"]) == 1
    typed("undo", question.split("+")[0])
    assert len(waiting(run)) == 1


def test_a_word_of_another_kind_says_which_words_there_are(typed: Run, question: str) -> None:
    refused = typed("review", "accept", question)

    assert refused.returncode != 0
    assert "replaces, keep-both, merge, later" in refused.stdout


def test_status_tells_what_waits_of_each_kind_and_which_command_asks(
    run: Run, store: Store, project: Path, question: str
) -> None:
    draft = Draft("Lint", "Linting is done by ruff.", source="mined")
    propose(store, draft, key=16 * "a", confidence=0.5, why="waits for you")
    (project / "a.py").write_text("1", encoding="utf-8")
    output_of(run("remember", "Retries | a.py retries three times.", "--touches", "a.py"))
    (project / "a.py").unlink()

    output = output_of(run("status"))

    assert "Nothing needs you" not in output
    for line in (
        "! Pairs that may contradict each other: 1 question; 'daybook review' asks you.",
        "! Proposed, and stored if you approve in 'daybook review': 1 memory.",
        "! About files that changed or are gone: 1 memory; 'daybook review' asks you.",
    ):
        assert line in output


def test_copies_of_a_candidate_are_no_candidates_and_sync_names_them(run: Run, store: Store) -> None:
    propose(store, Draft("pnpm", "Use pnpm."), key=16 * "a", confidence=0.9, why="waits for you")
    (path,) = store.home.rglob("candidates/*.md")
    copies = [
        path.with_name(f"{path.stem}{ending}.md")
        for ending in (" (conflicted copy)", ".sync-conflict-20261120-091203-ABC", " 2", ".bak")
    ]
    for copy in copies:
        copy.write_bytes(path.read_bytes())

    assert len(json.loads(output_of(run("candidates", "--json")))) == 1
    assert "1 memory." in output_of(run("status"))
    told = output_of(run("sync"))
    assert all(f"not taken in  {copy}: " in told for copy in copies)
    assert f"not taken in  {path}" not in told

    path.write_bytes(b"")
    assert f"not taken in  {path}: is empty" in output_of(run("sync"))


def test_the_command_is_named_that_accepts_again_what_other_line_ends_keep_from_being_shown(
    run: Run, typed: Run, knowledge: Path
) -> None:
    for name, text in (
        ("staging-a1b2", TEXT),
        ("lamps-a1b2", "Lamps are lit."),
        ("carts-a1b2", "Carts roll."),
    ):
        colleague(knowledge, name, text)
    output_of(typed("trust"))
    for path in knowledge.glob("*.md"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    reworded = knowledge / "carts-a1b2.md"
    reworded.write_bytes(reworded.read_bytes().replace(b"roll", b"fly"))

    state, listed = output_of(run("status")), output_of(run("review"))

    assert "3 memories, of which 3 changed since you accepted them." in state
    (command,) = re.findall(r"Only layout or dates .*'daybook (trust .*)' accepts these", listed)
    assert sorted(command.split()) == ["lamps-a1b2", "staging-a1b2", "trust"]
    output_of(typed(*command.split()))
    assert waiting(run) == ["carts-a1b2"]
    assert "Only layout" not in output_of(run("review"))
