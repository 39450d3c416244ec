"""Folders of markdown notes, as Obsidian keeps them."""

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mcp_server.actions.exchange.imports.batch import Outcome
from mcp_server.actions.files.read import read
from mcp_server.actions.memory.change_level import change_level
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.related import get_related
from mcp_server.core.memory import Link
from mcp_server.core.memory_parts import Level
from mcp_server.core.search.query import Filter
from mcp_server.store import Store
from tests.actions.imports.imported import items, memories, only_import, outcomes
from tests.importing import import_from


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "work").mkdir(parents=True)
    (folder / ".obsidian").mkdir()
    (folder / ".obsidian/hidden.md").write_text("hidden")
    (folder / "work/Deploy Plan.md").write_text(
        "---\ntags: [ops, Release]\naliases: [shipping]\ncreated: 2025-05-06\nstatus: draft\n---\n"
        "See [[servers]] and [[work/Rollback#Steps]]. #urgent `#code` [[Nowhere]]\n"
    )
    (folder / "work/Rollback.md").write_text("---\ntitle: How to roll back\n---\nPress the button.\n")
    (folder / "Servers.md").write_text("# All servers\n\nTwo of them.\n")
    (folder / "picture.png").write_bytes(b"png")
    (folder / "long.md").write_text("word " * 20_000)
    (folder / "empty.md").write_text("")
    (folder / "broken.md").write_bytes(b"\xff\xfe")
    os.utime(folder / "Servers.md", (1_700_000_000, 1_700_000_000))
    (tmp_path / "outside.md").write_text("outside")
    (folder / "link.md").symlink_to(tmp_path / "outside.md")
    (folder / "linked").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.md")
    return folder


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_notes_come_with_tags_links_and_the_dates_of_their_files(store: Store, notebook: Path) -> None:
    imports = import_from(store, "notes", notebook)

    by_title = memories(store)
    assert set(by_title) == {"Deploy Plan", "How to roll back", "All servers"}
    plan = by_title["Deploy Plan"]
    assert plan.tags == ("ops", "release", "urgent")
    assert (plan.aliases, plan.notes) == (("shipping",), ("status: draft",))
    assert plan.created == datetime(2025, 5, 6, tzinfo=UTC)
    assert plan.links == (Link("relates-to", by_title["How to roll back"].id),)
    assert "[[servers]]" in plan.text
    assert by_title["All servers"].created == datetime.fromtimestamp(1_700_000_000, UTC)
    why = {key: item.why for key, item in items(imports).items() if item.outcome is Outcome.REFUSED}
    assert why["link.md"] == why["linked"] == "is a symbolic link, which is not followed"
    assert why["long.md"].endswith("65,536 is the limit; 'daybook seed FILE' takes in its sections")
    assert set(why) == {"link.md", "linked", "pipe.md", "broken.md", "empty.md", "long.md"}
    assert only_import(imports).remarks == (
        "Skipped, because it is not markdown: 1 file. 'daybook seed FILE' takes in a text.",
    )
    assert not any("outside" in memory.text for memory in by_title.values())


def test_a_changed_note_is_revised_and_a_touched_one_is_not(store: Store, notebook: Path) -> None:
    import_from(store, "notes", notebook)
    (notebook / "Servers.md").write_text("# All servers\n\nThree of them.\n")
    os.utime(notebook / "work/Rollback.md", (1_800_000_000, 1_800_000_000))

    again = outcomes(import_from(store, "notes", notebook))

    assert again["Servers.md"] is Outcome.REVISED
    assert again["work/Rollback.md"] is Outcome.UNCHANGED
    assert memories(store)["All servers"].text.endswith("Three of them.")


def test_a_note_that_is_at_another_level_already_is_told_with_what_moves_it(
    store: Store, notebook: Path
) -> None:
    import_from(store, "notes", notebook)

    again = items(import_from(store, "notes", notebook, level=Level.PROJECT))["Servers.md"]

    assert again.outcome is Outcome.UNCHANGED
    assert f"'daybook revise {again.id} --level project' moves it" in again.why
    change_level(store, again.id, Level.PROJECT)
    assert items(import_from(store, "notes", notebook, level=Level.PROJECT))["Servers.md"].why == ""
    assert items(import_from(store, "notes", notebook))["Servers.md"].why == ""


