"""
review: what waits for the person, in one place, and what became of it.

What waits is of a kind: memories whose origin nobody confirmed, and, as one entry, what has aged beyond what
one run of upkeep may put away. KINDS says of each kind how it is
listed, looked at again, accepted and rejected. An answer holds for the very bytes that were shown: when a
file changed in between, nothing is settled.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import chain, islice

from mcp_server.actions import age, journal
from mcp_server.actions.forget import to_trash
from mcp_server.actions.origins import Waiting, waiting
from mcp_server.actions.read import read_row
from mcp_server.actions.repository import accept, keep
from mcp_server.actions.sync import catch_up, sync
from mcp_server.adapters import files
from mcp_server.adapters.index import selections, tidying
from mcp_server.adapters.index.memories import Row
from mcp_server.core.errors import Conflict, NotFound, Unreadable
from mcp_server.core.memory import Memory
from mcp_server.core.provenance import ACCEPTED_AS
from mcp_server.core.render import counted
from mcp_server.store import Store

ORIGIN = "origin"
AGED = "aged"
LINES = 100  # memories that one entry names
MOST = 20  # entries that are read and shown at once; the counts tell of all


class Answer(StrEnum):
    """What a person may say to an entry: `later` leaves it waiting."""

    ACCEPT = "accept"
    REJECT = "reject"
    LATER = "later"


class Became(StrEnum):
    """What became of an entry. `changed`: its file is not what was shown; `gone`: it waits no more."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    LATER = "later"
    CHANGED = "changed"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Entry:
    """
    One thing that waits for the person: what it says, why it waits, where it lies.

    `about` is what else the file says that Claude may be shown, a line each. `digest` is that of the bytes
    which say all of this; `ref` is what the ledger calls it.
    """

    kind: str
    id: str
    ref: str
    type: str
    title: str
    text: str
    about: tuple[str, ...]
    why: str
    path: str
    updated: datetime
    digest: str


@dataclass(frozen=True, slots=True)
class Review:
    """What waits: at most MOST entries, the best first, and how many there are of each kind."""

    entries: tuple[Entry, ...]
    counts: Mapping[str, int]

    @property
    def left_out(self) -> int:
        return sum(self.counts.values()) - len(self.entries)


@dataclass(frozen=True, slots=True)
class WaitingKind:
    """
    One kind of what waits.

    `listed` returns how much there is and the entries, the best first, each read when it is asked for;
    `again` returns an entry as it is now, None when it waits no more.
    """

    listed: Callable[[Store], tuple[int, Iterator[Entry]]]
    again: Callable[[Store, Entry], Entry | None]
    accept: Callable[[Store, Entry], None]
    reject: Callable[[Store, Entry, str], None]


def review(store: Store, memory_ids: Sequence[str] = (), *, limit: int = MOST) -> Review:
    """
    Return what waits for the person here, at most *limit* entries; with *memory_ids* only those, all of them.

    Raises NotFound for an id that does not wait.
    """
    sync(store)
    listed = {name: kind.listed(store) for name, kind in KINDS.items()}
    entries = chain.from_iterable(found for _, found in listed.values())
    if not memory_ids:
        return Review(tuple(islice(entries, limit)), {name: number for name, (number, _) in listed.items()})
    wanted = {memory_id.strip().removesuffix(".md") for memory_id in memory_ids}
    chosen = tuple(entry for entry in entries if entry.id in wanted)
    for missing in sorted(wanted - {entry.id for entry in chosen}):
        raise NotFound(
            missing,
            sentence=f"Nothing with the id '{missing[:80]}' waits for you.",
            hint="'daybook review' lists what waits.",
        )
    return Review(chosen, {name: sum(entry.kind == name for entry in chosen) for name in KINDS})


def settle(store: Store, entry: Entry, answer: Answer, *, session: str = "") -> Became:
    """
    Do what the person said to *entry*, if its file still is what they were shown; return what became of it.

    What they reject moves to the trash, from where it can be restored.
    """
    if answer is Answer.LATER:
        return Became.LATER
    kind = KINDS[entry.kind]
    sync(store)
    now = kind.again(store, entry)
    if now is None:
        return Became.GONE
    if now.digest != entry.digest:
        return Became.CHANGED
    try:
        if answer is Answer.ACCEPT:
            kind.accept(store, entry)
            return Became.ACCEPTED
        kind.reject(store, entry, session)
        return Became.REJECTED
    except Conflict:
        return Became.CHANGED


