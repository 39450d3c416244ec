"""
A folder of markdown notes, as Obsidian and others keep them.

Subfolders are read; hidden folders, files that are not markdown, and symbolic links are not. Frontmatter
is optional: `title tags aliases created updated`; other values, and those that cannot be read, become notes.
`[[links]]` stay in the text; those that match neither a title nor an alias become links, as do links of
markdown to the files of notes. The file name is an alias where it is not the title.
"""

import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from mcp_server.adapters.foreign import source_file
from mcp_server.adapters.frontmatter_lines import StrictFrontmatter
from mcp_server.core.errors import Rejected, Unreadable
from mcp_server.core.exchange.foreign import (
    MAX_LIST,
    OTHER_TYPES,
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
from mcp_server.core.memory_parts import MAX_TEXT, Level
from mcp_server.core.memory_types import TYPES
from mcp_server.core.render import counted
from mcp_server.core.text.titles import clipped

SUFFIXES = (".md", ".markdown", ".mdc")  # the last one is Cursor's
MAX_NOTE = 1024 * 1024  # bytes; a memory's text is at most 64 Ki characters
MAX_DEPTH = 32  # below the folder that the person named
MOST = 100_000  # notes
_HASHTAG = re.compile(r"(?<![\w#/&])#([^\W\d_][\w/-]{0,58})")
_HEADING = re.compile(r"\s*#[ \t]+(\S.*)")
_PROPERTIES = re.compile(r"(?:[\w-]+::[ \t].*(?:\n|\Z))+")  # as Logseq has them at the beginning of a page
_LINK = re.compile(
    r"(?<!!)\[[^\[\]\n]{0,200}\]\((?:<(?P<quoted>[^<>\n]{1,400})>|(?P<plain>[^()\s]{1,400}))"
)  # no image
_DATES = ("created", "date", "updated", "modified")
_OURS = {*"title tag alias aliases permalink touches".split(), *LIST_NAMES}


@dataclass(slots=True)
class _Skipped:
    """What a walk skipped: files that are not markdown, and folders that lie too deep."""

    other_files: int = 0
    too_deep: int = 0


def read(path: Path) -> Reading:
    """Return the notes below the folder *path*; raises Rejected."""
    folder = source_file.located_folder(path)
    reading, skipped = Reading(str(folder), whole=True), _Skipped()
    records = []
    for number, file in enumerate(_files(folder, skipped, reading, 0)):
        key = os.fspath(file.relative_to(folder))
        if number >= MOST:
            reading.remarks.append(f"Only the first {MOST:,} notes were read.")
            reading.whole = False
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
            " 'daybook seed FILE' takes in a text."
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
        reading.whole = False
        return
    for entry in entries:
        path = folder / entry.name
        if entry.name.startswith(".") or (path / "config.edn").is_file():  # the latter has Logseq's backups
            continue
        if entry.is_symlink():
            where = path.relative_to(reading.place)
            reading.refused.append((line_of(os.fspath(where)), "is a symbolic link, which is not followed"))
            reading.whole = reading.whole and not entry.is_dir()
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
    keys, text = _split(text, file)
    head = {name.lower(): value for name, value in keys.items()}
    if len(text) > MAX_TEXT:
        seed = "'daybook seed FILE' takes in its sections"
        raise Rejected(f"has {len(text):,} characters; {MAX_TEXT:,} is the limit; {seed}")
    changed = datetime.fromtimestamp(file.stat(follow_symlinks=False).st_mtime_ns // 1_000_000_000, UTC)
    hashtags = _HASHTAG.findall(outside_code(text))
    tags = [*_words(head.get("tags")), *_words(head.get("tag")), *hashtags]
    others = {name: value for name, value in keys.items() if value and not _is_read(name.lower(), value)}
    heading = _HEADING.match(text)
    called = line_of(head.get("title"), 400) or line_of(heading[1].rstrip("# \t") if heading else "", 400)
    name = line_of(file.stem, 400)
    title = clipped(called or name)
    called_too = [word for key in ("aliases", "alias", "permalink") for word in parts_of(head.get(key))]
    aliases = dict.fromkeys(alias for alias in (name, *lines_of(called_too)) if alias != title)
    updated = moment_of(head.get("updated") or head.get("modified")) or changed
    created = _created(head, name) or min(changed, updated)
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


def _is_read(name: str, value: object) -> bool:
    """Tell whether a value of the frontmatter has its own place in a record; any other becomes a note."""
    if name == "type":
        return line_of(value, 40).lower() in (*TYPES, *OTHER_TYPES)
    return moment_of(value) is not None if name in _DATES else name in _OURS


def _created(head: Mapping[str, object], name: str) -> datetime | None:
    """Return when a note was begun by its frontmatter, or by its *name* when that is a day; else None."""
    day = name.replace("_", "-")  # Logseq's
    by_name = moment_of(day) if re.fullmatch(r"\d{4}-\d\d-\d\d", day) else None
    return moment_of(head.get("created")) or moment_of(head.get("date")) or by_name


def _split(text: str, file: Path) -> tuple[Mapping[str, object], str]:
    """
    Return (the values of the frontmatter, the text below); a broken frontmatter stays in the text.

    Logseq's properties are read, and stay there, too.
    """
    frontmatter = StrictFrontmatter(str(file))
    try:
        block, rest = frontmatter.split(text)
        return frontmatter.load(block), rest
    except (ValueError, Unreadable):
        properties = _PROPERTIES.match(text)
        pairs = (line.partition("::") for line in properties[0].splitlines()) if properties else ()
        return {name: value.strip() for name, _, value in pairs if name.lower() in _OURS}, text


def _words(value: object) -> list[str]:
    """Return the tags in a value: a list, or words separated by commas, else by blanks."""
    return (
        re.split("," if "," in value else r"\s+", value) if isinstance(value, str) else list(lines_of(value))
    )


def _linked(records: list[Record]) -> list[Record]:
    """
    Return *records* with links for each `[[…]]` that names a note otherwise than its memory is named, and
    for each link of markdown to the file of a note.
    """
    named: dict[str, Record] = {}
    for record in reversed(records):
        stem = record.key.rpartition(".")[0]
        for name in (stem.rpartition("/")[2], stem, *(f"memory://{alias}" for alias in record.aliases)):
            named[name.casefold()] = record
    return [replace(record, links=tuple(_links(record, named))) for record in records]


def _links(record: Record, named: Mapping[str, Record]) -> Iterator[Link]:
    links: dict[str, None] = {}
    for target in wiki_links(record.text):
        plain = target.partition("#")[0].strip().removesuffix(".md").casefold()
        note = named.get(plain)
        if note and as_name(target) not in map(as_name, (note.title, *note.aliases)):
            links[note.key] = None
    for match in _LINK.finditer(outside_code(record.text)):
        file = unquote(match["quoted"] or match["plain"]).partition("#")[0]
        stem, suffix = posixpath.splitext(posixpath.join(posixpath.dirname(record.key), file))
        if suffix.lower() in SUFFIXES and (note := named.get(posixpath.normpath(stem).casefold())):
            links[note.key] = None
    links.pop(record.key, None)
    yield from (Link(RELATES_TO, key) for key in list(links)[:MAX_LIST])
