"""What the tools for sessions and upkeep answer: short text, every foreign word on one line."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from mcp_server.actions.model.choose_embedder import Listed, Progress
from mcp_server.actions.sessions.forget_session import ForgottenSession
from mcp_server.actions.sessions.session_history import Given, Patterns, Told
from mcp_server.actions.upkeep.maintain import Cleaned, Step
from mcp_server.adapters.index.events.episodes import Episode
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.core.budget import Cost
from mcp_server.core.memory import Kind
from mcp_server.core.render import counted, one_line, quoted, within
from mcp_server.core.secrets.redaction import redact
from mcp_server.doors.server.replies import LIMIT

MB = 1024 * 1024


def sessions(found: Sequence[Episode], costs: Mapping[str, Cost]) -> str:
    if not found:
        return "No session is known here; all_projects=true looks everywhere."
    lines = [
        f"{_session(each)}{f'; learning from it: {costs[each.id]}' if each.id in costs else ''}"
        for each in found
    ]
    return _listed(lines, f"{counted(len(found), 'session')}, the latest first")


def session(told: Told) -> str:
    episode = told.episode
    stored = ", ".join(f"{kind} {number}" for kind, number in told.stored.items()) or "nothing"
    lines = [
        _session(episode),
        f"id: {one_line(episode.id, 120)}",
        f"folder: {one_line(episode.folder, 200) or 'not known'}",
        f"stored: {stored}; recalled {counted(told.recalled, 'memory')}, used {told.used}",
        *(
            f"transcript: {each.kept:,} of {each.size:,} bytes kept, {each.learned:,} learned from"
            for each in told.transcripts[:5]
        ),
        f"learning from it: {str(told.cost) or 'no call of a model'}",
    ]
    if episode.summary:
        lines += ["summary:", quoted(redact(episode.summary))]
    return "\n".join(lines)[:LIMIT]


def session_memories(episode: Episode, stored: Sequence[Row], given: Sequence[Given]) -> str:
    lines = [f"session {_name(episode)} stored {len(stored)}, and was given {len(given)} that it asked for"]
    lines += [
        f"{row.id}  {row.type if row.kind is Kind.KNOWLEDGE else row.kind.value} · {row.status.value}  "
        f"{one_line(redact(row.title), 120)}"
        for row in stored
    ]
    lines += [
        f"{each.id}  recalled {each.recalled}, used {each.used}  {one_line(redact(each.title), 120)}"
        for each in given
    ]
    return _listed(lines[1:], lines[0])


def patterns(found: Patterns) -> str:
    lines = [
        f"{each.name.rpartition('/')[2]}  in {counted(each.sessions, 'session')},"
        f" {counted(each.times, 'time')}"
        f"  {one_line(redact(each.title), 120)}"
        for each in found.memories
    ]
    lines += [
        f"tag {one_line(each.name, 60)}  learned about in {counted(each.sessions, 'session')},"
        f" {counted(each.times, 'memory')}"
        for each in found.tags
    ]
    return (
        _listed(lines, "What several sessions recalled, used or learned about")
        if lines
        else "Nothing comes up in two sessions yet."
    )


def forgotten(found: ForgottenSession) -> str:
    head = "Nothing was changed; the plan:"
    if not found.dry_run:
        head = f"Done; 'daybook forget-session {one_line(found.session, 120)} --undo' puts it back:"
    return _listed([one_line(redact(line), 300) for line in found.lines()], head)


def steps(done: Sequence[Step]) -> str:
    return "\n".join(
        f"{each.action}: {each.said}; {each.before / MB:.1f} MB before, {each.after / MB:.1f} MB after,"
        f" {each.seconds:.1f} s"
        for each in done
    )


def cleaned(found: Cleaned) -> str:
    head = "Nothing was changed; the plan:" if found.dry_run else "Done; 'daybook tidy --undo' takes back"
    head += "" if found.dry_run else " what was archived or thrown away, not what was deleted for good:"
    return _listed([one_line(line, 300) for line in found.lines()], head)


def embedding(found: Progress, models: Sequence[Listed], problem: str) -> str:
    lines = [
        f"chosen {one_line(found.chosen, 200)}",
        f"answering {one_line(found.answers, 200) or 'none: recall searches by words only'}",
        f"{found.embedded} of {found.passages} passages have its vector, {found.computed} that of the chosen",
    ]
    lines += [f"problem: {one_line(said, 300)}" for said in dict.fromkeys([found.problem, problem]) if said]
    lines += [
        f"{one_line(each.name, 200)}  {each.dimensions or '?'} dimensions, {each.megabytes or '?'} MB,"
        f" {each.languages}{', here' if each.here else ''}{', chosen' if each.chosen else ''}"
        for each in models
    ]
    return "\n".join([*lines, "The person changes it with 'daybook model use NAME'."])


def _session(each: Episode) -> str:
    ended = f", ended {_moment(each.ended)}" if each.ended else ""
    gone = ", forgotten" if each.forgotten else ""
    topic = one_line(redact(each.topic or each.summary), 120)
    return f"{_name(each)}  {_moment(each.started)}, last {_moment(each.last)}{ended}{gone}  {topic}".rstrip()


def _name(each: Episode) -> str:
    return one_line(each.short or each.id, 80)


def _moment(at: int) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}"


def _listed(lines: Sequence[str], head: str) -> str:
    told, left_out = within(lines, LIMIT - 300)
    more = [f"({counted(left_out, 'more line')}; the daybook command line shows all.)"] if left_out else []
    return "\n".join([head, *told, *more])
