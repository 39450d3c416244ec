"""
seed: what documents say becomes memories, a section each; doing it again takes in what changed.

A document is not the person's word, so these memories are found by search and never shown unasked. Where a
section was changed by the person, or its memory forgotten, the person wins.
"""

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mcp_server.actions.files.commit import Accept, one_run
from mcp_server.actions.files.read import Found, read
from mcp_server.actions.files.sync import catch_up_if_free, sync
from mcp_server.actions.memory.remember import checked, level_of, remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.adapters import documents, git, places
from mcp_server.adapters.index.events import seeds
from mcp_server.adapters.index.events.seeds import Seed
from mcp_server.adapters.vault import Vault
from mcp_server.core.errors import Conflict, NotFound, Rejected, Unreadable
from mcp_server.core.exchange.seeding import SHORTEST, Section, sections
from mcp_server.core.memory import Draft, Kind, Level, Status, check_type, fingerprint, slug
from mcp_server.core.provenance.provenance import SEEDED
from mcp_server.core.render import one_line
from mcp_server.core.text.titles import title_of
from mcp_server.store import Store

MOST_SECTIONS = 500  # of one run
READING_OUTSIDE = "reading a file that is hidden, ignored or outside the project"  # as a noun
TEXT = "text"  # what the name of a text begins with that has no file


@dataclass(frozen=True, slots=True)
class Options:
    """What the memories shall be: `type` for all of them ('' to tell by the headings), level, tags."""

    type: str = ""
    level: Level | None = None
    tags: tuple[str, ...] = ()


@dataclass(slots=True)
class Seeded:
    """
    What became of each section, as (id, title); `skipped` with the reason, `vanished` for memories whose
    section is no longer there, which stay.
    """

    dry_run: bool = False
    added: list[tuple[str, str]] = field(default_factory=list)
    revised: list[tuple[str, str]] = field(default_factory=list)
    unchanged: list[tuple[str, str]] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    vanished: list[tuple[str, str]] = field(default_factory=list)


@one_run()
def seed_from_text(
    store: Store,
    text: str,
    *,
    name: str = "",
    options: Options | None = None,
    dry_run: bool = False,
    session: str = "",
) -> Seeded:
    """
    Make memories of *text*; under the same *name* a later text changes them.

    Raises Rejected for an empty text, a bad type, or level project outside one.
    """
    options = options or Options()
    if not text.strip():
        raise Rejected("There is nothing to seed.", "Give a text, or the path of a file.")
    if len(text.encode("utf-8", "replace")) > documents.MOST_BYTES:
        raise Rejected("The text has more than a mebibyte.", "Give it in parts.")
    called = name.strip() or f"{TEXT} {_digest(text)}"
    shown = name.strip() or title_of(text, 60)
    done = Seeded(dry_run)
    private = _private(store)
    _seed(private, done, called, sections(text, shown), options, (), session)
    return done


@one_run()
def seed_from_file(
    store: Store,
    path: Path,
    *,
    options: Options | None = None,
    dry_run: bool = False,
    session: str = "",
) -> Seeded:
    """
    Make memories of the text file at *path*, or take in what changed in it.

    Where `outside_project` has something against it, the caller has the person's word.
    Raises Unreadable for what is no text file of at most a mebibyte, Rejected, NotFound when there is none.
    """
    options = options or Options()
    try:
        text = documents.text_of(path)
    except FileNotFoundError:
        raise Rejected(f"There is no file {path}.", "Give the path of a text file.") from None
    done = Seeded(dry_run)
    name = _name(store, path)
    _seed(_private(store), done, name, sections(text, name), options, (name,), session)
    return done


def outside_project(store: Store, path: Path) -> str:
    """
    Return why only a person may have *path* read, as a sentence; '' when Claude may name it by itself.

    Claude may name what lies in the project, links followed, and is neither hidden nor ignored by git.
    """
    shown = one_line(str(path), 200)
    root = Path(os.path.realpath(store.project.root)) if store.project else None
    try:
        real = Path(os.path.realpath(path))
    except (OSError, ValueError):
        return f"{shown} is no path of a file."
    if not root or not real.is_relative_to(root):
        return f"{shown} lies outside the project."
    inside = real.relative_to(root)
    if any(part.startswith(".") for part in inside.parts):
        return f"{shown} is hidden, or lies in a hidden folder."
    if (root / ".git").exists() and git.ignores(store.git, root, str(inside)) is not False:
        return f"{shown} is ignored by git, or git cannot tell."
    return ""


@one_run()
def bootstrap_project(store: Store, *, dry_run: bool = False, session: str = "") -> Seeded:
    """
    Make memories of this project's own documents: CLAUDE.md, README, CONTRIBUTING, ARCHITECTURE, docs/.

    What cannot be read is skipped with the reason. Raises Rejected outside a project.
    """
    if not store.project:
        raise Rejected("There is no project here.", "Go to a project's folder, or seed a file.")
    root = store.project.root
    done = Seeded(dry_run)
    options = Options(level=Level.PROJECT)
    private = _private(store)
    paths = documents.documents(root)
    if not paths:
        done.skipped.append((str(root), "has no CLAUDE.md, README, CONTRIBUTING, ARCHITECTURE or docs/*.md"))
    for path in paths:
        name = path.relative_to(root).as_posix()
        try:
            text = documents.text_of(path, within=root)
        except (Unreadable, OSError) as error:
            done.skipped.append((name, getattr(error, "reason", None) or str(error)))
            continue
        _seed(private, done, name, sections(text, name), options, (name,), session)
    return done


