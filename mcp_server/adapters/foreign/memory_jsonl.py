"""
`memory.jsonl`: the store of the reference memory server of the Model Context Protocol.

    {"type": "entity", "name", "entityType", "observations": [...]}
    {"type": "relation", "from", "to", "relationType"}

An entity becomes a memory, its observations a list, a relation a link. Only the broken lines are refused.
"""

import json
from collections import defaultdict
from pathlib import Path

from mcp_server.adapters.foreign import source_file
from mcp_server.adapters.foreign.link_label import label_of
from mcp_server.core.exchange import foreign
from mcp_server.core.memory import Link
from mcp_server.core.memory_parts import Level
from mcp_server.core.text.titles import clipped

NAMES = ("memory.jsonl", "memory.json")


def read(path: Path) -> foreign.Reading:
    """Return what the file *path* holds, or the one below that folder; raises Rejected."""
    file = source_file.located(path, *NAMES)
    reading = foreign.Reading(str(file))
    entities: list[dict[str, object]] = []
    relations: list[tuple[int, dict[str, object]]] = []
    lines = [(n, row) for n, row in enumerate(source_file.text_in(file).split("\n"), 1) if row.strip()]
    for number, row in lines:
        try:
            entry = json.loads(row)
        except (ValueError, RecursionError):
            reading.refused.append((f"line {number}", "is broken JSON"))
            continue
        kind = entry.get("type") if isinstance(entry, dict) else None
        if kind == "entity" and foreign.line_of(entry.get("name")):
            entities.append(entry)
        elif kind == "relation":
            relations.append((number, entry))
        else:
            reading.refused.append((f"line {number}", "is neither an entity with a name nor a relation"))
    foreign.must_hold(entities or relations or not lines, f"{file} contains no entity.")
    names = {foreign.line_of(entity.get("name"), 200) for entity in entities}
    links: dict[str, dict[Link, None]] = defaultdict(dict)
    for number, relation in relations:
        start, end = foreign.line_of(relation.get("from"), 200), foreign.line_of(relation.get("to"), 200)
        if start in names and end in names:
            links[start][Link(label_of(relation.get("relationType")), end)] = None
        else:
            reading.refused.append(
                (f"line {number}", f"links {start or '?'} to {end or '?'}, one is missing")
            )
    foreign.admit([_record(entity, links) for entity in entities], reading)
    return reading


def _record(entity: dict[str, object], links: dict[str, dict[Link, None]]) -> foreign.Record:
    name, kind = foreign.line_of(entity.get("name"), 200), foreign.line_of(entity.get("entityType"), 60)
    values = entity.get("observations")
    observations = [
        text
        for value in (values if isinstance(values, list) else [])
        if (text := foreign.text_of(value).strip())
    ]
    indented = (text.replace("\n", "\n  ") for text in observations)
    return foreign.Record(
        key=name,
        title=clipped(name.replace("_", " ")),
        text="\n".join(f"- {text}" for text in indented) or f"{name} ({kind})",
        type=foreign.type_of(kind),
        category=kind,
        created=foreign.moment_of(entity.get("createdAt")),
        updated=foreign.moment_of(entity.get("updatedAt")),
        links=tuple(links[name]),
        notes=foreign.lines_of(entity.get("project")),
        level=Level.USER,
    )
