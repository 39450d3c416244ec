"""The person's other machines: what leaves for the remote, what an exchange did, how the last one ended."""

from collections.abc import Mapping
from dataclasses import asdict

from mcp_server.actions.remote.exchange import Exchanged
from mcp_server.actions.remote.set_up import Leaving, RemoteState
from mcp_server.core.render import bytes_of, counted, on_one_line
from mcp_server.doors.shown import Shown, minute

NO_REMOTE = "This store has no remote: 'daybook remote add URL' adds one."
STAYS = "the index, logs, settings, unfinished work, the trash, and earlier versions of memories"


def leaving(preview: Leaving) -> Shown:
    """Return what would leave for a remote, and what stays here."""
    question_count = f"{counted(preview.questions, 'question')} in it"
    questions = question_count if preview.remote.questions else "without the questions"
    of_projects = ", ".join(preview.projects) or "none"
    events = f"{counted(sum(preview.events.values()), 'line')}, {questions}"
    conversations = "" if preview.remote.conversations else "conversations, "
    return Shown(
        f"This leaves for {preview.url}, {bytes_of(preview.size)}:",
        rows=(
            *((name, counted(number, "file")) for name, number in sorted(preview.files.items())),
            ("projects", of_projects),
            ("ledger", events),
            *((f"  {name}", counted(number, "line")) for name, number in sorted(preview.events.items())),
            ("stays here", f"{conversations}{STAYS}"),
            *_held(preview.held),
        ),
        notes=[
            f"{preview.url} is made now." if preview.makes else "",
            f"{preview.url} holds memories: they come here, and count as your own." if preview.filled else "",
        ],
        json={**asdict(preview), "remote": {**asdict(preview.remote), "url": preview.url}},
    )


def exchanged(exchange: Exchanged) -> Shown:
    """Return what an exchange gave and took."""
    changes = [
        f"{counted(len(ids), 'memory')} {verb}"
        for ids, verb in (
            (exchange.added, "came"),
            (exchange.changed, "changed"),
            (exchange.forgotten, "went to the trash"),
        )
        if ids
    ]
    verb = "to be sent" if exchange.trouble else "sent"
    sent = f"{counted(exchange.given, 'file')} {verb}" if exchange.given else f"nothing {verb}"
    return Shown(
        ", ".join([sent, *(changes or ["nothing came"])]),
        rows=(
            *_held(exchange.held),
            *(("not written yet", f"{path}: {why}") for path, why in exchange.left.items()),
        ),
        notes=(
            "The remote had been emptied: what it held is there again." if exchange.refilled else "",
            *(
                f"[{memory_id}] was changed in the same place on two machines: [{other_id}] has the "
                "other version. 'daybook review' asks you."
                for memory_id, other_id in exchange.clashes.items()
            ),
            *(
                f"[{memory_id}] was forgotten on one of your machines and came from another, which had kept,"
                f" reworded or pinned it: 'daybook forget {memory_id}' puts it away everywhere."
                for memory_id in exchange.back
            ),
            f"! {exchange.trouble} The memories here wait for the next exchange." if exchange.trouble else "",
        ),
        json=asdict(exchange),
    )


def state(remote: RemoteState | None) -> Shown:
    """Return where the remote is, what leaves, and how the last exchange ended."""
    if remote is None:
        return Shown(NO_REMOTE, json=None)
    questions = "with the questions" if remote.questions else "without the questions"
    conversations = "conversations" if remote.conversations else "no conversations"
    return Shown(
        rows=(
            ("remote", remote.url),
            ("leaves", f"memories, sessions, the ledger {questions}; {conversations}"),
            ("last exchange", minute(remote.last.at) or "none yet"),
            *_held(dict(remote.last.held)),
        ),
        notes=[f"! {remote.last.trouble}" if remote.last.trouble else ""],
        json=asdict(remote),
    )


def _held(reasons: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(("stays here", on_one_line(f"{path} {why}")) for path, why in sorted(reasons.items()))
