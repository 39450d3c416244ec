"""
settle: store what is new after a look at what is known already.

Code decides little: equal words are one memory, and words that stand whole in a newer text give way to it.
Everything else is stored, and the answer names what is near, with what differs, for whoever has the context.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from mcp_server.actions.commit import one_change
from mcp_server.actions.forget import unarchive
from mcp_server.actions.nearby import Near, named, nearest, sharing_words, shown, stated
from mcp_server.actions.read import Found, is_accepted, read
from mcp_server.actions.remember import accept_said, checked, level_of, reinstate, remember, supersede, unsaid
from mcp_server.actions.revise import Revision, revise
from mcp_server.adapters.index import relations, selections
from mcp_server.core.containment import contains
from mcp_server.core.errors import IndexUnavailable, NotFound
from mcp_server.core.links import is_artifact
from mcp_server.core.memory import Draft, Kind, Level, Link, Memory, Status, fingerprint
from mcp_server.core.provenance import MANUAL
from mcp_server.core.query import Hit
from mcp_server.core.verdict import Statement, outranks
from mcp_server.store import Store

CONFIRMING = ("manual", "extracted")  # sources whose repetition makes a memory more believable


class Action(StrEnum):
    """What became of a draft."""

    ADD = "add"
    KNOWN = "known"
    REPLACE = "replace"
    RESTORE = "restore"


BECAME = {
    Action.ADD: "added",
    Action.REPLACE: "replaced another",
    Action.KNOWN: "known already",
    Action.RESTORE: "active again",
}


@dataclass(frozen=True, slots=True)
class Settled:
    """
    What was done with a draft: the action, and the id that holds it now.

    `superseded` gave way to it, `unmoved` was named but is unknown or not active, `kept` was named but
    only the person may replace it, `near` may be about the same thing, and `waiting` are names that no memory
    has yet. `successor` had taken the place of what says the same.
    """

    action: Action
    id: str
    superseded: tuple[str, ...] = ()
    unmoved: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    near: tuple[Near, ...] = ()
    waiting: tuple[str, ...] = ()
    successor: str = ""

    @property
    def known(self) -> bool:
        """Whether nothing new was stored."""
        return self.action in (Action.KNOWN, Action.RESTORE)

    @property
    def note(self) -> str:
        """What became of other memories and what to do about those that are near, '' for nothing."""
        told = []
        if self.action is Action.RESTORE:
            told.append("It had been put away and is active again.")
        if self.successor and self.action is Action.RESTORE:
            told.append(f"{self.successor} had taken its place and stays; ask which one holds.")
        elif self.successor:
            told.append(
                f"{self.successor} took its place, so it stays put away; ask the person which one holds."
            )
        if self.superseded:
            kept = "which is" if len(self.superseded) == 1 else "which are"
            told.append(f"It takes the place of {', '.join(self.superseded)}, {kept} kept as superseded.")
        if self.unmoved:
            named = ", ".join(each[:80] for each in self.unmoved)
            told.append(f"No active memory has the id {named}, so nothing became of that.")
        if self.kept:
            named = ", ".join(self.kept)
            told.append(f"{named} stays: only the person's own word takes its place. Ask which one holds.")
        if self.waiting:
            named = ", ".join(each[:80] for each in self.waiting)
            told.append(f"No memory is called {named} yet; a link to it waits until one is.")
        if self.near:
            told.append(f"Near it: {'; '.join(map(str, self.near))}.")
            told.append(f"If it replaces one, revise {self.id} with supersedes; if all hold, do nothing.")
        return " ".join(told)


@one_change()
def settle(store: Store, draft: Draft, *, supersedes: str = "", keep_secrets: bool = False) -> Settled:
    """
    Store *draft*, or add it to the memory that says the same already; the rules are those of docs/capture.md.

    *supersedes* is the id of a memory that the draft takes the place of, beside those in the draft itself.
    Raises Rejected when the draft cannot be stored, OSError when the disk refuses.
    """
    draft = checked(draft, keep_secrets=keep_secrets)
    asked = {
        each: _known(store, each) for each in dict.fromkeys((*draft.supersedes, *filter(None, [supersedes])))
    }
    active = {name: old for name, old in asked.items() if old and old.memory.status is Status.ACTIVE}
    kept = [name for name, old in active.items() if not _may_replace(store, draft, old)]
    moved = [name for name in active if name not in kept]
    unmoved = tuple(name for name in asked if name not in active)
    draft = replace(
        draft,
        supersedes=(*moved, *unmoved),
        links=(*draft.links, *(Link("contradicts", active[name].memory.id) for name in kept)),
    )
    holder = None if asked else _saying_all(store, draft)
    if holder:
        _confirm(store, draft, holder)
        return Settled(Action.KNOWN, holder.memory.id)
    if put_away := None if asked else _put_away(store, draft):
        return put_away
    stored = remember(store, draft, keep_secrets=keep_secrets)
    own = stored.memory.id
    superseded = [active[name].memory.id for name in moved if active[name].memory.id != own]
    # Where the index is held, whoever asked waits for nothing more: the file is written.
    hits = [] if stored.known or store.database.trouble else nearest(store, draft)
    superseded += _give_way(store, draft, own, hits)
    action = Action.KNOWN if stored.known else Action.REPLACE if superseded else Action.ADD
    gone = {own, *superseded, *kept}
    return Settled(
        action,
        own,
        superseded=tuple(superseded),
        unmoved=unmoved,
        kept=tuple(active[name].memory.id for name in kept),
        near=named(draft, hits, gone),
        waiting=() if stored.known else _waiting(store, stored.memory),
    )


def let_replace(
    store: Store, memory_id: str, olds: Sequence[str], *, source: str = MANUAL, session: str = ""
) -> Settled:
    """
    Let a memory that is there take the place of *olds*, as *source* says. Raises NotFound, Conflict, OSError.
    """
    found = read(store, memory_id)
    memory = found.memory
    draft = Draft(
        memory.title,
        memory.text,
        type=memory.type,
        level=found.vault.level,
        source=source,
        session=session,
        supersedes=tuple(olds),
    )
    return settle(store, draft, keep_secrets=True)


def _may_replace(store: Store, draft: Draft, old: Found) -> bool:
    """Tell whether *draft* may take the place of *old*: its level, and not Claude the person's word."""
    user_level = old.vault.level is Level.USER
    if user_level and level_of(store, draft) is not Level.USER:
        return False
    return not outranks(_statement(old), stated(draft))


