"""
taking_back: what the person did to memories, which Claude takes back only with their word.

That is putting one away, letting one replace another, and marking two as contradicting each other.
"""

import contextlib
from collections.abc import Sequence

from mcp_server.actions.files.load import MemoryFile, load
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import catch_up_if_free
from mcp_server.actions.files.trash import in_trash
from mcp_server.actions.judge.persons_word import Turns, is_persons
from mcp_server.actions.memory.related import end_of, ends_of
from mcp_server.adapters import places
from mcp_server.adapters.index.events import a_list, deeds
from mcp_server.core.authors import PERSON
from mcp_server.core.errors import DaybookError
from mcp_server.core.judge.whose_word import asks_to_restore, asks_to_unlink
from mcp_server.core.links import CONTRADICTS, SUPERSEDES, all_links, as_label, as_name, labelled, names
from mcp_server.core.memory import Link
from mcp_server.core.memory_parts import Level, Status, typed_id
from mcp_server.store import Store

MOST_LINKINGS = 200  # of the latest deeds on a memory, those that are looked at

Ends = tuple[MemoryFile, MemoryFile]
"""The memories at the start and the end of a link."""


def kept_from_restoring(
    store: Store, memory_id: str, turns: Turns, *, level: Level | None = None
) -> MemoryFile | None:
    """
    Return the memory with that id, of *level* if given, when only the person may bring it back; else None.

    They forgot or archived it, or said what replaced it, and did not ask for it in one of *turns*.
    """
    of_level = store.scoped(vault for vault in store.vaults if level in (None, vault.level))
    file = _put_away(of_level, typed_id(memory_id))
    if file is None or not _is_put_away_by_person(store, file):
        return None
    memory = file.memory
    return None if any(asks_to_restore(turn, memory.id, memory.title) for turn in turns()) else file


def kept_from_unlinking(
    store: Store, source: str, target: str, rel: str, *, turns: Turns, level: Level | None = None
) -> Ends | None:
    """
    Return the ends of the link with *rel*, or of any link, that only the person may remove; else None.

    *source*, of *level* if given, supersedes or contradicts *target*, and the person said so.
    """
    with contextlib.suppress(DaybookError):  # the action itself reports an end that is none
        start, end = ends_of(store, source, target, level)
        if isinstance(start, MemoryFile) and isinstance(end, MemoryFile):
            links = [link for link in all_links(start.memory) if as_name(link.to) in names(end.memory)]
            return _kept(store, (start, end), labelled(links, rel) if as_label(rel) else links, turns)
    return None


def kept_from_relinking(store: Store, memory_id: str, links: Sequence[Link], turns: Turns) -> Ends | None:
    """
    Return the ends of a link that only the person may remove, and that *links* lacks; else None.

    *links* are to be all that the memory declares. Raises NotFound.
    """
    file = read(store, memory_id)
    remaining = {(as_label(link.rel), as_name(link.to)) for link in links}
    for link in file.memory.links:
        with contextlib.suppress(DaybookError):
            end = end_of(store, link.to)
            if not isinstance(end, MemoryFile) or any(
                (as_label(link.rel), name) in remaining for name in names(end.memory)
            ):
                continue
            if kept := _kept(store, (file, end), [link], turns):
                return kept
    return None


def _kept(store: Store, ends: Ends, removed: Sequence[Link], turns: Turns) -> Ends | None:
    labels = {as_label(link.rel) for link in removed}.intersection((SUPERSEDES, CONTRADICTS))
    if not any(_is_persons_link(store, ends, label) for label in labels):
        return None
    called = [(file.memory.id, file.memory.title) for file in ends]
    return None if any(asks_to_unlink(turn, *name) for turn in turns() for name in called) else ends


def _is_persons_link(store: Store, ends: Ends, label: str) -> bool:
    start, end = ends
    if is_persons(start):
        return True
    if label == SUPERSEDES and end.memory.superseded_by == start.memory.id:
        return _is_put_away_by_person(store, end)
    catch_up_if_free(store)
    with store.database.read() as db:
        done = deeds.listed(db, ref=start.ref, limit=MOST_LINKINGS)
    made = [
        (str(deed.detail.get("rel")), deed.detail.get("to"))
        for deed in done
        if (deed.event, deed.detail.get("by")) == ("linked", PERSON)
    ]
    return (label, end.memory.id) in made or _was_edited_by_hand(start, done)


def _was_edited_by_hand(file: MemoryFile, done: Sequence[deeds.Deed]) -> bool:
    """
    Tell whether *file* was changed by others than Daybook, which did all that was *done*, the latest first.

    Nobody can tell then who wrote its links, so they count as the person's.
    """
    written = ""  # the digest of what Daybook wrote, '' where that is not known
    for deed in reversed(done):
        for ref, _, was, _, now in a_list(deed.detail.get("files")):
            if ref == file.ref and written and was not in ("", written):
                return True
            written = now if ref == file.ref else written
        if deed.event == "tidied":  # its line has no digests
            written = ""
    return written not in ("", file.digest)


def _put_away(store: Store, memory_id: str) -> MemoryFile | None:
    """Return the memory with that id that is in the trash, in the archive or superseded, else None."""
    for vault, path in in_trash(store, memory_id):
        with contextlib.suppress(DaybookError, OSError):
            place = path.relative_to(places.trash_folder(store.home, vault)).as_posix()
            return load(vault, path, place=place)
    with contextlib.suppress(DaybookError):
        file = read(store, memory_id)
        return None if file.memory.status is Status.ACTIVE else file
    return None


def _is_put_away_by_person(store: Store, file: MemoryFile) -> bool:
    if file.memory.status is Status.SUPERSEDED:
        with contextlib.suppress(DaybookError):
            if is_persons(read(store, file.memory.superseded_by)):
                return True
    catch_up_if_free(store)
    with store.database.read() as db:
        change = deeds.last_change(db, [file.vault.key], refs=[file.ref])
    return change is not None and change.detail.get("by") == PERSON
