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
from mcp_server.core.exchange import foreign
from mcp_server.core.memory_parts import Status
from mcp_server.core.text.titles import title_of

NAMES = (".memory/state.json", "state.json")
_AWAY = (Status.SUPERSEDED, Status.ARCHIVED)


def read(path: Path) -> foreign.Reading:
    """Return what the state file *path* holds, or the one below that folder; raises Rejected."""
    file = source_file.located(path, *NAMES)
    document = source_file.read_json(file)
    memories = document.get("memories")
    foreign.must_hold(isinstance(memories, list), f"{file} contains no list of memories.")
    reading = foreign.Reading(str(file))
    records = []
    for number, memory in enumerate(memories if isinstance(memories, list) else (), start=1):
        if not isinstance(memory, dict) or not foreign.line_of(memory.get("id")):
            reading.refused.append((f"memory {number}", "has no id"))
            continue
        records.append(_record(memory))
    foreign.admit(_with_successors(records), reading)
    return reading


def _record(memory: dict[str, object]) -> foreign.Record:
    text = foreign.text_of(memory.get("content"))
    tags = foreign.tags_of(memory.get("tags"))
    labels = [*tags, foreign.line_of(memory.get("status")).lower()]
    status = next((status for status in _AWAY if status in labels), Status.ACTIVE)
    return foreign.Record(
        key=foreign.line_of(memory.get("id"), 120),
        title=title_of(text),
        text=text,
        type=foreign.type_of(memory.get("type")),
        tags=tuple(tag for tag in tags if tag not in _AWAY),
        created=foreign.moment_of(memory.get("created")),
        updated=foreign.moment_of(memory.get("updated")),
        status=status,
        pinned=memory.get("pinned") is True,
        supersedes=foreign.lines_of(memory.get("supersedes")),
        merged_from=foreign.lines_of(memory.get("mergedFrom")),
        accesses=foreign.count_of(memory.get("accessCount")),
        last_access=foreign.moment_of(memory.get("updated")),
    )


def _with_successors(records: list[foreign.Record]) -> list[foreign.Record]:
    """Return *records* with the successor of each; in the file only the successor names its predecessor."""
    successor = {old: record.key for record in records for old in (*record.merged_from, *record.supersedes)}
    return [
        replace(record, status=Status.SUPERSEDED, superseded_by=successor[record.key])
        if successor.get(record.key, record.key) != record.key
        else record
        for record in records
    ]
