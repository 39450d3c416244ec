"""Two states of the store as one: the files that hold no memory."""

from mcp_server.core.remote.memory_merge import MergedMemory
from mcp_server.core.remote.tree_merge import Files, TreeFile, merge_trees

PLACE = "projects/shop-0a1b2c3d/project.json"


def files_with(contents: dict[str, bytes]) -> Files:
    """Return access to *contents*, id → bytes, none of which hold a memory."""

    def keep(data: bytes) -> str:
        blob = f"kept {len(contents)}"
        contents[blob] = data
        return blob

    def write(merged: MergedMemory, base: TreeFile | None, older: TreeFile, newer: TreeFile) -> str:
        raise AssertionError("no memory is merged")

    return Files(lambda path, blob: None, write, str, contents.__getitem__, keep)


def test_of_two_notes_of_a_project_one_stays_as_it_is_on_every_machine() -> None:
    contents = {"a": b'{"name": "shop"}\n', "b": b'{"name": "store"}\n', "c": b'{"name": "old"}\n'}
    files = files_with(contents)

    for base in ({}, {PLACE: "c"}):
        merged = merge_trees(base, {PLACE: "a"}, {PLACE: "b"}, files).files

        assert merged == merge_trees(base, {PLACE: "b"}, {PLACE: "a"}, files).files
        assert merged[PLACE] in ("a", "b")


def test_a_ledger_has_the_lines_of_both_in_the_order_of_their_moments() -> None:
    place = "ledger/desk-2026-11@0123456789ab.jsonl"
    first, second = b'{"at": "1", "event": "a"}\n', b'{"at": "3", "event": "c"}\n'
    between = b'{"at": "2", "event": "b"}\n'
    contents = {"base": first, "mine": first + second, "theirs": first + between}

    merged = merge_trees({place: "base"}, {place: "mine"}, {place: "theirs"}, files_with(contents)).files

    assert contents[merged[place]] == first + between + second
