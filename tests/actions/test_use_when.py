"""`use_when`: occasions on which a memory comes to mind, although a prompt shares no word with it."""

from dataclasses import replace
from pathlib import Path

import pytest

from mcp_server.actions.context.inject import inject
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.judge.candidate import approve, propose, review_candidates
from mcp_server.actions.judge.change_memory import Wanted, change_memory
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.team.give import for_team
from mcp_server.adapters.index.database import integrity
from mcp_server.adapters.index.memories import pairs
from mcp_server.adapters.memory_file import render
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import USE_WHEN, Draft
from mcp_server.core.memory_parts import Level
from mcp_server.core.provenance.provenance import ASSISTANT
from mcp_server.core.search.query import Query
from mcp_server.core.team.team_rules import fit
from mcp_server.store import Store
from tests.importing import import_from

PASSES = Draft(
    "New constructors of the tree go into five passes",
    "visitor.ml and printer.ml have wildcards, so the compiler does not warn; forgotten ones eat user code.",
    type="gotcha",
)
OCCASIONS = ("add an unless statement", "extend the grammar")
PROMPT = "add an unless statement to the language"
OTHERS = (
    Draft("Plants", "The office plants are watered on Fridays."),
    Draft("Invoices", "Invoices are archived for ten years in the cold storage."),
    Draft("Keyboard", "The keyboard layout of the kiosk is Swiss German."),
)


@pytest.mark.parametrize("occasions", [(), OCCASIONS])
def test_a_prompt_gets_the_memory_whose_occasion_it_is(
    meaning_store: Store, occasions: tuple[str, ...]
) -> None:
    for draft in (replace(PASSES, use_when=occasions), *OTHERS):
        remember(meaning_store, draft)
    embed_pending(meaning_store)

    text = inject(meaning_store.in_session("s1"), PROMPT)

    assert ("visitor.ml" in text) == bool(occasions)
    assert "extend the grammar" not in text


def test_of_a_long_memory_its_beginning_is_shown_instead_of_its_occasions(meaning_store: Store) -> None:
    long = "\n\n".join([PASSES.text, *(f"Paragraph {number} is about the printer." for number in range(60))])
    for draft in (replace(PASSES, text=long, use_when=OCCASIONS), *OTHERS):
        remember(meaning_store, draft)
    embed_pending(meaning_store)

    hit = recall(meaning_store, Query(PROMPT)).hits[0]

    assert hit.title == PASSES.title
    assert hit.text.startswith("visitor.ml")
    assert "unless" not in hit.text


def test_without_a_model_the_words_of_an_occasion_are_found(store: Store) -> None:
    for draft in (replace(PASSES, use_when=OCCASIONS), *OTHERS):
        remember(store, draft)

    assert [hit.title for hit in recall(store, Query("extend grammar")).hits] == [PASSES.title]


def test_occasions_are_changed_taken_away_and_joined(store: Store) -> None:
    memory = remember(store, replace(PASSES, use_when=("add  a\nstatement", "add a statement"))).memory
    assert memory.use_when == ("add a statement",)

    assert remember(store, replace(PASSES, use_when=OCCASIONS)).memory.id == memory.id
    assert read(store, memory.id).memory.use_when == ("add a statement", *OCCASIONS)

    revise(store, memory.id, Revision(use_when=()))
    assert read(store, memory.id).memory.use_when == ()
    assert recall(store, Query("extend grammar")).hits == ()


@pytest.mark.parametrize(
    "said", ["\n  - add a statement\n  - extend the grammar", " add a statement, extend the grammar"]
)
def test_a_note_of_another_program_keeps_its_occasions(store: Store, tmp_path: Path, said: str) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "passes.md").write_text(f"---\nuse_when:{said}\n---\nFive passes.\n", encoding="utf-8")

    import_from(store, "notes", folder)

    (hit,) = recall(store, Query("extend grammar")).hits
    assert read(store, hit.id).memory.use_when == ("add a statement", "extend the grammar")


def test_what_is_known_already_gets_the_occasions_of_an_import(store: Store, tmp_path: Path) -> None:
    draft = Draft("passes", "Five passes.", use_when=("add a loop",), level=Level.USER)
    known = remember(store, draft).memory
    (tmp_path / "notes").mkdir()
    note = "---\ntags: [tree]\nuse_when: [extend the grammar]\n---\nFive passes.\n"
    (tmp_path / "notes" / "passes.md").write_text(note, encoding="utf-8")

    import_from(store, "notes", tmp_path / "notes")

    memory = read(store, known.id).memory
    assert (memory.tags, memory.use_when) == (("tree",), ("add a loop", "extend the grammar"))


def test_the_index_stays_whole_while_occasions_come_and_go(store: Store) -> None:
    memory = remember(store, replace(PASSES, use_when=OCCASIONS)).memory
    for use_when in (("add a loop",), (), OCCASIONS):
        revise(store, memory.id, Revision(use_when=use_when))
        with store.database.write() as db:
            assert integrity.is_sound(db)


