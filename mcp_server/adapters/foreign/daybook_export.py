"""
The output of `daybook export`: a folder laid out like MEMORY_DIR, or one JSON document.

    knowledge/ conversations/ sessions/ archive/    the user vault
    projects/<key>/…                                the private vault of a project
    repositories/<key>/…                            the vault in a repository
    usage.json                                      how often each memory was used, and what moved its trust
"""

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from mcp_server.adapters import memory_file
from mcp_server.adapters.foreign import source_file
from mcp_server.adapters.memory_file import read_fields
from mcp_server.adapters.vault import CLOSED, Vault, kind_of, read_memory_file, stamps
from mcp_server.core.errors import Unreadable
from mcp_server.core.exchange.foreign import IMPORTED, Reading, Record, admit, line_of, must_hold, text_of
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import ID, Kind, Level, Status
from mcp_server.core.provenance.provenance import MANUAL, PUSHED_AS_FACTS, TRANSCRIPT

FORMAT, VERSION = "daybook-export", 1
PROJECTS, REPOSITORIES = "projects", "repositories"
USAGE = "usage.json"
LATEST = 253_402_300_799  # the last Unix second of the year 9999
MOST_TIMES = 1_000_000  # the largest count that is read
MOST_MOVES = 10  # moves of the trust in one memory, the last ones
KEY = re.compile(r"[a-z0-9][a-z0-9._-]{0,119}")


def read(path: Path, *, mine: bool) -> Reading:
    """
    Return what the exported folder or document *path* holds; raises Rejected.

    With *mine* the memories keep their source; without, the person's memories count as imported, because
    anyone may have written the file.
    """
    if os.path.isdir(os.path.expanduser(path)):
        folder = source_file.located_folder(path)
        vaults = [vault for vault in _vaults(folder) if any(place.is_dir() for place in vault.folders())]
        must_hold(vaults, f"{folder} contains none of knowledge/, conversations/, sessions/ and archive/.")
        reading = Reading(str(folder), portable=True)
        counts = _counts_in(folder / USAGE)
        exported = (record for vault in vaults for record in _in_vault(vault, reading))
        records = [_counted(record, counts.get(record.key)) for record in exported]
    else:
        file = source_file.located(path)
        document = source_file.read_json(file)
        entries = document.get("memories")
        is_export = document.get("format") == FORMAT and isinstance(entries, list)
        must_hold(is_export, f"{file} was not written by 'daybook export --format json'.")
        must_hold(document.get("version") == VERSION, f"{file} was written by a newer Daybook.")
        reading = Reading(str(file), portable=True)
        records = list(_in_document(entries if isinstance(entries, list) else [], reading))
    admit([_capped(record, mine=mine) for record in records], reading)
    return reading


def _vaults(folder: Path) -> Iterator[Vault]:
    yield Vault("user", folder, Level.USER)
    for name in (PROJECTS, REPOSITORIES):
        inside = folder / name
        for place in sorted(inside.iterdir()) if inside.is_dir() else ():
            if KEY.fullmatch(place.name) and place.is_dir() and not place.is_symlink():
                project = place.name.partition("-repository-")[0]
                yield Vault(place.name, place, Level.PROJECT, project, in_repository=name == REPOSITORIES)


