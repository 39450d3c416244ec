"""
Memories in one JSON document, as mcp-memory-service, mem0 and claude-mem export them.

    {"memories": [{"content", "content_hash", "tags", "memory_type", "metadata", "created_at", …}]}
    {"results": [{"id", "memory", "categories", "metadata", "created_at", …}]}
    {"observations": [{"id", "title", "narrative", "facts", "concepts", "type", "project", …}]}

An array alone is read, too. A list may be written as JSON in a text: so it comes from a database.
"""

import json
from pathlib import Path

from mcp_server.adapters.foreign import source_file
from mcp_server.core.digests import text_digest
from mcp_server.core.exchange import foreign
from mcp_server.core.memory_parts import Level
from mcp_server.core.text.titles import clipped, title_of

LISTS = ("memories", "results", "records", "observations")
_TEXTS = ("content", "memory", "narrative", "text")
_KEYS = ("id", "content_hash", "hash")
_ALSO = ("user_id", "agent_id", "subtitle")  # what becomes notes, beside the metadata


def read(path: Path) -> foreign.Reading:
    """Return what the file *path* holds; raises Rejected."""
    file = source_file.located(path)
    document = source_file.parsed(source_file.text_in(file), str(file))
    if isinstance(document, dict):
        document = next((document[name] for name in LISTS if isinstance(document.get(name), list)), None)
    entries = document if isinstance(document, list) else []
    records = []
    reading = foreign.Reading(str(file))
    for number, entry in enumerate(entries, start=1):
        if isinstance(entry, dict) and (record := _record(entry)):
            records.append(record)
        else:
            reading.refused.append((f"memory {number}", f"has no text ({', '.join(_TEXTS)})"))
    foreign.must_hold(records or document == [], f"{file} contains no list of memories ({', '.join(LISTS)}).")
    foreign.admit(records, reading)
    return reading


def _record(entry: dict[str, object]) -> foreign.Record | None:
    """Return the record of *entry*, None when it has no text."""
    text = next((text for name in _TEXTS if (text := foreign.text_of(entry.get(name)).strip())), "")
    facts = [line for fact in _list(entry.get("facts")) if (line := foreign.line_of(fact))]
    text = "\n\n".join(filter(None, [text, "\n".join(f"- {fact}" for fact in facts)]))
    if not text:
        return None
    metadata = entry.get("metadata")
    others = {name: entry[name] for name in _ALSO if entry.get(name)}
    tags = [tag for name in ("tags", "categories", "concepts") for tag in _list(entry.get(name))]
    key = next((key for name in _KEYS if (key := foreign.line_of(entry.get(name)))), text_digest(text))
    project = foreign.line_of(entry.get("project"))
    created = foreign.moment_of(entry.get("created_at") or entry.get("created_at_epoch"))
    return foreign.Record(
        key=key,
        title=clipped(foreign.line_of(entry.get("title"), 400)) or title_of(text),
        text=text,
        type=foreign.type_of(entry.get("memory_type"), entry.get("type")),
        tags=foreign.tags_of(tags),
        category=foreign.line_of(entry.get("type"), 60),
        created=created,
        updated=foreign.moment_of(entry.get("updated_at")) or created,
        touches=foreign.lines_of(_list(entry.get("files_modified"))),
        notes=foreign.notes_of({**others, **(metadata if isinstance(metadata, dict) else {})}),
        level=Level.PROJECT if project else Level.USER,
        project=project,
    )


def _list(value: object) -> list[object]:
    """Return the list that *value* is, or has as JSON or between commas; [] for anything else."""
    if isinstance(value, str) and value.startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return []
    return foreign.parts_of(value)
