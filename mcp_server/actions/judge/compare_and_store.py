"""
compare_and_store: store a draft after comparing it with the known memories.

Code decides little: equal words are one memory, and a memory whose whole text a newer one contains gives way.
Everything else is stored, and the answer names the near memories, with what differs: the caller, who has the
context, decides.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import replace

from mcp_server.actions.files.commit import one_change, write_line
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import is_shown, read, read_or_none, read_rows
from mcp_server.actions.files.shadows import covered_by, uncovered
from mcp_server.actions.judge.draft_outcome import Action, DraftOutcome
from mcp_server.actions.judge.persons_word import Turns, may_change, statement
from mcp_server.actions.judge.predecessors import predecessors
from mcp_server.actions.memory.forget import unarchive
from mcp_server.actions.memory.related import ends_of
from mcp_server.actions.memory.remember import (
    accept_said,
    checked,
    level_of,
    not_taken,
    reinstate,
    remember_checked,
    supersede,
    unsaid,
)
from mcp_server.actions.memory.revise import Revision, draft_of, revise
from mcp_server.actions.recall.nearby import NAMED, Near, near_to, nearest, sharing_words, shown, stated
from mcp_server.adapters.index.memories import relations, selections
from mcp_server.core.errors import IndexUnavailable, NotFound
from mcp_server.core.links import CONTRADICTS, SUPERSEDES, as_label, is_artifact, without_successions
from mcp_server.core.memory import Draft, Link, Memory
from mcp_server.core.memory_parts import ID, Kind, Level, Status, fingerprint, is_nearer
from mcp_server.core.provenance.provenance import ASSISTANT, MANUAL
from mcp_server.core.search.query import Hit
from mcp_server.core.text.containment import contains
from mcp_server.core.text.text_relation import outranks
from mcp_server.store import Store

CONFIRMING = ("manual", "extracted")  # sources whose repetition makes a memory more believable


@one_change()
def compare_and_store(
    store: Store,
    draft: Draft,
    *,
    supersedes: str = "",
    keep_secrets: bool = False,
    turns: Turns = tuple,
    had: Memory | None = None,
    form: bytes = b"",
) -> DraftOutcome:
    """
    Store *draft*, or add it to the memory that says the same; the rules are those of docs/capture.md.

    *supersedes* names a memory that the draft replaces, besides those in the draft itself: by its id, or by
    words that it alone contains. *turns* returns the person's turns, where these decide.
    *had* is as for `checked`, *form* as for `remember_checked`. Raises Rejected when the draft cannot be
    stored, OSError when the disk refuses.
    """
    store = store.in_session(draft.session or store.session)
    draft = checked(draft, keep_secrets=keep_secrets, had=had)
    links, succeeded = without_successions(draft.links)
    draft = replace(draft, links=links, supersedes=(*draft.supersedes, *succeeded))
    named = predecessors(store, (*draft.supersedes, supersedes))
    if named and draft.level is None:
        draft = replace(draft, level=_said_at(store, draft))  # stored before, perhaps at that level
    protected = [name for name, old in named.active.items() if not may_change(old, stated(draft), turns)]
    replaced = [name for name in named.active if name not in protected]
    unmoved_ids = [name for name in named.unmoved if ID.fullmatch(name)]
    draft = replace(
        draft,
        supersedes=(*replaced, *unmoved_ids),
        links=(*draft.links, *(Link(CONTRADICTS, name) for name in protected)),
    )
    if not named:
        if holder := _saying_all(store, draft):
            return DraftOutcome(Action.KNOWN, holder.memory.id, unlike=_confirm(store, draft, holder))
        if put_away := _put_away(store, draft):
            return put_away
    covered = covered_by(store, [named.active[name].ref for name in replaced])
    remembered = remember_checked(store, draft, form=form)
    own_id = remembered.memory.id
    if remembered.known and not named:
        _count(store, draft, read(store, own_id))
    # When the index is locked, skip the search: the file is written, and the caller need not wait.
    hits = [] if remembered.known or store.database.trouble else nearest(store, draft)
    replaced = [name for name in replaced if name != own_id] + _give_way(store, draft, own_id, hits)
    excluded = {own_id, *replaced, *protected}
    quotes = [replace(draft, title="", text=name) for name in named.unmoved if name not in unmoved_ids]
    near = [near for quote in quotes for near in near_to(store, quote, nearest(store, quote), excluded)]
    near += near_to(store, draft, hits, excluded)
    outcome = DraftOutcome(
        Action.KNOWN if remembered.known else Action.REPLACE if replaced else Action.ADD,
        own_id,
        later=tuple(replaced),
        unmoved=tuple(name for name, successor in named.unmoved.items() if successor != own_id),
        several=named.several,
        elsewhere=tuple(named.elsewhere),
        kept=tuple(protected),
        near=tuple(dict.fromkeys(near))[:NAMED],
        waiting=() if remembered.known else _waiting(store, remembered.memory),
        unlike=not_taken(remembered.memory, draft) if remembered.known else (),
        hides_teams=bool(store.of_team) and remembered.level is Level.PROJECT,
    )
    outcome = looked_up(store, outcome)
    return replace(outcome, uncovered=uncovered(store, covered)) if outcome.superseded else outcome


def _said_at(store: Store, draft: Draft) -> Level | None:
    """Return the level of an active memory with the same words as *draft*, None without one."""
    words = fingerprint(draft.title, draft.text)
    with contextlib.suppress(IndexUnavailable), store.database.read() as db:
        levels = [vault.level for vault in store.vaults if selections.saying(db, vault.key, words)]
        return levels[-1] if levels else None
    return None


def looked_up(store: Store, outcome: DraftOutcome) -> DraftOutcome:
    """Return *outcome* with the memories that are to give way sorted by what became of them by now."""
    if not outcome.later:
        return outcome
    new = read(store, outcome.id)
    superseded, shadowed, later = [*outcome.superseded], [*outcome.shadowed], []
    for name in outcome.later:
        old = read_or_none(store, name)
        if old and old.memory.superseded_by == outcome.id:
            superseded.append(name)
        elif old and is_nearer(new.vault.level, old.vault.level) and is_shown(store, new):
            shadowed.append(name)
        else:
            later.append(name)
    return replace(outcome, superseded=tuple(superseded), shadowed=tuple(shadowed), later=tuple(later))


def let_replace(
    store: Store, memory_id: str, olds: Sequence[str], *, source: str = MANUAL, turns: Turns = tuple
) -> DraftOutcome:
    """
    Let an existing memory take the place of *olds*, as *source* says.

    Raises what `compare_and_store` raises.
    """
    file = read(store, memory_id)
    draft = replace(draft_of(file), source=source, session=store.session, supersedes=tuple(olds))
    return compare_and_store(store, draft, keep_secrets=True, turns=turns, had=file.memory)


def kept_from(store: Store, draft: Draft, olds: Sequence[str], *, turns: Turns) -> list[MemoryFile]:
    """Return those of *olds* that *draft* may replace only with the person's own word."""
    named = predecessors(store, olds).active.values()
    return [old for old in named if not may_change(old, stated(draft), turns)]


