"""What the curation tools answer: links, contradictions, mining and seeding, ids first."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime

from mcp_server.actions.capture.mine import Logged, Mining, MiningStatus
from mcp_server.actions.exchange.seed import Seeded
from mcp_server.actions.judge.contradiction import Pair, Resolved
from mcp_server.actions.judge.settled import describe
from mcp_server.actions.memory.link import Linked, Related, is_written
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.adapters.index.memories.relations import Edge
from mcp_server.core.links import MAX_LABEL
from mcp_server.core.memory import Kind, Status
from mcp_server.core.render import counted, one_line, quoted, within
from mcp_server.core.secrets.redaction import redact
from mcp_server.doors.server.replies import LIMIT

SHOWN = 400  # characters of each memory of a pair


def linked(done: Linked) -> str:
    ends = f"{done.source} {done.rel} {one_line(done.target, 200)}"
    return f"{ends}: {'linked.' if done.changed else 'linked already.'} {done.note}".strip()


def unlinked(done: Linked) -> str:
    target = one_line(done.target, 200)
    if not done.changed:
        return f"{done.source} is not {done.rel} to {target}; nothing was changed."
    return f"{done.source} {done.rel} {target}: unlinked. {done.note}".strip()


def related(found: Related) -> str:
    lines = []
    if found.about:
        lines.append(f"{_line(found.about)}: {counted(len(found.edges) + found.left_out, 'link')}")
        lines += [edge_line(edge, depth) for depth, edge in found.edges]
    tagged = [f"{_line(row)} [{one_line(', '.join(row.tags), 100)}]" for row in found.tagged]
    if tagged:
        lines += [f"with such a tag: {counted(len(tagged), 'memory')}", *tagged]
    if not found.edges and not found.tagged:
        lines.append("Nothing is related yet; link_memories says what belongs together.")
    told, left_out = within(lines, LIMIT - 200)
    left_out += found.left_out
    more = [f"({left_out} more; ask with fewer tags or less depth.)"] if left_out else []
    return "\n".join([*told, *more])


def edge_line(edge: Edge, depth: int) -> str:
    """Return one link on a line: from, label, to, and what the other end is."""
    other = f"{_line(edge.other)}" if edge.other else f"{one_line(edge.target, 200)}  (no memory)"
    arrow = f"{edge.near.id} --{one_line(edge.rel, MAX_LABEL)}-->" if edge.outgoing else (
        f"{edge.near.id} <--{one_line(edge.rel, MAX_LABEL)}--"
    )  # fmt: skip
    written = "  (written as [[...]] in its text)" if is_written(edge) else ""
    return f"{'  ' * depth}{arrow} {other}{written}"


def found_pairs(pairs: Sequence[Pair]) -> str:
    if not pairs:
        return "No two memories seem to contradict each other."
    head = "These may contradict each other; nothing was marked. Ask the person which holds."
    return _pairs(head, pairs)


def marked_pairs(pairs: Sequence[Pair]) -> str:
    if not pairs:
        return "No contradiction is open."
    return _pairs(f"Open: {counted(len(pairs), 'contradiction')}; resolve_contradiction settles one.", pairs)


def resolved(done: Resolved) -> str:
    return f"{done.id} against {done.other}: settled ({done.how}). {done.note}"


def logged(done: Logged) -> str:
    masked = f" Masked: {counted(done.masked, 'secret')}." if done.masked else ""
    return f"{done.size:,} bytes logged for a week; run_mining looks for what recurs.{masked}"


def mined(done: Mining) -> str:
    read = f"{counted(done.outputs, 'output')} and {counted(done.conversations, 'conversation')} read"
    stored = f"; stored: {describe(done.stored)}" if done.stored else ""
    return f"{read}, {done.sighted} new sightings{stored}. review_candidates shows what waits."


def mining(status: MiningStatus) -> str:
    lines = [
        f"output log: {status.size:,} bytes of {counted(status.days, 'day')}",
        f"waiting: {counted(status.waiting, 'candidate')}",
        f"stored: {status.verdicts.get('approved', 0)}, rejected: {status.verdicts.get('rejected', 0)}",
    ]
    return "\n".join([*lines, *run_lines(status)])


def run_lines(status: MiningStatus) -> list[str]:
    """Return the last runs of mining, a line each."""
    return [
        f"run of {datetime.fromtimestamp(run.at, UTC):%Y-%m-%d %H:%M}: "
        + ", ".join(
            f"{one_line(str(value), 20)} {one_line(name, 20)}"
            for name, value in run.detail.items()
            if name != "vault"
        )
        for run in status.runs
    ] or ["never run"]


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


def _pairs(head: str, pairs: Sequence[Pair]) -> str:
    parts = []
    for pair in pairs:
        about = f"differ in {pair.why}, {'sure' if pair.sure else 'perhaps'}\n" if pair.why else ""
        parts.append(
            about + "\n".join(f"{_line(row, pair.said)}\n{_words(row)}" for row in (pair.one, pair.other))
        )
    told, left_out = within(parts, LIMIT - 300, separator="\n\n")
    more = [f"({left_out} more did not fit.)"] if left_out else []
    return "\n\n".join([head, *told, *more])


def _words(row: Row) -> str:
    text = redact(row.text)
    return quoted(text if len(text) <= SHOWN else text[:SHOWN].rstrip() + "…")


def _line(row: Row, said_by_person: Collection[int] = ()) -> str:
    what = row.type if row.kind is Kind.KNOWLEDGE else row.kind.value
    said = " · said by the person" if row.row in said_by_person else ""
    status = "" if row.status is Status.ACTIVE else f" · {row.status.value}"
    return f"{row.id}  {what} · {row.updated_at:%Y-%m-%d}{said}{status}  {one_line(redact(row.title), 100)}"
