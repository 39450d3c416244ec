"""Figures: counts, sizes, use and its benefit, what waits, which model answers."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mcp_server.actions.files.size_limit import MEGABYTE
from mcp_server.actions.sessions.quality import LEAST_GIVEN, Quality
from mcp_server.core.embedding_models import NONE
from mcp_server.core.render import bytes_of, counted
from mcp_server.doors.shown import Shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcp_server.actions.model.choose_embedder import ListedModel, Progress
    from mcp_server.actions.status.stats import Metrics, Stats

MOST = 10  # types, tags … that are told
MODEL = ("name", "dimensions:", "size:", "languages", "", "in use", "here:")


def stats(found: Stats) -> Shown:
    """Return how many memories there are, by kind, type, status and tag, and what could not be read."""
    counts = found.counts
    return Shown(
        rows=(
            ("memories", found.memories),
            ("files", f"{counts.size / 1024:,.0f} KB"),
            ("index", f"{found.index_size / 1024:,.0f} KB"),
            ("passages", f"{found.passages}, {found.pending} waiting to be embedded ({found.model})"),
            *(
                (name, ", ".join(f"{key} {number}" for key, number in list(numbers.items())[:MOST]) or "none")
                for name, numbers in (
                    ("kinds", counts.by_kind),
                    ("types", counts.by_type),
                    ("status", counts.by_status),
                    ("vaults", counts.by_vault),
                    ("tags", counts.tags),
                )
            ),
            *(
                ("unreadable", f"{problem.path}:{problem.line}: {problem.reason}")
                for problem in found.unreadable[:10]
            ),
        ),
        json=asdict(found),
    )


def metrics(found: Metrics) -> Shown:
    """Return all counts as one table; of the ledger's events only those that ever happened."""
    rows = [*_contents(found.stats), *_sizes(found), *_events(found), *_use(found.quality), *_waits(found)]
    json = {**asdict(found.stats), **{name: said for name, said in asdict(found).items() if name != "stats"}}
    json["quality"]["usage_rate"] = found.quality.usage_rate
    return Shown(
        f"{counted(found.stats.memories, 'memory')} here, and what was done in all projects:",
        ("what", "count"),
        tuple((name, str(said)) for name, said in rows),
        json=json,
    )


def _contents(found: Stats) -> Iterator[tuple[str, object]]:
    yield "memories", found.memories
    for name, counts in (
        ("kind", found.counts.by_kind),
        ("type", found.counts.by_type),
        ("status", found.counts.by_status),
        ("tag", found.counts.tags),
    ):
        for key, number in list(counts.items())[:MOST]:
            yield f"{name} {key}", number
    if found.unreadable:
        yield "files that cannot be read", len(found.unreadable)
    yield "passages", f"{found.passages}, {found.pending} waiting to be embedded"
    yield "embedding model", found.model


def _sizes(found: Metrics) -> Iterator[tuple[str, object]]:
    size = found.size
    for name, number in (
        ("memories of all projects", size.memories),
        ("index", size.index),
        ("trash", size.trash),
        ("history", size.history),
        ("ledger", size.ledger),
        ("all together", size.total),
    ):
        yield name, f"{number / MEGABYTE:,.1f} MB"
    yield "limit", f"{size.limit // MEGABYTE:,} MB" if size.limit else "none"


def _events(found: Metrics) -> Iterator[tuple[str, object]]:
    for name, times in found.ever.items():
        if times:
            yield name.replace("_", " "), f"{found.month[name]} since {found.since}, {times} ever"


def _use(found: Quality) -> Iterator[tuple[str, object]]:
    span = f"the last {counted(found.days, 'day')}" if found.days else "all time"
    yield f"answers given in {span}", f"{found.given}, with {counted(found.unique, 'different memory')}"
    yield "used of them", f"{found.used} ({found.usage_rate:.0%})"
    yield "prompts", f"{found.prompts_told} told something, {found.prompts_silent} nothing"
    for each in found.top_used:
        yield f"most used: {each.id}", f"given {each.given}, used {each.used}"
    for each in found.least_useful:
        yield f"never used: {each.id}", f"given {counted(each.given, 'time')}, of {LEAST_GIVEN} or more"


def _waits(found: Metrics) -> Iterator[tuple[str, object]]:
    capture, spent = found.capture, found.spending
    yield "transcripts to keep", capture.unkept
    yield "to learn from", f"{bytes_of(capture.unlearned_bytes)} of {counted(capture.unlearned, 'session')}"
    yield "model calls today", f"{spent.today_calls}, {spent.today}; on your plan {spent.plan_calls}"
    for name, cost in spent.sessions:
        yield f"learning from session {name}", cost


def models(found: Sequence[ListedModel]) -> Shown:
    """Return the embedding models that can be chosen."""
    return Shown(
        headers=MODEL,
        rows=[
            (
                each.name,
                each.dimensions or "",
                f"{each.megabytes} MB" if each.megabytes else "",
                each.languages,
                each.note,
                "chosen" if each.chosen else "",
                "yes" if each.here else "no",
            )
            for each in found
        ],
        json=[asdict(each) for each in found],
    )


def embedding(found: Progress, listed: Sequence[ListedModel] = (), problem: str = "") -> Shown:
    """Return which embedding model is chosen, and its progress, with those that are *listed*."""
    rest = "; words find the others" if found.embedded < found.passages else ""
    has = f"{found.embedded} of {found.passages} have its vector{rest}"
    return Shown(
        rows=(
            ("chosen", found.chosen),
            ("passages", has if found.chosen != NONE else "memories are searched by words only"),
            *(("problem", said) for said in dict.fromkeys([found.problem, problem]) if said),
        ),
        below=(models(listed),) if listed else (),
        notes=("The person changes it with 'daybook model use NAME'.",),
        json=asdict(found),
    )
