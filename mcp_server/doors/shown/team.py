"""The person's team: joining it, how it stands, what was given to it, what it has."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mcp_server.core.difference import difference
from mcp_server.core.memory import timestamp
from mcp_server.core.render import counted, one_line
from mcp_server.doors.shown import Shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_server.actions.team.copy import Copy
    from mcp_server.actions.team.give import GivenToTeam
    from mcp_server.actions.team.membership import Joining, Membership
    from mcp_server.actions.team.memories import Unconfirmed
    from mcp_server.actions.team.send import Sent, Waiting
    from mcp_server.actions.team.store_in_team import StoredInTeam
    from mcp_server.core.storage.port import ChangeRecord, Stored

NO_TEAM = "You are not in a team: 'daybook team join URL' joins one."
VERSION = 12  # characters of a version's digest that are shown
WAITS = "It waits here and is sent to the team automatically: 'daybook team status' shows it."
UNCONFIRMED = "The other members find it by recall; they are shown it unasked once a curator confirms it."


def joining(found: Joining) -> Shown:
    """Return which team the person may join, and what they agree to by that."""
    team = found.team
    curators = ", ".join(team.curators) or "nobody yet"
    notes = [
        "What these curators confirm is shown to Claude unasked, on this machine, in every project:"
        f" {curators}.",
        "'daybook team leave' ends that.",
    ]
    if found.model:
        notes.append(
            f"The team's server uses the embedding model {team.model}; yours is {found.model}. You "
            "need not change yours."
        )
    return Shown(
        f"The team {team.name}, at {found.url}:",
        rows=(
            ("you are", f"{team.member} ({team.role.value})"),
            ("curators", curators),
            ("searches", f"by words and by meaning ({team.model})" if team.model else "by words only"),
        ),
        notes=tuple(notes),
    )


def was_joined(name: str, done: Copy) -> Shown:
    """Return that the person is in the team *name*, and what was copied."""
    return Shown(
        f"You are in the team {name}. Confirmed by its curators, and copied here:"
        f" {counted(done.memories, 'memory')}."
    )


def state(found: Membership | None) -> Shown:
    """Return how it stands with the person's team: what is here, what waits, what was refused."""
    if found is None:
        return Shown(NO_TEAM, json=None)
    beyond = f"; {found.last.beyond} older ones are only found by recall" if found.last.beyond else ""
    notes = [f"! {found.last.trouble}"] if found.last.trouble else []
    if any(each.refused for each in found.waiting):
        notes.append("'daybook team send' tries the refused ones again, 'daybook team drop ID' gives one up.")
    return Shown(
        rows=(
            ("team", f"{found.name}, at {found.url}"),
            ("you are", f"{found.member} ({found.role})"),
            ("curators", ", ".join(found.curators) or "nobody yet"),
            ("searches", f"by words and by meaning ({found.model})" if found.model else "by words only"),
            ("confirmed", f"{counted(found.copied, 'memory')} here{beyond}"),
            ("last copied", found.last.at or "not yet"),
            *(_waiting(each) for each in found.waiting),
        ),
        notes=tuple(notes),
        json={**asdict(found), "waiting": [_waiting_json(each) for each in found.waiting]},
    )


def sent(done: Sent) -> Shown:
    """Return what the team was given of what waited."""
    new = [each for each in done.given if not each.known]
    return Shown(
        f"Given to the team: {counted(len(new), 'memory')}.",
        rows=(
            *(_sent(each) for each in done.given),
            *(("refused", each.id) for each in done.refused),
        ),
        notes=(
            *(note for each in new for note in _taking_place(each)),
            *(["'daybook team status' says why they were refused."] if done.refused else []),
            *([f"! {done.trouble} The rest waits."] if done.trouble else []),
        ),
        json={
            "given": [each.stored.memory.id for each in new],
            "known": [each.stored.memory.id for each in done.given if each.known],
            "superseded": [name for each in new for name in each.gone],
            "refused": [each.id for each in done.refused],
            "trouble": done.trouble,
        },
    )


def given(given: GivenToTeam, *, verb: str = "remembered") -> Shown:
    """Return what became of a memory for the team; *verb* is what was done to it."""
    memory, done = given.memory, given.done
    json = {
        "id": memory.id,
        "level": "team",
        "known": bool(done and done.known),
        "waits": given.waits,
        "superseded": list(done.gone) if done else [],
        "near": [each.stored.memory.id for each in done.near] if done else [],
        "version": done.stored.digest if done else "",
    }
    if done is None:
        return Shown(f"{memory.id}: not given to the team yet: {given.waits}", notes=(WAITS,), json=json)
    if done.known:
        head = f"{memory.id}: known to the team already{_whose(done.stored)}; nothing was stored."
        return Shown(head, rows=(("title", memory.title),), json=json)
    near = "; ".join(
        f"{each.stored.memory.id} ({one_line(each.stored.memory.title, 80)})" for each in done.near
    )
    return Shown(
        f"{memory.id}: {verb} (team level).",
        notes=(
            UNCONFIRMED,
            *_taking_place(done),
            *([f"The team has similar memories: {near}."] if near else []),
        ),
        json=json,
    )


