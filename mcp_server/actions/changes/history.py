"""history: the earlier versions of a memory, and when, by whom and by which verb each was changed."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum, auto
from pathlib import Path

from mcp_server.actions.files.accepted import ACCEPTED, taken_away
from mcp_server.actions.files.load import bytes_at, memory_in
from mcp_server.actions.files.read import find
from mcp_server.actions.files.trash import in_trash
from mcp_server.adapters import files, history
from mcp_server.adapters.history import Version
from mcp_server.adapters.vault import Vault
from mcp_server.core.difference import difference
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import Kind, typed_id
from mcp_server.store import Store


class ByOthers(StrEnum):
    """Changes that Daybook did not make and that a version's difference includes."""

    NONE = auto()
    BY_HAND = auto()  # a person edited the file after the change
    SINCE_ACCEPTED = auto()  # all: a pull, another branch or a person changed what had been accepted
    REMOVED = auto()  # so did they, and the file is gone


@dataclass(frozen=True, slots=True)
class Earlier:
    """
    One earlier version of a memory: its number, and when, by whom and by which verb it was changed.

    `differs` says in a line what the change did, with what `others` did after it. `path` is the file with the
    bytes from before it; `memory` is the memory that they hold, None when they hold none. `masked`: a secret
    in them was masked since. `was` is the digest that they had before that.
    """

    number: int
    at: datetime
    by: str
    verb: str
    differs: str
    path: Path
    memory: Memory | None
    masked: bool
    was: str = ""
    others: ByOthers = ByOthers.NONE


@dataclass(frozen=True, slots=True)
class History:
    """A memory's id, its file now, its earlier versions, the latest first, and what the file holds now."""

    id: str
    path: Path
    versions: tuple[Earlier, ...]
    memory: Memory | None = None


def history_of(store: Store, memory_id: str) -> History:
    """
    Return what is kept of a memory, also of one in the trash.

    Raises NotFound when there is none with that id.
    """
    vault, path = _place(store, memory_id)
    after, versions = bytes_at(path), list[Earlier]()
    says = memory_in(vault, path, after)
    file_id = says.id if says else typed_id(memory_id)
    live = files.digest(after) if after else ""
    for version in reversed(_that_changed(store, vault.ref(file_id), live)):
        before = bytes_at(version.path)
        was, now = memory_in(vault, path, before), memory_in(vault, path, after)
        differs = difference(was, now) if was and now else ""
        others = ByOthers.NONE
        if version.verb == ACCEPTED:
            others = ByOthers.SINCE_ACCEPTED if after else ByOthers.REMOVED
        elif version.now != live:
            others = ByOthers.BY_HAND
        masked = files.digest(before) != version.was
        about = (version.number, version.at, version.by, version.verb, differs, version.path, was, masked)
        versions.append(Earlier(*about, version.was, others))
        after, live = before, version.was
    return History(file_id, path, tuple(versions), says)


def version_of(store: Store, memory_id: str, number: int) -> tuple[Earlier, str]:
    """Return one version and its file's whole text; raises NotFound, Rejected for an unknown number."""
    for version in history_of(store, memory_id).versions:
        if version.number == number:
            return version, bytes_at(version.path).decode("utf-8", "replace")
    raise Rejected(
        f"'{memory_id}' has no version {number}.", f"'daybook history {memory_id}' lists its versions."
    )


def _that_changed(store: Store, ref: str, live: str) -> list[Version]:
    """
    Return the kept versions of the memory *ref*, whose file has the digest *live*, the oldest first.

    Left out is a version with the same bytes as the next: a process was killed before it changed the file.
    """
    versions = history.versions(store.home, ref)
    following = [*(version.was for version in versions[1:]), live]
    return [
        version
        for version, next_digest in zip(versions, following, strict=False)
        if version.was != next_digest
    ]


def _place(store: Store, memory_id: str) -> tuple[Vault, Path]:
    """Return the vault of a memory and its file, there or in the trash; raises NotFound."""
    try:
        row = find(store, memory_id)
    except NotFound:
        memory_name = typed_id(memory_id)
        for trashed in in_trash(store, memory_name):
            return trashed
        if accepted := taken_away(store, memory_name):
            return accepted[0], accepted[0].path_for(memory_name, Kind.KNOWLEDGE)
        raise
    vault = store.vault(row.vault)
    assert vault
    return vault, Path(row.path)
