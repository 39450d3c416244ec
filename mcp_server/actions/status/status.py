"""status: the state of the store, and what needs the person."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server.actions.context import hot
from mcp_server.actions.context.claude_md import trouble
from mcp_server.actions.context.notice import NothingKept, not_accepted, nothing_kept, offered
from mcp_server.actions.files.clock_check import clock_doubt
from mcp_server.actions.files.size_limit import Size, measure
from mcp_server.actions.files.sync import if_free
from mcp_server.actions.files.unfinished_files import caught_edits
from mcp_server.actions.judge.compare import compare_pending
from mcp_server.actions.memory.repository import refused, untrusted
from mcp_server.actions.model.choose_embedder import progress
from mcp_server.actions.model.model_call import Spending, spending
from mcp_server.actions.review import review
from mcp_server.actions.status.stats import Capture, Stats, capture_of, get_stats
from mcp_server.actions.upkeep.backfill import never_seen
from mcp_server.adapters.index.events import deeds, unread_reports
from mcp_server.adapters.missing_projects import Former
from mcp_server.adapters.prompts import prompt
from mcp_server.adapters.remote.notes import has_remote
from mcp_server.adapters.team_membership import has_team
from mcp_server.core.budget import Limit, limit_met, reserve
from mcp_server.core.capture.extraction import ANSWER_TOKENS
from mcp_server.core.errors import DaybookError
from mcp_server.core.memory_parts import id_in
from mcp_server.core.sessions.chunks import SIZE
from mcp_server.core.worth.steady_clock import Doubt
from mcp_server.store import Store

if TYPE_CHECKING:
    from mcp_server.actions.remote.set_up import RemoteState
    from mcp_server.actions.team.membership import Membership

LOOKED_AT = 10  # new memories that are compared before `status` answers; `review` compares more


@dataclass(frozen=True, slots=True)
class Needs:
    """
    What else needs the person, beside what waits for their word; doors make sentences of it.

    `used_up` is the limit for which learning waits.

    `embedding` is the problem of the embedding model, `vault` and `block` are why the vault in the repository
    and the block in CLAUDE.md cannot be kept up, `caught` are files that keep edits which Daybook met. `back`
    are (id, title) of memories that were forgotten, and that another machine's other words brought back.
    """

    size: Size
    embedding: str = ""
    vault: DaybookError | None = None
    former: tuple[Former, ...] = ()
    block: DaybookError | None = None
    lacks_key: bool = False
    used_up: Limit | None = None
    caught: tuple[Path, ...] = ()
    clock: Doubt | None = None
    pinned: int = 0
    places: int = 0
    put_away: unread_reports.PutAway | None = None
    disk: NothingKept | None = None
    back: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """
    What `status` tells: counts, what waits for the person's word (kind → number), what else needs them.

    `never_seen` is the number of transcripts that Daybook does not know, `altered` how many of the memories
    that wait were changed since the person accepted them.
    """

    stats: Stats
    untrusted: int
    capture: Capture
    spending: Spending
    waiting: Mapping[str, int]
    needs: Needs
    never_seen: int = 0
    remote: "RemoteState | None" = None
    team: "Membership | None" = None
    altered: int = 0


def status(store: Store, *, has_key: bool, transcripts: Path | None = None) -> State:
    """
    Return the state of the store; *has_key*: there is a key for the model. Raises IndexUnavailable.

    *transcripts* is the folder in which Claude Code keeps those of all projects.
    """
    stats, spent, capture = get_stats(store), spending(store), capture_of(store)
    with store.database.read() as db:
        record = unread_reports.untold(db, store.keys)
        pinned = hot.pinned(store, db)
        _, altered = not_accepted(store, db)
    needs = Needs(
        size=measure(store),
        disk=nothing_kept(store),
        embedding=progress(store).problem,
        vault=refused(store),
        former=tuple(offered(store)),
        block=trouble(store),
        lacks_key=store.settings.model_calls and not has_key,
        used_up=_used_up(store, spent) if capture.unlearned and not spent.paused_reason else None,
        caught=caught_edits(store),
        clock=clock_doubt(store),
        pinned=len(pinned),
        places=store.settings.hot_cache_max_items,
        put_away=record,
        back=_back_again(store),
    )
    waiting = _waiting(store)
    unseen = never_seen(store, transcripts) if transcripts and capture.mode != "manual" else 0
    apart, remote, team = len(untrusted(store)), _remote(store), _team(store)
    return State(stats, apart, capture, spent, waiting, needs, unseen, remote, team, altered)


def _team(store: Store) -> "Membership | None":
    """Return how it stands with the person's team, None without one."""
    if not has_team(store.home):
        return None
    from mcp_server.actions.team.membership import membership  # most people have no team

    return membership(store)


def _remote(store: Store) -> "RemoteState | None":
    """Return the state of the person's remote, None without one."""
    if not has_remote(store.home):
        return None
    from mcp_server.actions.remote.set_up import state_of  # most stores have no remote

    return state_of(store.home)


def _back_again(store: Store) -> tuple[tuple[str, str], ...]:
    if not has_remote(store.home):  # only an exchange brings back what was forgotten
        return ()
    with store.database.read() as db:
        return tuple((id_in(ref), title) for ref, title in deeds.back_again(db, store.private))


def _used_up(store: Store, spent: Spending) -> Limit | None:
    """Return which limit stands against a question about another whole piece of a session."""
    characters = len(prompt("extract")) + SIZE
    reserved = reserve(store.settings, characters, ANSWER_TOKENS)
    return limit_met(spent.today_usd, spent.today_calls, reserved, store.settings)


def _waiting(store: Store) -> dict[str, int]:
    """Return kind → number of what waits for the person's word, after comparing a few new memories."""
    with if_free(store):
        compare_pending(store, most=LOOKED_AT)
    return review.counts(store)
