"""Whether the index says what the files say, and whether it is whole."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.attack import commands
from mcp_server.actions.files.sync import rebuild, sync
from mcp_server.adapters import places
from mcp_server.adapters.index.memories import memories
from mcp_server.adapters.vault import stamps
from mcp_server.bootstrap import Opened


def differences(environment: Mapping[str, str], projects: Sequence[Path]) -> list[str]:
    """Return what the index of the store in *environment* says otherwise than the files and a new index."""

    def compare() -> None:
        opened = Opened(folder=projects[0])
        vaults_seen = [vault for project in projects for vault in opened.store(folder=project).vaults]
        vaults = places.all_vaults(opened.home, vaults_seen)
        store = opened.store()
        sync(store, vaults=vaults)
        before = _rows(opened)
        paths = {stamp.path for vault in vaults for stamp in stamps(vault)}
        with opened.database.read() as db:
            whole = [row[0] for row in db.execute("PRAGMA integrity_check")]
        rebuild(store, vaults=vaults)
        after = _rows(opened)
        wrong = [f"integrity: {message}" for message in whole if message != "ok"]
        wrong += [f"the index lacks {path}" for path in paths - before.keys()]
        wrong += [f"the index still has {path}" for path in before.keys() - paths]
        wrong += [f"the index is out of date: {path}" for path in before if before[path] != after.get(path)]
        print(json.dumps(wrong))

    ended = commands.start((), folder=projects[0], environment=environment, main=compare).end(within=120)
    if ended.code != 0:
        return [f"the index cannot be compared: {ended.code} {ended.error[-500:]}"]
    wrong: list[str] = json.loads(ended.out)
    return wrong


def _rows(opened: Opened) -> dict[str, tuple[Any, ...]]:
    with opened.database.read() as db:
        return {
            row.path: (row.id, row.vault, row.title, row.text, row.status, row.digest, row.tags)
            for row in memories.rows(db, "1", ())
        }
