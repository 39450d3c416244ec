"""A team: joining it, its state, what was given to it, its memories, its members."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mcp_server.core.difference import difference
from mcp_server.core.memory_parts import Status, timestamp
from mcp_server.core.render import counted, one_line, state_of
from mcp_server.doors.shown import Shown, minute
from mcp_server.doors.shown.memory import kept_with, still

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_server.actions.team.copy import Copy
    from mcp_server.actions.team.give import GivenToTeam
    from mcp_server.actions.team.membership import Joining, Membership
    from mcp_server.actions.team.memories import ForgottenInTeam, Unconfirmed
    from mcp_server.actions.team.send import Sent, Waiting
    from mcp_server.actions.team.store_in_team import StoredInTeam
    from mcp_server.core.storage.port import ChangeRecord, Stored
    from mcp_server.core.team.team import Member

NO_TEAM = "You are not in a team: 'daybook team join URL' joins one."
VERSION = 12  # characters of a version's digest that are shown
WAITS = "It waits here and is sent to the team automatically: 'daybook team status' shows it."
NOT_SENT = "not given to the team yet: 'daybook team status' says why"
STILL_WAITS = "what waits here says this now."
REFUSED = "'daybook team send' tries the refused ones again, 'daybook team drop ID' gives one up."
UNREADABLE = "Mend a file that cannot be read, or delete it; its memory is not sent."
STAYED = "A curator can change what stays; 'daybook team send' clears the list."
OUT_OF_SIGHT = "It is {}: only a search that includes archived memories finds it."
UNCONFIRMED = "The other members find it by recall; they are shown it unasked once a curator confirms it."


def joining(joining_team: Joining) -> Shown:
    """Return which team the person may join, and what they agree to by that."""
    team = joining_team.team
    curators = ", ".join(team.curators) or "nobody yet"
    own_model = (
        f"The team's server uses the embedding model {team.model}; yours is {joining_team.model}."
        " You need not change yours."
    )
    return Shown(
        f"The team {team.name}, at {joining_team.url}:",
        rows=(
            ("you are", f"{team.member} ({team.role.value})"),
            ("curators", curators),
            ("searches", _searches(team.model)),
        ),
        notes=[
            "What these curators confirm is shown to Claude unasked, on this machine, in every project:"
            f" {curators}.",
            "What you or Claude remember or promote to the level team goes to this server, and so do"
            " the questions of recall.",
            "'daybook team leave' ends all of this.",
            own_model if joining_team.model else "",
            f"What you gave before and waits here is sent to it: {counted(joining_team.waiting, 'memory')};"
            " 'daybook team status' lists it."
            if joining_team.waiting
            else "",
        ],
    )


def was_joined(name: str, copied: Copy) -> Shown:
    """Return that the person is in the team *name*, and what was copied."""
    return Shown(
        f"You are in the team {name}. Confirmed by its curators, and copied here:"
        f" {counted(copied.memories, 'memory')}."
    )


def state(membership: Membership | None) -> Shown:
    """Return how it stands with the person's team: what is here, what waits, what was refused."""
    if membership is None:
        return Shown(NO_TEAM, json=None)
    older = membership.last.beyond
    beyond = f"; {older} older ones are only found by recall" if older else ""
    return Shown(
        rows=(
            ("team", f"{membership.name}, at {membership.url}"),
            ("you are", f"{membership.member} ({membership.role})"),
            ("curators", ", ".join(membership.curators) or "nobody yet"),
            ("searches", _searches(membership.model)),
            ("confirmed", f"{counted(membership.copied, 'memory')} here{beyond}"),
            ("last copied", minute(membership.last.at) or "not yet"),
            *(_waiting(gift) for gift in membership.waiting),
            *(("cannot be read", path) for path in membership.unreadable),
            *(
                ("stays", f"{stayed.id}  {stayed.new} does not replace it: {stayed.why}")
                for stayed in membership.stayed
            ),
        ),
        notes=[
            f"! {membership.last.trouble}" if membership.last.trouble else "",
            REFUSED if any(gift.refused for gift in membership.waiting) else "",
            UNREADABLE if membership.unreadable else "",
            STAYED if membership.stayed else "",
        ],
        json={**asdict(membership), "waiting": [_waiting_json(gift) for gift in membership.waiting]},
    )


def sent(outcome: Sent) -> Shown:
    """Return what the team was given of what waited."""
    new = [gift for gift in outcome.given if not gift.known]
    return Shown(
        f"Given to the team: {counted(len(new), 'memory')}.",
        rows=(
            *(_sent(gift) for gift in outcome.given),
            *(("refused", gift.id) for gift in outcome.refused),
        ),
        notes=(
            *(note for gift in new for note in _replacing(gift)),
            "'daybook team status' says why they were refused." if outcome.refused else "",
            f"! {outcome.trouble} The rest waits." if outcome.trouble else "",
        ),
        json={
            "given": [gift.stored.memory.id for gift in new],
            "known": [gift.stored.memory.id for gift in outcome.given if gift.known],
            "superseded": [name for gift in new for name in gift.gone],
            "refused": [gift.id for gift in outcome.refused],
            "trouble": outcome.trouble,
        },
    )


