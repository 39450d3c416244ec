"""
compaction: what must survive when Claude Code shortens a conversation.

Before it, the end of the transcript is looked at: what the person asked, which files were changed, which
commands failed. Claude Code is asked to keep that in its summary, and the session is shown it again after.
"""

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from mcp_server.adapters import files, places, transcript_file
from mcp_server.core.errors import Unreadable
from mcp_server.core.memory_parts import DAY
from mcp_server.core.render import one_line, within
from mcp_server.core.sessions.transcript import FAILED, Condenser, Speaker, Utterance
from mcp_server.store import Store

LOOKED_AT = 512 * 1024  # bytes of the transcript's end: an earlier summary has what is older
PROMPTS, TOUCHED, FAILURES = 5, 12, 3
BUDGET = 1400  # characters shown after the compaction
FORGOTTEN_AFTER = DAY
RESUMED_WITHIN = 30 * DAY  # Claude Code deletes transcripts that are older, unless its settings say otherwise
NO_LINES = b"[]"

KEEP = (
    "Keep in the summary: what the person decided, corrected or asked for and is not done yet, with its"
    " reasons; what was tried and failed; the exact names, paths and numbers. Daybook has the rest."
)


def before_compaction(store: Store, path: Path) -> str:
    """
    Save what must survive, and return what the summary must keep.

    Raises OSError when the disk refuses, Unreadable when the transcript is no regular file.
    """
    utterances, _ = last_utterances(path, LOOKED_AT)
    lines = _surviving(utterances)
    # Only this session writes it, so it waits for no lock: the person waits for a compaction.
    files.write_over(places.compaction(store.home, store.session), json.dumps(lines).encode("ascii"))
    return "\n".join([KEEP, *lines])


def after_compaction(store: Store) -> list[str]:
    """Return the lines that were saved for this session, [] when there are none."""
    try:
        saved = json.loads(files.read(places.compaction(store.home, store.session)))
    except (OSError, ValueError, RecursionError, Unreadable):
        return []
    if not isinstance(saved, list) or not saved:
        return []
    lines, _ = within([str(line) for line in saved], BUDGET)
    return ["Before this conversation was shortened:", *lines]


def forget_compactions(store: Store) -> None:
    """
    Empty what was saved for compactions of over a day ago: it is no longer shown.

    That a session was shortened stays noted as long as Claude Code can resume it.
    """
    now = store.now()
    folder = store.home / places.WORK
    for path in folder.glob(places.COMPACTIONS.format("*")) if folder.is_dir() else ():
        with contextlib.suppress(OSError):
            status = path.stat()
            age = now - status.st_mtime
            if age > RESUMED_WITHIN:
                files.delete(path)
            elif age > FORGOTTEN_AFTER and status.st_size > len(NO_LINES):
                files.write_over(path, NO_LINES)


def _surviving(utterances: Sequence[Utterance]) -> list[str]:
    prompts = [utterance.words for utterance in utterances if utterance.speaker is Speaker.USER]
    tools = [utterance.words for utterance in utterances if utterance.speaker is Speaker.TOOL]
    return [
        *_lines("asked", prompts[-PROMPTS:]),
        *_lines("changed", changed_files(tools)[-TOUCHED:], joined=True),
        *_lines("failed", failed_calls(tools)[-FAILURES:]),
    ]


def last_utterances(path: Path, most: int) -> tuple[list[Utterance], int]:
    """Return what the last *most* bytes of a transcript hold, and the byte where they begin."""
    start = max(0, transcript_file.size(path) - most)
    # A prompt before that may have asked not to be kept: nothing counts until the next one.
    condenser = Condenser(skipping=start > 0)
    return list(condenser.read(transcript_file.lines(path, start))), start


def changed_files(tools: Sequence[str]) -> list[str]:
    """Return the paths that *tools*, calls as text, wrote to, in the order in which each was last written."""
    paths = [
        words.partition("]: ")[2] for words in tools if words.startswith(("[Edit]", "[Write]", "[Multi"))
    ]
    return list(dict.fromkeys(reversed(paths)))[::-1]


def failed_calls(tools: Sequence[str]) -> list[str]:
    """Return those of *tools*, calls as text, that failed, each once."""
    return list(dict.fromkeys(words.removesuffix(FAILED) for words in tools if words.endswith(FAILED)))


def _lines(label: str, texts: Sequence[str], *, joined: bool = False) -> Iterator[str]:
    shortened = [one_line(text, 220) for text in texts]
    if joined:
        shortened = [", ".join(shortened)] if shortened else []
    yield from (f"{label}: {text}" for text in shortened)
