"""
What the store knows of its remote: `remote/remote.json` says where it is and what leaves, `remote/last.json`
how the last exchange ended. Without the first there is no remote, and nothing of all this is loaded.
"""

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from mcp_server.adapters import files
from mcp_server.adapters.json_file import read_object, write_object

FOLDER, ABOUT, LAST, CAME = "remote", "remote.json", "last.json", "came.json"
FOREVER = "deleted-for-good"  # an empty file: something was deleted for good since the last exchange
ASKED = "asked-for"  # an empty file: an exchange was asked for, and none has begun since
REPOSITORY = "store.git"
MOST_DOUBLED = 5  # ten minutes become five hours at most


@dataclass(frozen=True, slots=True)
class Remote:
    """
    The person's remote: its URL, and `copy`, the name of this copy of the store among their machines.

    `conversations`: past conversations leave, too. `questions`: the questions in the ledger leave, and the
    beginnings of prompts.
    """

    url: str
    copy: str
    conversations: bool = False
    questions: bool = True


@dataclass(frozen=True, slots=True)
class Last:
    """
    How the last exchange ended: when the last whole one was, and what stays here.

    `trouble` says why the remote could not be reached and what to do, '' if it was. `held` is
    path → why the file does not leave. `refusals`: how often in a row the remote refused.
    """

    at: str = ""
    trouble: str = ""
    held: tuple[tuple[str, str], ...] = ()
    refusals: int = 0


def has_remote(home: Path) -> bool:
    """Tell whether the store in *home* has a remote; costs one look at the disk."""
    return os.path.exists(home / FOLDER / ABOUT)


def is_due(home: Path, *, every: float, now: float) -> bool:
    """
    Tell whether there is a remote, and no exchange ended *every* seconds before *now*, or one waits.

    Each refusal in a row doubles these seconds: a host may shut out who knocks again and again.
    """
    if not has_remote(home):
        return False
    waits = every * 2 ** min(last_of(home).refusals, MOST_DOUBLED)
    return is_asked_for(home) or files.is_old(home / FOLDER / LAST, seconds=waits, now=now)


def remote_of(home: Path) -> Remote | None:
    """Return the remote of the store in *home*, None when it has none."""
    values = read_object(home / FOLDER / ABOUT)
    if not values.get("url") or not values.get("copy"):
        return None
    return Remote(
        str(values["url"]),
        str(values["copy"]),
        bool(values.get("conversations")),
        bool(values.get("questions", True)),
    )


def note_remote(home: Path, remote: Remote) -> None:
    """Note the remote of the store in *home*."""
    write_object(home / FOLDER / ABOUT, asdict(remote))


def last_of(home: Path) -> Last:
    """Return how the last exchange of the store in *home* ended."""
    values = read_object(home / FOLDER / LAST)
    unsent = values.get("held")
    pairs = [(str(pair[0]), str(pair[1])) for pair in unsent] if isinstance(unsent, list) else []
    refusals = values.get("refusals")
    return Last(
        str(values.get("at", "")),
        str(values.get("trouble", "")),
        tuple(pairs),
        max(0, refusals) if isinstance(refusals, int) else 0,
    )


def note_last(home: Path, last: Last) -> None:
    """Note how the last exchange of the store in *home* ended."""
    write_object(home / FOLDER / LAST, asdict(last))


MOST_CAME = 200  # memories, the latest, that are known to have come


def came_of(home: Path) -> dict[str, int]:
    """Return ref → when another machine's words of that memory came here, in Unix seconds."""
    if not os.path.exists(home / FOLDER / CAME):
        return {}
    return {ref: at for ref, at in read_object(home / FOLDER / CAME).items() if isinstance(at, int)}


def note_came(home: Path, refs: Iterable[str], at: int) -> None:
    """Note that words of other machines about the memories *refs* came at *at*."""
    moments = came_of(home) | dict.fromkeys(refs, at)
    latest = sorted(moments.items(), key=lambda item: item[1], reverse=True)[:MOST_CAME]
    write_object(home / FOLDER / CAME, dict(latest))


def note_forever(home: Path) -> None:
    """Note that something was deleted for good: the next exchange takes it out of our repository, too."""
    if has_remote(home):
        (home / FOLDER / FOREVER).touch(mode=files.FILE_MODE)


def ask_for_exchange(home: Path) -> None:
    """Note that an exchange is wanted: a process that runs one now begins another when it is done."""
    files.make_folder(home / FOLDER)
    (home / FOLDER / ASKED).touch(mode=files.FILE_MODE)


def is_asked_for(home: Path) -> bool:
    """Tell whether an exchange was asked for since the last one began."""
    return os.path.exists(home / FOLDER / ASKED)


def note_begun(home: Path) -> None:
    """Note that an exchange begins now: it does what was asked for before."""
    (home / FOLDER / ASKED).unlink(missing_ok=True)
