"""What a hand wrote into a file, longer and more than may be given, is carried on whole in each way."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mcp_server.actions.exchange.export import export_folder, export_json, write_document
from mcp_server.actions.files.read import read
from mcp_server.actions.graph.kg import put_node
from mcp_server.actions.judge.candidate import approve, propose, review_candidates
from mcp_server.actions.judge.change_memory import Wanted, change_memory
from mcp_server.actions.memory.archive import archive
from mcp_server.actions.memory.change_level import change_level
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.review.answer import joined
from mcp_server.adapters.files import MAX_MEMORY_FILE
from mcp_server.adapters.memory_file import render
from mcp_server.core.errors import Rejected
from mcp_server.core.list_key import ListKey
from mcp_server.core.memory import IN_FILES_ALONE, LISTS, USE_WHEN, Draft, Link, Memory
from mcp_server.core.memory_parts import MAX_LINKS, MAX_TEXT, MAX_TITLE, MAX_TOUCHES, Level
from mcp_server.core.provenance.provenance import ASSISTANT
from mcp_server.core.remote.memory_merge import Placed, merge_memories
from mcp_server.core.search.query import Filter
from mcp_server.store import Store
from tests.conftest import Open
from tests.importing import import_from
from tests.memories import stored

LISTED = {key.name: tuple(f"{key.name[0]}{number}" for number in range(key.most + 5)) for key in LISTS}
BY_HAND = {
    "title": "Passes" + " and passes" * (MAX_TITLE // 10),
    "text": "Five passes have wildcards. " * (MAX_TEXT // 24) + "End.",
    **LISTED,
    "use_when": (*LISTED["use_when"], "an occasion that never ends " * (USE_WHEN.longest // 20) + "so"),
    "touches": tuple(f"src/pass{number}.ml" for number in range(MAX_TOUCHES + 10)),
    "links": tuple(Link("Goes on in", f"src/pass{number}.ml") for number in range(MAX_LINKS + 10)),
    "notes": tuple(f"line {number}" for number in range(120)),
    "aliases": ("The passes", "Phases"),
    "pinned": True,
    **dict.fromkeys(("valid_from", "valid_to", "verified"), datetime(2026, 11, 20, tzinfo=UTC)),
}
KEY = "3f9a2c1d"


def said(memory: Memory) -> dict[str, object]:
    """Return what *memory* says, of all that a person may write into its file."""
    return {name: getattr(memory, name) for name in BY_HAND}


def by_hand(store: Store) -> str:
    """Store a memory, and write more into its file than may be given; return its id."""
    file = read(store, stored(store, "Passes", "Five passes.", category="compiler"))
    file.path.write_bytes(render(replace(file.memory, **BY_HAND)))  # type: ignore[arg-type]
    assert said(read(store, file.memory.id).memory) == BY_HAND
    return file.memory.id


def approved(store: Store) -> Memory:
    propose(store, Draft("Passes", "Five passes."), key=KEY, confidence=0.5, why="waits for you")
    (waiting,) = review_candidates(store)
    hand = {**BY_HAND, "notes": (*waiting.memory.notes, *BY_HAND["notes"])}
    waiting.path.write_bytes(render(replace(waiting.memory, **hand)))  # type: ignore[arg-type]
    (outcome,) = approve(store, [KEY])
    return read(store, outcome.id).memory


def retyped(store: Store) -> Memory:
    memory_id = by_hand(store)
    revise(store, memory_id, Revision(type="gotcha"))
    return read(store, memory_id).memory


def replacing(store: Store) -> Memory:
    memory_id, other = by_hand(store), stored(store, "Four passes are there.")
    change_memory(
        store, memory_id, Wanted(Revision(), supersedes=(other,)),
        source=ASSISTANT, replacing=ASSISTANT, turns=lambda: ["Five passes, not four."], judged=lambda _: "",
    )  # fmt: skip
    return read(store, memory_id).memory


def moved(store: Store) -> Memory:
    memory_id = by_hand(store)
    return change_level(store, memory_id, Level.USER).file.memory


def archived_and_back(store: Store) -> Memory:
    memory_id = by_hand(store)
    archive(store, [memory_id])
    return restore(store, memory_id).memory


def forgotten_and_back(store: Store) -> Memory:
    memory_id = by_hand(store)
    forget(store, memory_id)
    return restore(store, memory_id).memory


def put_again(store: Store) -> Memory:
    memory_id = by_hand(store)
    put_node(store, Level.PROJECT, memory_id, str(BY_HAND["title"]))
    return read(store, memory_id).memory


def merged_of_machines(store: Store) -> Memory:
    memory = read(store, by_hand(store)).memory
    other = replace(memory, tags=memory.tags[1:], type="gotcha")
    merged = merge_memories(Placed(memory, "a.md"), Placed(memory, "a.md"), Placed(other, "a.md")).memory
    assert merged.tags == BY_HAND["tags"][1:]
    return replace(merged, tags=BY_HAND["tags"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "carried",
    [
        approved,
        retyped,
        replacing,
        moved,
        archived_and_back,
        forgotten_and_back,
        put_again,
        merged_of_machines,
    ],
)
def test_it_is_whole_after(store: Store, carried: Callable[[Store], Memory]) -> None:
    assert said(carried(store)) == BY_HAND


@pytest.mark.parametrize("form", ["folder", "document"])
def test_it_is_whole_on_another_machine(store: Store, open_here: Open, tmp_path: Path, form: str) -> None:
    memory_id, title_alone, out = (
        by_hand(store),
        store.user_vault.root / "knowledge" / "t.md",
        tmp_path / "out",
    )
    title_alone.parent.mkdir(exist_ok=True)
    title_alone.write_text("---\ntitle: Use pnpm\n---\n", encoding="utf-8")
    if form == "folder":
        export_folder(store, out)
    else:
        write_document(store, out, json.dumps(export_json(store)[0]).encode())
    elsewhere = open_here(MEMORY_DIR=str(tmp_path / "elsewhere")).store()

    import_from(elsewhere, "daybook", out, own_export=True)

    assert said(read(elsewhere, memory_id).memory) == BY_HAND
    assert read(elsewhere, "t").memory.title == "Use pnpm"


def test_what_claude_says_instead_has_the_rest_of_it(store: Store) -> None:
    memory_id = by_hand(store)
    wanted = Wanted(Revision(text="There are six passes now, and each of them has its wildcard."))

    change = change_memory(
        store, memory_id, wanted, source=ASSISTANT, replacing=ASSISTANT, turns=tuple, judged=lambda _: ""
    )

    assert change.beside
    beside = said(read(store, change.beside.id).memory)
    differs = {name for name, value in beside.items() if value != BY_HAND[name]}
    assert differs == {"text", "links", *IN_FILES_ALONE}


def test_a_merge_has_its_title_and_as_much_as_the_longest_list(store: Store) -> None:
    files = [read(store, by_hand(store)), read(store, stored(store, "Six passes", tags=("ocaml",)))]

    memory_id = joined(store, files, str(BY_HAND["title"]), "Six passes.", vault=files[0].vault)

    memory = read(store, memory_id).memory
    assert (memory.title, memory.tags) == (BY_HAND["title"], BY_HAND["tags"])
    assert {*memory.use_when} == {*BY_HAND["use_when"]}  # type: ignore[misc]


@pytest.mark.parametrize("key", LISTS, ids=lambda key: key.name)
def test_what_a_note_of_another_program_lists_is_taken_whole(
    store: Store, tmp_path: Path, key: ListKey
) -> None:
    (tmp_path / "notes").mkdir()
    note = f"---\n{key.name}: {', '.join(LISTED[key.name])}\n---\nFive passes.\n"
    (tmp_path / "notes" / "passes.md").write_text(note, encoding="utf-8")

    import_from(store, "notes", tmp_path / "notes")

    (row,) = list_memories(store, Filter()).rows
    assert getattr(read(store, row.id).memory, key.name) == LISTED[key.name]


def test_a_file_that_would_be_too_large_to_be_read_is_not_written(store: Store) -> None:
    file = read(store, stored(store, "Passes", "Five passes."))
    room = MAX_MEMORY_FILE - len(file.data) + len(file.memory.text)
    file.path.write_bytes(render(replace(file.memory, text="x" * room)))

    with pytest.raises(Rejected, match="1,048,576 is the limit"):
        archive(store, [file.memory.id])

    assert len(read(store, file.memory.id).memory.text) == room
