"""One line of a transcript, in Claude Code's format: its message, its texts, what a program put into them."""

import json
import re
from typing import Any

from mcp_server.core.context.brief import FRAME, PROMPT_FRAME

LARGEST_PARSED = 4 * 1024 * 1024  # bytes of a line without its images; no person types more

_SPOKEN = re.compile(rb'"type"\s*:\s*"(?:user|assistant)"')
_IMAGE = re.compile(rb'"[A-Za-z0-9+/=]{1024,}"')
_UNSAID = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
ECHOES = (
    "<command-name>", "<command-message>", "<command-args>", "<local-command", "<task-notification", "<bash-",
    "[Request interrupted by user",
)  # fmt: skip
_INJECTED = {  # by Claude Code, by Daybook, and by the person's editor, which shows what is open or selected
    "<system-reminder>": "</system-reminder>", "<!-- MEMORY:START -->": "<!-- MEMORY:END -->",
    "<ide_opened_file>": "</ide_opened_file>", "<ide_selection>": "</ide_selection>",
    '<terminal name="': "</terminal>",
}  # fmt: skip
_FRAMED = re.compile(
    rf"(?m)^[ \t>]{{0,40}}(?:{re.escape(FRAME)}|{re.escape(PROMPT_FRAME)})[^\n]*(?:\n[ \t]*[^\s][^\n]*)*"
)
LINE_END = re.compile("\r\n?|[\v\f\x85\u2028\u2029]")
Data = dict[str, Any]
"""A line of a transcript, or a block of its message, as parsed JSON."""


def is_unsaid(data: Data) -> bool:
    """Tell whether nobody said what a line has: Claude Code put it in, as a summary or for display."""
    return any(data.get(flag) for flag in _UNSAID)


def is_typed_by_person(data: Data) -> bool:
    """Tell whether a line of a user is the person's own, not that of a program such as a timer."""
    origin = data.get("origin")  # absent where a program speaks for the person (`claude -p`)
    return origin is None or (isinstance(origin, dict) and origin.get("kind") == "human")


def parsed(line: bytes) -> Data | None:
    """Return the parsed line of a person, a tool or Claude; None for others, mostly without parsing them."""
    if (b'"user"' not in line and b'"assistant"' not in line) or not _SPOKEN.search(line):
        return None
    if len(line) > LARGEST_PARSED and len(line := _IMAGE.sub(b'""', line)) > LARGEST_PARSED:
        return None
    try:
        data = json.loads(line.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None
    spoken = isinstance(data, dict) and data.get("type") in ("user", "assistant")
    return data if spoken and isinstance(data.get("message"), dict) else None


def blocks_of(content: object) -> list[Data]:
    """Return the blocks of a message's content, which Claude Code writes as a list or as one text."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def texts_of(blocks: list[Data]) -> list[str]:
    """Return the texts among *blocks*, with `\\n` line ends."""
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    return [LINE_END.sub("\n", text) for text in texts if isinstance(text, str)]


def not_injected(text: str) -> str:
    """Return *text* without what Claude Code, the person's editor and Daybook put into it."""
    for opening, closing in _INJECTED.items():
        parts, at = list[str](), 0
        while (begin := text.find(opening, at)) >= 0 and (stop := text.find(closing, begin)) >= 0:
            parts.append(text[at:begin])
            at = stop + len(closing)
        text = "".join([*parts, text[at:]])
    return _FRAMED.sub("", text)
