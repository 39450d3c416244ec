"""Figures: counts, sizes, use and its benefit, what waits, which model answers."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from mcp_server.actions.files.size_limit import MEGABYTE
from mcp_server.core.embedding_models import NONE
from mcp_server.core.render import bytes_of, counted
from mcp_server.doors.shown import Shown
from mcp_server.doors.shown.use import quality, quality_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcp_server.actions.model.choose_embedder import ListedModel, Progress
    from mcp_server.actions.status.stats import Metrics, Stats

MOST = 10  # types, tags … that are told
MODEL = ("name", "dimensions:", "size:", "languages", "", "in use", "here:")


def stats(found: Stats) -> Shown:
    """Return how many memories there are and how large, by kind and so on, and what could not be read."""
    rows = [
        *_contents(found),
        *((f"vault {key}", number) for key, number in list(found.counts.by_vault.items())[:MOST]),
        ("files", f"{found.counts.size / 1024:,.0f} KB"),
        ("index", f"{found.index_size / 1024:,.0f} KB"),
        *(("unreadable", f"{each.path}:{each.line}: {each.reason}") for each in found.unreadable[:MOST]),
    ]
    return Shown(rows=rows, json=asdict(found))


def metrics(found: Metrics) -> Shown:
    """Return all counts as one table; of the ledger's events only those that ever happened."""
    rows = [*_contents(found.stats), *_sizes(found), *_events(found), *_waits(found)]
    of_use = quality(found.quality)
    json = {**asdict(found.stats), **{name: said for name, said in asdict(found).items() if name != "stats"}}
    json["quality"] = quality_json(found.quality)
    return Shown(
        f"{counted(found.stats.memories, 'memory')} here, and what was done in all projects:",
        ("what", "count"),
        tuple((name, str(said)) for name, said in rows),
        below=(replace(of_use, below=()), *of_use.below),
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