def test_links_find_a_note_by_its_file_and_by_its_aliases(store: Store, notebook: Path) -> None:
    (notebook / "Map.md").write_text("[[servers]], [[Shipping]], [[rollback]]\n")

    import_from(store, "notes", notebook)

    ids = {title: memory.id for title, memory in memories(store).items()}
    assert memories(store)["Map"].links == ()
    linked_ids = [
        edge.other.id for edge in get_related(store, ids["Map"]).edges if edge.outgoing and edge.other
    ]
    assert sorted(linked_ids) == sorted([ids["All servers"], ids["Deploy Plan"], ids["How to roll back"]])


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("\n\n# Two of them #\n\nText.", "Two of them"),
        ("Text.\n\n# Later\n\nMore.", "Server list"),
        ("## Part\n\nText.", "Server list"),
        ("#tag and text", "Server list"),
        ("---\ntitle: Said\n---\n# Two of them\n\nText.", "Said"),
    ],
)
def test_a_note_is_called_by_the_heading_it_begins_with(
    store: Store, tmp_path: Path, text: str, title: str
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/Server list.md").write_text(text)

    import_from(store, "notes", tmp_path / "notes")

    by_title = memories(store)
    assert set(by_title) == {title}
    assert by_title[title].aliases == (() if title == "Server list" else ("Server list",))


def test_an_alias_that_came_there_or_here_is_a_change(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / f"{name}.md").write_text(f"About {name}.")
    import_from(store, "notes", folder)
    path = read(store, memories(store)["two"].id).path
    path.write_text(path.read_text(encoding="utf-8").replace("tags: []", "aliases: [mine]\ntags: []"))
    for name in ("one", "two"):
        (folder / f"{name}.md").write_text(f"---\naliases: [theirs]\n---\nAbout {name}.")

    again = outcomes(import_from(store, "notes", folder))

    assert again == {"one.md": Outcome.REVISED, "two.md": Outcome.LEFT}
    by_title = memories(store)
    assert (by_title["one"].aliases, by_title["two"].aliases) == (("theirs",), ("mine",))


def test_what_frontmatter_says_that_has_no_place_in_a_memory_is_kept_as_notes(
    store: Store, tmp_path: Path
) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/Invoices.md").write_text(
        "---\ntype: guide\ncreated: 04.03.2025\ndate: 2025-03-04\nupdated: März\nauthors: [Ada, Bob]\n"
        "Owner: {team: money}\nempty: []\nalias: Bills, Papers\ntags: two words, one\n---\nText.\n"
    )

    import_from(store, "notes", tmp_path / "vault")

    memory = memories(store)["Invoices"]
    assert memory.notes == (
        "type: guide",
        "created: 04.03.2025",
        "updated: März",
        'authors: ["Ada", "Bob"]',
        'Owner: {"team": "money"}',
    )
    assert (memory.type, memory.created) == ("note", datetime(2025, 3, 4, tzinfo=UTC))
    assert (memory.aliases, memory.tags) == (("Bills", "Papers"), ("two-words", "one"))


def test_a_page_of_logseq_has_properties_and_its_backups_are_no_notes(store: Store, tmp_path: Path) -> None:
    for name, text in (
        ("pages/Bob.md", "alias:: Robert, Bobby\ntags:: person, payments\n\n- Bob owns payments\n"),
        ("journals/2025_03_04.md", "- Talked to [[Bob]]\n"),
        ("logseq/config.edn", "{}"),
        ("logseq/bak/pages/Bob/2024.md", "- Ada owns payments\n"),
    ):
        write(tmp_path / "graph" / name, text)

    import_from(store, "notes", tmp_path / "graph")

    by_title = memories(store)
    assert set(by_title) == {"Bob", "2025_03_04"}
    assert by_title["2025_03_04"].created == datetime(2025, 3, 4, tzinfo=UTC)
    assert (by_title["Bob"].aliases, by_title["Bob"].tags) == (("Robert", "Bobby"), ("person", "payments"))
    assert by_title["Bob"].text.startswith("alias:: Robert")