def _in_vault(vault: Vault, reading: Reading) -> Iterator[Record]:
    closed: list[str] = []
    files_there = stamps(vault, closed)
    for folder in closed:
        where = os.path.relpath(folder, vault.root)
        reading.refused.append((f"{vault.key}/{where}", CLOSED))
    for stamp in files_there:
        path = Path(stamp.path)
        where = str(path.relative_to(vault.root))
        try:
            data = read_memory_file(vault, path)
            kind, archived = kind_of(vault, path)
            modified = datetime.fromtimestamp(stamp.mtime_ns // 1_000_000_000, UTC)
            memory = memory_file.parse(data, path=where, kind=kind, archived=archived, modified=modified)
        except (Unreadable, FileNotFoundError) as error:
            reading.refused.append((f"{vault.key}/{where}", getattr(error, "reason", "is gone")))
            continue
        record = _record(memory, vault.key, vault.project, data=data, shared=vault.in_repository)
        yield replace(record, place=path.relative_to(vault.root).as_posix())


def _in_document(entries: list[object], reading: Reading) -> Iterator[Record]:
    for number, entry in enumerate(entries, start=1):
        memory_id = entry.get("id") if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or not isinstance(memory_id, str) or not ID.fullmatch(memory_id):
            reading.refused.append((f"memory {number}", "has no id that can be kept"))
            continue
        if not any(text_of(entry.get(name)).strip() for name in ("title", "text")):
            reading.refused.append((memory_id, "says nothing"))
            continue
        project = line_of(entry.get("project"), 120)
        if entry.get("level") == Level.PROJECT and not KEY.fullmatch(project):
            reading.refused.append((memory_id, "names no project"))
            continue
        status = line_of(entry.get("status"))
        kind = Kind(entry["kind"]) if entry.get("kind") in list(Kind) else Kind.KNOWLEDGE
        fields = {name: _as_frontmatter(value) for name, value in entry.items()}
        memory = read_fields(
            fields,  # type: ignore[arg-type]
            text_of(entry.get("text")),
            path=memory_id,
            kind=kind,
            archived=status in (Status.ARCHIVED, Status.ORPHANED),
            modified=datetime.now(UTC).replace(microsecond=0),
        )
        vault = line_of(entry.get("vault"), 160) or "user"
        shared = bool(entry.get("in_repository"))
        record = _record(memory, vault, project if vault != "user" else "", shared=shared)
        yield _counted(record, entry.get("usage"))


def _counts_in(path: Path) -> dict[str, object]:
    """Return the counts of each memory's use in an exported folder; {} when it has no such file."""
    if not path.is_file():
        return {}
    counts = source_file.read_json(source_file.located(path)).get("usage")
    return counts if isinstance(counts, dict) else {}


def _counted(record: Record, counts: object) -> Record:
    """Return *record* with the counts that the source gives; a value that is not a count is left out."""
    if not isinstance(counts, dict):
        return record
    last = _number(counts.get("last_access"), LATEST)
    moves = counts.get("moves")
    return replace(
        record,
        accesses=_number(counts.get("accesses")),
        retrieved=_number(counts.get("retrieved")),
        used=_number(counts.get("used")),
        last_access=datetime.fromtimestamp(last, UTC) if last else None,
        moves=tuple(
            (line_of(move[0], 40), _number(move[1], LATEST))
            for move in (moves if isinstance(moves, list) else [])[-MOST_MOVES:]
            if isinstance(move, list) and len(move) == 2
        ),
    )


def _number(value: object, most: int = MOST_TIMES) -> int:
    return value if type(value) is int and 0 <= value <= most else 0


def _as_frontmatter(value: object) -> object:
    """Return a JSON value as frontmatter would give it: every scalar is a text."""
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case list():
            return [_as_frontmatter(item) for item in value[:1000]]
        case dict():
            return {str(name): _as_frontmatter(item) for name, item in list(value.items())[:8]}
    return value


def _record(memory: Memory, vault: str, project: str, *, data: bytes = b"", shared: bool = False) -> Record:
    if shared and memory.source == MANUAL:
        memory = replace(memory, source=IMPORTED)
    return Record(
        key=f"{vault}/{memory.id}",
        title=memory.title,
        text=memory.text,
        kind=memory.kind,
        status=memory.status,
        id=memory.id,
        level=Level.PROJECT if project else Level.USER,
        project=project,
        vault=vault,
        lossless=memory,
        data=data,
    )


def _capped(record: Record, *, mine: bool) -> Record:
    """Return *record* with no stronger source and no more trust than the person who imports it granted."""
    memory = record.lossless
    if not mine:
        record = replace(record, moves=())  # anyone may have written them
    if memory is None or memory.source in PUSHED_AS_FACTS or memory.source == TRANSCRIPT:
        return record
    if memory.source == MANUAL and mine:
        return record
    return replace(record, lossless=replace(memory, source=IMPORTED))
