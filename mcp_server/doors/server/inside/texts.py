"""The texts that commands show to the person: about 20 lines at most, with ids, foreign text harmless."""

from collections.abc import Sequence
from dataclasses import replace

from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.memory.session import Since
from mcp_server.core.memory_parts import type_or_kind
from mcp_server.core.render import counted, on_one_line, one_line, visible
from mcp_server.core.search.query import Answer
from mcp_server.core.secrets.redaction import redact
from mcp_server.doors.server.replies import shown_lines
from mcp_server.doors.shown.memory import changes_since
from mcp_server.doors.shown.recall import Advice, answered

EXCERPT = 240  # characters of one hit
SESSION_LINES = 12  # of a saved session
CHANGES = 5  # commits that were made since
TYPED = Advice(
    after_weak_hits="/recall WORDS [kind: conversation] asks past conversations;"
    " 'daybook recall --all-projects WORDS' in a terminal asks all projects.",
    without_hits="Try other words, fewer of [type: …], [tags: …] and the like,"
    " or 'daybook recall --all-projects WORDS' in a terminal.",
    while_embedding="try again in a moment.",
)


def recalled(answer: Answer, words: str, *, waiting: int) -> str:
    """Return the hits, each with a line on *words*; *waiting* passages have no vector yet."""
    hits = tuple(replace(hit, text=on_one_line(hit.text)) for hit in answer.hits)
    shown = answered(replace(answer, hits=hits), words, most=EXCERPT, waiting=waiting, advice=TYPED)
    return shown_lines(shown)


def several(memory_files: Sequence[MemoryFile], command: str, *, sure: bool) -> str:
    """Return the memories that *command* may mean, so that the person names one by its id."""
    head = (
        "You may mean one of several memories"
        if sure
        else "It is unclear which memory you mean; the nearest are"
    )
    lines = [
        f"  {file.memory.id}  {type_or_kind(file.memory.kind, file.memory.type)}"
        f" · {file.memory.updated:%Y-%m-%d}"
        f"  {one_line(redact(file.memory.title), 100)}"
        for file in memory_files
    ]
    return "\n".join([f"{head}:", *lines, f"Name one by its id: /{command} {memory_files[0].memory.id}"])


def session(file: MemoryFile, since: Since) -> str:
    """Return the beginning of a saved session, and what changed since."""
    memory = file.memory
    body = [line for line in visible(redact(memory.text)).splitlines() if line.strip()]
    lines_left = len(body) - SESSION_LINES
    lines = [
        f"{one_line(memory.title, 120)}  ({memory.id}, saved {memory.created:%Y-%m-%d %H:%M} UTC)",
        *(f"  {_cut(line)}" for line in body[:SESSION_LINES]),
        *([f"  ({counted(lines_left, 'more line')}: {file.path})"] if lines_left > 0 else []),
    ]
    changes = changes_since(since, most_commits=CHANGES)
    lines += ["Since then:", *(f"  {one_line(change, 200)}" for change in changes)] if changes else []
    return "\n".join([*lines, "Claude gets it with your next prompt."])


def _cut(line: str) -> str:
    """Return *line*, cut before it fills too many lines of a screen."""
    return line if len(line) <= EXCERPT else f"{line[: EXCERPT - 1]}…"
