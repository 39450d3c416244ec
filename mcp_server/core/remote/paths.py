"""
The paths that the exchanged repository has, and what lies at each; every other path in it is left alone.

    knowledge/ sessions/ archive/ candidates/ conversations/    the user vault
    projects/<key>/                                             a project's vault, and project.json
    ledger/<machine>-<month>@<copy>.jsonl                       what one copy of the store noted
"""

import re
from enum import StrEnum

from mcp_server.core.conflict_copies import original_of
from mcp_server.core.memory_parts import ARCHIVE_FOLDER, Kind
from mcp_server.core.remote import OF_COPY

USER = "user"  # the vault that is the person's own, as the index calls it
PROJECTS, LEDGER, CANDIDATES, PROJECT_FILE = "projects", "ledger", "candidates", "project.json"
FOLDERS = (*(kind.folder for kind in Kind), ARCHIVE_FOLDER, CANDIDATES)
LONGEST, LONGEST_NAME = 512, 240  # bytes of a path, and of a name in it

_KEY = re.compile(r"[a-z0-9][a-z0-9-]{0,80}")
_LEDGER = re.compile(r"[a-z0-9-]{1,80}-\d{4}-\d{2}@[0-9a-f]{12}\.jsonl")
_SIGN = r"\x00-\x1f\x7f/\\:*?\"<>|"  # what no name on Windows may hold
_NAME = re.compile(rf"[^{_SIGN}.~ ](?:[^{_SIGN}]*[^{_SIGN}. ])?")
_DEVICE = re.compile(r"(?i:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")


class PathSort(StrEnum):
    """What lies at a path."""

    MEMORY = "memory"
    LEDGER = "ledger"
    PROJECT = "project"


def sort_of(path: str) -> PathSort | None:
    """Return what lies at *path*, None for a path that is none of ours, or that no system could hold."""
    parts = path.split("/")
    if parts[0] == LEDGER:
        return PathSort.LEDGER if len(parts) == 2 and _LEDGER.fullmatch(parts[1]) else None
    if parts[0] == PROJECTS:
        if len(parts) < 3 or not is_project_key(parts[1]):
            return None
        if parts[2:] == [PROJECT_FILE]:
            return PathSort.PROJECT
        parts = parts[2:]
    if len(parts) < 2 or parts[0] not in FOLDERS or not all(map(_is_name, parts[1:])):
        return None
    return (
        PathSort.MEMORY if _is_memory(parts[-1]) and len(path.encode("utf-8", "replace")) <= LONGEST else None
    )


def is_project_key(name: str) -> bool:
    """Tell whether a folder *name* in `projects/` is that of a project's vault."""
    return bool(_KEY.fullmatch(name)) and name != USER


def vault_of(path: str) -> str:
    """Return the key of the vault in which *path* lies."""
    return path.split("/")[1] if path.startswith(f"{PROJECTS}/") else USER


def in_vault(path: str) -> str:
    """Return *path* as it is in its vault."""
    return path.split("/", 2)[2] if path.startswith(f"{PROJECTS}/") else path


def of_vault(key: str, place: str) -> str:
    """Return the path of *place* in the vault *key*."""
    return place if key == USER else f"{PROJECTS}/{key}/{place}"


def stem_of(path: str) -> str:
    """Return the name of the file at *path* without its ending: usually the id of the memory in it."""
    return path.rpartition("/")[2].rpartition(".")[0]


def is_candidate(path: str) -> bool:
    """Tell whether a memory that only waits lies at *path*."""
    return in_vault(path).startswith(f"{CANDIDATES}/")


def is_conversation(path: str) -> bool:
    """Tell whether *path* lies among the conversations, in the archive or not."""
    return in_vault(path).startswith(f"{Kind.CONVERSATION.folder}/")


def copy_of(path: str) -> str:
    """Return the name of the copy of the store that wrote the ledger's file at *path*."""
    return path.rpartition(OF_COPY)[2].partition(".")[0]


def _is_name(name: str) -> bool:
    short = len(name.encode("utf-8", "replace")) <= LONGEST_NAME
    return short and bool(_NAME.fullmatch(name)) and not _DEVICE.fullmatch(name)


def _is_memory(name: str) -> bool:
    return name.lower().endswith((".md", ".markdown")) and not original_of(name)
