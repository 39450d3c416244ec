"""The person's other machines: what leaves for the remote, what an exchange did, how the last one ended."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mcp_server.core.render import bytes_of, counted
from mcp_server.doors.shown import Shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp_server.actions.remote.exchange import Exchanged
    from mcp_server.actions.remote.set_up import Leaving, RemoteState

NO_REMOTE = "This store has no remote: 'daybook remote add URL' adds one."
STAYS = "the index, logs, settings, unfinished work, the trash, and what memories said before"


def leaving(found: Leaving) -> Shown:
    """Return what would leave for a remote, and what stays here."""
    asked = f"{counted(found.questions, 'question')} in it"
    questions = asked if found.remote.questions else "without the questions"
    of_projects = ", ".join(found.projects) or "none"
    events = f"{counted(sum(found.events.values()), 'line')}, {questions}"
    conversations = "" if found.remote.conversations else "conversations, "
    return Shown(
        f"This leaves for {found.url}, {bytes_of(found.size)}:",
        rows=(
            *((name, counted(number, "file")) for name, number in sorted(found.files.items())),
            ("projects", of_projects),
            ("ledger", events),
            *((f"  {name}", counted(number, "line")) for name, number in sorted(found.events.items())),
            ("stays here", f"{conversations}{STAYS}"),
            *_held(found.held),
        ),
        notes=(f"{found.url} is made now.",) if found.makes else (),
        json={**asdict(found), "remote": {**asdict(found.remote), "url": found.url}},
    )


def exchanged(done: Exchanged) -> Shown:
    """Return what an exchange gave and took."""
    came = [
        f"{counted(len(ids), 'memory')} {what}"
        for ids, what in (
            (done.added, "came"),
            (done.changed, "changed"),
            (done.forgotten, "went to the trash"),
        )
        if ids
    ]
    gave = (
        f"{counted(done.given, 'file')} {'is' if done.given == 1 else 'are'} ready"
        if done.trouble
        else f"{counted(done.given, 'file')} given"
    )
    return Shown(
        ", ".join([gave, *(came or ["nothing came"])]),
        rows=(
            *_held(done.held),
            *(("not written yet", f"{path}: {why}") for path, why in done.left.items()),
        ),
        notes=(
            *(
                f"[{one}] was changed in the same place on two machines: [{other}] has the other words."
                " 'daybook review' asks you."
                for one, other in done.clashes.items()
            ),
            *([f"! {done.trouble} What is here waits for the next exchange."] if done.trouble else []),
        ),
        json=asdict(done),
    )


def state(found: RemoteState | None) -> Shown:
    """Return where the remote is, what leaves, and how the last exchange ended."""
    if found is None:
        return Shown(NO_REMOTE, json=None)
    kinds = [
        "conversations" if found.conversations else "no conversations",
        "the questions in the ledger" if found.questions else "no questions",
    ]
    return Shown(
        rows=(
            ("remote", found.url),
            ("leaves", f"memories, sessions, the ledger; {' and '.join(kinds)}"),
            ("last exchange", found.last.at or "none yet"),
            *_held(dict(found.last.held)),
        ),
        notes=(f"! {found.last.trouble}",) if found.last.trouble else (),
        json=asdict(found),
    )


def _held(held: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(("stays here", f"{path} {why}") for path, why in sorted(held.items()))