def test_too_many_or_too_long_occasions_are_refused_and_nothing_is_stored(store: Store) -> None:
    many = tuple(f"occasion {number}" for number in range(USE_WHEN.most + 1))
    for occasions, why in ((many, "9 occasions"), (("x" * (USE_WHEN.longest + 1),), "121 characters")):
        with pytest.raises(Rejected, match=why):
            remember(store, replace(PASSES, use_when=occasions))

    assert recall(store, Query(PASSES.title)).hits == ()


def by_hand(store: Store, *occasions: str) -> str:
    """Store the memory with as many occasions as a hand writes into its file; return its id."""
    file = read(store, remember(store, PASSES).memory.id)
    listed = ", ".join(occasions)
    file.path.write_bytes(file.data.replace(b"source:", f"use_when: [{listed}]\nsource:".encode()))
    sync(store)
    return file.memory.id


def test_a_file_with_more_and_longer_occasions_than_may_be_given_is_changed_as_any_other(
    store: Store,
) -> None:
    occasions = (*(f"extend grammar {number}" for number in range(12)), "grammar " * 20 + "end")
    memory_id = by_hand(store, *occasions)

    assert remember(store, replace(PASSES, tags=("ocaml",), use_when=("a loop",))).memory.id == memory_id
    revise(store, memory_id, Revision(title="Five passes"))
    memory = read(store, memory_id).memory
    assert (memory.title, memory.tags, memory.use_when) == ("Five passes", ("ocaml",), occasions)
    assert [hit.id for hit in recall(store, Query("extend grammar 11")).hits] == [memory_id]
    revise(store, memory_id, Revision(use_when=(*occasions[1:], "a loop")))
    with pytest.raises(Rejected, match="14 occasions"):
        revise(store, memory_id, Revision(use_when=(*occasions, "a loop")))
    with pytest.raises(Rejected, match="130 characters"):
        revise(store, memory_id, Revision(use_when=("x" * 130,)))
    with store.database.write() as db:
        assert integrity.is_sound(db)


def test_a_team_gets_the_first_of_its_occasions_and_what_claude_says_instead_all(store: Store) -> None:
    occasions = ("x" * 200, *(f"extend grammar {number}" for number in range(9)))
    memory_id = by_hand(store, *occasions)
    wanted = Wanted(Revision(text="There are six passes now, and each of them has its wildcard."))

    change = change_memory(
        store, memory_id, wanted, source=ASSISTANT, replacing=ASSISTANT, turns=tuple, judged=lambda _: ""
    )

    assert change.beside
    assert read(store, change.beside.id).memory.use_when == occasions
    own = read(store, memory_id).memory
    assert own.use_when == occasions
    assert fit(for_team(store, own)).use_when == occasions[1:9]


def test_an_occasion_that_holds_a_secret_is_refused(store: Store) -> None:
    with pytest.raises(Rejected, match="GitHub token"):
        remember(store, replace(PASSES, use_when=("log in with ghp_" + "a1B2c3D4e5F6" * 3,)))


def test_a_memory_with_occasions_is_still_compared_with_others(meaning_store: Store) -> None:
    first, second = (
        remember(meaning_store, replace(PASSES, text=f"{PASSES.text} {end}", use_when=OCCASIONS)).memory
        for end in ("Run all five.", "Run every one.")
    )
    embed_pending(meaning_store)

    with meaning_store.database.read() as db:
        rows = [row for (row,) in db.execute("SELECT row FROM memories ORDER BY row")]
        assert pairs.short_of(db, rows) == {*rows}
    assert first.id != second.id


MANY = tuple(f"add occasion {number}" for number in range(USE_WHEN.most + 2))
LONG = "an occasion of a hand that never ends " * 5


def test_a_proposal_that_a_hand_gave_more_than_a_call_may_is_accepted_whole(store: Store) -> None:
    propose(store, PASSES, key="3f9a2c1d", confidence=0.5, why="waits for you")
    (waiting,) = review_candidates(store)
    waiting.path.write_bytes(render(replace(waiting.memory, use_when=(*MANY, LONG.strip()))))

    (outcome,) = approve(store, ["3f9a2c1d"])

    assert read(store, outcome.id).memory.use_when == (*MANY, LONG.strip())


def test_what_says_the_same_gets_of_its_occasions_those_that_fit(store: Store) -> None:
    known = remember(store, replace(PASSES, use_when=OCCASIONS)).memory.id
    propose(store, PASSES, key="3f9a2c1d", confidence=0.5, why="waits for you")
    (waiting,) = review_candidates(store)
    waiting.path.write_bytes(render(replace(waiting.memory, use_when=(LONG.strip(), *MANY))))

    (outcome,) = approve(store, ["3f9a2c1d"])

    assert outcome.id == known
    assert read(store, known).memory.use_when == (*OCCASIONS, *MANY)[: USE_WHEN.most]


def test_what_a_hand_wrote_is_no_reason_against_another_change(store: Store) -> None:
    file = read(store, remember(store, PASSES).memory.id)
    text = "Ten passes. " * 6000
    file.path.write_bytes(render(replace(file.memory, use_when=MANY, text=text.strip())))
    now = read(store, file.memory.id).memory

    revise(store, now.id, Revision(title="Passes", text=now.text, use_when=now.use_when))

    with pytest.raises(Rejected, match="is the limit"):
        revise(store, now.id, Revision(text=f"{now.text} More."))
    assert read(store, now.id).memory.title == "Passes"
