"""save_session and restore_session: save the state of the work, to go on from it later."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.touched import as_touched
from mcp_server.actions.memory.list import list_memories, read_kind
from mcp_server.actions.memory.remember import Remembered, remember
from mcp_server.adapters import git
from mcp_server.adapters.git import GitTrouble
from mcp_server.core.errors import NotFound
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind, strip_blank_lines
from mcp_server.core.provenance.provenance import MANUAL
from mcp_server.core.search.query import Filter
from mcp_server.core.secrets.redaction import redact
from mcp_server.core.sessions.snapshot import noted, render_snapshot
from mcp_server.store import Store

_GIT_NOTE = re.compile(r"git (?P<branch>\S+) (?P<head>[0-9a-f]{7,64})")


@dataclass(frozen=True, slots=True)
class Since:
    """
    What changed after a session was saved; empty when nothing did or it cannot be found out.

    files: those that differ between the commit then and now, and those of the session that were written since
    or are gone; other uncommitted files are left out. problem: why git was not asked.
    """

    commits: tuple[str, ...]
    files: tuple[str, ...]
    branch: str
    problem: GitTrouble | None = None


def save_session(
    store: Store,
    title: str,
    context: str,
    *,
    files: Sequence[str] = (),
    variables: Mapping[str, object] | None = None,
    tasks: Sequence[str] = (),
    metadata: Mapping[str, object] | None = None,
    folder: Path,
    source: str = MANUAL,
) -> Remembered:
    """
    Store a snapshot of the work: its context, files, variables, open tasks, and git's branch and head.

    *files* are named from *folder* on, where git is asked, too, and kept as named from the project's root.
    *source* is who wrote it. Secrets are masked. Raises Rejected without a title and a context, OSError when
    the disk refuses.
    """
    places = [os.path.normpath(Path(folder, os.path.expanduser(name))) for name in files]
    files = [Path(name).as_posix() for name in as_touched(store, places, folder=_top(store, folder))]
    notes = [*noted(metadata or {})]
    state = git.git_state(folder)
    if state:
        notes.append(f"git {state.branch or 'HEAD'} {state.head}")
    draft = Draft(
        title=redact(title),
        text=redact(strip_blank_lines(render_snapshot(context, files, variables or {}, tasks))),
        kind=Kind.SESSION,
        source=source,
        touches=tuple(map(redact, files)),
        session=store.session,
        notes=tuple(map(redact, notes)),
    )
    return remember(store, draft, keep_secrets=True)


def restore_session(store: Store, memory_id: str, *, folder: Path) -> tuple[MemoryFile, Since]:
    """
    Return a saved session and what changed since; 'latest' (or '') is the one saved last here.

    Raises NotFound, which names others, also when none is saved, and Rejected for a memory of another kind.
    """
    session_name = memory_id.strip()
    if session_name in ("", "latest", "last"):
        listing = list_memories(store, Filter(kinds=(Kind.SESSION,)), limit=1, order="created")
        if not listing.rows:
            raise NotFound(
                "latest",
                sentence="No session is saved here yet.",
                hint="Save one with save_session, in a terminal 'daybook save-session'.",
            )
        session_name = listing.rows[0].id
    file = read_kind(store, Kind.SESSION, session_name)
    return file, _since(store, file, folder)


def _since(store: Store, file: MemoryFile, folder: Path) -> Since:
    git_note = next(filter(None, (_GIT_NOTE.fullmatch(note) for note in file.memory.notes)), None)
    state = git.git_state(folder)
    newer = _newer(file, _top(store, folder), folder)
    if not git_note or not state:
        return Since((), tuple(newer), "")
    old_head, new_head = git_note["head"], state.head
    branch = state.branch if (state.branch or "HEAD") != git_note["branch"] else ""
    if old_head == new_head:
        return Since((), tuple(newer), branch)
    changed = git.files_changed(store.git, folder, old_head, new_head)
    newer = [name for name in newer if name.partition(":")[0] not in changed]
    commits = git.commits_since(store.git, folder, old_head, new_head)
    return Since(tuple(commits), (*changed, *newer), branch, git.trouble(store.git, folder))


def _top(store: Store, folder: Path) -> Path:
    """Return where the names of a session's files begin: the project's root, outside a project *folder*."""
    return store.project.root if store.project else folder


def _newer(file: MemoryFile, top: Path, folder: Path) -> list[str]:
    """Return the session's files that were written after it was saved, or are gone."""
    changed = []
    for name in file.memory.touches:
        path = Path(top, os.path.expanduser(name.partition(":")[0]))
        if not path.exists():  # earlier versions named it from the folder of the session on
            path = folder / path.relative_to(top) if path.is_relative_to(top) else path
        try:
            newer = datetime.fromtimestamp(path.stat().st_mtime, UTC) > file.memory.created
        except OSError:
            changed.append(f"{name} (gone)")
            continue
        if newer:
            changed.append(name)
    return changed