def _saying_all(store: Store, draft: Draft) -> Found | None:
    """Return the active memory of the same level that says all of *draft* and a little more."""
    hits = [hit for hit in sharing_words(store, draft) if contains(shown(hit), stated(draft))]
    holders = _of_its_level(store, draft, hits)
    return next((old for old in holders if contains(_statement(old), stated(draft))), None)


def _put_away(store: Store, draft: Draft) -> Settled | None:
    """Bring back what says the same and was put away; None when there is none, or one is active."""
    if draft.kind is not Kind.KNOWLEDGE or draft.id:
        return None
    vault, words = store.vault_for(draft.kind, level_of(store, draft)), fingerprint(draft.title, draft.text)
    try:
        with store.database.read() as db:
            if selections.saying(db, vault.key, words):
                return None
            row = selections.saying(db, vault.key, words, active=False)
        old = _known(store, row.id) if row else None
    except IndexUnavailable:
        return None
    if old is None:
        return None
    successor = old.memory.superseded_by
    if draft.source not in CONFIRMING:
        return Settled(Action.KNOWN, old.memory.id, successor=successor) if successor else None
    if old.memory.status is Status.SUPERSEDED:
        reinstate(store, old.memory.id, by=successor, session=draft.session)
    else:
        unarchive(store, old, session=draft.session)
    return Settled(Action.RESTORE, old.memory.id, successor=successor)


def _give_way(store: Store, draft: Draft, own: str, hits: Sequence[Hit]) -> list[str]:
    """Let those of *hits* give way to the new memory *own* that it says all of; return their ids."""
    within = [hit for hit in hits if contains(stated(draft), shown(hit))]
    gone = [
        old.memory.id
        for old in _of_its_level(store, draft, within)
        if old.memory.id != own
        and not old.memory.pinned
        and not outranks(_statement(old), stated(draft))
        and contains(stated(draft), _statement(old))
    ]
    new = read(store, own) if gone else None
    if not new or not is_accepted(store, new):
        return []  # what waits for the person hides nothing
    revision = Revision(supersedes=(*new.memory.supersedes, *gone))
    new = revise(store, own, revision, session=draft.session)
    supersede(store, new.memory, session=draft.session)
    return gone


def _of_its_level(store: Store, draft: Draft, hits: Sequence[Hit]) -> list[Found]:
    """Return the files of those *hits* that are active and lie where *draft* belongs."""
    vault = store.vault_for(draft.kind, level_of(store, draft)) if hits else None
    found = (_known(store, hit.id) for hit in hits)
    return [old for old in found if old and old.vault == vault and old.memory.status is Status.ACTIVE]


def _confirm(store: Store, draft: Draft, old: Found) -> None:
    """Add to *old* what *draft* has beside its words, and count the confirmation."""
    now = revise(store, old.memory.id, unsaid(old.memory, draft), session=draft.session)
    accept_said(store, now, draft)
    if draft.source in CONFIRMING and draft.session != old.memory.session:
        store.ledger.note("confirmed", store.clock(), refs=[old.ref], session=draft.session)


def _statement(found: Found) -> Statement:
    memory = found.memory
    return Statement(memory.title, memory.text, memory.type, memory.source, memory.verified is not None)


def _known(store: Store, memory_id: str) -> Found | None:
    with contextlib.suppress(NotFound):
        return read(store, memory_id)
    return None


def _waiting(store: Store, memory: Memory) -> tuple[str, ...]:
    """Return what the head of *memory* links to that is neither a path nor what a memory is called."""
    names = [link.to for link in memory.links if not is_artifact(link.to)]
    if not names:
        return ()
    try:
        with store.database.read() as db:
            return relations.uncalled(db, names, [vault.key for vault in store.vaults])
    except IndexUnavailable:
        return ()


def describe(settled: Sequence[Settled]) -> str:
    """Return in one line how many drafts were stored, replaced another and so on."""
    counts = {action: sum(each.action is action for each in settled) for action in BECAME}
    return ", ".join(f"{number} {BECAME[action]}" for action, number in counts.items() if number) or "nothing"


def describe_each(settled: Sequence[Settled]) -> list[str]:
    """Return a line for each draft: the id that holds it now, and what became of it."""
    return [
        f"{each.id}: {BECAME[each.action]}" + "".join(f", {old}" for old in each.superseded)
        for each in settled
    ]
