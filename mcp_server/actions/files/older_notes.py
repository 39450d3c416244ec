"""
older_notes: write into the ledger, once, the notes that earlier versions kept in separate files.

    <MEMORY_DIR>/auto-memory/<digest>.json    what each topic file of one of Claude Code's folders became:
        {"folder": …, "topics": {file: {"ref", "digest", "words", "same", "topic", "size", "mtime_ns"}}}
"""

import contextlib
import json
from pathlib import Path
from typing import Any

from mcp_server.actions.files.load import load
from mcp_server.adapters import files, places
from mcp_server.adapters.auto_memory_folder import WHAT
from mcp_server.adapters.foreign import auto_memory
from mcp_server.adapters.index.events.auto_memory_topics import ELSEWHERE
from mcp_server.adapters.index.events.imports import origin
from mcp_server.core.errors import DaybookError
from mcp_server.core.exchange.foreign import IMPORTED
from mcp_server.core.memory_parts import Kind, Level, fingerprint, id_in, vault_in
from mcp_server.core.provenance.provenance import ASSISTANT
from mcp_server.core.text.titles import clipped
from mcp_server.store import Store

# Raised for notes that were edited or damaged: such notes are ignored.
_ODD = (AttributeError, KeyError, RecursionError, TypeError, ValueError)


def carry_over(store: Store) -> None:
    """Write the old notes into the ledger and delete them; after an OSError the rest waits."""
    folder = store.home / places.AUTO_MEMORY
    with contextlib.suppress(OSError, DaybookError):
        for path in sorted(folder.glob("*.json")):
            with contextlib.suppress(*_ODD):
                _carry(store, json.loads(files.read(path)))
            files.delete(path)
        for lock in folder.iterdir():
            lock.unlink()
        folder.rmdir()


def _carry(store: Store, notes: dict[str, Any]) -> None:
    place, noted = str(notes["folder"]), dict(notes["topics"])
    expected = _words_there(Path(place), noted)
    entries, topics = [], []
    for file, note in noted.items():
        key, ref = origin(WHAT, place, file), str(note["ref"])
        entries.append([key, ref, expected.get(file, str(note["words"])), _is_own(store, ref, file)])
        if note["same"]:
            topics.append([key, str(note["topic"]), ref, str(note["digest"])])
    # An earlier session imported these; the notes do not say which.
    store.record("imported", session="", what=WHAT, place=place, taken=entries)
    store.record(ELSEWHERE, session="", place=place, topics=sorted(topics))


def _words_there(place: Path, noted: dict[str, Any]) -> dict[str, str]:
    """
    Return file → fingerprint of its words, for files that a memory was found to hold which says more.

    The old notes have only that memory's fingerprint. A file that changed since is left out.
    """
    merged = {file: note["topic"] for file, note in noted.items() if not note["same"]}
    records = auto_memory.read(place, level=Level.USER).records if merged else []
    return {
        record.key: fingerprint(clipped(record.title), record.text)
        for record in records
        if merged.get(record.key) == files.digest(record.data)
    }


def _is_own(store: Store, ref: str, file: str) -> bool:
    """Tell whether the import made the memory, and did not find it saying the same already."""
    key, memory_id = vault_in(ref), id_in(ref)
    vaults = [vault for vault in places.all_vaults(store.home, store.vaults) if vault.key == key]
    try:
        memory = load(vaults[0], vaults[0].path_for(memory_id, Kind.KNOWLEDGE)).memory
    except (IndexError, OSError, DaybookError):
        return True  # it was forgotten or archived, and will not be revised
    return memory.source in (IMPORTED, ASSISTANT) and f"{WHAT}: {file}" in memory.notes
