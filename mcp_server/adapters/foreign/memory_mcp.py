"""
`.memory/state.json`: the store of one project, as the memory-mcp with hooks keeps it.

    {"version": 2, "memories": [{"id": "mem_…", "type", "content", "tags", "created", "updated",
                                 "confidence", "accessCount", "supersedes"?, "mergedFrom"?}]}

A memory is superseded or archived when a tag (in other versions `status`) says so.
Its confidence is already decayed and is not imported; the access count is.
"""

from dataclasses import replace
from pathlib import Path

from mcp_server.adapters.foreign import source_file
from mcp_server.core.exchange.foreign import (
    Reading,
    Record,
    admit,
    count_of,
    line_of,
    lines_of,
    moment_of,
    must_hold,
    tags_of,
    text_of,
    type_of,
)
from mcp_server.core.memory import Status
from mcp_server.core.text.titles import title_of

NAMES = (".memory/state.json", "state.json")
_AWAY = (Status.SUPERSEDED, Status.ARCHIVED)


def read(path: Path) -> Reading:
    """Return what the state file *path* holds, or the one below that folder; raises Rejected."""
    file = source_file.located(path, *NAMES)
    document = source_file.read_json(file)
    memories = document.get("memories")
    must_hold(isinstance(memories, list), f"{file} contains no list of memories.")
    reading = Reading(str(file))
    records = []
    for number, memory in enumerate(memories if isinstance(memories, list) else (), start=1):
        if not isinstance(memory, dict) or not line_of(memory.get("id")):
            reading.refused.append((f"memory {number}", "has no id"))
            continue
        records.append(_record(memory))
    admit(_with_successors(records), reading)
    return reading


def _record(memory: dict[str, object]) -> Record:
    text = text_of(memory.get("content"))
    tags = tags_of(memory.get("tags"))
    labels = [*tags, line_of(memory.get("status")).lower()]
    status = next((status for status in _AWAY if status in labels), Status.ACTIVE)
    return Record(
        key=line_of(memory.get("id"), 120),
        title=title_of(text),
        text=text,
        type=type_of(memory.get("type")),
        tags=tuple(tag for tag in tags if tag not in _AWAY),
        created=moment_of(memory.get("created")),
        updated=moment_of(memory.get("updated")),
        status=status,
        archived_reason="archived before the import" if status is Status.ARCHIVED else "",
        pinned=memory.get("pinned") is True,
        supersedes=lines_of(memory.get("supersedes")),
        merged_from=lines_of(memory.get("mergedFrom")),
        accesses=count_of(memory.get("accessCount")),
        last_access=moment_of(memory.get("updated")),
    )


def _with_successors(records: list[Record]) -> list[Record]:
    """Return *records* with the successor of each; in the file only the successor names its predecessor."""
    successor = {old: record.key for record in records for old in (*record.merged_from, *record.supersedes)}
    return [
        replace(record, status=Status.SUPERSEDED, superseded_by=successor[record.key], archived_reason="")
        if successor.get(record.key, record.key) != record.key
        else record
        for record in records
    ]
