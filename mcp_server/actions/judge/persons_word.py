"""
persons_word: whether a memory that the person said or wrote may be changed at once.

Claude's change takes effect if the person said so in the session; else it waits for their word.
"""

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import read
from mcp_server.adapters import transcript_file
from mcp_server.core.errors import NotFound
from mcp_server.core.judge.whose_word import asks_to_forget, asks_to_let_fade, asks_to_move, says
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import Level, Status, check_type
from mcp_server.core.provenance.provenance import ASSISTANT, MANUAL
from mcp_server.core.provenance.session_words import Hearing, Voice
from mcp_server.core.text.text_relation import Statement, outranks
from mcp_server.core.worth.ratings import CURRENCY_LIFE
from mcp_server.store import Store

if TYPE_CHECKING:  # it loads what writes files, and the hook that judges an answer has no library for that
    from mcp_server.actions.memory.revise import Revision

MOST_READ = 2 * 1024 * 1024  # bytes at the end of a transcript that are looked at while an answer waits

Turns = Callable[[], Sequence[str]]
"""Returns the person's turns in the session; called only when they matter."""


def turns_of(transcript: Path | None, *, prompt: str = "") -> list[str]:
    """
    Return the person's turns in *transcript*, and *prompt*, their last turn.

    Of a long session the last 2 MiB are read.
    """
    turns = [prompt] if prompt.strip() else []
    if transcript is None:
        return turns
    hearing = Hearing(lambda *_: False, accepted=False, agents_read=True)
    start = max(0, transcript_file.size(transcript) - MOST_READ)
    texts = hearing.hear(transcript_file.whole_lines(transcript, start))
    return [*turns, *(text.text for text in texts if text.voice is Voice.PERSON)]


def last_turn(transcript: Path | None) -> str:
    """Return the person's last turn in *transcript*, '' when there is none."""
    return next(reversed(turns_of(transcript if transcript and transcript.name else None)), "")


def may_change(old: MemoryFile, new: Statement, turns: Turns = tuple) -> bool:
    """
    Tell whether *new* may take the place of *old* at once, within its own file or from another.

    Only the person's word replaces a memory that they said, wrote, verified or pinned.
    """
    before = statement(old.memory)
    is_protected = outranks(before, new) or (old.memory.pinned and new.source != MANUAL)
    return not is_protected or any(
        says(turn, new.text, before.title_and_text, title=new.title) for turn in turns()
    )


def may_forget(old: MemoryFile, turns: Turns = tuple) -> bool:
    """Tell whether Claude may put *old* away at once."""
    return _may(old, turns, asks_to_forget)


def is_kept_from_fading(store: Store, memory_id: str, revision: "Revision", turns: Turns) -> bool:
    """
    Tell whether Claude needs the person's word before *revision* takes what keeps a memory in sight.

    That is a pin, or a type that does not fade: without them Claude could let out of sight, or forget, what
    the person said or pinned. Raises NotFound, and Rejected for a type that is none.
    """
    file = read(store, memory_id)
    memory, new_type = file.memory, check_type(revision.type) if revision.type else ""
    unpins = memory.pinned and revision.pinned is False
    fades = new_type in CURRENCY_LIFE and memory.type not in CURRENCY_LIFE
    return (unpins or fades) and not _may(file, turns, asks_to_let_fade)


def kept_from_moving(store: Store, memory_id: str, level: Level, turns: Turns) -> list[MemoryFile]:
    """
    Return the memories for which Claude needs the person's word before it moves one to *level*.

    Those are the memory itself, and those of the user level whose place it would take there. Raises NotFound.
    """
    file = read(store, memory_id)
    if file.vault.level is level:
        return []
    protected = [] if _may(file, turns, asks_to_move) else [file]
    for name in file.memory.supersedes if level is Level.USER else ():
        with contextlib.suppress(NotFound):
            old = read(store, name)
            holds = old.memory.status is Status.ACTIVE and old.vault.level is level
            if holds and not may_forget(old, turns):
                protected.append(old)
    return protected


def _may(old: MemoryFile, turns: Turns, asks: Callable[[str, str, str], bool]) -> bool:
    """Tell whether *old* is not the person's, or the person *asks* for it in one of their *turns*."""
    memory = old.memory
    return not is_persons(old) or any(asks(turn, memory.id, memory.title) for turn in turns())


def is_persons(file: MemoryFile) -> bool:
    """Tell whether the person said, wrote, verified or pinned a memory."""
    return outranks(statement(file.memory), Statement("", "", "", ASSISTANT)) or file.memory.pinned


def statement(memory: Memory) -> Statement:
    """Return *memory* as a statement, with its source, for the rules of the core to compare."""
    return Statement(memory.title, memory.text, memory.type, memory.source, memory.verified is not None)