def kept_from_link(
    store: Store, source: str, target: str, rel: str, *, turns: Turns, level: Level | None = None
) -> tuple[MemoryFile, MemoryFile] | None:
    """
    Return (*source*, *target*) where only the person's word may link these memories with *rel*.

    That is when *source*, of *level* if given, would supersede what the person said; else None.
    """
    if as_label(rel) != SUPERSEDES:
        return None
    with contextlib.suppress(NotFound):
        start, end = ends_of(store, source, target, level)
        if isinstance(start, MemoryFile) and isinstance(end, MemoryFile):
            new = replace(draft_of(start), source=ASSISTANT)
            return (start, end) if kept_from(store, new, [end.memory.id], turns=turns) else None
    return None


def near_now(store: Store, memory_id: str) -> tuple[Near, ...]:
    """Return memories that may be about the same thing as a reworded one and were not told apart from it."""
    file = read(store, memory_id)
    draft = draft_of(file)
    excluded = {file.memory.id, *file.memory.supersedes}
    return near_to(store, draft, nearest(store, draft), excluded, of=file.ref)


def _saying_all(store: Store, draft: Draft) -> MemoryFile | None:
    """Return the active memory of the same level that says all of *draft* and a little more."""
    hits = [hit for hit in sharing_words(store, draft) if contains(shown(hit), stated(draft))]
    holders = _of_its_level(store, draft, hits)
    return next((old for old in holders if contains(statement(old.memory), stated(draft))), None)


