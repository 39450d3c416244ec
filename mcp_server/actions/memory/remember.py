"""remember: store one thing worth knowing as one file; it is acknowledged once the file is on the disk."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from mcp_server.actions.files.commit import create, one_change, storing_alone, write_line
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import is_accepted, is_shown, look_up, read
from mcp_server.actions.files.sync import catch_up_if_free, make_folders
from mcp_server.actions.files.touched import as_touched
from mcp_server.actions.memory.revise import Revision, links_given, revise, text_given, title_given
from mcp_server.actions.recall.staleness import noted
from mcp_server.adapters import memory_file
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.vault import Vault, confined
from mcp_server.core.errors import IndexUnavailable, NotFound, Rejected, Unreadable
from mcp_server.core.link_outcome import After, LinkOutcome
from mcp_server.core.links import as_label
from mcp_server.core.list_key import extended
from mcp_server.core.memory import IN_FILES_ALONE, LISTS, WORDS, Draft, Memory, made_of, texts_beside
from mcp_server.core.memory_parts import (
    MAX_CONVERSATION,
    MAX_LINKS,
    MAX_TEXT,
    MAX_TOUCHES,
    Kind,
    Level,
    Status,
    check_id,
    check_type,
    fingerprint,
    is_nearer,
    new_id,
)
from mcp_server.core.memory_types import DEFAULT_TYPE, GENERAL
from mcp_server.core.provenance.provenance import ASSISTANT, MANUAL, waits
from mcp_server.core.secrets.redaction import KEEP_SECRETS, redact, refuse_masks_alone, refuse_secrets
from mcp_server.core.sessions.snapshot import name_of
from mcp_server.core.text.level_words import names_project
from mcp_server.store import Store

ATTEMPTS = 20  # ids tried; even the second is needed only once in a million memories of one title


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a draft: the memory, where it is, and whether it was known already."""

    memory: Memory
    path: Path
    level: Level
    known: bool = False


@one_change()
def remember(
    store: Store, draft: Draft, *, keep_secrets: bool = False, period: tuple[datetime, datetime] | None = None
) -> Remembered:
    """
    Store *draft* as a memory; the memories in its `supersedes` become superseded.

    *period* is from when to when it was said, by default now.

    A draft that says the same again only adds its new tags, occasions, links, files touched and superseded
    memories.
    Raises Rejected for an empty, too long or secret text, OSError when the disk refuses.
    """
    store = store.in_session(draft.session or store.session)
    return remember_checked(store, checked(draft, keep_secrets=keep_secrets), period=period)


def remember_checked(
    store: Store, draft: Draft, *, period: tuple[datetime, datetime] | None = None, form: bytes = b""
) -> Remembered:
    """
    Store a *draft* that `checked` returned, as `remember` does.

    A new file keeps the comments, and the keys that no draft has, of *form*, the bytes of a file.
    """
    draft = replace(draft, touches=as_touched(store, draft.touches))
    level = level_of(store, draft)
    vault = store.vault_for(draft.kind, level)
    with storing_alone(store):  # two sessions may store the same at once
        existing = _known(store, vault, draft)
        if not existing:
            new = _write(store, vault, draft, period, form)
    if existing:
        # What it superseded before, and was restored since, is superseded again: the draft is newer.
        older = tuple(old for old in draft.supersedes if old != existing.memory.id)
        together = tuple(dict.fromkeys((*existing.memory.supersedes, *older)))
        revision = replace(unsaid(existing.memory, draft), supersedes=together)
        existing = revise(store, existing.memory.id, revision)
        accept_said(store, existing, draft)
        take_place(store, existing, older)
        return Remembered(existing.memory, existing.path, level, known=True)
    supersede(store, new)
    return Remembered(new.memory, new.path, level)


def unsaid(memory: Memory, draft: Draft) -> Revision:
    """
    Return a revision that adds to *memory* the tags, occasions, links and files touched of *draft*, and a
    category or metadata that it lacks. The notes of an import are left out: they say where the draft is from,
    which is no news about *memory*.
    """
    names = {name_of(note) for note in memory.notes}
    new_notes = draft.notes if draft.source in (MANUAL, ASSISTANT) else ()
    notes = tuple(note for note in new_notes if name_of(note) not in names)
    linked = {(as_label(link.rel), link.to) for link in memory.links}
    links = [link for link in draft.links if (link.rel, link.to) not in linked and link.to != memory.id]
    return Revision(
        links=extended(memory.links, links, MAX_LINKS),
        touches=extended(memory.touches, draft.touches, MAX_TOUCHES),
        notes=(*memory.notes, *notes) if notes else None,
        **lists_with(memory, draft),
        **{name: getattr(draft, name) or None for name in WORDS if not getattr(memory, name)},
    )


