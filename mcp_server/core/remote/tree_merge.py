"""
Two states of the whole store, each made on a machine of the person's, as one: which file lies where.

A memory is known by its id, so one that was moved on one machine and changed on the other is both. What one
machine deleted is deleted, unless the other gave it other words meanwhile.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from mcp_server.core.memory import Memory
from mcp_server.core.remote.memory_merge import MergedMemory, Placed, merge_memories, says_other_words
from mcp_server.core.remote.paths import PathSort, is_candidate, sort_of, stem_of, vault_of

Tree = Mapping[str, str]
"""Path → the id of the bytes there."""


class TreeFile(NamedTuple):
    """A file of a tree: its path, the id of its bytes, and the memory in it, None when it holds none."""

    path: str
    blob: str
    memory: Memory | None


@dataclass(frozen=True, slots=True)
class Files:
    """
    How a merge gets at files.

    `parse` returns the memory that the bytes with an id hold at a path, None when they hold none. `write`
    returns the id of the bytes of a merged memory, made of those of its states; `create` of a new memory's.
    `data` returns the bytes with an id, `keep` the id of bytes.
    """

    parse: Callable[[str, str], Memory | None]
    write: Callable[[MergedMemory, TreeFile | None, TreeFile, TreeFile], str]
    create: Callable[[Memory], str]
    data: Callable[[str], bytes]
    keep: Callable[[bytes], str]


@dataclass(slots=True)
class MergedTree:
    """The tree that two became, and the ids of memories of which both versions stay, with the other's id."""

    files: dict[str, str]
    clashes: dict[str, str] = field(default_factory=dict)


_Key = tuple[str, str]


def changed_paths(base: Tree, first_tree: Tree, second_tree: Tree) -> set[str]:
    """Return the paths at which the three trees are not all the same."""
    paths = {path for path, blob in first_tree.items() if base.get(path) != blob}
    paths |= {path for path, blob in second_tree.items() if base.get(path) != blob}
    return paths | {path for path in base if path not in first_tree or path not in second_tree}


def merge_trees(base: Tree, first_tree: Tree, second_tree: Tree, files: Files) -> MergedTree:
    """Return the two trees, which were both made of *base*, as one; the same in either order."""
    changed = changed_paths(base, first_tree, second_tree)
    if all(base.get(path) == first_tree.get(path) for path in changed):
        return MergedTree(dict(second_tree))
    if all(base.get(path) == second_tree.get(path) for path in changed):
        return MergedTree(dict(first_tree))
    merged = MergedTree({path: blob for path, blob in base.items() if path not in changed})
    for path in sorted(path for path in changed if sort_of(path) is not PathSort.MEMORY):
        blob = _plain(path, base.get(path, ""), first_tree.get(path, ""), second_tree.get(path, ""), files)
        if blob:
            merged.files[path] = blob
    memories = sorted(path for path in changed if sort_of(path) is PathSort.MEMORY)
    before, first, second = (_entries(tree, memories, files) for tree in (base, first_tree, second_tree))
    for side in (first, second):
        _follow_moves(before, side)
    for key in sorted({*before, *first, *second}):
        _merge_entry(merged, before.get(key), first.get(key), second.get(key), files)
    return merged


def _entries(tree: Tree, paths: list[str], files: Files) -> dict[_Key, TreeFile]:
    """Return the files of *tree* at *paths* by what they are: a memory of a vault, else a file at a path."""
    entries: dict[_Key, TreeFile] = {}
    for path in paths:
        if path not in tree:
            continue
        entry = TreeFile(path, tree[path], files.parse(path, tree[path]))
        key = _key(entry)
        rival = entries.get(key)
        if rival and stem_of(entry.path) == key[1]:  # of two with one id, the file named after it has it
            entries["", rival.path] = rival
        elif rival:
            key = ("", path)
        entries[key] = entry
    return entries


def _key(entry: TreeFile) -> _Key:
    if entry.memory is None:
        return "", entry.path
    return f"{vault_of(entry.path)}{'/candidates' if is_candidate(entry.path) else ''}", entry.memory.id


