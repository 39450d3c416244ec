"""A memory of an export gets its file's subfolder and name again, where no other file has them."""

from pathlib import Path

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.core.memory_parts import Level
from mcp_server.store import Store
from tests.importing import import_from

PLACE = "knowledge/deep/Deploys.md"


def put(folder: Path, memory_id: str) -> None:
    path = folder / PLACE
    path.parent.mkdir(parents=True)
    path.write_text(f"---\nid: {memory_id}\n---\nThe {memory_id} says so.\n")


def places(store: Store, *ids: str) -> list[str]:
    return [read(store, memory_id).place for memory_id in ids]


def test_a_file_that_is_there_keeps_its_name(store: Store, tmp_path: Path) -> None:
    put(tmp_path / "out", "first")
    put(store.home, "second")
    sync(store)

    import_from(store, "daybook", tmp_path / "out", own_export=True)

    assert places(store, "first", "second") == ["knowledge/first.md", PLACE]


def test_two_of_one_import_do_not_share_a_file(store: Store, tmp_path: Path) -> None:
    put(tmp_path / "out", "first")
    put(tmp_path / "out/projects/shop", "second")

    import_from(store, "daybook", tmp_path / "out", own_export=True, level=Level.USER)

    assert places(store, "first", "second") == [PLACE, "knowledge/second.md"]


def test_a_name_that_not_every_system_can_hold_is_not_taken_over(store: Store, tmp_path: Path) -> None:
    put(tmp_path / "out", "first")
    place = tmp_path / "out" / PLACE
    place.rename(place.with_name("a: b.md"))

    import_from(store, "daybook", tmp_path / "out", own_export=True)

    assert places(store, "first") == ["knowledge/first.md"]
