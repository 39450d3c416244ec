"""The state of the store: what there is, what needs the person, where it lies."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mcp_server.actions.review.review import AGED, CANDIDATE, ORIGIN, QUESTION, STALE
from mcp_server.core.budget import Limit
from mcp_server.core.memory_parts import Kind, Level
from mcp_server.core.render import counted
from mcp_server.doors.shown import Shown, minute, trouble
from mcp_server.doors.shown import needs as sentences
from mcp_server.doors.shown.figures import captured, cost_of, to_learn, today

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from mcp_server.actions.files.sync import SyncReport
    from mcp_server.actions.remote.set_up import RemoteState
    from mcp_server.actions.status.stats import Stats
    from mcp_server.actions.status.status import State
    from mcp_server.actions.team.membership import Membership
    from mcp_server.adapters.git import GitTrouble
    from mcp_server.adapters.missing_projects import Former
    from mcp_server.adapters.project import Project
    from mcp_server.adapters.vault import Vault
    from mcp_server.core.errors import DaybookError
    from mcp_server.core.settings import Settings

NOTHING = "Nothing needs you."
WAITS = {
    QUESTION: ("question", "Pairs that may contradict each other: {}; 'daybook review' asks you."),
    ORIGIN: ("memory", "Not shown unasked until you accept it with 'daybook review': {}."),
    CANDIDATE: ("memory", "Proposed, and stored if you approve in 'daybook review': {}."),
    STALE: ("memory", "About files that changed or are gone: {}; 'daybook review' asks you."),
    AGED: ("entry", "More memories have aged than one run of upkeep may archive; 'daybook review' asks you."),
}
"""Kind of what waits → the noun for one, and the sentence about their number."""
WAITS_FOR = {
    Limit.CALLS: (
        "Learning waits until midnight UTC for {}: today's calls are used up."
        " 'daybook setup --daily-calls NUMBER' allows more."
    ),
    Limit.USD: (
        "Learning waits until midnight UTC for {}: today's budget is used up."
        " 'daybook setup --daily-usd AMOUNT' allows more."
    ),
    Limit.ANY_CALL: (
        "Learning waits for {}: one call may cost more than a whole day may."
        " 'daybook setup --daily-usd AMOUNT' allows more."
    ),
}
NOBODYS = (
    "none: this is the home folder or above it, or its path is not UTF-8, so memories have the user level"
)
OF_TEAM = "(a read-only copy of what the team's curators confirmed)"
ONLY_READ = "(in the repository, only read; nothing new is stored there)"


def status(state: State, *, project: str, settings: Settings) -> Shown:
    """Return what *project* has, what waits, what was spent of what *settings* allow, and what needs you."""
    stats, capture = state.stats, state.capture
    kinds = [_of_kind(number, kind) for kind, number in stats.counts.by_kind.items()]
    return Shown(
        ", ".join([f"{counted(stats.memories, 'memory')} for {project or 'no project'}", *kinds]),
        rows=(
            ("embedding model", f"{stats.model}{_behind(stats)}"),
            ("capture", captured(capture.mode, minute(capture.last), is_any_open=capture.is_any_open)),
            ("earlier sessions", _never_seen(state.never_seen)),
            ("to keep", counted(capture.unkept, "transcript") if capture.unkept else ""),
            *_calls(state, settings),
            ("other machines", _remote(state.remote) if state.remote else ""),
            ("team", _team(state.team) if state.team else ""),
            *((f"learning from session {name}", cost_of(cost)) for name, cost in state.spending.sessions),
        ),
        notes=tuple(f"! {need}" for need in needs(state)) or (NOTHING,),
        json={**asdict(state), "needs": needs(state)},
    )


def _never_seen(number: int) -> str:
    return f"{number:,}, which no search finds: 'daybook backfill' takes them in" if number else ""


def _behind(stats: Stats) -> str:
    return f", {stats.pending} of {stats.passages} passages wait for it" if stats.pending else ""


def needs(state: State) -> list[str]:
    """Return what needs the person, a sentence or two for each."""
    return [need for need in (*_unread(state), *_waiting(state), *_needs(state), *_elsewhere(state)) if need]


def _unread(state: State) -> Iterator[str]:
    yield sentences.disk(state.needs.disk)
    if unreadable := state.stats.unreadable:
        yield not_taken_in(len(unreadable))


def not_taken_in(number: int) -> str:
    """Return the sentence about so many files that could not be read."""
    return f"Not taken in: {counted(number, 'file')}; 'daybook sync' names them and says why."


def _waiting(state: State) -> Iterator[str]:
    for kind, (noun, sentence) in WAITS.items():
        if number := state.waiting.get(kind):
            which = sentences.of_which(state.altered) if kind == ORIGIN else ""
            yield sentence.format(counted(number, noun) + which)


def _needs(state: State) -> Iterator[str]:
    needed, spent = state.needs, state.spending
    if needed.embedding:
        yield f"{needed.embedding} Run 'daybook model list'."
    yield needed.vault.with_hint if needed.vault else ""
    yield sentences.former(needed.former)
    yield sentences.back_again(needed.back)
    yield needed.block.with_hint if needed.block else ""
    if spent.paused_reason and not spent.paused_until:
        yield f"The model is not called: {spent.paused_reason} Correct it, then run 'daybook setup'."
    if needed.lacks_key:
        yield "The model may be called, but there is no API key: set one with 'daybook setup --key'."
    if needed.used_up:
        yield WAITS_FOR[needed.used_up].format(counted(state.capture.unlearned, "session"))
    if spent.given_up:
        pieces = counted(spent.given_up, "piece")
        yield f"Given up, without a usable answer of the model: {pieces}; recall still finds what was said."
    yield from (trouble.caught(needed.caught), sentences.size(needed.size), sentences.clock(needed.clock))
    if needed.pinned > needed.places:
        beyond = f"{counted(needed.pinned, 'memory')} for {counted(needed.places, 'place')}"
        yield (
            f"More memories are pinned than can be kept at hand: {beyond};"
            " 'daybook hot' lists them: unpin some."
        )


def _elsewhere(state: State) -> Iterator[str]:
    remote, team, record = state.remote, state.team, state.needs.put_away
    if remote and remote.last.trouble:
        yield f"{remote.last.trouble} 'daybook remote status' says since when."
    if remote and remote.last.held:
        held_files = counted(len(remote.last.held), "file")
        yield f"Not sent to your other machines: {held_files}; 'daybook remote status' says why."
    if team and team.last.trouble:
        yield f"{team.last.trouble} 'daybook team status' says more."
    if team and (refused := [gift for gift in team.waiting if gift.refused]):
        summary = f"{counted(len(refused), 'memory')}: {refused[0].id}: {refused[0].refused}"
        yield f"Refused by the team: {summary} 'daybook team status' says what to do."
    if team and team.unreadable:
        unread = counted(len(team.unreadable), "file")
        yield f"Cannot be read, so not sent to the team: {unread}; 'daybook team status' names each."
    if team and team.stayed:
        kept = counted(len(team.stayed), "memory")
        yield f"Kept by the team, though you sent a replacement: {kept}; 'daybook team status' says why."
    if record:
        yield f"Since you were last told, {sentences.put_away(record)}"


def _remote(remote: RemoteState) -> str:
    return f"{remote.url}, last exchange {minute(remote.last.at) or 'none yet'}"


def _team(team: Membership) -> str:
    waits = [entry for entry in team.waiting if not entry.refused]
    return ", ".join(
        [
            f"{team.name} as {team.member} ({team.role})",
            f"{counted(team.copied, 'memory')} confirmed by its curators",
            f"last copied {minute(team.last.at) or 'not yet'}",
            *([f"{counted(len(waits), 'memory')} {'waits' if len(waits) == 1 else 'wait'}"] if waits else []),
        ]
    )


def _calls(state: State, settings: Settings) -> Iterator[tuple[str, object]]:
    capture, spent = state.capture, state.spending
    reason, until = spent.paused_reason, spent.paused_until
    if capture.model_calls:
        cost = f"spent {today(spent)} of ${settings.daily_usd:.2f}"
        yield "model calls today", f"{spent.today_calls} of {settings.daily_calls}, {cost}"
    elif settings.on_plan:
        reason, until = spent.plan_paused_reason, spent.plan_paused_until
        yield "calls on your plan today", f"{spent.plan_calls} of {settings.daily_plan_calls}"
    else:
        nothing = "" if spent.sessions else ", nothing spent"
        yield "model", f"never called{nothing}: 'daybook setup' allows it"
        return
    yield "to learn from", to_learn(capture)
    if until:
        yield "model calls are paused", f"until {until:%Y-%m-%d %H:%M} UTC: {reason}"


def _of_kind(number: int, kind: str) -> str:
    """Return how many memories of a kind there are: "2 sessions", "3 knowledge"."""
    return f"{number:,} {kind}" if kind == Kind.KNOWLEDGE else counted(number, kind)


def where(
    project: Project | None,
    vaults: Sequence[Vault],
    *,
    store: Path,
    index: Path,
    refused: DaybookError | None = None,
    git: GitTrouble | None = None,
    may_be: Sequence[Former] = (),
) -> Shown:
    """
    Return which project a folder belongs to, why, and where its memories lie.

    *refused* is why the vault in the repository is not read, *git* why git is not run, *may_be* are the
    projects that this one may have been.
    """
    problems = [*([refused.with_hint] if refused else []), *([trouble.git(git)] if git else [])]
    named = [("project", NOBODYS)]
    if project:
        named = [("project", f"{project.name}  ({project.key})"), ("because", f"of {project.reason}")]
    gone_line = "{0.root}, which is gone: 'daybook adopt {0.key}' takes over its memories"
    elsewhere = "{0.root}, on another machine: 'daybook adopt {0.key}' joins both"
    here = "{0.root}, another project before: 'daybook adopt {0.key}' takes over its memories"
    return Shown(
        rows=(
            *named,
            ("store", store),
            ("index", index),
            *(("note", problem) for problem in problems),
            *((vault.level.value, _root(vault)) for vault in vaults),
            *(
                (
                    "perhaps",
                    (elsewhere if former.elsewhere else here if former.here else gone_line).format(former),
                )
                for former in may_be
            ),
        ),
        json={
            "project": project._asdict() if project else None,
            "store": store,
            "index": index,
            "vaults": [{"key": vault.key, "level": vault.level, "root": vault.root} for vault in vaults],
            "problems": problems,
            "may_be_former": [former._asdict() for former in may_be],
        },
    )


def _root(vault: Vault) -> str:
    if vault.adopted:
        return str(vault.root)
    return f"{vault.root}  {OF_TEAM if vault.level is Level.TEAM else ONLY_READ}"


def synced(report: SyncReport) -> Shown:
    """Return how many files were taken in, and those that could not be."""
    return Shown(
        f"{report.added} added, {report.modified} modified, {report.removed} removed",
        rows=[
            (
                "not taken in",
                f"{problem.path}{f':{problem.line}' if problem.line else ''}: {problem.reason}",
            )
            for problem in report.unreadable
        ],
        json=asdict(report),
    )