def _origins(store: Store) -> tuple[int, Iterator[Entry]]:
    """List what Claude stored, then what came with the repository, then what programs and documents said."""
    found = waiting(store)
    found.sort(
        key=lambda each: (
            each.row.source in ACCEPTED_AS, each.row.vault not in store.private, -each.row.updated
        )
    )  # fmt: skip
    return len(found), (entry for each in found if (entry := _origin(store, each)))


def _origin(store: Store, found: Waiting) -> Entry | None:
    try:
        there = read_row(store, found.row)
    except (NotFound, Unreadable):
        return None  # it went this moment, or `status` names it
    memory = there.memory
    return Entry(
        kind=ORIGIN,
        id=found.row.id,
        ref=found.row.ref,
        type=memory.type,
        title=memory.title,
        text=memory.text,
        about=_about(memory),
        why=found.why,
        path=str(there.path),
        updated=memory.updated,
        digest=there.digest,
    )


def _about(memory: Memory) -> tuple[str, ...]:
    parts = (
        ("replaces", memory.supersedes),
        ("links", [f"{link.rel} {link.to}" for link in memory.links]),
        ("touches", memory.touches),
        ("tags", memory.tags),
        ("aliases", memory.aliases),
        ("notes", memory.notes),
    )
    return tuple(f"{name}: {', '.join(values)}" for name, values in parts if values)


def _origin_again(store: Store, entry: Entry) -> Entry | None:
    found = next((each for each in waiting(store) if each.row.ref == entry.ref), None)
    return _origin(store, found) if found else None


def _accept_origin(store: Store, entry: Entry) -> None:
    accept(store, [_row(store, entry)])


def _reject_origin(store: Store, entry: Entry, session: str) -> None:
    to_trash(store, _row(store, entry), session=session)


def _row(store: Store, entry: Entry) -> Row:
    """Return what the index has of *entry* with the bytes that were shown; raises Conflict."""
    with store.database.read() as db:
        row = selections.with_ref(db, entry.ref)
    if row is None or row.digest != entry.digest:
        raise Conflict(f"{entry.path} changed after it was shown; nothing was settled.")
    return row


def _aged_rows(store: Store) -> list[Row]:
    """Return what has aged, when the last run of upkeep had to leave some of it."""
    with store.database.read() as db:
        if not tidying.left_over(db, tidying.scope_of(store.private)):
            return []
    due = age.due(store, store.private)
    return [*due.taken, *due.left]


def _aged(store: Store) -> tuple[int, Iterator[Entry]]:
    entry = _aged_again(store)
    return (1, iter([entry])) if entry else (0, iter(()))


def _aged_again(store: Store, _: Entry | None = None) -> Entry | None:
    rows = _aged_rows(store)
    if not rows:
        return None
    told = [f"[{row.id}] {row.title}" for row in rows[:LINES]]
    return Entry(
        kind=AGED,
        id=AGED,
        ref="",
        type="upkeep",
        title=f"{counted(len(rows), 'memory')} without a sign of life",
        text="\n".join([*told, *([f"and {len(rows) - LINES} more"] if len(rows) > LINES else [])]),
        about=(),
        why=f"showed none for {store.settings.auto_archive_days} days, and are more than a run may put away",
        path=str(store.home),
        updated=store.clock(),
        digest=files.digest("\n".join(sorted(row.ref for row in rows)).encode()),
    )


def _archive_aged(store: Store, entry: Entry) -> None:
    with journal.alone(store):
        run = journal.new_run(store)
        for each in age.aged(store, _aged_rows(store)):
            journal.perform(store, each, run)


def _keep_aged(store: Store, entry: Entry, session: str) -> None:
    keep(store, [row.ref for row in _aged_rows(store)])
    catch_up(store)


KINDS: Mapping[str, WaitingKind] = {
    ORIGIN: WaitingKind(_origins, _origin_again, _accept_origin, _reject_origin),
    AGED: WaitingKind(_aged, _aged_again, _archive_aged, _keep_aged),
}
