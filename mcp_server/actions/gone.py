"""
gone: a folder of memories that vanished is told once, for no word of the person took them away.

The disk may not be connected, or the folder was deleted as a whole. The ledger hears nothing of it, so that
all is as before when the folder comes back.
"""

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from mcp_server.adapters import files, history, places
from mcp_server.adapters.vault import Vault
from mcp_server.core.errors import Unreadable
from mcp_server.core.render import counted
from mcp_server.store import Store

FEW = 5  # files that a person deletes by hand from a folder that stays: their word
NOTED = "gone-"  # a file in the folder `work`, the key of the vault behind it: what is not told yet


def note_gone(store: Store, vault: Vault, lost: Mapping[str, str]) -> None:
    """
    Note that all memories of folders of *vault* went at once: those *lost*, id → path.

    A few that went from folders that are still there are not noted.
    """
    missing = [folder for folder in vault.folders() if not folder.is_dir()]
    if not lost or (not missing and len(lost) <= FEW):
        return
    alone = missing[0] if len(missing) == 1 else vault.root
    kept = sum(history.folder_of(store.home, f"{vault.key}/{each}").is_dir() for each in lost)
    said = {
        "folder": str(alone),
        "memories": len(lost),
        "first": next(iter(lost.values())),
        "kept": kept,
        "vault": vault.key,
    }
    path = store.home / places.WORK / f"{NOTED}{vault.key}"
    with contextlib.suppress(OSError):
        files.make_folder(path.parent)
        files.delete(path)
        files.write_new(path, json.dumps(said).encode())


def tell_gone(home: Path) -> list[str]:
    """Return in a sentence each what is gone of the vaults below *home*, once; mostly nothing."""
    told = []
    for path in sorted((home / places.WORK).glob(f"{NOTED}*")):
        with contextlib.suppress(OSError, Unreadable, ValueError, KeyError, TypeError):
            said = json.loads(files.read(path))
            files.delete(path)
            if not os.path.exists(said["first"]):
                told.append(_sentence(home, said))
    return told


def _sentence(home: Path, said: dict[str, object]) -> str:
    number, kept = int(str(said["memories"])), int(str(said["kept"]))
    before = f" What {kept} of them said before is in {history.folder_of(home, str(said['vault']))}."
    return (
        f"{counted(number, 'memory')} {'is' if number == 1 else 'are'} gone from {said['folder']}, and not by"
        " Daybook: connect the disk that holds the folder, or copy the folder back from a backup, and all is"
        f" as before.{before if kept else ''}"
    )