def test_links_of_markdown_and_permalinks_lead_to_notes(store: Store, tmp_path: Path) -> None:
    for name, text in (
        ("Engineering 1a.md", "# Engineering\n\n[Guide](Engineering%201a/Deploy%20guide%20ff.md#steps)\n"),
        ("Engineering 1a/Deploy guide ff.md", "[up](<../Engineering 1a.md>) ![image](Rule.mdc)\n"),
        ("Rule.mdc", "[web](https://x.io/Rule.mdc) [away](Nowhere.md) [itself](Rule.mdc) `[c](Rules.md)`\n"),
        ("Beans.md", "---\npermalink: coffee/beans\n---\nFrom Ethiopia.\n"),
        ("Coffee.md", "Of [[coffee/beans]].\n"),
        ("Tea.md", "Unlike [[memory://coffee/beans]].\n"),
    ):
        write(tmp_path / "vault" / name, text)

    import_from(store, "notes", tmp_path / "vault")

    by_title = memories(store)
    ids = {title: memory.id for title, memory in by_title.items()}
    assert by_title["Engineering"].links == (Link("relates-to", ids["Deploy guide ff"]),)
    assert by_title["Deploy guide ff"].links == (Link("relates-to", ids["Engineering"]),)
    assert by_title["Rule"].links == ()
    assert by_title["Tea"].links == (Link("relates-to", ids["Beans"]),)  # an address of basic-memory
    edges = get_related(store, ids["Coffee"]).edges
    assert [edge.other.id for edge in edges if edge.outgoing and edge.other] == [ids["Beans"]]


def test_a_note_that_is_gone_is_told_and_one_that_was_renamed_or_cannot_be_read_is_not(
    store: Store, tmp_path: Path
) -> None:
    folder = tmp_path / "vault"
    (folder / "closed").mkdir(parents=True)
    for name in ("gone", "renamed", "broken", "closed/within"):
        (folder / f"{name}.md").write_text(f"About {name}.")
    import_from(store, "notes", folder)
    ids = {title: memory.id for title, memory in memories(store).items()}
    (folder / "gone.md").unlink()
    (folder / "renamed.md").rename(folder / "closed/anew.md")
    (folder / "broken.md").write_bytes(b"\xff")

    again = import_from(store, "notes", folder)

    assert {item.id for item in only_import(again).items if item.outcome is Outcome.GONE} == {ids["gone"]}
    assert outcomes(again)["closed/anew.md"] is Outcome.REVISED
    assert memories(store)["anew"].id == ids["renamed"]
    assert len(memories(store)) == len(ids)
    shutil.rmtree(folder / "closed")
    (folder / "closed").symlink_to(tmp_path)
    assert Outcome.GONE not in outcomes(import_from(store, "notes", folder)).values()


def test_a_note_that_was_moved_away_and_begun_anew_is_two(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    (folder / "old").mkdir(parents=True)
    current = folder / "current.md"
    for number, words in enumerate(("Deploys run on heron.", "We moved to Kafka.", "The port is 80.")):
        current.write_text(f"# Sprint notes\n\n{words}\n")
        import_from(store, "notes", folder)
        current.rename(folder / f"old/{number}.md")

    again = import_from(store, "notes", folder)

    listed = list_memories(store, Filter()).rows
    assert sorted(row.text.splitlines()[-1] for row in listed) == [
        "Deploys run on heron.", "The port is 80.", "We moved to Kafka.",
    ]  # fmt: skip
    assert Outcome.GONE not in outcomes(again).values()
    (folder / "old/0.md").write_text("# Sprint notes\n\nDeploys run on kestrel.\n")
    assert outcomes(import_from(store, "notes", folder))["old/0.md"] is Outcome.REVISED


def test_one_of_two_notes_with_the_same_words_changes_and_the_other_keeps_them(
    store: Store, tmp_path: Path
) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / f"{name}.md").write_text("# Team\n\nThe team has five people.\n")
    import_from(store, "notes", folder)
    (folder / "one.md").write_text("# Team\n\nThe team has six people.\n")

    first = outcomes(import_from(store, "notes", folder))

    assert first == {"one.md": Outcome.TAKEN, "two.md": Outcome.REVISED}
    assert set(outcomes(import_from(store, "notes", folder)).values()) == {Outcome.UNCHANGED}
    (folder / "two.md").write_text("# Team\n\nThe team has nobody.\n")
    assert outcomes(import_from(store, "notes", folder))["two.md"] is Outcome.REVISED
    texts = {row.text.splitlines()[-1] for row in list_memories(store, Filter()).rows}
    assert texts == {"The team has six people.", "The team has nobody."}