def _follow_moves(before: Mapping[_Key, TreeFile], side: dict[_Key, TreeFile]) -> None:
    """Give each memory of *side* that came from another vault the key that it had there."""
    missing_keys = [key for key in before if key not in side and key[0]]
    new_keys = [key for key in side if key not in before and key[0]]
    missing_ids, new_ids = (Counter(key[1] for key in keys) for keys in (missing_keys, new_keys))
    by_id = {key[1]: key for key in missing_keys}
    for key in new_keys:
        if missing_ids[key[1]] == new_ids[key[1]] == 1:
            side[by_id[key[1]]] = side.pop(key)


def _merge_entry(
    merged: MergedTree, base: TreeFile | None, file: TreeFile | None, other: TreeFile | None, files: Files
) -> None:
    """Put into *merged* what becomes of one memory; None stands for no file in that state."""
    if file is None or other is None:
        remaining = file or other
        if remaining and (base is None or _survives(base, remaining)):
            _place(merged, remaining.path, remaining.blob)
        return
    if _same(file, other) or _same(base, other):
        _place(merged, file.path, file.blob)
    elif _same(base, file):
        _place(merged, other.path, other.blob)
    elif file.memory and other.memory:
        was = Placed(base.memory, base.path) if base and base.memory else None
        placed = Placed(file.memory, file.path)
        joined = merge_memories(was, placed, Placed(other.memory, other.path))
        first, last = (file, other) if joined.older is placed else (other, file)
        path = _place(merged, joined.path, files.write(joined, base, first, last))
        if joined.beside:
            folder = path.rpartition("/")[0]
            _place(merged, f"{folder}/{joined.beside.id}.md", files.create(joined.beside))
            merged.clashes[joined.memory.id] = joined.beside.id
    else:  # one of the files holds no memory, and its owner is told so: both stay
        stays, moves = sorted((file, other), key=lambda entry: (entry.memory is None, entry.path, entry.blob))
        _place(merged, stays.path, stays.blob)
        _place(merged, _beside(stays.path, moves.blob), moves.blob)


def _same(file: TreeFile | None, other: TreeFile | None) -> bool:
    return bool(file and other and (file.path, file.blob) == (other.path, other.blob))


def _survives(base: TreeFile, remaining: TreeFile) -> bool:
    """Tell whether a file that one machine deleted stays, as the other has it."""
    if base.memory is None or remaining.memory is None:
        return base.blob != remaining.blob
    return says_other_words(base.memory, remaining.memory)


def _place(merged: MergedTree, path: str, blob: str) -> str:
    """Put a file at *path*, or beside it where another one is; return where it is."""
    if merged.files.get(path, blob) != blob:
        path = _beside(path, blob)
    merged.files[path] = blob
    return path


def _beside(path: str, blob: str) -> str:
    stem, dot, ending = path.rpartition(".")
    return f"{stem}-{blob[:8]}{dot}{ending}"


def _plain(path: str, base: str, first: str, second: str, files: Files) -> str:
    """Return the id of a file that holds no memory: a ledger's lines are united, a project's note is one."""
    if not (first and second):
        return first or second  # neither is ever deleted
    if first == second or second == base:
        return first
    if first == base:
        return second
    if sort_of(path) is PathSort.PROJECT:
        return min(first, second)  # the same one on every machine
    lines = [files.data(blob).splitlines(keepends=True) if blob else [] for blob in (base, first, second)]
    return files.keep(b"".join(_grown(*lines)))


def _grown(base: list[bytes], first: list[bytes], second: list[bytes]) -> list[bytes]:
    """Return the lines of both, each once, those that are new in the order of their moments."""
    base_lines = {*base}
    new = sorted(
        {line for line in (*first, *second) if line not in base_lines}, key=lambda line: (_moment(line), line)
    )
    return [*base, *new]


def _moment(line: bytes) -> str:
    try:
        return str(json.loads(line)["at"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
