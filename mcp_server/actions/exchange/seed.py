"""
seed: make one memory of each section of a document; doing it again takes in what changed.

A document is not the person's word, so these memories are found by search and never shown unasked.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mcp_server.actions.exchange.imports.batch import Imported, Item, Outcome
from mcp_server.actions.exchange.imports.take import take
from mcp_server.actions.files.touched import as_touched
from mcp_server.actions.memory.remember import level_of
from mcp_server.adapters import documents, git
from mcp_server.adapters.index.events.imports import DOCUMENT
from mcp_server.adapters.vault import Vault
from mcp_server.core.digests import text_digest
from mcp_server.core.errors import Rejected, Unreadable
from mcp_server.core.exchange.foreign import Reading, Record
from mcp_server.core.exchange.seeding import SHORTEST, sections
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind, Level, check_type, slug
from mcp_server.core.provenance.provenance import SEEDED
from mcp_server.core.render import counted, one_line
from mcp_server.core.text.titles import title_of
from mcp_server.store import Reading as Watching
from mcp_server.store import Store, unwatched

MOST_SECTIONS = 500  # of one document
READING_OUTSIDE = "reading a file that is hidden, ignored or outside the project"  # as a noun
TEXT = "text"  # how the name of a text without a file begins


@dataclass(frozen=True, slots=True)
class Options:
    """How the memories are stored: `type` for all of them ('' to tell by the headings), level, tags."""

    type: str = ""
    level: Level | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """
    A document: its name in the ledger, its name in the titles of its memories, and its text.

    `touches` are the files that it consists of.
    """

    name: str
    called: str
    text: str
    touches: tuple[str, ...] = ()


def seed_from_text(
    store: Store,
    text: str,
    *,
    name: str = "",
    options: Options | None = None,
    dry_run: bool = False,
    watching: Watching = unwatched,
) -> list[Imported]:
    """
    Make memories of *text*; under the same *name* a later text changes them.

    Here and below, *watching* is given the number of sections, and gives what is told of each that is done.

    Raises Rejected for an empty text, a bad type, or level project outside one.
    """
    if not text.strip():
        raise Rejected("There is no text to seed.", "Give a text, or the path of a file.")
    if len(text.encode("utf-8", "replace")) > documents.MOST_BYTES:
        raise Rejected("The text has more than a mebibyte.", "Give it in parts.")
    document = Document(name.strip() or f"{TEXT} {_digest(text)}", name.strip() or title_of(text, 60), text)
    return _seed(store, [document], options or Options(), dry_run=dry_run, watching=watching)


def seed_from_file(
    store: Store,
    path: Path,
    *,
    options: Options | None = None,
    dry_run: bool = False,
    watching: Watching = unwatched,
) -> list[Imported]:
    """
    Make memories of the text file at *path*, or take in what changed in it.

    When `outside_project` returns an objection, the caller must have the person's consent.
    Raises Unreadable for what is no text file of at most a mebibyte, Rejected, NotFound when there is none.
    """
    try:
        text = documents.text_of(path)
    except FileNotFoundError:
        raise Rejected(f"There is no file {path}.", "Give the path of a text file.") from None
    direct = Path(os.path.normpath(path))  # the same file has the same name, however its path was typed
    (called,) = as_touched(store, [str(direct)])
    document = Document(_name(store, direct), called, text, (called,))
    return _seed(store, [document], options or Options(), dry_run=dry_run, watching=watching)


def outside_project(store: Store, path: Path) -> str:
    """
    Return why only a person may have *path* read, as a sentence; '' when Claude may name it by itself.

    Claude may name a file that is in the project, links followed, and is neither hidden nor ignored by git.
    """
    shown_path = one_line(str(path), 200)
    root = Path(os.path.realpath(store.project.root)) if store.project else None
    try:
        real = Path(os.path.realpath(path))
    except (OSError, ValueError):
        return f"{shown_path} is not a file's path."
    if not root or not real.is_relative_to(root):
        return f"{shown_path} is outside the project."
    inside = real.relative_to(root)
    if any(part.startswith(".") for part in inside.parts):
        return f"{shown_path} is hidden, or is in a hidden folder."
    if (root / ".git").exists() and git.ignores(store.git, root, str(inside)) is not False:
        return f"{shown_path} is ignored by git, or git cannot say."
    return ""


def bootstrap_project(
    store: Store, *, dry_run: bool = False, watching: Watching = unwatched
) -> list[Imported]:
    """
    Make memories of this project's own documents: see `documents.documents`.

    What cannot be read, or is beyond MOST_DOCS, is refused with the reason.

    Raises Rejected outside a project.
    """
    if not store.project:
        raise Rejected("There is no project here.", "Go to a project's folder, or seed a file.")
    root = store.project.root
    read_documents, broken = [], []
    paths, beyond = documents.documents(root)
    for path in paths:
        name = path.relative_to(root).as_posix()
        try:
            read_documents.append(Document(name, name, documents.text_of(path, within=root), (name,)))
        except (Unreadable, OSError) as error:
            why = getattr(error, "reason", None) or str(error)
            broken.append(Imported(name, (Item(name, Outcome.REFUSED, why=why),)))
    for path in beyond:
        name = path.relative_to(root).as_posix()
        folder = path.parent.relative_to(root).as_posix()
        why = f"more than {counted(documents.MOST_DOCS, 'file')} in {folder}/; 'daybook seed' takes one in"
        broken.append(Imported(name, (Item(name, Outcome.REFUSED, why=why),)))
    if not read_documents and not broken:
        why = (
            "There is no CLAUDE.md, README, CONTRIBUTING, ARCHITECTURE, AGENTS.md or docs/*.md."
            " 'daybook import notes FOLDER' takes in a folder, 'daybook seed FILE' a text."
        )
        return [Imported(str(root), remarks=(why,))]
    options = Options(level=Level.PROJECT)
    return [*_seed(store, read_documents, options, dry_run=dry_run, watching=watching), *broken]


def _seed(
    store: Store, documents: Sequence[Document], options: Options, *, dry_run: bool, watching: Watching
) -> list[Imported]:
    """Take in the sections of *documents*; return what became of each, by its title."""
    check_type(options.type)
    # Vaults in repositories have their documents already.
    private = store.scoped(store.private_vaults)
    level = level_of(private, Draft("", "", type=options.type, level=options.level))
    vault = private.vault_for(Kind.KNOWLEDGE, level)
    readings = [_reading(document, vault, options, store.session) for document in documents]
    with watching(sum(len(reading.records) for reading in readings)) as advance:
        imports = take(private, readings, source_name=DOCUMENT, dry_run=dry_run, progress=advance)
    return [
        Imported(document.name, _titled(imported.items, reading))
        for document, reading, imported in zip(documents, readings, imports, strict=True)
    ]


def _reading(document: Document, vault: Vault, options: Options, session: str) -> Reading:
    """Return the sections of *document* as records that belong into *vault*."""
    place = f"{vault.key}/{document.name}"
    reading = Reading(place, revises=("title", "text", "source"), whole=True)
    parts = sections(document.text, document.called)
    if not parts:
        reading.refused.append((document.name, f"none of its sections has {SHORTEST} characters"))
    reading.refused += [(part.title, f"more than {MOST_SECTIONS} sections") for part in parts[MOST_SECTIONS:]]
    reading.records = [
        Record(
            key=part.key,
            title=part.title,
            text=part.text,
            type=options.type or part.type,
            tags=options.tags,
            touches=document.touches,
            session=session,
            # The same for the same section of the same document, so that it is never made twice.
            id=f"{slug(part.title) or 'section'}-{_digest(f'{place}/{part.key}')}",
            level=vault.level,
            source=SEEDED,
        )
        for part in parts[:MOST_SECTIONS]
    ]
    return reading


def _titled(items: Iterable[Item], reading: Reading) -> tuple[Item, ...]:
    """Return *items* called by the titles of their sections, which tell more than the headings above them."""
    titles = {record.key: record.title for record in reading.records}
    return tuple(replace(item, key=titles.get(item.key, item.key)) for item in items)


def _digest(text: str) -> str:
    return text_digest(text, size=4)


def _name(store: Store, path: Path) -> str:
    """Return how a file is called: by its path in the project, else by its whole path."""
    root = store.project.root if store.project else None
    return path.relative_to(root).as_posix() if root and path.is_relative_to(root) else str(path)