def not_taken(memory: Memory, draft: Draft) -> tuple[str, ...]:
    """Return where *memory*, which says the same, differs from *draft*: `type note`, `port: 80`."""
    notes_by_name = {name_of(note): note for note in memory.notes}
    notes = [
        notes_by_name[name_of(note)]
        for note in draft.notes
        if note not in memory.notes and name_of(note) in notes_by_name
    ]
    about = (
        ("type", memory.type, draft.type if draft.type != DEFAULT_TYPE else memory.type),
        *((name, getattr(memory, name), getattr(draft, name) or getattr(memory, name)) for name in WORDS),
    )
    return (*(f"{name} {own}" for name, own, new_value in about if own != new_value), *notes)


def accept_said(store: Store, file: MemoryFile, draft: Draft) -> None:
    """Accept a memory when *draft*, in the person's own words, has the same text and so can mean no other."""
    is_same_text = fingerprint("", file.memory.text) == fingerprint("", draft.text)
    if is_same_text and draft.source == MANUAL and not is_accepted(store, file):
        with contextlib.suppress(OSError):
            write_line(store, "accepted", refs=[file.ref], digests=[file.digest])
        catch_up_if_free(store)


def supersede(store: Store, new: MemoryFile, *, since: datetime | None = None) -> None:
    """
    Make the known, active memories that *new* names in `supersedes` superseded.

    A memory that waits for the person supersedes none yet. A project's memory supersedes none of the user
    level: it only shadows it in the project, which follows from its file. A pin passes on to *new*.
    *since* is the time of the change, by default when *new* began to hold.
    """
    memory = new.memory
    if not memory.supersedes or not is_shown(store, new):
        return
    for name in memory.supersedes:
        # A memory that supersedes an unknown one is still worth keeping.
        with contextlib.suppress(NotFound):
            old = read(store, name)
            if old.memory.status is not Status.ACTIVE or old.ref == new.ref:
                continue
            if old.memory.pinned:
                revise(store, new.memory.id, Revision(pinned=True))
            shadowing = is_nearer(new.vault.level, old.vault.level)
            if not shadowing and old.vault.level is not Level.TEAM:
                _replace(store, old, memory, since=since)


def _replace(store: Store, old: MemoryFile, memory: Memory, *, since: datetime | None) -> None:
    revision = Revision(
        status=Status.SUPERSEDED,
        superseded_by=memory.id,
        valid_to=since or memory.valid_from or memory.created,
        pinned=False,
    )
    now = revise(store, old.memory.id, revision)
    with contextlib.suppress(OSError):
        write_line(store, "trusted", refs=[now.ref], reason="superseded")
    catch_up_if_free(store)


def take_place(store: Store, new: MemoryFile, olds: Sequence[str]) -> None:
    """Make the active ones of *olds* superseded by *new* from this moment on."""
    only = replace(new, memory=replace(new.memory, supersedes=tuple(olds)))
    supersede(store, only, since=store.moment())


def reinstate(store: Store, old: str, *, by: str) -> LinkOutcome:
    """Make *old* active again when it was superseded *by* that memory; return the outcome."""
    try:
        file = read(store, old)
    except NotFound:
        return LinkOutcome(old, After.GONE)
    status = file.memory.status
    if status is not Status.SUPERSEDED or file.memory.superseded_by != by:
        everywhere = file.vault.level is Level.USER and status is Status.ACTIVE
        return LinkOutcome(old, After.HOLDS_HERE if everywhere else After.STAYS, status)
    revise(store, old, Revision(reinstated=True))
    return LinkOutcome(old, After.ACTIVE)


def still_superseded(store: Store, memory_id: str) -> tuple[str, ...]:
    """Return the ids of memories that the one superseded: they stay so until they are restored."""
    with contextlib.suppress(IndexUnavailable), store.database.read() as db:
        return tuple(row.id for row in selections.superseded_by(db, memory_id, store.keys))
    return ()


