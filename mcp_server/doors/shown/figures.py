"""How much there is: counts, sizes, what waits, what was spent, which model answers."""

from collections.abc import Sequence
from dataclasses import asdict

from mcp_server.actions.memory.list import Stats
from mcp_server.actions.model.choose_embedder import Listed, Progress
from mcp_server.actions.status.metrics import Metrics
from mcp_server.core.render import counted
from mcp_server.doors.shown import Shown

MB = 1024 * 1024
MOST = 12  # counts of one kind that are told
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
    """Return counters of this month and of all time, sizes and what waits."""
    size, spent = found.size, found.spending
    ledger = Shown(
        f"In the ledger since {found.since}, and ever:",
        ("event", "this month:", "ever:"),
        [(name.replace("_", " "), number, found.ever[name]) for name, number in found.month.items()],
    )
    return Shown(
        rows=(
            ("memories", f"{found.memories} here; in all projects {size.memories / MB:.1f} MB"),
            (
                "index",
                f"{size.index / MB:.1f} MB, {counted(found.passages, 'passage')}, {found.to_embed} to embed",
            ),
            ("trash and ledger", f"{size.trash / MB:.1f} and {size.ledger / MB:.1f} MB"),
            ("history", f"{size.history / MB:.1f} MB"),
            ("limit", f"{size.limit // MB} MB" if size.limit else "none"),
            ("transcripts to keep", found.transcripts_to_keep),
            ("bytes to learn from", f"{found.bytes_to_learn:,}"),
            ("model calls today", f"{spent.today_calls}, {spent.today}; on your plan {spent.plan_calls}"),
            *((f"learning from session {name}", cost) for name, cost in spent.sessions),
        ),
        below=(ledger,),
        json=asdict(found),
    )


def models(found: Sequence[Listed]) -> Shown:
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
                "answers" if each.answers else "chosen" if each.chosen else "",
                "yes" if each.here else "no",
            )
            for each in found
        ],
        json=[asdict(each) for each in found],
    )


def embedding(found: Progress, listed: Sequence[Listed] = (), problem: str = "") -> Shown:
    """Return which embedding model answers and how far the chosen one is, with those that are *listed*."""
    computed = f"{found.embedded} of {found.passages} have its vector, {found.computed} that of the chosen"
    return Shown(
        rows=(
            ("chosen", found.chosen),
            ("answering", found.answers or "none: memories are searched by words only"),
            ("passages", computed),
            *(("problem", said) for said in dict.fromkeys([found.problem, problem]) if said),
        ),
        below=(models(listed),) if listed else (),
        notes=("The person changes it with 'daybook model use NAME'.",),
        json=asdict(found),
    )
