"""
A folder of markdown notes, as Obsidian and others keep them.

Subfolders are read; hidden folders, files that are not markdown, and symbolic links are not. Frontmatter
is optional: `title tags aliases created updated`, and other plain values become notes.
`[[links]]` stay in the text; those that match neither a title nor an alias become links. The file name
is an alias where it is not the title.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mcp_server.adapters.foreign import source_file
from mcp_server.adapters.frontmatter_lines import StrictFrontmatter
from mcp_server.core.errors import Rejected, Unreadable
from mcp_server.core.exchange.foreign import (
    MAX_LIST,
    Reading,
    Record,
    admit,
    line_of,
    lines_of,
    moment_of,
    notes_of,
    parts_of,
    tags_of,
    type_of,
)
from mcp_server.core.links import RELATES_TO, as_name, wiki_links
from mcp_server.core.markdown import outside_code
from mcp_server.core.memory import LIST_NAMES, PHRASES, Link
from mcp_server.core.memory_parts import Level
from mcp_server.core.render import counted
from mcp_server.core.text.titles import clipped

SUFFIXES = (".md", ".markdown")
MAX_NOTE = 1024 * 1024  # bytes; a memory's text is at most 64 Ki characters
MAX_DEPTH = 32  # below the folder that the person named
MOST = 100_000  # notes
_HASHTAG = re.compile(r"(?<![\w#/&])#([^\W\d_][\w/-]{0,58})")
_HEADING = re.compile(r"\s*#[ \t]+(\S.*)")
_OURS = {
    *"title tag aliases type created date updated modified touches".split(),
    *LIST_NAMES,
}


@dataclass(slots=True)
class _Skipped:
    """What a walk skipped: files that are not markdown, and folders that lie too deep."""

    other_files: int = 0
    too_deep: int = 0


def read(path: Path) -> Reading:
    """Return the notes below the folder *path*; raises Rejected."""
    folder = source_file.located_folder(path)
    reading, skipped = Reading(str(folder)), _Skipped()
    records = []
    for number, file in enumerate(_files(folder, skipped, reading, 0)):
        key = os.fspath(file.relative_to(folder))
        if number >= MOST:
            reading.remarks.append(f"Only the first {MOST:,} notes were read.")
            break
        if not key.isprintable():
            reading.refused.append((line_of(key), "has a name that cannot be printed"))
            continue
        try:
            records.append(_record(file, key))
        except Rejected as error:
            reading.refused.append((key, str(error).removeprefix(f"{file} ")))
    admit(_linked(records), reading)
    if skipped.other_files:
        reading.remarks.append(
            f"Skipped, because it is not markdown: {counted(skipped.other_files, 'file')}."
        )
    if skipped.too_deep:
        reading.remarks.append(
            f"Skipped, because it is more than {MAX_DEPTH} deep: {counted(skipped.too_deep, 'folder')}."
        )
    return reading


def _files(folder: Path, skipped: _Skipped, reading: Reading, depth: int) -> Iterator[Path]:
    """Yield the markdown files below *folder*, sorted by name."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        reading.refused.append((line_of(os.fspath(folder)), f"cannot be read: {error.strerror}"))
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        path = folder / entry.name
        if entry.is_symlink():
            where = path.relative_to(reading.place)
            reading.refused.append((line_of(os.fspath(where)), "is a symbolic link, which is not followed"))
        elif entry.is_dir(follow_symlinks=False):
            if depth < MAX_DEPTH:
                yield from _files(path, skipped, reading, depth + 1)
            else:
                skipped.too_deep += 1
        elif path.suffix.lower() in SUFFIXES:
            yield path
        else:
            skipped.other_files += 1


def _record(file: Path, key: str) -> Record:
    text = source_file.text_in(file, MAX_NOTE)
    if "\0" in text:
        raise Rejected("contains a NUL byte, so it is not text")
    head, text = _split(text, file)
    changed = datetime.fromtimestamp(file.stat(follow_symlinks=False).st_mtime_ns // 1_000_000_000, UTC)
    hashtags = _HASHTAG.findall(outside_code(text))
    tags = [*_words(head.get("tags")), *_words(head.get("tag")), *hashtags]
    others = {name: value for name, value in head.items() if name not in _OURS and isinstance(value, str)}
    heading = _HEADING.match(text)
    called = line_of(head.get("title"), 400) or line_of(heading[1].rstrip("# \t") if heading else "", 400)
    name = line_of(file.stem, 400)
    title = clipped(called or name)
    aliases = dict.fromkeys(alias for alias in (name, *lines_of(head.get("aliases"))) if alias != title)
    updated = moment_of(head.get("updated") or head.get("modified")) or changed
    created = moment_of(head.get("created") or head.get("date")) or min(changed, updated)
    phrases: dict[str, Any] = {key.name: lines_of(parts_of(head.get(key.name))) for key in PHRASES}
    return Record(
        key=key,
        title=title,
        text=text,
        type=type_of(head.get("type")),
        tags=tags_of(list(dict.fromkeys(tags))),
        aliases=tuple(aliases)[:MAX_LIST],
        created=created,
        updated=updated,
        touches=lines_of(head.get("touches")),
        notes=notes_of(others),
        level=Level.USER,
        **phrases,
    )


def _split(text: str, file: Path) -> tuple[Mapping[str, object], str]:
    """Return (the values of the frontmatter, the text below); a broken frontmatter stays in the text."""
    frontmatter = StrictFrontmatter(str(file))
    try:
        block, rest = frontmatter.split(text)
        return {name.lower(): value for name, value in frontmatter.load(block).items()}, rest
    except (ValueError, Unreadable):
        return {}, text


def _words(value: object) -> list[str]:
    """Return the tags in a value: a list, or words separated by commas or blanks."""
    return re.split(r"[,\s]+", value) if isinstance(value, str) else list(lines_of(value))


def _linked(records: list[Record]) -> list[Record]:
    """Return *records* with links for each `[[…]]` that names a note otherwise than its memory is named."""
    named: dict[str, Record] = {}
    for record in reversed(records):
        stem = record.key.rpartition(".")[0]
        for name in (stem.rpartition("/")[2], stem):
            named[name.casefold()] = record
    return [replace(record, links=tuple(_links(record, named))) for record in records]


def _links(record: Record, named: Mapping[str, Record]) -> Iterator[Link]:
    links: dict[str, None] = {}
    for target in wiki_links(record.text):
        plain = target.partition("#")[0].strip().removesuffix(".md").casefold()
        note = named.get(plain)
        if (
            note
            and note.key != record.key
            and as_name(target) not in map(as_name, (note.title, *note.aliases))
        ):
            links[note.key] = None
    yield from (Link(RELATES_TO, key) for key in list(links)[:MAX_LIST])
