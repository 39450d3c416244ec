"""
The folder in which Claude Code keeps its own memory of a project, and the part of it that each session gets.

    <claude>/projects/<slug>/memory/MEMORY.md    the index: Claude Code sends its beginning to each session
                                    *.md         one topic file for each fact, read on demand

A hook calls `shown_topics`, so this module imports nothing slow.
"""

import contextlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp_server.adapters import claude_settings, files
from mcp_server.adapters.index.events.auto_memory_topics import Topic
from mcp_server.adapters.index.events.imports import origin
from mcp_server.adapters.json_file import read_linked_object
from mcp_server.adapters.vault import is_memory_name
from mcp_server.core.errors import DaybookError, Unreadable

WHAT = "auto-memory"  # what the source is called, and the tag of its memories
INDEX = "MEMORY.md"
SENT_LINES, SENT_BYTES = 200, 25_000  # of the index; a session never gets the rest
MAX_TOPIC = 256 * 1024  # bytes; a memory's text is at most 64 Ki characters
OFF = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"
YES = ("1", "true", "yes", "on")


@dataclass(frozen=True, slots=True)
class TopicsFolder:
    """The memory folder of a session: the folder, None when there is none, and where it was looked for."""

    folder: Path | None
    looked: tuple[Path, ...]


def claude_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of Claude Code's settings: CLAUDE_CONFIG_DIR, or `~/.claude`."""
    return Path(os.path.expanduser(environment.get("CLAUDE_CONFIG_DIR") or "~/.claude"))


def locate(claude: Path, folders: Sequence[Path]) -> TopicsFolder:
    """
    Return where Claude Code, with its settings in *claude*, keeps its memory of one of *folders*.

    The person's own `autoMemoryDirectory` setting wins; a repository's settings are not read.
    """
    setting = read_linked_object(claude / "settings.json", claude_settings.MAX_SETTINGS).get(
        "autoMemoryDirectory"
    )
    if isinstance(setting, str) and (named := Path(os.path.expanduser(setting))).is_absolute():
        looked: tuple[Path, ...] = (named,)
    else:
        slugs = dict.fromkeys(slug_of(folder) for folder in folders)
        looked = tuple(claude / "projects" / slug / "memory" for slug in slugs)
    return TopicsFolder(next((folder for folder in looked if folder.is_dir()), None), looked)


def slug_of(folder: Path) -> str:
    """Return the name of Claude Code's own folder for *folder*: `/home/ada/shop` → `-home-ada-shop`."""
    return re.sub(r"[^A-Za-z0-9]", "-", str(folder))


def is_off(claude: Path, folders: Sequence[Path], environment: Mapping[str, str]) -> bool:
    """
    Tell whether auto memory is switched off for sessions in *folders*.

    Any settings file may switch it off: telling a memory twice does less harm than never telling it.
    """
    if environment.get(OFF, "").strip().lower() in YES:
        return True
    for path in claude_settings.files_of(claude, folders):
        settings = read_linked_object(path, claude_settings.MAX_SETTINGS)
        variables = settings.get("env")
        if settings.get("autoMemoryEnabled") is False:
            return True
        if isinstance(variables, dict) and str(variables.get(OFF, "")).strip().lower() in YES:
            return True
    return False


def shown_topics(folder: Path, topics: Iterable[Topic]) -> dict[str, str]:
    """
    Return ref → digest of the memories that Claude Code itself gives each session from *folder*.

    These are the *topics* whose file is unchanged and is named in the sent part of the index.
    Reads at most a few small files.
    """
    by_origin = {topic.origin: topic for topic in topics}
    index = _sent(folder) if by_origin else ""
    texts: dict[str, str] = {}
    for file in filter(is_memory_name, _names(folder) if index else ()):
        topic = by_origin.get(origin(WHAT, str(folder), file)) if file in index else None
        if topic and digest_of(folder / file) == topic.bytes:
            texts[topic.ref] = topic.digest
    return texts


def digest_of(path: Path) -> str:
    """Return the digest of a topic file's bytes, '' when it cannot be read."""
    with contextlib.suppress(OSError, DaybookError):
        return files.digest(files.read(path, MAX_TOPIC))
    return ""


def _names(folder: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return os.listdir(folder)
    return []


def _sent(folder: Path) -> str:
    """Return the part of the index of *folder* that sessions get, '' when it cannot be read."""
    with contextlib.suppress(OSError, Unreadable):
        beginning = files.read(folder / INDEX)[:SENT_BYTES].decode("utf-8", "replace")
        return "\n".join(beginning.split("\n")[:SENT_LINES])
    return ""
