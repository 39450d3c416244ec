"""
The managed block in the project's CLAUDE.md or CLAUDE.local.md: chosen by the person, kept up by us.

The choice is noted in the store, never in the repository. Outside the markers no byte changes. What cannot
be done safely is not done; the reason is returned as an error.
"""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp_server.actions.context.brief import contested
from mcp_server.actions.context.current import ordered
from mcp_server.actions.context.in_context_already import block_in, chosen, shown_by_auto_memory
from mcp_server.actions.context.knowledge import pushable
from mcp_server.actions.context.open_questions import fuller
from mcp_server.adapters import files, git, leftovers, places
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.adapters.project import Project
from mcp_server.core.context import managed_block
from mcp_server.core.errors import DaybookError, Rejected, Unreadable
from mcp_server.core.memory_parts import Level
from mcp_server.core.secrets.redaction import redact
from mcp_server.store import Store

CLAUDE_MD, CLAUDE_LOCAL_MD = places.BLOCK_FILES
NONE = "none"
FILES = places.BLOCK_FILES
MODES = {CLAUDE_MD: 0o644, CLAUDE_LOCAL_MD: 0o600}  # of a file that we create
LOOKED_AT = 5_000  # newest memories of each section that are considered
LOCK = ".claude_md.lock"  # beside project.json


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What became of one file: whether it was written, and if it could not be, why."""

    path: Path | None
    changed: bool
    problem: Rejected | None = None


def choose(store: Store, name: str) -> tuple[Refreshed, ...]:
    """
    Keep the block in the file *name* from now on, or with 'none' in no file; return what became of each.

    A block in the other file is taken out. Raises Rejected outside a project.
    """
    project = _project(store)
    if name not in (*FILES, NONE):
        raise Rejected(f"'{name}' is not a file for the block.", f"Use one of: {', '.join(FILES)}, {NONE}.")
    with _alone(store, project):
        before = places.block_note(store.home, project)
        if before.get("file") != name:
            places.note_block(store.home, project, {} if name == NONE else {"file": name})
    removals = [
        _take_out(
            store, project, other, was_created=before.get("file") == other and before.get("made") is True
        )
        for other in FILES
        if other != name
    ]
    return (
        *(refreshed for refreshed in removals if refreshed.changed or refreshed.problem),
        *([_refresh(store, makes_file=True)] if name != NONE else []),
    )


def refresh(store: Store) -> Refreshed:
    """
    Make the block in the chosen file say what the memories say now; nothing is written when it does.

    A block that the person moved to the other file is kept up there. A file that is not there is not made:
    the person deleted it, or a branch without it is checked out, and git would not go back over a new one.
    What stands in the way is returned as `problem`: damaged markers, a file that changed at the same moment.
    Raises IndexUnavailable.
    """
    return _refresh(store)


def repair(store: Store) -> tuple[Refreshed, ...]:
    """
    Mend damaged markers, keeping all of the person's text; return what became of each file.

    The block in the chosen file is refreshed; in the other file, no block stays where markers were damaged:
    there a choice could not take it out. Raises Rejected when no file needs it.
    """
    project, name = _project(store), chosen(store)
    mended = []
    for other in FILES:
        with contextlib.suppress(DaybookError, OSError):  # it may be no text at all, and is not asked for
            if other != name and _damage(project, other):
                mended.append(_take_out(store, project, other, was_created=False, prepare=managed_block.mend))
    if name:
        mended.append(_refresh(store, managed_block.mend, makes_file=True))
    if not mended:
        raise Rejected("No file of this project is chosen for the block.", "Run 'daybook init' first.")
    return tuple(mended)


def trouble(store: Store) -> Rejected | None:
    """Return why the block cannot be kept up; None when all is well or no file was chosen."""
    name = chosen(store)
    if not store.project or not name:
        return None
    try:
        span = _damage(store.project, name)
    except DaybookError as error:
        return _about(name, error)
    return _about(name, span) if span else None


def _damage(project: Project, name: str) -> Rejected | None:
    """Return what is wrong with the markers in the file *name*, None when they or the file are not there."""
    with contextlib.suppress(FileNotFoundError):
        span = managed_block.find(_read(places.block_file(project, name))[1])
        return span if isinstance(span, Rejected) else None
    return None


def ignored(store: Store, name: str) -> bool | None:
    """
    Tell whether git ignores the file *name* of the project; outside a repository nothing needs to be ignored.

    None when git may not be asked.
    """
    project = _project(store)
    if not (project.root / ".git").exists():
        return True
    return git.ignores(store.git, project.root, name)


def current_block(store: Store) -> managed_block.Block:
    """
    Return the block as the memories make it now. Raises IndexUnavailable.

    It has active knowledge of the person and of this project that may be shown unasked, but nothing that
    reads like an instruction, and nothing that Claude Code's own memory tells each session. What a newer
    memory contradicts is marked. A team's memories are left out: everyone with the repository reads the file.
    """
    store = store.scoped(vault for vault in store.vaults if vault.level is not Level.TEAM)
    store.database.require()
    with store.database.read() as db:
        carried = shown_by_auto_memory(store, db)
        rows_by_topic = [
            selections.newest(db, store.keys, types=types, limit=LOOKED_AT, private=store.private)
            for _, _, types in managed_block.TOPICS
        ]
        groups = [
            _points(store, db, [row for row in rows if carried.get(row.ref) != row.digest])
            for rows in rows_by_topic
        ]
    return managed_block.render_block(store.project.name if store.project else "", groups)


def _points(store: Store, db: sqlite3.Connection, rows: Sequence[Row]) -> list[managed_block.BlockPoint]:
    whole = fuller(store, db)
    pointed = dict.fromkeys(whole.get(row.row, row) for row in rows)
    facts = [row for row in pointed if not row.instructing]
    shown_rows = pushable(store, db, facts)
    rivals = contested(store, db)
    return [
        managed_block.BlockPoint(
            row.ref,
            row.digest,
            redact(row.title),
            redact(row.text),
            redact(next(iter(row.touches), "")),
            contested=row.ref in rivals,
        )
        for row in ordered(db, facts, store.now())
        if row.row in shown_rows
    ]


def _refresh(
    store: Store, prepare: Callable[[str], str] = lambda text: text, *, makes_file: bool = False
) -> Refreshed:
    """Do `refresh`; *prepare* changes the file's text first, and *makes_file* makes a missing one."""
    project = store.project
    if not project or not chosen(store):
        return Refreshed(None, False)
    with _alone(store, project):
        name = chosen(store)
        if not name:  # the person chose no file while this process waited
            return Refreshed(None, False)
        block = current_block(store)
        before = places.block_note(store.home, project)
        if elsewhere := _moved_to(project, name, str(before.get("block"))):
            name, before = elsewhere, {}
        was_created = before.get("made") is True
        try:
            path = places.block_file(project, name)
            with leftovers.leaving_nothing(path.parent):
                try:
                    data, text = _read(path)
                    changed = _write(path, data, managed_block.splice(prepare(text), block.text))
                except FileNotFoundError:
                    if not makes_file:
                        return Refreshed(project.root / name, False)
                    files.write_new(path, managed_block.splice("", block.text).encode())
                    path.chmod(MODES[name])
                    was_created = changed = True
        except (DaybookError, OSError) as error:
            return Refreshed(project.root / name, False, _about(name, error))
        digest = files.digest(block.text.encode())
        note = {"file": name, "made": was_created, "block": digest, "told": block.digests}
        places.note_block(store.home, project, note)
    return Refreshed(project.root / name, changed)


