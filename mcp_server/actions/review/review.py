"""
review: what waits for the person, in one place, and what their answers do.

What waits is of a kind: two memories that may be about the same thing, memories whose origin is not confirmed
yet, candidates, memories about files that changed, what three projects say, and, as one entry, what has
aged beyond what one run of upkeep may put away. KINDS says of each kind how it is listed, looked at again and
settled. An answer holds for the very bytes that were shown, never for what a file says after a change.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, zip_longest
from operator import itemgetter

from mcp_server.actions.files import runs
from mcp_server.actions.files.accepted import changed_since
from mcp_server.actions.files.commit import one_change
from mcp_server.actions.files.read import read_row
from mcp_server.actions.files.sync import catch_up, sync
from mcp_server.actions.judge.compare import compare_pending
from mcp_server.actions.judge.origins import waiting
from mcp_server.actions.memory import trust
from mcp_server.actions.memory.forget import to_trash
from mcp_server.actions.memory.repository import accept, keep
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.recall.staleness import staleness
from mcp_server.actions.review import answer, candidate_entries, same_in_projects
from mcp_server.actions.review.entries import (
    BETWEEN,
    Became,
    Entry,
    Idle,
    Outcome,
    Verdict,
    WaitingKind,
    Why,
    changed_after,
    entry_of,
)
from mcp_server.actions.review.settled_before import settled_before
from mcp_server.actions.upkeep import age
from mcp_server.adapters import files
from mcp_server.adapters.index.events import tidying
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.core.authors import PERSON
from mcp_server.core.errors import Conflict, DaybookError, NotFound, Rejected, Unreadable
from mcp_server.core.memory_parts import Level, typed_id, vault_in
from mcp_server.core.provenance.origins import OriginDoubt, OriginReason
from mcp_server.core.provenance.provenance import ACCEPTED_AS
from mcp_server.core.remarks import NotArchived
from mcp_server.core.render import counted
from mcp_server.core.runs import NotMade
from mcp_server.store import Store

ORIGIN, STALE, AGED = "origin", "stale", "aged"
QUESTION, EVERYWHERE, CANDIDATE = answer.QUESTION, same_in_projects.EVERYWHERE, candidate_entries.CANDIDATE
LINES = 100  # memories that one entry names
MOST = 20  # entries that are read and shown at once; the counts tell of all
MOST_NEW = 100  # new memories compared before an answer: takes seconds when 10,000 memories share their words
MOST_EMBEDDED = 64  # passages that get their vectors before an answer, in a terminal without a server
MOST_TOUCHING = 500  # memories whose files are looked at, those updated last


@dataclass(frozen=True, slots=True)
class Review:
    """
    What waits: at most MOST entries, the best of each kind first, and how many there are of each kind.

    `before` is name → what became of it, for those asked for that were settled before. `unknown` are
    the names asked for that neither wait nor were settled.
    """

    entries: tuple[Entry, ...]
    counts: Mapping[str, int]
    before: Mapping[str, Became] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    @property
    def left_out(self) -> int:
        return sum(self.counts.values()) - len(self.entries)


def review(store: Store, ids: Sequence[str] = (), *, limit: int = MOST, most_new: int = MOST_NEW) -> Review:
    """
    Return what waits here, at most *limit* entries or all about *ids*, after comparing *most_new* memories.

    Raises NotFound when none of *ids* waits or was settled.
    """
    sync(store)
    answer.complete_merge(store)
    embed_pending(store, replace=False, most=MOST_EMBEDDED)  # words alone may miss a question
    compare_pending(store, most=most_new)
    listed = {name: kind.listed(store) for name, kind in KINDS.items()}
    if not ids:
        numbers = {name: number for name, (number, _) in listed.items() if number}
        return Review(_fairly([listing for _, listing in listed.values()], limit), numbers)
    entries = [entry for _, listing in listed.values() for entry in listing]
    by_name: dict[str, Entry] = {}
    before: dict[str, Became] = {}
    unknown: dict[str, None] = {}
    for typed in ids:
        wanted_ids = {typed_id(memory_id) for memory_id in typed.split(BETWEEN)}
        matches = {f"{entry.kind} {entry.name}": entry for entry in entries if wanted_ids.issubset(entry.ids)}
        if not matches and (became := settled_before(store, typed)):
            before[BETWEEN.join(map(typed_id, typed.split(BETWEEN)))] = became
        elif not matches:
            unknown[typed.strip()] = None
        by_name |= matches
    if not by_name and not before:
        raise none_waits(tuple(unknown))
    kinds = [entry.kind for entry in by_name.values()]
    numbers = {name: kinds.count(name) for name in KINDS if name in kinds}
    return Review(tuple(by_name.values()), numbers, before, tuple(unknown))


def none_waits(names: Sequence[str]) -> NotFound:
    """Return the error that nothing with these *names* waits."""
    quoted = ", ".join(f"'{name[:160]}'" for name in names)
    return NotFound(
        names[0],
        sentence=f"Nothing with the id{'s' if len(names) > 1 else ''} {quoted} waits for you.",
        hint="'daybook review' lists what waits.",
    )


def counts(store: Store) -> dict[str, int]:
    """Return kind → number of entries that wait, as far as new memories have been compared."""
    return {name: kind.listed(store)[0] for name, kind in KINDS.items()}


def settle(store: Store, entry: Entry, verdict: Verdict) -> Became:
    """
    Carry out the person's verdict on *entry* if its file is still as shown; return the outcome.

    It is one change by the person, which `undo` takes back. What they reject moves to the trash. Raises
    Rejected for a verdict that does not fit the entry.
    """
    if verdict is Verdict.LATER:
        return Became.LATER
    if verdict not in entry.answers:
        raise Rejected(
            f"'{verdict}' does not settle '{entry.id}', of the kind {entry.kind}.",
            f"Say one of: {', '.join(entry.answers)}.",
        )
    sync(store)
    answer.complete_merge(store)
    now = KINDS[entry.kind].again(store, entry)
    if now is None:
        return Became.GONE
    if now.digest != entry.digest:
        return Became.CHANGED
    persons = store.acting_as(PERSON)  # also when Claude asked them
    try:
        with one_change():
            return KINDS[entry.kind].answers[verdict](persons, entry)
    except Conflict:
        return Became.CHANGED


def settle_all(store: Store, answers: Iterable[tuple[Entry, Verdict]]) -> list[tuple[Entry, Outcome]]:
    """Settle several entries as `settle` does; what is refused for one stops no other. Raises OSError."""
    return [(entry, _attempted(store, entry, verdict)) for entry, verdict in answers]


def _attempted(store: Store, entry: Entry, verdict: Verdict) -> Outcome:
    try:
        return settle(store, entry, verdict)
    except DaybookError as error:
        return error


def _fairly(kinds: Sequence[Iterator[Entry]], limit: int) -> tuple[Entry, ...]:
    """Return at most *limit* entries, of each kind as many as of the others as long as it has some."""
    turns = zip_longest(*kinds)
    in_turn = ((number, entry) for turn in turns for number, entry in enumerate(turn) if entry)
    numbered = sorted(islice(in_turn, limit), key=itemgetter(0))
    return tuple(entry for _, entry in numbered)


def _origins(store: Store) -> tuple[int, Iterator[Entry]]:
    """List memories that Claude stored, then the repository's, then those from programs and documents."""
    origins = waiting(store)
    origins.sort(
        key=lambda origin: (
            origin.row.source in ACCEPTED_AS, origin.row.vault not in store.private, -origin.row.updated
        )
    )  # fmt: skip
    return len(origins), (
        entry for origin in origins if (entry := _memory(store, ORIGIN, origin.row, origin.why))
    )


