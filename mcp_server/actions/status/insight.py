"""insight: what the memory has, showed Claude and cost on each of the last days, and how much was used."""

from dataclasses import dataclass

from mcp_server.actions.files.size_limit import Folder, Size, folders, measure
from mcp_server.actions.files.sync import refresh_index
from mcp_server.actions.files.unindexed import self_healing
from mcp_server.adapters.index.events import candidates, deeds, episodes, receipts, spending
from mcp_server.adapters.index.memories import counts as counting
from mcp_server.adapters.index.memories.counts import Counts
from mcp_server.core.errors import Rejected
from mcp_server.core.memory_parts import DAY
from mcp_server.store import Store

MOST_DAYS = 3660
AGES = (7, 30, 90, 365)  # days that part the ages of memories
SOON = 7  # days: a memory forgotten within them was not worth storing


@dataclass(frozen=True, slots=True)
class OneDay:
    """
    One UTC day, `at` its first second: the tokens shown at starts, with prompts and by searches, and its use.

    `answers` are the memories that prompts and searches gave, each once in a session, and `used` those of
    them that the session used. `usd`, `calls` and `plan_calls` are of all projects.
    """

    at: int
    start: int = 0
    prompts: int = 0
    searches: int = 0
    answers: int = 0
    used: int = 0
    usd: float = 0.0
    calls: int = 0
    plan_calls: int = 0
    sessions: int = 0

    @property
    def shown(self) -> int:
        return self.start + self.prompts + self.searches


@dataclass(frozen=True, slots=True)
class Share:
    """*part* of *whole*, both numbers of the same things."""

    part: int
    whole: int

    @property
    def rate(self) -> float | None:
        """The share, 0 to 1; None of nothing."""
        return self.part / self.whole if self.whole else None


@dataclass(frozen=True, slots=True)
class Insight:
    """
    The figures of the last days, the earliest first, and what is stored now.

    `ages` are the numbers of memories by days since their last change, parted by AGES. `size` and
    `folders` are of the whole store, and so is `rejected`, the share of the candidates judged in these days.
    """

    days: tuple[OneDay, ...]
    counts: Counts
    ages: tuple[int, ...]
    used: Share
    rejected: Share
    taken_back: Share
    forgotten_soon: Share
    size: Size
    folders: tuple[Folder, ...]


@self_healing
def insight(store: Store, *, days: int, everywhere: bool = False) -> Insight:
    """
    Return the figures of the last *days*, today included; of this project and the person, or *everywhere*.

    Raises Rejected for less than one day or more than MOST_DAYS, IndexUnavailable.
    """
    if not 1 <= days <= MOST_DAYS:
        raise Rejected(f"{days} days cannot be used.", f"Give a number from 1 to {MOST_DAYS}.")
    refresh_index(store)
    today = store.now() - store.now() % DAY
    first = today - (days - 1) * DAY
    keys = (store.everywhere() if everywhere else store).keys
    folder = str(store.project.root) if store.project else ""
    day_values: dict[int, dict[str, float]] = {at: {} for at in range(first, today + 1, DAY)}
    names = {receipts.START: "start", receipts.PROMPT: "prompts", receipts.RECALL: "searches"}
    with store.database.read() as db:
        for at, why, tokens in receipts.shown_by_day(db, keys, since=first):
            _take(day_values, at, {names[why]: tokens})
        for at, answers, used in receipts.used_by_day(db, keys, since=first):
            _take(day_values, at, {"answers": answers, "used": used})
        for at, usd, calls, plan_calls in spending.by_day(db, since=first):
            _take(day_values, at, {"usd": usd, "calls": calls, "plan_calls": plan_calls})
        for at, began in episodes.started_by_day(
            db, store.of_project, folder, everywhere=everywhere or not store.project, since=first
        ):
            _take(day_values, at, {"sessions": began})
        counts = counting.counts(db, keys)
        ages = counting.ages(db, keys, now=store.now(), limits=[limit * DAY for limit in AGES])
        verdicts = candidates.verdicts_since(db, first)
        changes, taken_back = deeds.taken_back(db, keys, since=first)
        stored_count, forgotten = deeds.forgotten_soon(db, keys, since=first, within=SOON * DAY)
    memory_folders = folders(store)
    figures = tuple(OneDay(at, **values) for at, values in day_values.items())  # type: ignore[arg-type]
    return Insight(
        days=figures,
        counts=counts,
        ages=tuple(ages),
        used=Share(sum(day.used for day in figures), sum(day.answers for day in figures)),
        rejected=Share(verdicts.get("rejected", 0), sum(verdicts.values())),
        taken_back=Share(taken_back, changes),
        forgotten_soon=Share(forgotten, stored_count),
        size=measure(store, memory_folders),
        folders=tuple(memory_folders),
    )


def _take(days: dict[int, dict[str, float]], at: int, values: dict[str, float]) -> None:
    """Note the *values* of a day; what a wrong clock dated in the future is of no day."""
    if at in days:
        days[at].update(values)
