"""A memory moves to another level and back: nothing that is known of it is lost on the way."""

from pathlib import Path

import pytest

from mcp_server.actions.changes.history import history_of
from mcp_server.actions.changes.preview import preview_of_undo
from mcp_server.actions.changes.undo import change_named, last_change, undo
from mcp_server.actions.context.brief import brief
from mcp_server.actions.files.between_vaults import NOTE
from mcp_server.actions.files.commit import one_change
from mcp_server.actions.files.read import is_accepted, is_shown, read
from mcp_server.actions.files.sync import rebuild, sync
from mcp_server.actions.memory.change_level import change_level
from mcp_server.actions.memory.link import link
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.promote import pin
from mcp_server.actions.memory.related import get_related
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.memory.trust import standing_of, validate
from mcp_server.actions.recall.recall import recall
from mcp_server.adapters import history
from mcp_server.adapters.index.events import usage
from mcp_server.core.errors import Conflict
from mcp_server.core.memory_parts import Level, Status
from mcp_server.core.search.query import Filter, Query
from mcp_server.store import Store
from tests.memories import status, stored

UPLOADS = "The gateway ends large uploads after 30 seconds."
LONGER = "The gateway ends large uploads after 60 seconds."


def of_project(store: Store, title: str = "Uploads", text: str = UPLOADS, **more: object) -> str:
    return stored(store, title, text, **{"type": "decision", "level": Level.PROJECT, **more})


def of_user(store: Store, title: str = "Uploads", text: str = UPLOADS, **more: object) -> str:
    return of_project(store, title, text, **{"level": Level.USER, **more})


def level(store: Store, memory_id: str) -> Level:
    return read(store, memory_id).vault.level


def all_known(store: Store, memory_id: str) -> dict[str, object]:
    """Return all that is known of a memory besides its place."""
    file = read(store, memory_id)
    with store.database.read() as db:
        used = usage.usage_of(db, [file.ref]).get(file.ref)
    versions = [(version.verb, version.differs) for version in history_of(store, memory_id).versions]
    return {
        "bytes": file.data,
        "used": used,
        "versions": versions,
        "trust": standing_of(store, file).trust,
        "accepted": is_accepted(store, file),
        "shown": is_shown(store, file),
        "links": sorted(edge.target for edge in get_related(store, memory_id).edges),
    }


def with_a_past(store: Store) -> str:
    """Return a pinned memory that was revised, recalled, confirmed and linked."""
    memory_id = of_project(store, touches=("gateway.toml",))
    other = of_project(store, "Proxy", "The proxy buffers nothing.")
    revise(store, memory_id, Revision(text=LONGER))
    recall(store, Query("gateway uploads seconds"), given_to="s")
    validate(store, memory_id)
    pin(store, memory_id, pinned=True)
    link(store, memory_id, other, "depends-on")
    link(store, other, memory_id, "refines")
    return memory_id


def test_a_memory_moves_with_all_that_is_known_of_it_and_back(store: Store) -> None:
    memory_id = with_a_past(store)
    before, place = all_known(store, memory_id), read(store, memory_id).path
    assert before["used"] and len(before["versions"]) >= 2 and before["accepted"]  # type: ignore[arg-type]

    change = change_level(store, memory_id, Level.USER)

    assert (change.file.vault, change.old_vault) == (store.user_vault, store.vaults[-1])
    assert not place.exists()
    assert all_known(store, memory_id) == before
    change_level(store, memory_id, Level.PROJECT)
    assert (read(store, memory_id).path, all_known(store, memory_id)) == (place, before)
    rebuild(store)
    assert all_known(store, memory_id) == before


def test_it_holds_in_every_project_and_then_in_this_alone(store: Store, elsewhere: Store) -> None:
    memory_id = of_project(store)
    assert "Uploads" not in brief(elsewhere).text

    change_level(store, memory_id, Level.USER)
    assert "Uploads" in brief(elsewhere).text

    change_level(store, memory_id, Level.PROJECT)
    assert "Uploads" not in brief(elsewhere).text
    assert "Uploads" in brief(store).text
    assert list_memories(elsewhere, Filter()).total == 0


def test_a_move_is_taken_back_made_again_and_outlives_the_index(store: Store) -> None:
    memory_id = with_a_past(store)
    before = all_known(store, memory_id)
    change_level(store, memory_id, Level.USER)

    for place in (Level.PROJECT, Level.USER, Level.PROJECT):
        change = last_change(store, memory_id)
        (preview,) = preview_of_undo(store, change)
        assert (preview.id, preview.level, preview.refused) == (memory_id, place.value, "")
        undone = undo(store, change)
        assert (undone.restored, undone.skipped) == ([memory_id], [])
        assert level(store, memory_id) is place
        assert all_known(store, memory_id) == before
        rebuild(store)
        assert all_known(store, memory_id) == before


def test_the_last_change_of_all_and_a_named_one_are_taken_back_as_well(store: Store) -> None:
    first, second = of_project(store), of_project(store, "Proxy", "The proxy buffers nothing.")
    with one_change("both"):
        for memory_id in (first, second):
            change_level(store, memory_id, Level.USER)

    assert undo(store, last_change(store)).restored == [second, first]
    assert {level(store, memory_id) for memory_id in (first, second)} == {Level.PROJECT}
    change_level(store, first, Level.USER)
    name = last_change(store, first).name
    of_project(store, "Later", "Something else was stored since.")

    assert undo(store, change_named(store, name)).restored == [first]
    assert level(store, first) is Level.PROJECT


