"""The texts that commands show to the person: about 20 lines at most, with ids, foreign text harmless."""

from collections.abc import Sequence

from mcp_server.actions.files.read import Found
from mcp_server.actions.memory.session import Since
from mcp_server.core.render import counted, one_line, repeats, visible
from mcp_server.core.search.query import Answer, Confidence, Hit
from mcp_server.core.secrets.redaction import redact
from mcp_server.core.text.excerpt import excerpt
from mcp_server.core.text.words import query_terms
from mcp_server.doors.shown.recall import doubts, shelves

EXCERPT = 240  # characters of one hit
SESSION_LINES = 12  # of a saved session
CHANGES = 5  # commits that were made since


def recalled(answer: Answer, words: str, *, waiting: int) -> str:
    """Return the hits with their passages on *words*; *waiting* passages have no vector yet."""
    if not answer.hits and waiting:
        return f"No memory has these words, and {counted(waiting, 'passage')} cannot be found by meaning yet."
    if not answer.hits:
        return f"No memory matches '{one_line(words, 80)}'. Try other words, or fewer in brackets."
    by_words = "" if answer.semantic else ", searched by words only"
    sure = "No confident match" if answer.verdict is Confidence.NONE else f"{answer.verdict.value} confidence"
    lines = [f"{sure.capitalize()}{by_words}:"]
    for line, hits in shelves(answer.hits):
        lines += [line] if line else []
        lines += [each for hit in hits for each in _hit(hit, words)]
    return "\n".join(lines)


def several(found: Sequence[Found], command: str, *, sure: bool) -> str:
    """Return the memories that *command* may mean, so that the person names one by its id."""
    head = "Several memories may be meant" if sure else "No memory is sure to be meant; the nearest are"
    lines = [
        f"  {each.memory.id}  {each.memory.type or each.memory.kind.value} · {each.memory.updated:%Y-%m-%d}"
        f"  {one_line(redact(each.memory.title), 100)}"
        for each in found
    ]
    return "\n".join([f"{head}:", *lines, f"Name one by its id: /{command} {found[0].memory.id}"])


def session(found: Found, since: Since) -> str:
    """Return the beginning of a saved session, and what changed since."""
    memory = found.memory
    body = [line for line in visible(redact(memory.text)).splitlines() if line.strip()]
    left = len(body) - SESSION_LINES
    lines = [
        f"{one_line(memory.title, 120)}  ({memory.id}, saved {memory.created:%Y-%m-%d %H:%M} UTC)",
        *(f"  {_cut(line)}" for line in body[:SESSION_LINES]),
        *([f"  ({counted(left, 'more line')}: {found.path})"] if left > 0 else []),
    ]
    changes = [f"branch is {since.branch} now"] if since.branch else []
    changes += [f"commit {commit}" for commit in since.commits[:CHANGES]]
    more = len(since.commits) - CHANGES
    changes += [counted(more, "more commit")] if more > 0 else []
    changes += [f"changed: {', '.join(since.files[:10])}"] if since.files else []
    changes += [since.problem] if since.problem else []
    lines += ["Since then:", *(f"  {one_line(each, 200)}" for each in changes)] if changes else []
    return "\n".join([*lines, "Claude is given it with your next prompt."])


def _cut(line: str) -> str:
    """Return *line*, cut before it fills too many lines of a screen."""
    return line if len(line) <= EXCERPT else f"{line[: EXCERPT - 1]}…"


def _hit(hit: Hit, words: str) -> list[str]:
    about = [hit.id, hit.type or hit.kind.value, f"{hit.updated:%Y-%m-%d}"]
    about += doubts(hit)
    about += [] if hit.pushable else ["unconfirmed origin"]
    said = one_line(excerpt(hit.text, query_terms(words), EXCERPT), EXCERPT)
    title = one_line(hit.title, 100)
    if repeats(title, said):
        return [f"  {said}  ({' · '.join(about)})"]
    return [f"  {title}  ({' · '.join(about)})", f"    {said}"]
