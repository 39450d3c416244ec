"""
A conversation as markdown: one heading for each turn, `## speaker · time`, then the words.

A line of a turn that looks like such a heading gets a backslash before it, so that every conversation is read
back as it was saved.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile
from typing import TYPE_CHECKING

from mcp_server.core.errors import Rejected

if TYPE_CHECKING:  # hooks read conversations but no transcripts
    from mcp_server.core.sessions.transcript import Utterance

SEPARATOR = " · "
_HEADING = re.compile(r"## (?P<speaker>[^\n·]{1,80}?)(?: · (?P<time>[^\n]{1,60}))?")
_ESCAPED = re.compile(r"\\*## ")


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance: speaker, words and time ('' when unknown)."""

    speaker: str
    words: str
    time: str = ""


def render_turns(turns: Sequence[Turn]) -> str:
    """Return *turns* as the body of a conversation's file."""
    parts = []
    for turn in turns:
        speaker = " ".join(turn.speaker.replace("·", " ").split())[:80] or "unknown"
        time = " ".join(turn.time.split())[:60]
        heading = f"## {speaker}{SEPARATOR}{time}" if time else f"## {speaker}"
        words = turn.words.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
        lines = ["\\" + line if _ESCAPED.match(line) else line for line in words.split("\n")]
        parts.append("\n".join([heading, "", *lines]))
    return "\n\n".join(parts)


def parse_turns(text: str) -> list[Turn]:
    """Return the turns of a conversation's body; text before the first heading has no speaker."""
    turns: list[Turn] = []
    speaker, time = "", ""
    lines: list[str] = []

    def end() -> None:
        words = "\n".join(lines).strip("\n")
        if speaker or words:
            turns.append(Turn(speaker, words, time))

    for line in text.split("\n"):
        heading = _HEADING.fullmatch(line)
        if heading:
            end()
            speaker, time, lines = heading["speaker"], heading["time"] or "", []
        else:
            lines.append(line[1:] if line.startswith("\\") and _ESCAPED.match(line[1:]) else line)
    end()
    return turns


def turns_of(messages: Sequence[object]) -> list[Turn]:
    """
    Return *messages* as turns; each is `{"role", "content", "timestamp"?}` or a plain text.

    Raises Rejected with the number of the first message that is neither.
    """
    turns = []
    for number, message in enumerate(messages, start=1):
        if isinstance(message, str):
            turns.append(Turn("user", message))
            continue
        if not isinstance(message, dict) or not isinstance(message.get("content"), str):
            raise Rejected(
                f"Message {number} has no text.",
                'Give each message as {"role": "user", "content": "what was said"}.',
            )
        role, time = message.get("role") or message.get("speaker") or "user", message.get("timestamp") or ""
        turns.append(Turn(str(role), message["content"], str(time)))
    if not any(turn.words.strip() for turn in turns):
        raise Rejected("A conversation needs at least one message.", "Give the messages in their order.")
    return turns


def turns_said(utterances: Sequence["Utterance"], *, subagent: bool) -> list[Turn]:
    """
    Return *utterances* of a transcript as turns: consecutive utterances of one speaker are one turn.

    The tools that Claude (or its agent) called are lines of its turn.
    """
    acting = "agent" if subagent else "claude"
    turns: list[Turn] = []
    for utterance in utterances:
        calls = utterance.speaker == "tool"
        speaker = acting if calls else utterance.speaker.value
        if turns and turns[-1].speaker == speaker != "user":
            between = "\n" if calls and turns[-1].words.rpartition("\n")[2].startswith("[") else "\n\n"
            turns[-1] = replace(turns[-1], words=f"{turns[-1].words}{between}{utterance.words}")
        else:
            turns.append(Turn(speaker, utterance.words, utterance.time))
    return turns


def without_said(utterances: Sequence["Utterance"], turns: Sequence[Turn]) -> list["Utterance"]:
    """
    Return those of *utterances* that *turns*, their conversation, do not have yet.

    Some are there already when a process was killed after it wrote them and before it recorded that: the
    conversation then has turns as late as the first of *utterances*, and those are the first ones. Where each
    of them stands is told by its time, for it may be one of several in a turn that began before it.
    """
    if not utterances or not any(turn.time >= utterances[0].time for turn in turns):
        return list(utterances)
    ends = [*(turn.time for turn in turns[1:]), ""]

    def has(turn: Turn, end: str, utterance: "Utterance") -> bool:
        words = utterance.words.strip("\n")
        if utterance.speaker == "user":  # each is a turn of its own
            return (turn.time, turn.words) == (utterance.time, words)
        return "" < turn.time <= utterance.time <= (end or utterance.time) and words in turn.words

    def is_said(utterance: "Utterance") -> bool:
        return any(has(turn, end, utterance) for turn, end in zip(turns, ends, strict=True))

    return list(dropwhile(is_said, utterances))