def _memory(store: Store, kind: str, row: Row, why: Why) -> Entry | None:
    try:
        file = read_row(store, row)
    except (NotFound, Unreadable):
        return None  # the file was deleted a moment ago, or `status` names it
    entry = entry_of(kind, row, file, why, KINDS[kind].words)
    if why == OriginReason(OriginDoubt.CHANGED):
        entry = replace(entry, before=changed_since(store, row.ref, file.memory))
    return entry


def _origin_again(store: Store, entry: Entry) -> Entry | None:
    origin = next((item for item in waiting(store) if item.row.ref == entry.ref), None)
    return _memory(store, ORIGIN, origin.row, origin.why) if origin else None


def _accept_origin(store: Store, entry: Entry) -> Became:
    accept(store, [_row(store, entry)])
    return Became.ACCEPTED


def _throw_away(store: Store, entry: Entry) -> Became:
    to_trash(store, _row(store, entry))
    return Became.REJECTED


def _row(store: Store, entry: Entry) -> Row:
    """Return the index row of *entry* if it has the bytes that were shown; raises Conflict otherwise."""
    with store.database.read() as db:
        row = selections.with_ref(db, entry.ref)
    if row is None or row.digest != entry.digest:
        raise changed_after(entry.path)
    return row


def _aged_rows(store: Store) -> list[Row]:
    """Return the memories that have aged, if the last run of upkeep had to leave some of them."""
    with store.database.read() as db:
        if not tidying.left_over(db, tidying.scope_of(store.private)):
            return []
    due = age.due(store, store.private)
    return [*due.selected, *due.remaining]