def _moved_to(project: Project, name: str, noted: str) -> str:
    """
    Return the file to which the person moved the block from the file *name*, '' when they did not.

    It is the block with the digest *noted*: any other one may be a colleague's.
    """
    try:
        if managed_block.find(_read(places.block_file(project, name))[1]) is not None:
            return ""
    except FileNotFoundError:
        pass
    except (DaybookError, OSError):
        return ""
    others = ((other, block_in(project, other)) for other in FILES if other != name)
    return next((other for other, block in others if block and files.digest(block) == noted), "")


def _take_out(
    store: Store,
    project: Project,
    name: str,
    *,
    was_created: bool,
    prepare: Callable[[str], str] = lambda text: text,
) -> Refreshed:
    """
    Take the block out of the file *name*, whose text *prepare* changes first.

    Delete the file if we created it and nothing else is in it.
    """
    with _alone(store, project):
        try:
            path = places.block_file(project, name)
            with leftovers.leaving_nothing(path.parent):
                data, text = _read(path)
                if managed_block.find(text) is None:
                    return Refreshed(project.root / name, False)
                rest = managed_block.splice(prepare(text), "")
                changed = _write(path, data, rest)
                if was_created and not rest and not files.read(path):
                    files.delete(path, expected=files.digest(b""))
        except FileNotFoundError:
            return Refreshed(project.root / name, False)
        except (DaybookError, OSError) as error:
            return Refreshed(project.root / name, False, _about(name, error))
    return Refreshed(project.root / name, changed)


def _read(path: Path) -> tuple[bytes, str]:
    """Return the bytes and the text of a person's file; raise Rejected for what is no such text."""
    data = files.read(path)
    if b"\0" in data:
        raise Rejected("it is not UTF-8 text.", "Save it as UTF-8 in an editor.")
    return data, data.decode("utf-8", "surrogateescape")


def _write(path: Path, data: bytes, text: str) -> bool:
    """Put *text* in the place of *data*, and tell whether there was anything to do."""
    new = text.encode("utf-8", "surrogateescape")
    if new == data:
        return False
    if not path.stat().st_mode & 0o222:
        raise Rejected("it is read-only.", "Make it writable, or choose another file.")
    if len(new) > files.MAX_MEMORY_FILE:
        raise Rejected("with the block it would be larger than a mebibyte.", "Choose another file.")
    files.replace(path, new, expected=files.digest(data))
    return True


@contextlib.contextmanager
def _alone(store: Store, project: Project) -> Iterator[None]:
    """Be the only one of our processes that writes to the files of *project* while the block runs."""
    folder = store.home / places.PROJECTS / project.key
    files.make_folder(folder)
    with files.lock(folder / LOCK):
        yield


def _about(name: str, error: Exception) -> Rejected:
    """Return *error*, met with the file *name*, as an error that names it."""
    if isinstance(error, Unreadable):
        return Rejected(f"{name} {error.reason}.", "")
    if isinstance(error, DaybookError):
        return Rejected(f"{name}: {error}", error.hint)
    reason = error.strerror if isinstance(error, OSError) else ""
    return Rejected(f"{name} cannot be written: {reason or error}.", "")


def _project(store: Store) -> Project:
    if not store.project:
        raise Rejected("This folder belongs to no project.", "Go into the project's folder and run it again.")
    return store.project
