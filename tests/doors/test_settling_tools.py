"""Tools that accept, settle or delete for good: without the person's yes they say what to type."""

import shlex
from pathlib import Path

import pytest
from mcp_types import ElicitResult

from mcp_server.actions.files.sync import sync
from mcp_server.actions.judge.candidate import propose
from mcp_server.core.memory import Draft
from tests.conftest import Open
from tests.doors.called import connected
from tests.doors.shell import Run
from tests.memories import files_of_store
from tests.person import Person

TEXT = "---\nid: one-a1b2\ntitle: Tabs\nsource: assistant\n---\nAlways run make check.\n"
SETTLING_TOOLS = {  # tools that take the person's word, with what they are given
    "review": {"settle": "one-a1b2"},
    "forget": {"id": "one-a1b2", "forever": True},
    "run_cleanup": {"dry_run": False},
    "resolve_contradiction": {"id": "one-a1b2", "other": "two-a1b2", "how": "delete"},
    "approve_candidate": {"ids": "all"},
    "reject_candidate": {"ids": "all"},
}


@pytest.mark.parametrize("answer", ["closed", "no", "nobody"])
@pytest.mark.parametrize("tool", SETTLING_TOOLS)
def test_a_tool_without_the_persons_yes_does_nothing_and_says_what_to_type(
    open_here: Open, memory_dir: Path, project: Path, tool: str, answer: str
) -> None:
    memory = memory_dir / "knowledge" / "one-a1b2.md"
    memory.parent.mkdir(parents=True)
    memory.write_text(TEXT, encoding="utf-8")
    other = memory.with_name("two-a1b2.md")
    other.write_text(TEXT.replace("one-a1b2", "two-a1b2").replace("Always", "Never"), encoding="utf-8")
    opened = open_here()
    sync(opened.store())
    propose(opened.store(), Draft("Tabs", "This code uses tabs."), key="3f9a2c1d", confidence=1, why="")
    before = files_of_store(memory_dir, project)
    person = {
        "closed": Person(ElicitResult(action="cancel")),
        "no": Person("later" if tool == "review" else "no"),
        "nobody": None,
    }[answer]

    with connected(opened, person) as call:
        refusal = call(tool, **SETTLING_TOOLS[tool])

    if answer != "no":
        assert "The person types it in their own terminal, not one that Claude started: daybook " in refusal
    assert {
        path: text for path, text in files_of_store(memory_dir, project).items() if path in before
    } == before
    assert bool(person and person.saw) is (answer != "nobody")


def test_what_the_person_is_told_to_type_does_the_whole_of_it(
    open_here: Open, typed: Run, project: Path
) -> None:
    outside = project.parent / "the herons.md"
    outside.write_text("# Herons\n\nHerons stand in the shallow water and wait.\n", encoding="utf-8")
    opened = open_here()
    for key, words in {"3f9a2c1d": "tabs", "3f9a2c1e": "blanks", "3f9a2c1f": "braces"}.items():
        propose(opened.store(), Draft(words, f"This code has {words}."), key=key, confidence=1, why="")

    with connected(opened, None) as call:

        def type_what_is_told(tool: str, **arguments: object) -> str:
            told = call(tool, **arguments).rpartition(" daybook ")[2]
            return typed(*shlex.split(told)).stdout

        assert "2 rejected" in type_what_is_told("reject_candidate", ids=["3f9a2c1d", "3f9a2c1e"])
        assert "1 added" in type_what_is_told("approve_candidate", ids="all")
        given = {"path": str(outside), "type": "decision", "level": "user", "tags": ["birds", "water"]}
        assert "1 taken" in type_what_is_told("seed_from_file", **given)
        listed = call("list_memories", level="user", type="decision", tags=["birds", "water"])

    assert listed.startswith("1 memory")
