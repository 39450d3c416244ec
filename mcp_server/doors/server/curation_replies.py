"""What the tools that make memories of documents answer, ids first."""

from mcp_server.actions.exchange.seed import Seeded
from mcp_server.core.render import counted, one_line, within
from mcp_server.doors.server.replies import LIMIT


def seeded(done: Seeded, *, waiting: str) -> str:
    """Return the counts of a run of seeding, each memory or reason on a line, and what is *waiting*."""
    parts = (
        ("added", "would be added", done.added), ("revised", "would be revised", done.revised),
        ("unchanged", "unchanged", done.unchanged),
    )  # fmt: skip
    counts = [f"{len(found)} {would if done.dry_run else did}" for did, would, found in parts]
    head = ", ".join([*counts, f"{len(done.skipped)} skipped"]) + "."
    lines = [f"{memory_id}  {one_line(title, 150)}" for memory_id, title in (*done.added, *done.revised)]
    lines += [f"skipped: {one_line(title, 150)}: {one_line(why, 200)}" for title, why in done.skipped]
    lines += [
        f"{memory_id}  no longer in its document: {one_line(title, 120)}"
        for memory_id, title in done.vanished
    ]
    told, left_out = within(lines, LIMIT - 400)
    more = [f"({counted(left_out, 'more line')}.)"] if left_out else []
    return "\n".join(filter(None, [head, *told, *more, "" if done.dry_run else waiting]))
