"""notice: the one line that a person sees when a session starts and something needs them."""

import contextlib
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mcp_server.actions.gone import tell_gone
from mcp_server.adapters import files, places
from mcp_server.adapters.index import selections, transcripts, unattended
from mcp_server.adapters.index.unattended import PutAway
from mcp_server.core.errors import IndexUnavailable
from mcp_server.core.render import counted
from mcp_server.store import Store

if TYPE_CHECKING:
    from mcp_server.adapters.former import Former

LATE = 3600  # seconds after which a transcript that a worker should have read shows that capture fails
SIZE_TOLD = "size-told-"  # an empty file in the folder `work`, the day behind it: told once a day
AWAY_TOLD = "put-away-told-"  # an empty file in `work`, the last run behind it: hooks do not write the index
GUESSES_TOLD = "guesses-taken-back"  # a file in `work` with how many links were: told once
OFFERED = "offered"  # an empty file in the folder `work`: the offer is made once


def notice(store: Store, *, identity: str) -> str:
    """
    Return what needs the person, as one sentence; '' for nothing.

    *identity* stands for the key for the model that lies in the person's environment, '' for none. It is
    offered once, and never used without a yes. Runs in a hook: only reads the index.
    """
    try:
        with store.database.read() as db:
            late = transcripts.late(db, store.now() - LATE)
            refused = bool(store.settings.model_calls and identity) and _is_refused(store, db, identity)
            waiting = _waiting(store, db)
            away = unattended.untold(db, [vault.key for vault in store.vaults])
    except IndexUnavailable:
        return ""
    if vanished := tell_gone(store.home):
        return f"Daybook: {' '.join(vanished)}"
    if away and _tell(store, away):
        return f"Daybook: {put_away(away)}"
    if late:
        return (
            f"Daybook: not captured an hour after the end: {counted(late, 'session')};"
            " run 'daybook work', then 'daybook doctor' if it says so again."
        )
    if refused:
        return "Daybook: the model's service refuses the key or the account; 'daybook status' says more."
    if store.settings.model_calls and not identity:
        return "Daybook: you allowed model calls, but there is no API key; run 'daybook setup'."
    if crowded := _crowded(store):
        return crowded
    if moved := offer(offered(store, thorough=False)):
        return f"Daybook: {moved}"
    if identity and not store.settings.model_calls and _offer(store):
        return (
            "Daybook: there is an API key in your environment. It is not used. 'daybook setup' lets Daybook"
            f" learn from sessions with Claude Haiku, for at most ${store.settings.daily_usd:.2f} a day."
        )
    if taken := _taken_back(store):
        return taken
    if waiting:
        return (
            f"Daybook: not told unasked before you say so: {counted(waiting, 'memory')};"
            " 'daybook review' in a terminal, or /daybook:review here, asks you."
        )
    return ""


def put_away(away: PutAway) -> str:
    """Return what upkeep put away and the command that takes it back, as one sentence."""
    day = f"{datetime.fromtimestamp(away.since, UTC):%Y-%m-%d}"
    which = f"--run {away.runs[0]}" if len(away.runs) == 1 else f"--since {day}"
    when = "on" if len(away.runs) == 1 else "since"
    return (
        f"upkeep put {counted(away.memories, 'memory')} away {when} {day}, as aged or of no use;"
        f" 'daybook tidy --undo {which}' takes it back."
    )


def _tell(store: Store, away: PutAway) -> bool:
    """Note that the person is told of *away*; False when another session that starts now tells it."""
    told = store.home / places.WORK / f"{AWAY_TOLD}{away.runs[-1]}"
    with contextlib.suppress(OSError):
        if told.exists():
            return False
        for earlier in told.parent.glob(f"{AWAY_TOLD}*"):
            files.delete(earlier)
        files.write_new(told, b"")
    store.ledger.note("upkeep_told", store.clock(), runs=away.runs)
    return True


def _waiting(store: Store, db: sqlite3.Connection) -> int:
    """Return how many memories are not shown unasked until the person accepts them."""
    shared = [vault.key for vault in store.vaults if vault.in_repository]
    return selections.count_not_accepted(db, [vault.key for vault in store.vaults], shared)


def offered(store: Store, *, thorough: bool = True) -> "list[Former]":
    """
    Return the memories that this project may have had before its folder was renamed or moved.

    Not *thorough*, which a session that starts need not be, a project that is noted has its own.
    """
    if not store.project:
        return []
    if not thorough and (store.home / places.PROJECTS / store.project.key / places.PROJECT_FILE).exists():
        return []
    from mcp_server.adapters.former import may_be_former  # mostly a project is where it was

    return may_be_former(store.home, store.project, thorough=thorough)


def offer(found: "Sequence[Former]") -> str:
    """Return in one sentence what may be this project's own and the command that adopts it, '' if nothing."""
    if not found:
        return ""
    first = found[0]
    more = f" ({len(found) - 1} more: 'daybook where')" if len(found) > 1 else ""
    return (
        f"What was remembered in {first.root}, which is gone, may be this project's:"
        f" 'daybook adopt {first.key}' takes it over{more}."
    )


def _taken_back(store: Store) -> str:
    """Return, once, that links were taken back which earlier versions had guessed; '' mostly."""
    path = store.home / places.WORK / GUESSES_TOLD
    try:
        number = int(files.read(path))
        files.delete(path)
    except (OSError, ValueError):
        return ""
    return (
        f"Daybook: taken out of your files: {counted(number, 'link')} 'contradicts' that an earlier version"
        " had guessed; what may not both hold is asked by 'daybook review'."
    )


def _crowded(store: Store) -> str:
    """
    Return what a session that starts should tell of the memory's size, at most once a day; '' mostly.

    The index holds every text more than once, so while it takes less than a quarter of the limit there is
    nothing to look at but for a full trash, which `status` tells of.
    """
    limit = store.settings.max_memory_size_mb << 20
    try:
        if not limit or 4 * store.database.path.stat().st_size < limit:
            return ""
        folder = store.home / places.WORK
        today = folder / f"{SIZE_TOLD}{store.clock():%Y-%m-%d}"
        if today.exists():
            return ""
        for earlier in folder.glob(f"{SIZE_TOLD}*"):
            files.delete(earlier)
        files.write_new(today, b"")
        from mcp_server.actions.size_limit import measure  # loads what reads files, which is slow

        said = measure(store).said
    except OSError:
        return ""
    return f"Daybook: {said}" if said else ""


def _is_refused(store: Store, db: sqlite3.Connection, identity: str) -> bool:
    from mcp_server.adapters.index import spending  # of no use to a session whose person pays for nothing
    from mcp_server.core.budget import settings_digest

    pause = spending.settings_pause(db, settings_digest(identity, store.settings), store.now())
    return pause is not None and not pause.until


def _offer(store: Store) -> bool:
    """Note that the offer is being made; False when it was made before or cannot be noted."""
    if store.settings.capture == "manual":
        return False
    try:
        files.write_new(store.home / places.WORK / OFFERED, b"")
    except OSError:
        return False
    return True