def stored(gift: GivenToTeam, *, verb: str = "remembered") -> Shown:
    """Return what became of a memory for the team; *verb* is what was done to it."""
    memory, outcome = gift.memory, gift.done
    json = {
        "id": memory.id,
        "level": "team",
        "known": bool(outcome and outcome.known),
        "waits": gift.waits or ("" if outcome else STILL_WAITS),
        "superseded": list(outcome.gone) if outcome else [],
        "near": [result.stored.memory.id for result in outcome.near] if outcome else [],
        "version": outcome.stored.digest if outcome else "",
    }
    if outcome is None:
        return Shown(f"{memory.id}: not given to the team yet: {json['waits']}", notes=(WAITS,), json=json)
    if outcome.known:
        head = f"{memory.id}: known to the team already{_whose(outcome.stored)}; nothing was stored."
        return Shown(head, rows=(("title", memory.title),), json=json)
    near = "; ".join(
        f"{result.stored.memory.id} ({one_line(result.stored.memory.title, 80)})" for result in outcome.near
    )
    return Shown(
        f"{memory.id}: {verb} (team level).",
        notes=(
            OUT_OF_SIGHT.format(state_of(memory.status, by=memory.superseded_by))
            if memory.status is not Status.ACTIVE
            else UNCONFIRMED,
            *_replacing(outcome),
            f"The team has similar memories: {near}." if near else "",
        ),
        json=json,
    )


def forgotten(outcome: ForgottenInTeam) -> Shown:
    """Return that a memory was taken away from the team."""
    name = outcome.id
    return Shown(
        f"{name}: forgotten for the whole team; 'daybook restore {name}' brings it back.",
        notes=[still(outcome.superseded)],
    )


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
        ("waits", "" if stored.digest else NOT_SENT),
        ("updated", f"{memory.updated:%Y-%m-%d}, created: {memory.created:%Y-%m-%d}"),
        *kept_with(memory),
    )
    version = stored.digest[:VERSION]
    return Shown(
        f"{memory.id} · {memory.type} · {memory.status.value}{f' · version {version}' if version else ''}",
        rows=rows,
        body=memory.text,
        offset=0,
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
    after = [*(change.before for change in changes[1:]), now.memory if now else None]
    differences = [
        difference(change.before, then) if change.before and then else ""
        for change, then in zip(changes, after, strict=True)
    ]
    rows = [(f"{change.at:%Y-%m-%d %H:%M}", change.author, change.kind.value) for change in changes]
    return Shown(
        f"'{memory_id}' is the team's: its changes, and who made them.",
        ("changed (UTC)", "by", "what"),
        tuple(reversed(rows)),
        tuple(reversed([differs or "nothing but that" for differs in differences])),
        json={
            "id": memory_id,
            "level": "team",
            "changes": [
                {
                    "at": timestamp(change.at),
                    "by": change.author,
                    "what": change.kind.value,
                    "before": change.before.text if change.before else "",
                    "title_before": change.before.title if change.before else "",
                }
                for change in reversed(changes)
            ],
        },
    )


def unconfirmed(listing: Unconfirmed) -> Shown:
    """Return what waits for a curator's word, the newest first."""
    if not listing.stored:
        return Shown("Nothing waits for a curator.", json=[])
    of = counted(listing.total, "memory")
    first = "" if listing.all else " of those looked at"
    return Shown(
        f"Not confirmed by a curator{first}: {of}.",
        ("id", "type", "by", "updated", "title"),
        [
            (
                stored.memory.id,
                stored.memory.type,
                stored.author,
                f"{stored.memory.updated:%Y-%m-%d}",
                stored.memory.title,
            )
            for stored in listing.stored
        ],
        tuple(stored.memory.text for stored in listing.stored),
        notes=("A curator confirms a memory with 'daybook team confirm ID'.",),
        json=[whole(stored).json for stored in listing.stored],
    )


def dropped(gift: Waiting) -> Shown:
    """Return that something is not given to the team."""
    return Shown(f"{gift.id}: not given to the team.")


def members(roster: Sequence[Member]) -> Shown:
    """Return who has a token."""
    return Shown(
        f"{counted(len(roster), 'member')}." if roster else "Nobody has a token yet.",
        ("name", "role"),
        tuple((member.name, member.role.value) for member in roster),
        notes=["" if roster else "Issue one with 'daybook team token issue NAME --role curator'."],
        json=[{"name": member.name, "role": member.role.value} for member in roster],
    )


def _sent(gift: StoredInTeam) -> tuple[str, str]:
    memory = gift.stored.memory
    return "known already" if gift.known else "given", f"{memory.id}  {one_line(memory.title, 80)}"


def _replacing(gift: StoredInTeam) -> list[str]:
    """Return which memories a new one replaces, and which it should replace and does not."""
    new = gift.stored.memory.id
    return [
        *([f"{new} replaces {', '.join(gift.gone)}."] if gift.gone else []),
        *(f"{new} does not replace {name}: {why}" for name, why in gift.kept),
    ]


def _searches(model: str) -> str:
    return f"by words and by meaning ({model})" if model else "by words only"


def _whose(stored: Stored) -> str:
    by = f", by {stored.author}" if stored.author else ""
    return f"{by}, {f'confirmed by {stored.confirmed_by}' if stored.confirmed_by else 'not confirmed'}"


def _waiting(gift: Waiting) -> tuple[str, str]:
    title = one_line(gift.title, 80)
    if gift.refused:
        return "refused", f"{gift.id}  {title}: {gift.refused}"
    return "waits", f"{gift.id}  {title}, since {minute(gift.at)}"


def _waiting_json(gift: Waiting) -> dict[str, str]:
    return {"id": gift.id, "title": gift.title, "at": gift.at, "refused": gift.refused}