def test_words_and_level_of_one_change_go_back_together(store: Store) -> None:
    memory_id = of_project(store)
    with one_change():
        revise(store, memory_id, Revision(text=LONGER))
        change_level(store, memory_id, Level.USER)
        revise(store, memory_id, Revision(tags=("uploads",)))

    undo(store, last_change(store, memory_id))

    file = read(store, memory_id)
    assert (file.vault.level, file.memory.text, file.memory.tags) == (Level.PROJECT, UPLOADS, ())
    undo(store, last_change(store, memory_id))
    file = read(store, memory_id)
    assert (file.vault.level, file.memory.text, file.memory.tags) == (Level.USER, LONGER, ("uploads",))


def test_a_change_from_before_the_move_is_taken_back_at_the_new_level(store: Store) -> None:
    memory_id = of_project(store)
    revise(store, memory_id, Revision(text=LONGER))
    revision = last_change(store, memory_id).name
    change_level(store, memory_id, Level.USER)

    assert undo(store, change_named(store, revision)).skipped == []

    assert read(store, memory_id).memory.text == UPLOADS
    assert level(store, memory_id) is Level.USER


def test_what_was_revised_since_moves_back_only_when_told_and_keeps_its_words(store: Store) -> None:
    memory_id = of_project(store)
    change_level(store, memory_id, Level.USER)
    moved = last_change(store, memory_id).name
    revise(store, memory_id, Revision(text=LONGER))

    with pytest.raises(Conflict, match="it was changed since"):
        undo(store, change_named(store, moved))
    assert level(store, memory_id) is Level.USER
    undo(store, change_named(store, moved), anyway=True)

    assert level(store, memory_id) is Level.PROJECT
    assert read(store, memory_id).memory.text == LONGER


def test_a_move_goes_back_from_another_project_and_not_onto_another_memory(
    store: Store, elsewhere: Store
) -> None:
    memory_id = of_project(store)
    change_level(store, memory_id, Level.USER)
    undo(elsewhere, last_change(elsewhere, memory_id))
    assert level(store, memory_id) is Level.PROJECT
    change_level(store, memory_id, Level.USER)
    of_project(store, "Other", "Another says this.")
    twin = store.vaults[-1].root / "knowledge" / "twin.md"
    twin.write_text(f"---\nid: {memory_id}\n---\nWritten by hand.\n", encoding="utf-8")
    sync(store)

    with pytest.raises(Conflict, match="another memory has its id at project level now"):
        undo(store, change_named(store, last_change(elsewhere, memory_id).name))

    assert twin.is_file()
    assert level(elsewhere, memory_id) is Level.USER


def _in_its_place(store: Store) -> tuple[str, str]:
    old = of_user(store)
    return old, of_project(store, "Here", LONGER, supersedes=(old,))


def test_what_stood_in_for_a_memory_of_the_person_takes_its_place_at_their_level(
    store: Store, elsewhere: Store
) -> None:
    old, new = _in_its_place(store)
    assert status(store, old) is Status.ACTIVE

    change = change_level(store, new, Level.USER)

    assert (change.superseded, status(elsewhere, old)) == ((old,), Status.SUPERSEDED)
    assert {row.id for row in list_memories(elsewhere, Filter()).rows} == {new}
    undo(store, last_change(store, new))
    assert (status(elsewhere, old), level(store, new)) == (Status.ACTIVE, Level.PROJECT)
    assert {row.id for row in list_memories(store, Filter()).rows} == {new}


def test_what_it_superseded_everywhere_stays_so_and_is_told(store: Store) -> None:
    old = of_user(store)
    new = of_user(store, "Here", LONGER, supersedes=(old,))

    change = change_level(store, new, Level.PROJECT)

    assert (change.still_superseded, change.superseded) == ((old,), ())
    assert status(store, old) is Status.SUPERSEDED


def test_links_lead_to_the_same_memories_from_both_levels(store: Store, elsewhere: Store) -> None:
    near, far = (
        of_project(store, "Proxy", "The proxy buffers nothing."),
        of_user(store, "Ports", "They are high."),
    )
    memory_id = of_project(store, "Uploads", f"See [[{near}]] and [[Ports]].")
    from_far = of_user(store, "Limits", f"See [[{memory_id}]].")

    def ends(seen_from: Store) -> set[str]:
        edges = get_related(seen_from, memory_id).edges
        return {edge.other.id if edge.other else edge.target for edge in edges}

    for to in (Level.USER, Level.PROJECT, Level.USER):
        change_level(store, memory_id, to)
        assert ends(store) == {near, far, from_far}
    assert ends(elsewhere) == {near, far, from_far}  # the first is only a name there


def test_a_file_keeps_its_name_and_its_subfolder(store: Store) -> None:
    memory_id = of_project(store)
    file = read(store, memory_id)
    place = file.path.with_name("deep") / "uploads of ours.md"
    place.parent.mkdir()
    file.path.rename(place)
    sync(store)

    moved = change_level(store, memory_id, Level.USER).file
    assert moved.path == store.home / "knowledge" / "deep" / "uploads of ours.md"
    undo(store, last_change(store, memory_id))

    assert read(store, memory_id).path == place


def test_nothing_of_the_history_stays_behind(store: Store) -> None:
    memory_id = with_a_past(store)
    ref = read(store, memory_id).ref

    change_level(store, memory_id, Level.USER)

    assert history.versions(store.home, ref) == []
    assert not Path(store.home / "history" / ref).exists()
    assert not (store.home / "work" / NOTE).exists()