def _private(store: Store) -> Store:
    """Return *store* without vaults in repositories, which have their documents already; synced."""
    sync(store)  # which sections are known stands in the ledger
    return store.scoped(store.private_vaults)


def _seed(
    store: Store,
    done: Seeded,
    file: str,
    found: Sequence[Section],
    options: Options,
    touches: tuple[str, ...],
    session: str,
) -> None:
    """Take in the sections *found* in *file*, and tell in *done* what became of each."""
    check_type(options.type)
    if not found:
        done.skipped.append((file, f"no section of it has {SHORTEST} characters"))
    level = level_of(store, Draft("", "", type=options.type, level=options.level))
    vault = store.vault_for(Kind.KNOWLEDGE, level)
    with store.database.read() as db:
        known = {seed.section: seed for seed in seeds.known(db, vault.key, [file])}
    for section in found[:MOST_SECTIONS]:
        draft = Draft(
            section.title,
            section.text,
            type=options.type or section.type,
            tags=options.tags,
            level=level,
            id=_id(vault, file, section),
            source=SEEDED,
            touches=touches,
            session=session,
        )
        try:
            _take(store, done, vault, file, section, draft, known.get(section.key))
        except (Rejected, Conflict, Unreadable) as error:
            done.skipped.append((section.title, str(error)))
    rest = found[MOST_SECTIONS:]
    done.skipped += [(section.title, f"more than {MOST_SECTIONS} sections") for section in rest]
    done.vanished += _vanished(store, known.values(), {section.key for section in found})
    if not done.dry_run:
        catch_up_if_free(store)


def _take(
    store: Store, done: Seeded, vault: Vault, file: str, section: Section, draft: Draft, known: Seed | None
) -> None:
    draft = checked(draft, keep_secrets=False)
    said = fingerprint(draft.title, draft.text)
    memory_id = known.id if known else draft.id
    there = _there(store, memory_id)
    if there is None:
        if _moved_into_repository(store, memory_id):
            done.skipped.append((section.title, "its memory lives in the repository"))
            return
        if known:
            done.skipped.append((section.title, "you forgot it"))
            return
        if not done.dry_run:
            remember(store, draft)
            _note(store, f"{vault.key}/{draft.id}", file, section, said, draft.session)
        done.added.append((draft.id, draft.title))
        return
    memory = there.memory
    says = fingerprint(memory.title, memory.text)
    if says == said:
        if known is None and not done.dry_run:  # a process was killed before it noted what it had written
            _note(store, there.ref, file, section, said, draft.session)
        done.unchanged.append((memory.id, memory.title))
    elif memory.status is not Status.ACTIVE:
        done.skipped.append((section.title, f"its memory is {memory.status.value}"))
    elif known is None or says != known.said:
        done.skipped.append((section.title, f"you changed '{memory.id}'"))
    else:
        if not done.dry_run:
            # It is the document that speaks now, whoever took over what it said before.
            revision = Revision(title=draft.title, text=draft.text, source=SEEDED)
            revise(store, memory.id, revision, session=draft.session, accept=Accept.NO)
            _note(store, there.ref, file, section, said, draft.session)
        done.revised.append((memory.id, draft.title))


def _note(store: Store, ref: str, file: str, section: Section, said: str, session: str) -> None:
    store.ledger.append(
        "seeded", store.clock(), refs=[ref], file=file, section=section.key, said=said, session=session
    )


def _vanished(store: Store, known: Iterable[Seed], present: set[str]) -> list[tuple[str, str]]:
    """Return (id, title) of the active memories that were made of sections no longer *present*."""
    gone = [_there(store, seed.id) for seed in known if seed.section not in present]
    return [
        (found.memory.id, found.memory.title)
        for found in gone
        if found and found.memory.status is Status.ACTIVE
    ]


def _there(store: Store, memory_id: str) -> Found | None:
    try:
        return read(store, memory_id)
    except NotFound:
        return None


def _moved_into_repository(store: Store, memory_id: str) -> bool:
    """Tell whether `init` has moved a memory of that id into the project's repository."""
    if not store.project:
        return False
    vault = places.repository_vault(store.home, store.project)
    return vault.path_for(memory_id, Kind.KNOWLEDGE).exists()


def _id(vault: Vault, file: str, section: Section) -> str:
    """Return the same id for the same section of the same file, so that it is never made twice."""
    return f"{slug(section.title) or 'section'}-{_digest(f'{vault.key}/{file}/{section.key}')}"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def _name(store: Store, path: Path) -> str:
    """Return how a file is called: by its path in the project, else by its whole path."""
    root = store.project.root if store.project else None
    return path.relative_to(root).as_posix() if root and path.is_relative_to(root) else str(path)
