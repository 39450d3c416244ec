"""status: the state of the store, and what needs the person."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_server.actions.context import hot
from mcp_server.actions.context.claude_md import trouble
from mcp_server.actions.context.notice import offer, offered, put_away
from mcp_server.actions.files.clock_check import clock_doubt
from mcp_server.actions.files.litter import caught_edits
from mcp_server.actions.files.size_limit import measure
from mcp_server.actions.files.sync import if_free
from mcp_server.actions.judge.compare import compare_pending
from mcp_server.actions.memory.repository import refused, untrusted
from mcp_server.actions.model.choose_embedder import progress
from mcp_server.actions.model.model_call import Spending, spending
from mcp_server.actions.review import review
from mcp_server.actions.status.stats import Capture, Stats, capture_of, get_stats
from mcp_server.adapters.index.events import unattended
from mcp_server.adapters.joined import has_team
from mcp_server.adapters.remote.notes import has_remote
from mcp_server.core.budget import MOST_TRIES
from mcp_server.core.budget import refusal as refusal_today
from mcp_server.core.render import counted
from mcp_server.store import Store

if TYPE_CHECKING:
    from mcp_server.actions.remote.set_up import RemoteState
    from mcp_server.actions.team.membership import Membership


@dataclass(frozen=True, slots=True)
class State:
    """What `status` tells: counts, and what needs the person."""

    stats: Stats
    untrusted: int
    capture: Capture
    spending: Spending
    needs: tuple[str, ...]
    remote: "RemoteState | None" = None
    team: "Membership | None" = None


def status(store: Store, *, has_key: bool) -> State:
    """Return the state of the store; *has_key*: there is a key for the model. Raises IndexUnavailable."""
    stats = get_stats(store)
    waiting = len(untrusted(store))
    spent = spending(store)
    capture = capture_of(store)
    needs = []
    with store.database.read() as db:
        record = unattended.untold(db, store.keys)
        pinned = hot.pinned(store, db)
    if stats.unreadable:
        needs.append(f"{counted(len(stats.unreadable), 'file')} cannot be read; 'daybook sync' names them.")
    needs += _waiting(store)
    if problem := progress(store).problem:
        needs.append(f"{problem} Run 'daybook model list'.")
    if refusal := refused(store):
        needs.append(refusal)
    if moved := offer(offered(store)):
        needs.append(moved)
    if torn := trouble(store):
        needs.append(torn)
    if spent.paused_reason and not spent.paused_until:
        needs.append(f"The model is not called: {spent.paused_reason} Correct it, then run 'daybook setup'.")
    if store.settings.model_calls and not has_key:
        needs.append("The model may be called, but there is no API key: set one with 'daybook setup --key'.")
    if capture.unlearned and not spent.paused_reason and _used_up(store, spent):
        needs.append(
            f"Learning waits until midnight UTC for {counted(capture.unlearned, 'session')}: what a day may"
            " cost is used up. 'daybook setup --daily-usd' allows more."
        )
    if spent.given_up:
        needs.append(
            f"Not learned, after {MOST_TRIES} tries: {counted(spent.given_up, 'piece')}; recall finds them."
        )
    if caught := caught_edits(store):
        needs.append(caught)
    if crowded := measure(store).sentence:
        needs.append(crowded)
    if doubt := str(clock_doubt(store) or ""):
        needs.append(doubt)
    if len(pinned) > (places := store.settings.hot_cache_max_items):
        beyond = f"{counted(len(pinned), 'memory')} for {counted(places, 'place')}"
        needs.append(f"More is pinned than is kept at hand: {beyond}; 'daybook hot' shows which, unpin some.")
    remote = _remote(store)
    if remote and remote.last.trouble:
        needs.append(f"{remote.last.trouble} 'daybook remote status' says since when.")
    if remote and remote.last.held:
        held_files = counted(len(remote.last.held), "file")
        needs.append(f"Not given to your other machines: {held_files}; 'daybook remote status' says why.")
    team = _team(store)
    needs += team_needs(team) if team else []
    if record:
        needs.append(f"Since you were last told, {put_away(record)}")
    return State(stats, waiting, capture, spent, tuple(needs), remote, team)


def _team(store: Store) -> "Membership | None":
    """Return how it stands with the person's team, None without one."""
    if not has_team(store.home):
        return None
    from mcp_server.actions.team.membership import membership  # most people have no team

    return membership(store)


def team_needs(team: "Membership") -> list[str]:
    """Return what the person should know of their team: that it does not answer, and what it refused."""
    needs = [f"{team.last.trouble} 'daybook team status' says more."] if team.last.trouble else []
    if refused := [gift for gift in team.waiting if gift.refused]:
        summary = f"{counted(len(refused), 'memory')}: {refused[0].id}: {refused[0].refused}"
        needs.append(f"Not taken by the team: {summary} 'daybook team status' says what can be done.")
    return needs


def _remote(store: Store) -> "RemoteState | None":
    """Return the state of the person's remote, None without one."""
    if not has_remote(store.home):
        return None
    from mcp_server.actions.remote.set_up import state_of  # most stores have no remote

    return state_of(store.home)


def _used_up(store: Store, spent: Spending) -> bool:
    """Tell whether another call, of the usual price, is too much for today."""
    usual = spent.today_usd / max(1, spent.today_calls)
    return bool(refusal_today(spent.today_usd, spent.today_calls, usual, store.settings))


LOOKED_AT = 10  # new memories that are compared before `status` answers; `review` compares more
WAITS = {
    review.QUESTION: ("question", "Whether two memories both hold: {}; 'daybook review' asks you."),
    review.ORIGIN: ("memory", "Not shown unasked until you accept it with 'daybook review': {}."),
    review.CANDIDATE: ("memory", "Proposed, and kept if you say so in 'daybook review': {}."),
    review.STALE: ("memory", "About files that changed or are gone: {}; 'daybook review' asks you."),
    review.AGED: ("entry", "More has aged than one run of upkeep may put away; 'daybook review' asks you."),
}
"""Kind of what waits → the noun for one, and the sentence of `status` about their number."""


def _waiting(store: Store) -> list[str]:
    """Return a sentence for each kind of what waits for the person's word."""
    with if_free(store):
        compare_pending(store, most=LOOKED_AT)
    numbers = review.counts(store)
    return [
        sentence.format(counted(numbers[kind], noun))
        for kind, (noun, sentence) in WAITS.items()
        if numbers[kind]
    ]
