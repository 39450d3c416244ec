"""
`~/.claude-memory`: the store of the plugin claude-memory, files named by UUIDs.

    knowledge/<uuid>.md, conversations/<uuid>.md    "# Title", lines `**Key:** value`, a rule, the text
    sessions/<uuid>.json                            {"id", "title", "context", "files", "variables", …}
    archive/<uuid>.md

That folder is Daybook's own by default, too. Markdown files in it are Daybook's memories already and stay
where they are: the lines above the rule become their frontmatter.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from mcp_server.adapters.foreign import source_file
from mcp_server.adapters.json_file import object_in
from mcp_server.core.errors import Rejected
from mcp_server.core.exchange import foreign
from mcp_server.core.memory_parts import ARCHIVE_FOLDER, MAX_CONVERSATION, Kind, Level, Status, timestamp
from mcp_server.core.render import counted
from mcp_server.core.sessions.conversation import Turn, render_turns
from mcp_server.core.sessions.snapshot import render_snapshot

DEFAULT = "~/.claude-memory"
MAX_FILE = 4 * 1024 * 1024  # bytes
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HEADER = re.compile(r"\*\*(\w+):\*\*(.*)")
_METADATA = re.compile(r"(?:\n---\n+)?\*\*Metadata:\*\*\n```json\n(.*?)\n```\s*\Z", re.DOTALL)
_TURN = re.compile(r"^## (USER|ASSISTANT|SYSTEM)[ \t]*$", re.MULTILINE)
_TIME = re.compile(r"\n\*(\d{4}-\d\d-\d\dT[\d:.]+Z)\*\s*(?:\n---\s*)?\Z")
_FOLDERS = {"knowledge": Kind.KNOWLEDGE, "conversations": Kind.CONVERSATION, ARCHIVE_FOLDER: Kind.KNOWLEDGE}


def read(path: Path, *, own: Path) -> foreign.Reading:
    """Return what the folder *path* holds; *own* is the folder of our store. Raises Rejected."""
    folder = source_file.located_folder(path)
    folders = [name for name in (*_FOLDERS, "sessions") if (folder / name).is_dir()]
    foreign.must_hold(
        folders, f"{folder} contains none of knowledge/, conversations/, sessions/ and archive/."
    )
    reading = foreign.Reading(str(folder))
    same = folder == Path(os.path.realpath(own))
    records = []
    for name, file in _files(folder, reading):
        try:
            if name == "sessions":
                records.append(_session(file))
            elif not same:
                records.append(_memory(file, name))
            elif is_theirs(source_file.text_in(file, MAX_FILE)):
                records.append(replace(_memory(file, name), path=str(file)))
            else:
                reading.existing.append((f"{name}/{file.stem}", "is already a memory where it is"))
        except Rejected as error:
            reading.refused.append((f"{name}/{file.stem}", str(error)))
    foreign.admit(records, reading)
    return reading


def is_theirs(text: str) -> bool:
    """Tell whether a file has the format of that plugin: a title, and dates above a rule."""
    head, rule, _ = text.partition("\n---\n")
    return text.startswith("# ") and bool(rule) and "**Created:**" in head


def _files(folder: Path, reading: foreign.Reading) -> Iterator[tuple[str, Path]]:
    skipped = 0
    for name in (*_FOLDERS, "sessions"):
        suffix = ".json" if name == "sessions" else ".md"
        inside = folder / name
        for file in sorted(inside.iterdir()) if inside.is_dir() and not inside.is_symlink() else ():
            if file.suffix == suffix and _UUID.fullmatch(file.stem):
                yield name, file
            elif not file.name.startswith(".") and file.name != "index.json":
                skipped += 1
    if skipped:
        reading.remarks.append(f"Skipped, because the name is not a UUID: {counted(skipped, 'file')}.")


def _memory(file: Path, folder: str) -> foreign.Record:
    text = source_file.text_in(file, MAX_FILE)
    first, _, rest = text.partition("\n")
    head, rule, body = rest.partition("\n---\n")
    fields = {key.lower(): value.strip() for key, value in _HEADER.findall(head)} if rule else {}
    if not rule:
        body = rest
    in_body = _metadata(body)
    metadata = (_metadata(head) if rule else None) or in_body
    body = body[: in_body.start() if in_body else None].strip("\n")
    kind = Kind.CONVERSATION if fields.get("type") == "conversation" else _FOLDERS[folder]
    if _TURN.search(body) and (kind is Kind.CONVERSATION or folder == ARCHIVE_FOLDER):
        kind, body = Kind.CONVERSATION, render_turns(_turns(body))
    if len(body) > MAX_CONVERSATION:
        raise Rejected(f"has {len(body):,} characters; {MAX_CONVERSATION:,} is the limit")
    came_from = fields.get("source", "").removeprefix("Conversation").strip()
    notes = (f"from conversation {foreign.line_of(came_from, 80)}",) if came_from else ()
    return foreign.Record(
        key=file.stem,
        title=foreign.line_of(first.lstrip("#").strip(), 200),
        text=body,
        kind=kind,
        type=foreign.type_of(fields.get("category"), fields.get("type")) if kind is Kind.KNOWLEDGE else "",
        tags=foreign.tags_of(fields.get("tags", "")),
        created=foreign.moment_of(fields.get("created", "")),
        updated=foreign.moment_of(fields.get("updated", "")),
        status=Status.ARCHIVED if folder == ARCHIVE_FOLDER else Status.ACTIVE,
        category=foreign.line_of(fields.get("category", ""), 60),
        notes=(*notes, *foreign.notes_of(object_in(metadata[1]) if metadata else {})),
        id=file.stem,
        level=Level.USER,
    )


def _metadata(text: str) -> re.Match[str] | None:
    """Return the metadata at the end of *text*; where no fence is there, no beginning of it is tried."""
    return _METADATA.search(text) if text.rstrip().endswith("\n```") else None


def _turns(body: str) -> list[Turn]:
    """Return the turns of a conversation; a line inside one that looks like a rule or a date stays in it."""
    matches = list(_TURN.finditer(body))
    turns = []
    for match, following in zip(matches, [*matches[1:], None], strict=True):
        words = body[match.end() : following.start() if following else len(body)].rstrip()
        when = _TIME.search("\n" + words)
        if when:
            words = words[: when.start() - 1] if when.start() else ""
        moment: datetime | None = foreign.moment_of(when[1]) if when else None
        turns.append(Turn(match[1].lower(), words.strip("\n"), timestamp(moment) if moment else ""))
    return turns


def _session(file: Path) -> foreign.Record:
    session = source_file.parsed(source_file.text_in(file, MAX_FILE), file.name)
    foreign.must_hold(isinstance(session, dict), f"{file.name} contains no JSON object.")
    touched, variables = foreign.lines_of(session.get("files")), session.get("variables")
    values = variables if isinstance(variables, dict) else {}
    metadata = session.get("metadata")
    return foreign.Record(
        key=file.stem,
        title=foreign.line_of(session.get("title"), 200),
        text=render_snapshot(foreign.text_of(session.get("context")), touched, values, ()),
        kind=Kind.SESSION,
        created=foreign.moment_of(session.get("createdAt")),
        updated=foreign.moment_of(session.get("updatedAt") or session.get("createdAt")),
        touches=touched,
        notes=foreign.notes_of(metadata if isinstance(metadata, dict) else {}),
        id=file.stem,
        level=Level.USER,
    )