def level_of(store: Store, draft: Draft) -> Level:
    """
    Return the level of *draft*: the one it gives, else the project's.

    A preference is the person's, unless it names this project.
    """
    if draft.level is Level.TEAM:
        raise Rejected(
            "A memory cannot be stored directly at team level here.",
            "Store it as your own; 'daybook promote ID --to team' gives it to the team.",
        )
    if draft.level is Level.PROJECT and not store.project:
        raise Rejected(
            "There is no project here to remember this for.",
            "Use level 'user', or work inside a project's folder.",
        )
    if draft.level:
        return draft.level
    if not store.project:
        return Level.USER
    everywhere = draft.type in GENERAL and not names_project(draft.text, store.project.name)
    return Level.USER if everywhere else Level.PROJECT


def checked(draft: Draft, *, keep_secrets: bool, had: Memory | None = None) -> Draft:
    """
    Return *draft* tidied; raise Rejected when it cannot be stored.

    *had* is the memory of the file that it is made of, whose words and lists may be longer than what may be
    given.
    """
    before = [had] if had else []
    limit = MAX_CONVERSATION if draft.kind is Kind.CONVERSATION else MAX_TEXT
    as_given = (draft.title, draft.text, *texts_beside(draft))  # a tag or label in lower case hides a secret
    lists: dict[str, Any] = {
        key.name: key.cleaned(getattr(draft, key.name), had=getattr(had, key.name, ())) for key in LISTS
    }
    draft = replace(
        draft,
        title=title_given(draft.title, before),
        text=text_given(draft.text, before, limit),
        type=check_type(draft.type),
        links=tuple(dict.fromkeys(links_given(draft.links, before))),
        id=check_id(draft.id) if draft.id else "",
        **lists,
    )
    refuse_masks_alone(draft.text)
    if not keep_secrets:
        refuse_secrets(*as_given, draft.title, draft.text, *texts_beside(draft), anyway=KEEP_SECRETS)
    return draft


def lists_with(memory: Memory, other: Memory | Draft) -> dict[str, Any]:
    """Return by key the lists of *memory*, each with what *other* has more and fits."""
    new = {key.name: filter(key.fits, getattr(other, key.name)) for key in LISTS}
    return {key.name: extended(getattr(memory, key.name), new[key.name], key.most) for key in LISTS}


def _known(store: Store, vault: Vault, draft: Draft) -> MemoryFile | None:
    """Return the memory that says the same as *draft* already, or has the id that the draft gives."""
    if draft.kind is not Kind.KNOWLEDGE:
        return None
    if draft.id:
        with contextlib.suppress(IndexUnavailable):
            if row := look_up(store, draft.id):
                raise Rejected(
                    f"The id '{row.id}' is taken by '{row.title}'.",
                    "Revise that memory, or leave out the id.",
                )
        return None
    try:
        with store.database.read() as db:
            same_row = selections.saying(db, vault.key, fingerprint(draft.title, draft.text))
        return read(store, same_row.id) if same_row else None
    except (IndexUnavailable, NotFound, Unreadable):
        return None


def _write(
    store: Store, vault: Vault, draft: Draft, period: tuple[datetime, datetime] | None, form: bytes
) -> MemoryFile:
    """Write *draft*, said in *period*, into a new file; the lines of *form*, a memory's bytes, are kept."""
    for old in draft.supersedes:  # check before anything is written
        with contextlib.suppress(NotFound):
            file = read(store, old)
            memory_file.check_replaceable(file.data, file.memory, path=str(file.path))
    make_folders(store, vault)
    now = store.moment()
    created, updated = period or (now, now)
    for attempt in range(ATTEMPTS):
        memory_id = draft.id or new_id(redact(draft.title), draft.text, now, attempt)
        memory = replace(made_of(draft, memory_id, created), updated=updated)
        path = confined(vault, vault.path_for(memory.id, memory.kind))
        if form:
            had = memory_file.parse(form, path=str(path), kind=draft.kind, archived=False, modified=created)
            memory = replace(memory, **{name: getattr(had, name) for name in IN_FILES_ALONE})
        accept = not waits(draft.source, f"{memory.title}\n{memory.text}")
        touched = noted(store, vault, memory.touches) if memory.touches else None
        try:
            data = memory_file.rewrite(form, memory, path=str(path)) if form else b""
            return create(store, vault, path, memory, accept=accept, data=data, touched=touched)
        except FileExistsError:
            if draft.id:
                raise Rejected(
                    f"The id '{draft.id}' is taken.", "Revise that memory, or leave out the id."
                ) from None
    raise Rejected(f"No free id was found for '{draft.title}'.", "Give the memory another title.")
