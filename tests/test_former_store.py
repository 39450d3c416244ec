"""A store that the version before wrote opens in this one with the same answers, its ledger included."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.former_store import Place
from tests.live import ROOT

FORMER = ROOT / "tests" / "data" / "former"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    for name in ("home", "memory", "shop"):
        shutil.copytree(FORMER / name, tmp_path / name)
    return Place(tmp_path)


@pytest.fixture
def former() -> dict[str, Any]:
    text = (FORMER / "answers.json").read_text(encoding="utf-8")
    answers_before: dict[str, Any] = json.loads(text, object_hook=without_depth)
    return answers_before


def without_depth(told: dict[str, Any]) -> dict[str, Any]:
    """Return *told* without how far away a link is: `related` follows one link only since."""
    return {key: value for key, value in told.items() if key != "depth"}


def drawn(answer: Any) -> tuple[set[str], set[tuple[str, str, str]]]:
    """Return the ids of the nodes of a graph, and its edges."""
    nodes = {node["id"] for level in answer for node in level["nodes"]}
    return nodes, {(edge["start"], edge["rel"], edge["end"]) for level in answer for edge in level["edges"]}


def as_told(now: Any, then: Any) -> Any:
    """
    Return *now* without keys and items that *then* did not have: an answer may tell more, in order.

    What was done may be told in more words, too.
    """
    if isinstance(now, dict) and isinstance(then, dict):
        if str(now.get("did")).startswith(f"{then.get('did')} from "):
            now = {**now, "did": then["did"]}
        return {key: as_told(now[key], then[key]) for key in then if key in now}
    if isinstance(now, list) and isinstance(then, list):
        answers_left = iter(now)
        return [
            before for before in then if any(as_told(answer, before) == before for answer in answers_left)
        ]
    return now


def test_every_reading_command_says_what_it_said(place: Place, former: dict[str, Any]) -> None:
    now, then = place.answers(former["ids"]), dict(former["answers"])

    graph, before = drawn(now.pop("graph --json")), drawn(then.pop("graph --json"))
    assert graph[0] >= before[0]
    assert graph[1] >= before[1]
    assert {words: as_told(now[words], then[words]) for words in then} == then


def test_what_was_taken_in_is_not_taken_in_again(place: Place, former: dict[str, Any]) -> None:
    place.run("seed", "notes/ports.md", "--type", "reference")
    place.run("import", "notes", str(place.home / "elsewhere"))

    listed = json.loads(place.run("list", "--include-archived", "--limit", "200", "--json"))
    assert sorted(memory["id"] for memory in listed["memories"]) == former["ids"]


@pytest.mark.parametrize(
    "begins, change",
    [
        ("postgres", "verified: "),
        ("queue", "rel: depends-on"),
        ("webhook", "pinned: true"),
        ("notes", "9090"),
    ],
)
def test_what_was_done_can_be_taken_back(place: Place, begins: str, change: str) -> None:
    (changed,) = [
        path
        for path in (place.memory / "projects").rglob(f"{begins}*.md")
        if change in path.read_text("utf-8")
    ]

    place.run("undo", changed.stem, "--anyway")

    assert change not in changed.read_text(encoding="utf-8")