def _put_away(store: Store, draft: Draft) -> DraftOutcome | None:
    """Bring back a memory that says the same and was put away; None without one, or when one is active."""
    if draft.kind is not Kind.KNOWLEDGE or draft.id:
        return None
    vault, words = store.vault_for(draft.kind, level_of(store, draft)), fingerprint(draft.title, draft.text)
    try:
        with store.database.read() as db:
            if selections.saying(db, vault.key, words):
                return None
            row = selections.saying(db, vault.key, words, active=False)
        old = next(read_rows(store, [row]), None) if row else None
    except IndexUnavailable:
        return None
    if old is None:
        return None
    successor = old.memory.superseded_by
    if draft.source not in CONFIRMING:
        return DraftOutcome(Action.KNOWN, old.memory.id, successor=successor) if successor else None
    if old.memory.status is Status.SUPERSEDED:
        reinstate(store, old.memory.id, by=successor)
    else:
        unarchive(store, old)
    unlike = _confirm(store, draft, read(store, old.memory.id))
    return DraftOutcome(Action.RESTORE, old.memory.id, successor=successor, unlike=unlike)


def _give_way(store: Store, draft: Draft, own_id: str, hits: Sequence[Hit]) -> list[str]:
    """Supersede those of *hits* whose whole text the new memory *own_id* contains; return their ids."""
    within = [hit for hit in hits if contains(stated(draft), shown(hit))]
    contained_ids = [
        old.memory.id
        for old in _of_its_level(store, draft, within)
        if old.memory.id != own_id
        and not old.memory.pinned
        and not outranks(statement(old.memory), stated(draft))
        and contains(stated(draft), statement(old.memory))
    ]
    if contained_ids:
        revision = Revision(supersedes=(*read(store, own_id).memory.supersedes, *contained_ids))
        supersede(store, revise(store, own_id, revision))
    return contained_ids


def _of_its_level(store: Store, draft: Draft, hits: Sequence[Hit]) -> list[MemoryFile]:
    """Return the files of those *hits* that are active and in the vault where *draft* belongs."""
    vault = store.vault_for(draft.kind, level_of(store, draft)) if hits else None
    files = (read_or_none(store, hit.id) for hit in hits)
    return [old for old in files if old and old.vault == vault and old.memory.status is Status.ACTIVE]


def _confirm(store: Store, draft: Draft, old: MemoryFile) -> tuple[str, ...]:
    """Add what *draft* has besides words to *old*, count a confirmation, and return where *old* differs."""
    revised = revise(store, old.memory.id, unsaid(old.memory, draft))
    accept_said(store, revised, draft)
    _count(store, draft, revised)
    return not_taken(revised.memory, draft)


def _count(store: Store, draft: Draft, old: MemoryFile) -> None:
    """Count a confirmation if the draft comes from another session than *old*."""
    if draft.source in CONFIRMING and draft.session != old.memory.session:
        with contextlib.suppress(OSError):
            write_line(store, "confirmed", refs=[old.ref])


def _waiting(store: Store, memory: Memory) -> tuple[str, ...]:
    """Return the link targets in the frontmatter of *memory* that are neither a path nor a memory's name."""
    names = [link.to for link in memory.links if not is_artifact(link.to)]
    if names:
        with contextlib.suppress(IndexUnavailable), store.database.read() as db:
            return relations.uncalled(db, names, store.keys)
    return ()
