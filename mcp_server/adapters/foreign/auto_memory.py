"""
The topic files of Claude Code's own memory of a project, one fact in each: see docs/auto-memory.md.

    ---
    name: exports
    description: How invoices are exported
    metadata:
      type: project        (user, feedback, project, reference)
    ---
    Exports are written as parquet files.

Of two that say different things about one subject the newer one counts, so the oldest is read first.
"""

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from mcp_server.adapters import files
from mcp_server.adapters.auto_memory_folder import INDEX, MAX_TOPIC, WHAT
from mcp_server.adapters.frontmatter_lines import StrictFrontmatter
from mcp_server.adapters.vault import is_memory_name
from mcp_server.core.errors import Unreadable
from mcp_server.core.exchange.foreign import IMPORTED, Reading, Record, text_of
from mcp_server.core.memory_parts import Level
from mcp_server.core.provenance.instructions import reads_like_instruction
from mcp_server.core.provenance.provenance import ASSISTANT
from mcp_server.core.render import counted
from mcp_server.core.secrets.redaction import find_secrets, redact

MOST = 500  # topic files of one folder that are read
MASKED = "what looks like a secret was masked"
WAITS = "reads like an instruction, so it waits for 'daybook review'"

_EVERYWHERE = re.compile(
    r"\b(?:everywhere|globally|(?:all|every|any|across|regardless of|whatever) (?:the |of the |my |our )?"
    r"(?:projects?|repositor(?:y|ies)|repos?|code ?bases?))\b",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"\b(?:decided|decision|chose|chosen|opted for|settled on|went with|agreed (?:on|to))\b", re.IGNORECASE
)
_LINE = re.compile(r"[ \t]*(name|description|type)[ \t]*:[ \t]*(.*)")


def read(folder: Path, *, level: Level) -> Reading:
    """Return the topic files of *folder*; *level* is where knowledge of this project belongs."""
    reading = Reading(str(folder), revises=("title", "text", "type"))
    dated = []
    for name, problem in topics(folder):
        try:
            if problem:
                raise Unreadable(name, 0, problem)
            record = _record(name, files.read(folder / name, MAX_TOPIC), level)
            dated.append((os.stat(folder / name, follow_symlinks=False).st_mtime_ns, name, record))
        except Unreadable as error:
            reason = f"line {error.line}: {error.reason}" if error.line else error.reason
            reading.refused.append((name, reason))
        except OSError as error:
            reading.refused.append((name, f"cannot be read: {error.strerror}"))
    reading.records = [record for *_, record in sorted(dated, key=lambda entry: entry[:2])]
    if number := _only_in_index(folder / INDEX):
        seed = f"daybook seed {shlex.quote(str(folder / INDEX))}"
        reading.remarks.append(
            f"Only in {INDEX}, and not imported: {counted(number, 'line')}. '{seed}' makes memories of them."
        )
    return reading


def _only_in_index(index: Path) -> int:
    """Return how many lines of *index* are neither headings nor name a topic file."""
    try:
        text = files.read(index, MAX_TOPIC).decode("utf-8", "replace")
    except (Unreadable, OSError):
        return 0
    return len(re.findall(r"^(?![ \t]*(?:#|---))(?!.*\.md\b).*\w.*$", text, re.MULTILINE))


def topics(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield (name, why it cannot be read, '' where it may) for each topic file of *folder*."""
    try:
        names = sorted(name for name in os.listdir(folder) if name != INDEX and is_memory_name(name))
    except OSError as error:
        yield str(folder), f"cannot be read: {error.strerror}"
        return
    for number, name in enumerate(names):
        odd = "" if name.isprintable() else "has a name that cannot be printed"
        yield name, f"comes after {MOST} others, which is the limit" if number >= MOST else odd


def _record(file: str, data: bytes, level: Level) -> Record:
    """Return the record of the topic *file*; raises Unreadable when it is not text."""
    head, text = _split(file, data)
    metadata = head.get("metadata")
    kind = metadata.get("type") if isinstance(metadata, dict) else None
    description = text_of(head.get("description")).strip()
    title = description or text_of(head.get("name")).strip()
    title = title or Path(file).stem.replace("_", " ").replace("-", " ")
    text = text if text.strip() else description
    remarks = [MASKED] if find_secrets(f"{title}\n{text}") else []
    title, text = redact(title), redact(text)
    whole = f"{title}\n{text}"
    type_, level = _type_of(text_of(kind or head.get("type")).strip().lower(), whole, level)
    waits = reads_like_instruction(whole)
    return Record(
        key=file,
        title=title,
        text=text,
        type=type_,
        tags=(WHAT,),
        level=level,
        notes=(f"{WHAT}: {file}",),
        # Claude wrote these files on its own, perhaps because a web page told it to.
        source=ASSISTANT if waits else IMPORTED,
        remark="; ".join([*remarks, *([WAITS] if waits else [])]),
        data=data,
    )


def _type_of(kind: str, whole: str, level: Level) -> tuple[str, Level]:
    match kind:
        case "user":
            return "preference", Level.USER
        case "feedback":
            return "preference", Level.USER if _EVERYWHERE.search(whole) else level
        case "reference":
            return "reference", level
        case "project":
            return "decision" if _DECIDED.search(whole) else "context", level
        case _:
            return "note", level


def _split(file: str, data: bytes) -> tuple[Mapping[str, object], str]:
    """Return (what the frontmatter says, the text below it)."""
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise Unreadable(file, 0, "is not UTF-8") from None
    if "\0" in text:
        raise Unreadable(file, 0, "contains a NUL byte, so it is not text")
    frontmatter = StrictFrontmatter(file)
    try:
        block, text = frontmatter.split(text)
    except ValueError:
        return {}, text.strip("\n")  # there is no frontmatter
    try:
        return frontmatter.load(block), text.strip("\n")
    except Unreadable:
        return _loosely(block), text.strip("\n")  # a model wrote it; a colon in a description breaks the YAML


def _loosely(block: str) -> dict[str, object]:
    """Return the values of the lines `name:`, `description:` and `type:` of *block*, the first of each."""
    head: dict[str, object] = {}
    for line in block.split("\n"):
        if match := _LINE.fullmatch(line):
            head.setdefault(match[1], match[2].strip().strip("\"'"))
    return head
