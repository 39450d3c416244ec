"""
auto_memory: import what Claude Code noted in its own memory of this project.

Where a topic file and the memory made of it say the same, that is noted: a session to which Claude Code shows
the topic file is not shown the memory as well.
"""

from collections.abc import Mapping
from pathlib import Path

from mcp_server.actions.exchange.imports.batch import Imported
from mcp_server.actions.exchange.imports.take import take
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import catch_up_if_free
from mcp_server.adapters import auto_memory_folder as folder_of
from mcp_server.adapters import files
from mcp_server.adapters.auto_memory_folder import WHAT
from mcp_server.adapters.foreign import auto_memory
from mcp_server.adapters.index.events import auto_memory_topics
from mcp_server.adapters.index.events.auto_memory_topics import ELSEWHERE, Topic
from mcp_server.adapters.index.events.imports import origin
from mcp_server.core.errors import NotFound, Unreadable
from mcp_server.core.exchange.foreign import Reading
from mcp_server.core.memory_parts import Level, fingerprint
from mcp_server.store import Store


def import_auto_memory(
    store: Store, claude: Path, *, folder: Path | None = None, dry_run: bool = False
) -> Imported:
    """
    Take in the topic files of this project's auto memory; *claude* is the folder of Claude Code's settings.

    *folder* is where sessions start when that is not the project's root. With *dry_run* nothing is written.
    Raises IndexUnavailable, and OSError when the disk refuses; files taken in until then stay.
    """
    project = [store.project.root] if store.project else []
    place = folder_of.locate(claude, list(dict.fromkeys([*project, *([folder] if folder else [])])))
    if place.folder is None:
        searched = " or ".join(map(str, place.looked))
        return Imported(searched, remarks=("Claude Code keeps no memory of this project there.",))
    reading = auto_memory.read(place.folder, level=Level.PROJECT if store.project else Level.USER)
    (imported,) = take(store, [reading], source_name=WHAT, dry_run=dry_run)
    if not dry_run:
        _note_shown(store, reading, {item.key: item.id for item in imported.items})
    return imported


def _note_shown(store: Store, reading: Reading, ids: Mapping[str, str]) -> None:
    """Note which topic files say the same as their memories, unless the ledger has exactly that already."""
    topics = []
    for record in reading.records:
        try:
            file = read(store, ids[record.key]) if ids.get(record.key) else None
        except (NotFound, Unreadable):
            continue
        if file and fingerprint("", file.memory.text) == fingerprint("", record.text):
            origin_name = origin(WHAT, reading.place, record.key)
            topics.append(Topic(origin_name, files.digest(record.data), file.ref, file.digest))
    with store.database.read() as db:
        noted_topics = auto_memory_topics.topics(db, reading.place)
    if sorted(topics) != list(noted_topics):
        store.try_record(ELSEWHERE, place=reading.place, topics=sorted(topics))
        catch_up_if_free(store)