def _aged(store: Store) -> tuple[int, Iterator[Entry]]:
    entry = _aged_again(store)
    return (1, iter([entry])) if entry else (0, iter(()))


def _aged_again(store: Store, _: Entry | None = None) -> Entry | None:
    rows = _aged_rows(store)
    if not rows:
        return None
    lines = [f"[{row.id}] {row.title}" for row in rows[:LINES]]
    return Entry(
        kind=AGED,
        id=AGED,
        ref="",
        type="upkeep",
        title=f"{counted(len(rows), 'memory')} without a sign of life",
        text="\n".join([*lines, *([f"and {len(rows) - LINES} more"] if len(rows) > LINES else [])]),
        about=(),
        why=Idle(store.settings.auto_archive_days),
        path=str(store.home),
        updated=store.clock(),
        digest=files.digest("\n".join(sorted(row.ref for row in rows)).encode()),
        answers=KINDS[AGED].words,
    )


def _archive_aged(store: Store, entry: Entry) -> Became:
    del entry
    with runs.alone(store):
        run = runs.new_run(store)
        failed: list[NotMade] = []
        for ageing in age.aged(store, _aged_rows(store)):
            runs.attempt(store, ageing, run, failed)
    if failed:
        failures = [(name, failure.why) for failure in failed for name in failure.entry.reason.ids]
        store.database.trouble.remark(NotArchived(tuple(failures)))
    return Became.ACCEPTED


def _keep_aged(store: Store, entry: Entry) -> Became:
    del entry
    keep(store, [row.ref for row in _aged_rows(store)])
    catch_up(store)
    return Became.REJECTED


def _stale(store: Store) -> tuple[int, Iterator[Entry]]:
    """List memories about files that are gone, then those about files that changed."""
    keys = [vault.key for vault in store.vaults if vault.level is Level.PROJECT and vault.adopted]
    with store.database.read() as db:
        rows = selections.touching(db, keys, MOST_TOUCHING)
        state = staleness(store, db, rows)
    stale = [row for row in rows if state[row.ref]]
    stale.sort(key=lambda row: (not state[row.ref].gone, -row.updated, row.id))
    return len(stale), (entry for row in stale if (entry := _memory(store, STALE, row, state[row.ref])))


def _stale_again(store: Store, entry: Entry) -> Entry | None:
    with store.database.read() as db:
        row = selections.with_ref(db, entry.ref)
        state = staleness(store, db, [row])[row.ref] if row else None
    return _memory(store, STALE, row, state) if row and state else None


def _holds(store: Store, entry: Entry) -> Became:
    trust.validate(store.only(vault_in(entry.ref)), entry.id, note="in review")
    return Became.CONFIRMED


KINDS: Mapping[str, WaitingKind] = {
    QUESTION: answer.KIND,
    ORIGIN: WaitingKind(
        _origins, _origin_again, {Verdict.ACCEPT: _accept_origin, Verdict.REJECT: _throw_away}
    ),
    CANDIDATE: candidate_entries.KIND,
    STALE: WaitingKind(_stale, _stale_again, {Verdict.HOLDS: _holds, Verdict.REJECT: _throw_away}),
    EVERYWHERE: same_in_projects.KIND,
    AGED: WaitingKind(_aged, _aged_again, {Verdict.ACCEPT: _archive_aged, Verdict.REJECT: _keep_aged}),
}
