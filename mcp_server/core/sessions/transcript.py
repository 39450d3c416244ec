"""
Utterances from the lines of a transcript: what the person, Claude or an agent said, and which tools ran.

Everything else is left out: thinking, results of tools, attachments, compaction summaries, echoes of
commands, notifications, and all that Daybook itself showed to Claude: memory must not learn from itself.
Private text and secrets are removed before any other code sees the words.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from mcp_server.core.digests import text_digest
from mcp_server.core.memory_parts import moment_in, timestamp
from mcp_server.core.render import visible
from mcp_server.core.search.prompt_parts import command_in
from mcp_server.core.secrets.redaction import redact
from mcp_server.core.sessions.transcript_line import (
    ECHOES,
    Data,
    blocks_of,
    is_typed_by_person,
    is_unsaid,
    not_injected,
    parsed,
    texts_of,
)
from mcp_server.core.text.pasted_content import as_quotes, without_marks
from mcp_server.core.text.private import says_skip, without_private
from mcp_server.core.text.remember_tag import without_order

LONGEST_TURN = 4000  # characters; the middle of a longer one is left out
LONGEST_COMMAND = 200  # characters of a command or a path
LONGEST_NAME = 80  # characters of a tool's name
MOST_CALLS = 32  # tool calls kept of one line, to bound its length
MOST_HELD = 64  # lines that wait for the result of a call
FAILED = " -> failed"

_WINDOW = 192 * 1024  # characters searched for secrets at either end of a turn that is longer than two
_MARGIN = 66 * 1024  # characters given up where a window cuts: more than the longest secret has
_HALF = (LONGEST_TURN - 48) // 2  # characters kept at either end; the rest is for the note between them

_TELLING = {  # which argument of a tool call is kept
    "Bash": "command", "Edit": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path",
    "Read": "file_path", "Write": "file_path",
}  # fmt: skip
_PLAIN = re.compile(r"[\n\t -~]*")
_MASK = re.compile(r"\[secret removed: [^\]\n]{1,120}\]")


class Speaker(StrEnum):
    """Who an utterance is from; an AGENT is one that Claude started, and Claude wrote its prompt."""

    USER = "user"
    CLAUDE = "claude"
    TOOL = "tool"
    AGENT = "agent"


@dataclass(frozen=True, slots=True)
class Utterance:
    """
    One turn, or one call of a tool (`[Bash]: pytest -> failed`).

    `words` are clean: private text and secrets are out, at most 4,000 characters.
    `time` is `2026-11-20T15:28:56Z`, '' if unknown; `start` and `end` are the byte range of its line.
    `key` is 16 hexadecimal characters over time, speaker and words without the mark of a failure, so that
    the copy of a turn in a forked or rewritten transcript has the same.
    `forced` says that the person asked to keep it (`#remember`).
    """

    speaker: Speaker
    words: str
    time: str
    start: int
    end: int
    key: str
    forced: bool = False


@dataclass(slots=True)
class _HeldLine:
    """The utterances of a line, and which of its calls have no result yet: their ids, and their places."""

    utterances: list[Utterance]
    open_calls: dict[str, int] = field(default_factory=dict)


class Condenser:
    """
    Reads the lines of one transcript in their order; never raises, for any bytes.

    A reading may stop after any line and continue there later with the value that `skipping` then had. It may
    also continue after any utterance it gave: then nothing was skipped. The utterances are the same as in
    one reading, except that a call whose result comes only in the later part is not marked as failed.
    `cwd`, `branch`, `first_words`, the person's first turn, and `command`, their first, are '' until seen.
    """

    def __init__(self, *, skipping: bool = False, subagent: bool = False) -> None:
        self.skipping = skipping
        self.cwd = self.branch = ""
        self.first_words = self.command = ""
        self._subagent = subagent
        self._held_lines: deque[_HeldLine] = deque()

    def read(self, lines: Iterable[tuple[bytes, int, int]]) -> Iterator[Utterance]:
        """Yield the utterances of *lines*; each line is (bytes, start, end), as the adapter gives them."""
        for line, start, end in lines:
            yield from self.utterances(line, start, end)
        yield from self.rest()

    def utterances(self, line: bytes, start: int, end: int) -> list[Utterance]:
        """Return the utterances complete after this line: a call, and what follows, waits for its result."""
        data = parsed(line)
        if data is None:
            return []
        self.cwd = self.cwd or _folder(data.get("cwd"))
        self.branch = self.branch or _one_line(data.get("gitBranch"), LONGEST_COMMAND)
        blocks = blocks_of(data["message"].get("content"))
        if data["type"] == "user":
            self._take_results(blocks)
            held_line = self._prompt(data, blocks, start, end)
        else:
            held_line = self._answer(data, blocks, start, end)
        if held_line is not None and held_line.utterances:
            self._held_lines.append(held_line)
        return self._ready()

    def rest(self) -> list[Utterance]:
        """Return the utterances that still wait for a result; to be called at the end of a reading."""
        held_lines, self._held_lines = self._held_lines, deque()
        return [utterance for line in held_lines for utterance in line.utterances]

    def _ready(self) -> list[Utterance]:
        utterances: list[Utterance] = []
        while self._held_lines and (not self._held_lines[0].open_calls or len(self._held_lines) > MOST_HELD):
            utterances += self._held_lines.popleft().utterances
        return utterances

    def _take_results(self, blocks: list[Data]) -> None:
        for block in blocks:
            call = block.get("tool_use_id")
            if block.get("type") == "tool_result" and isinstance(call, str):
                for held_line in self._held_lines:
                    at = held_line.open_calls.pop(call, None)
                    if at is not None and block.get("is_error") is True:
                        call_line = held_line.utterances[at]
                        held_line.utterances[at] = replace(call_line, words=call_line.words + FAILED)

    def _prompt(self, data: Data, blocks: list[Data], start: int, end: int) -> _HeldLine | None:
        """Return the prompt of a person to Claude, or of Claude to an agent; None when there is none."""
        aside = not self._subagent and data.get("isSidechain") is True
        asked_by_claude = aside or self._subagent
        if is_unsaid(data) or not (is_typed_by_person(data) or asked_by_claude):
            return None
        text = "\n\n".join(part for part in texts_of(blocks) if not part.lstrip().startswith(ECHOES))
        shows = any(block.get("type") not in ("text", "tool_result") for block in blocks)
        own = not_injected(text)
        self.command = self.command or kept(without_private(command_in("\n".join(texts_of(blocks)))))
        if not own.strip() and not shows:
            return None
        if not aside:
            for held_line in self._held_lines:
                held_line.open_calls.clear()
        if says_skip(own):
            self.skipping = True
        elif not aside:  # Claude's prompt to an agent does not end the person's turn
            self.skipping = False
        if self.skipping:
            return None
        words = public(text)
        untagged = without_order(words)
        forced = not asked_by_claude and untagged is not None
        # A turn with only the tag is about the turn before it.
        plain = as_quotes(words) if untagged is None else without_marks(untagged)
        words = kept(plain) or (kept(words) if forced else "")
        speaker = Speaker.CLAUDE if asked_by_claude else Speaker.USER
        if speaker is Speaker.USER:
            self.first_words = self.first_words or words
        return _HeldLine([_utterance(speaker, words, _time(data), start, end, forced)]) if words else None

    def _answer(self, data: Data, blocks: list[Data], start: int, end: int) -> _HeldLine | None:
        """Return what Claude or an agent said and which tools it called; None when it is skipped."""
        made_up = data.get("isApiErrorMessage") or data["message"].get("model") == "<synthetic>"
        if self.skipping or made_up or is_unsaid(data):
            return None
        held_line, time = _HeldLine([]), _time(data)
        if words := kept(public("\n\n".join(texts_of(blocks)))):
            agent = self._subagent or data.get("isSidechain") is True
            speaker = Speaker.AGENT if agent else Speaker.CLAUDE
            held_line.utterances.append(_utterance(speaker, words, time, start, end))
        for block in [block for block in blocks if block.get("type") == "tool_use"][:MOST_CALLS]:
            if words := _call(block):
                if isinstance(block.get("id"), str):
                    held_line.open_calls[block["id"]] = len(held_line.utterances)
                held_line.utterances.append(_utterance(Speaker.TOOL, words, time, start, end))
        return held_line


def public(text: str) -> str:
    """Return *text* without what is private, and without what a program put into it."""
    return not_injected(without_private(text))


def _call(block: Data) -> str:
    """Return the call of a tool as one line, '' when it is one of our own tools."""
    name = _one_line(block.get("name"), LONGEST_NAME)
    if not name or "daybook" in str(block.get("name")).casefold():
        return ""
    fields = block.get("input")
    argument = _one_line(fields.get(_TELLING.get(name)), LONGEST_COMMAND) if isinstance(fields, dict) else ""
    return f"[{name}]: {argument}" if argument else f"[{name}]"


def _utterance(who: Speaker, words: str, time: str, start: int, end: int, forced: bool = False) -> Utterance:
    key = text_digest(f"{time}\n{who}\n{words}", size=8)
    return Utterance(who, words, time, start, end, key, forced)


def _time(data: Data) -> str:
    moment = moment_in(data.get("timestamp"))
    return timestamp(moment) if moment else ""


def _folder(value: object) -> str:
    return value if isinstance(value, str) and value.isprintable() and len(value) <= 4096 else ""


def _masked(text: str) -> str:
    """Return *text* without secrets, and without invisible characters, which could hide one."""
    return redact(text if _PLAIN.fullmatch(text) else visible(text))


def kept(text: str) -> str:
    """Return *text* trimmed and masked, in at most 4,000 characters: a longer one loses its middle."""
    if len(text) <= 2 * _WINDOW:
        head = tail = whole = _masked(text).strip()
        if len(whole) <= LONGEST_TURN:
            return whole
    else:
        whole = text
        head, tail = _masked(text[:_WINDOW])[:-_MARGIN].lstrip(), _masked(text[-_WINDOW:])[_MARGIN:].rstrip()
    head, tail = _first(head, _HALF), _last(tail, _HALF)
    return f"{head} … [{len(whole) - len(head) - len(tail):,} characters left out] … {tail}"


def _one_line(value: object, most: int) -> str:
    """Return the first *most* characters of a masked text as one line, '' when it is not text."""
    if not isinstance(value, str):
        return ""
    text = without_private(value)
    masked = _masked(text) if len(text) <= _WINDOW else _masked(text[:_WINDOW])[:-_MARGIN]
    return _first(" ".join(masked.split()), most)


def _first(text: str, most: int) -> str:
    """Return at most *most* characters from the start of *text*; a mask is left out rather than cut."""
    cut = next((mask.start() for mask in _MASK.finditer(text) if mask.start() < most < mask.end()), most)
    return text[:cut].rstrip()


def _last(text: str, most: int) -> str:
    """Return at most *most* characters from the end of *text*; a mask is left out rather than cut."""
    at = max(0, len(text) - most)
    at = next((mask.end() for mask in _MASK.finditer(text) if mask.start() < at < mask.end()), at)
    return text[at:].lstrip()
