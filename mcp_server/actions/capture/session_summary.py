"""session_summary: sum up a session from its transcript, without a model, so that it can be saved at once."""

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from mcp_server.actions.context.compaction import changed_files, failed_calls, last_utterances
from mcp_server.adapters import transcript_file
from mcp_server.core.render import one_line
from mcp_server.core.sessions.transcript import Condenser, Speaker, Utterance

LOOKED_AT = 2 * 1024 * 1024  # bytes of the transcript's end
LINES_OF_START = 200  # lines among which the first prompt stands
PROMPTS, FILES, FAILURES = 12, 20, 3
LONGEST_TITLE, LONGEST_PROMPT, LONGEST_REPLY = 80, 300, 2000  # characters


@dataclass(frozen=True, slots=True)
class SoFar:
    """The session's topic (its first prompt), the last prompts and answer, and the files it wrote."""

    title: str
    text: str
    files: tuple[str, ...]


def so_far(transcript: Path | None, folder: Path) -> SoFar | None:
    """
    Return a summary of the session with that *transcript*; None when the person asked nothing in it yet.

    Private text and what the person marked with #skip are left out. Paths inside *folder* are relative to it.
    Raises OSError, Unreadable.
    """
    if transcript is None:
        return None
    utterances, start = last_utterances(transcript, LOOKED_AT)
    prompts = [utterance.words for utterance in utterances if utterance.speaker is Speaker.USER]
    if not prompts:
        return None
    first = (_first_prompt(transcript) if start else "") or prompts[0]
    tools = [utterance.words for utterance in utterances if utterance.speaker is Speaker.TOOL]
    return SoFar(
        one_line(first, LONGEST_TITLE),
        "\n\n".join(filter(None, (_asked(prompts), _answered(utterances), _failed(tools)))),
        tuple(_seen_from(folder, name) for name in changed_files(tools)[-FILES:]),
    )


def _first_prompt(transcript: Path) -> str:
    condenser = Condenser()
    for line, start, end in islice(transcript_file.lines(transcript), LINES_OF_START):
        condenser.utterances(line, start, end)
        if condenser.first_words:
            break
    return condenser.first_words


def _asked(prompts: list[str]) -> str:
    lines = [f"- {one_line(words, LONGEST_PROMPT)}" for words in prompts[-PROMPTS:]]
    return "\n".join(["What was asked, oldest first:", "", *lines])


def _answered(utterances: list[Utterance]) -> str:
    replies = [utterance.words for utterance in utterances if utterance.speaker is Speaker.CLAUDE]
    last = replies[-1] if replies else ""
    cut = f"{last[:LONGEST_REPLY].rstrip()}…" if len(last) > LONGEST_REPLY else last
    return f"Claude's last answer:\n\n{cut}" if last else ""


def _failed(tools: list[str]) -> str:
    lines = [f"- {one_line(words, LONGEST_PROMPT)}" for words in failed_calls(tools)[-FAILURES:]]
    return "\n".join(["Last failures:", "", *lines]) if lines else ""


def _seen_from(folder: Path, name: str) -> str:
    path = Path(name)
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else name