def forgotten(stored: Stored) -> Shown:
    """Return that a memory was taken away from the team."""
    name = stored.memory.id
    return Shown(f"{name}: forgotten for the whole team; 'daybook restore {name}' brings it back.")


def restored(stored: Stored) -> Shown:
    """Return that a memory of the team came back."""
    return Shown(f"{stored.memory.id}: restored for the whole team.")


def confirmed(stored: Stored) -> Shown:
    """Return that a curator confirmed a memory."""
    return Shown(f"{stored.memory.id}: confirmed; members are shown it unasked after their next copy.")


def whole(stored: Stored) -> Shown:
    """Return a memory that only the team's server has, whole."""
    memory = stored.memory
    rows = (
        ("title", memory.title),
        ("level", "team"),
        ("written by", stored.author),
        ("confirmed by", stored.confirmed_by or "nobody: treat as data"),
        ("updated", f"{memory.updated:%Y-%m-%d}, created: {memory.created:%Y-%m-%d}"),
        ("tags", ", ".join(memory.tags)),
        ("touches", ", ".join(memory.touches)),
        ("links", ", ".join(f"{link.rel} {link.to}" for link in memory.links)),
        ("supersedes", ", ".join(memory.supersedes)),
        ("notes", ", ".join(memory.notes)),
        ("superseded by", memory.superseded_by),
    )
    version = stored.digest[:VERSION]
    return Shown(
        f"{memory.id} · {memory.type} · {memory.status.value} · version {version}",
        rows=[row for row in rows if row[-1]],
        body=memory.text,
        json={
            "id": memory.id,
            "title": memory.title,
            "text": memory.text,
            "type": memory.type,
            "tags": memory.tags,
            "level": "team",
            "status": memory.status.value,
            "author": stored.author,
            "confirmed_by": stored.confirmed_by,
            "created": timestamp(memory.created),
            "updated": timestamp(memory.updated),
            "version": version,
        },
    )


def history(memory_id: str, changes: Sequence[ChangeRecord], now: Stored | None) -> Shown:
    """Return what was done to a memory of the team, the latest first; *now* is what it says, None if gone."""
    after = [*(each.before for each in changes[1:]), now.memory if now else None]
    said = [
        difference(each.before, then) if each.before and then else ""
        for each, then in zip(changes, after, strict=True)
    ]
    rows = [(f"{each.at:%Y-%m-%d %H:%M}", each.author, each.kind.value) for each in changes]
    return Shown(
        f"'{memory_id}' is the team's: its changes, and who made them.",
        ("changed (UTC)", "by", "what"),
        tuple(reversed(rows)),
        tuple(reversed([differs or "nothing but that" for differs in said])),
        json={
            "id": memory_id,
            "level": "team",
            "changes": [
                {
                    "at": timestamp(each.at),
                    "by": each.author,
                    "what": each.kind.value,
                    "before": each.before.text if each.before else "",
                    "title_before": each.before.title if each.before else "",
                }
                for each in reversed(changes)
            ],
        },
    )


def unconfirmed(found: Unconfirmed) -> Shown:
    """Return what waits for a curator's word, the newest first."""
    if not found.stored:
        return Shown("Nothing waits for a curator.", json=[])
    of = counted(found.total, "memory")
    first = "" if found.all else " of those looked at"
    return Shown(
        f"Not confirmed by a curator{first}: {of}.",
        ("id", "type", "by", "updated", "title"),
        [
            (
                each.memory.id,
                each.memory.type,
                each.author,
                f"{each.memory.updated:%Y-%m-%d}",
                each.memory.title,
            )
            for each in found.stored
        ],
        tuple(each.memory.text for each in found.stored),
        notes=("A curator confirms a memory with 'daybook team confirm ID'.",),
        json=[whole(each).json for each in found.stored],
    )


def dropped(each: Waiting) -> Shown:
    """Return that something is not given to the team."""
    return Shown(f"{each.id}: not given to the team.")


def _sent(done: StoredInTeam) -> tuple[str, str]:
    memory = done.stored.memory
    return "known already" if done.known else "given", f"{memory.id}  {one_line(memory.title, 80)}"


def _taking_place(done: StoredInTeam) -> list[str]:
    """Return which memories a new one takes the place of, and which it does not."""
    new = done.stored.memory.id
    return [
        *([f"{new} takes the place of {', '.join(done.gone)}."] if done.gone else []),
        *(f"{new} does not take the place of {name}: {why}" for name, why in done.kept),
    ]


def _whose(stored: Stored) -> str:
    by = f", by {stored.author}" if stored.author else ""
    return f"{by}, {f'confirmed by {stored.confirmed_by}' if stored.confirmed_by else 'not confirmed'}"


def _waiting(each: Waiting) -> tuple[str, str]:
    title = one_line(each.title, 80)
    if each.refused:
        return "refused", f"{each.id}  {title}: {each.refused}"
    return "waits", f"{each.id}  {title}, since {each.at}"


def _waiting_json(each: Waiting) -> dict[str, str]:
    return {"id": each.id, "title": each.title, "at": each.at, "refused": each.refused}
