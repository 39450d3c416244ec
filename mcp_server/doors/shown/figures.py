"""Figures: counts, sizes, use and its benefit, costs, what waits, which model answers."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from mcp_server.core.embedding_models import NONE, is_endpoint, is_folder
from mcp_server.core.render import MEGABYTE, bytes_of, counted
from mcp_server.doors.shown import Shown
from mcp_server.doors.shown.use import quality, quality_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcp_server.actions.model.choose_embedder import ListedModel, Progress
    from mcp_server.actions.model.model_call import Spending
    from mcp_server.actions.status.stats import Capture, Metrics, Stats
    from mcp_server.core.budget import Cost

MOST = 10  # types, tags … that are told
MODEL = ("name", "dimensions:", "size:", "languages", "", "in use", "here:")


def stats(figures: Stats) -> Shown:
    """Return how many memories there are and how large, by kind and so on, and what could not be read."""
    rows = [
        *_contents(figures),
        *((f"vault {key}", number) for key, number in list(figures.counts.by_vault.items())[:MOST]),
        ("files", f"{figures.counts.size / 1024:,.0f} KB"),
        ("index", f"{figures.index_size / 1024:,.0f} KB"),
        *(
            ("unreadable", f"{problem.path}:{problem.line}: {problem.reason}")
            for problem in figures.unreadable[:MOST]
        ),
    ]
    return Shown(rows=rows, json=asdict(figures))


def metrics(figures: Metrics) -> Shown:
    """Return all counts as one table; of the ledger's events only those that ever happened."""
    rows = [*_contents(figures.stats), *_sizes(figures), *_events(figures), *_waits(figures)]
    of_use = quality(figures.quality)
    json = {
        **asdict(figures.stats),
        **{name: value for name, value in asdict(figures).items() if name != "stats"},
    }
    json["quality"] = quality_json(figures.quality)
    return Shown(
        f"{counted(figures.stats.memories, 'memory')} here, and activity in all projects:",
        ("what", "count"),
        tuple((name, str(value)) for name, value in rows),
        below=(replace(of_use, below=()), *of_use.below),
        json=json,
    )


def captured(mode: str, last: str, *, is_any_open: bool) -> str:
    """Return what becomes of sessions; *last* is when one ended last that is kept, '' for none."""
    if last:
        return f"{mode}, last session kept {last}"
    return f"{mode}, {'a session is kept when it ends' if is_any_open else 'no session kept yet'}"


def _contents(figures: Stats) -> Iterator[tuple[str, object]]:
    yield "memories", figures.memories
    for name, counts in (
        ("kind", figures.counts.by_kind),
        ("type", figures.counts.by_type),
        ("status", figures.counts.by_status),
        ("tag", figures.counts.tags),
    ):
        for key, number in list(counts.items())[:MOST]:
            yield f"{name} {key}", number
    if figures.unreadable:
        yield "files not taken in", len(figures.unreadable)
    yield "passages", f"{figures.passages}, {figures.pending} waiting to be embedded"
    yield "embedding model", figures.model


def _sizes(figures: Metrics) -> Iterator[tuple[str, object]]:
    size = figures.size
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


def _events(figures: Metrics) -> Iterator[tuple[str, object]]:
    for name, times in figures.ever.items():
        if times:
            yield name.replace("_", " "), f"{figures.month[name]} since {figures.since}, {times} ever"


def _waits(figures: Metrics) -> Iterator[tuple[str, object]]:
    capture, spent = figures.capture, figures.spending
    yield "transcripts to keep", capture.unkept
    yield "to learn from", to_learn(capture)
    yield "model calls today", f"{spent.today_calls}, {today(spent)}; on your plan {spent.plan_calls}"
    for name, cost in spent.sessions:
        yield f"learning from session {name}", cost_of(cost)


def to_learn(capture: Capture) -> str:
    """Return how much no model read yet, and that little of it waits when it does."""
    much = f"{bytes_of(capture.unlearned_bytes)} of {counted(capture.unlearned, 'session')}"
    return f"{much}; short ones wait for more of them, or tomorrow" if capture.shorts_wait else much


def _note(model: ListedModel) -> str:
    if is_folder(model.name):
        return "a folder of yours"
    return "texts are sent there" if is_endpoint(model.name) else model.note


def models(listed: Sequence[ListedModel]) -> Shown:
    """Return the embedding models that can be chosen."""
    return Shown(
        headers=MODEL,
        rows=[
            (
                model.name,
                model.dimensions or "",
                f"{model.megabytes} MB" if model.megabytes else "",
                model.languages,
                _note(model),
                "chosen" if model.chosen else "",
                "yes" if model.here else "no",
            )
            for model in listed
        ],
        json=[{**asdict(model), "note": _note(model)} for model in listed],
    )


def embedding(progress: Progress, listed: Sequence[ListedModel] = (), problem: str = "") -> Shown:
    """Return which embedding model is chosen, and its progress, with those that are *listed*."""
    by_words = "; the others are found by their words" if progress.embedded < progress.passages else ""
    has = f"{progress.embedded} of {progress.passages} have its vector{by_words}"
    return Shown(
        rows=(
            ("chosen", progress.chosen),
            ("passages", has if progress.chosen != NONE else "memories are searched by words only"),
            *(("problem", sentence) for sentence in dict.fromkeys([progress.problem, problem])),
        ),
        below=(models(listed),) if listed else (),
        notes=("'daybook model use NAME', in a terminal, changes it.",),
        json=asdict(progress),
    )


def today(spent: Spending) -> str:
    """Return what today cost, and which calls are not in it because their price is unknown."""
    unknown = f" and calls of {spent.unpriced}, whose price is not known" if spent.unpriced else ""
    return f"${spent.today_usd:.4f}{unknown}"


def cost_of(cost: Cost) -> str:
    """Return what learning from a session cost, as `3 calls, 4,120 tokens, $0.0061`; '' for no call."""
    paid = [counted(cost.calls, "call")] if cost.calls else []
    planned = [f"{counted(cost.plan_calls, 'call')} on your plan"] if cost.plan_calls else []
    parts = [*paid, *planned, counted(cost.tokens, "token"), *([f"${cost.usd:.4f}"] if cost.calls else [])]
    return ", ".join(parts) if paid or planned else ""
