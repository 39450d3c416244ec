"""start: what a session is shown when it starts, piece by piece, and what was considered and left out."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum, auto
from pathlib import Path

from mcp_server.actions.context.brief import Prepared, prepared
from mcp_server.actions.context.in_context_already import (
    block_in,
    chosen,
    shown_by_auto_memory,
    shown_by_block,
)
from mcp_server.adapters.index.memories import selections
from mcp_server.core.context.brief import TITLED, Brief, entry_line, pointer_line
from mcp_server.core.render import CHARACTERS_PER_TOKEN, estimated_tokens
from mcp_server.store import Store


class Instead(StrEnum):
    """What becomes of a memory whose text the brief leaves out."""

    TITLE = auto()
    NO_ROOM = auto()
    GONE = auto()


@dataclass(frozen=True, slots=True)
class NotShown:
    """A memory that was considered for *section*; its text, or with TITLED its title, is not shown."""

    id: str
    ref: str
    title: str
    section: str
    tokens: int
    instead: Instead


@dataclass(frozen=True, slots=True)
class ShownBlock:
    """
    The managed block in the file *name*: its text, '' when there is none now.

    *refs* are the memories that it tells instead of the brief: none after somebody else changed the block.
    """

    name: str
    text: str
    refs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AtStart:
    """
    What a session that starts now is shown: the brief, of at most *budget* tokens, and what it leaves out.

    *block* is None where the person chose no file for it. *elsewhere* are the refs of the memories that
    Claude Code's own memory tells. *unreadable* is how many of the visible files could not be read.
    """

    brief: Brief
    budget: int
    left_out: tuple[NotShown, ...]
    block: ShownBlock | None
    elsewhere: tuple[str, ...]
    unreadable: int

    @property
    def tokens(self) -> int:
        return estimated_tokens(self.brief.text)


def start(store: Store, *, folder: Path | None = None) -> AtStart:
    """
    Return what a session that starts in *folder*, by default the project's, is shown; note nothing.

    Raises IndexUnavailable.
    """
    store.database.require()
    with store.database.read() as db:
        brief_plan = prepared(store, db, folder=folder)
        brief_plan = brief_plan._replace(
            sections=[section._replace(entries=tuple(section.entries)) for section in brief_plan.sections],
            by_title=tuple(brief_plan.by_title),
        )
        brief = brief_plan.rendered()
        return AtStart(
            brief=brief,
            budget=brief_plan.budget // CHARACTERS_PER_TOKEN,
            left_out=tuple(_left_out(brief_plan, brief)),
            block=_block(store, folder),
            elsewhere=tuple(shown_by_auto_memory(store, db, folder)),
            unreadable=sum(map(len, selections.unread_paths(db, store.keys).values())),
        )


def _left_out(brief_plan: Prepared, brief: Brief) -> Iterator[NotShown]:
    shown_refs = {*brief.refs}
    titled = {*brief.titles}
    for section in brief_plan.sections:
        for entry in section.entries:
            if entry.ref in shown_refs:
                continue
            shown_refs.add(entry.ref)
            instead = Instead.TITLE if entry.ref in titled else Instead.NO_ROOM
            if instead is Instead.NO_ROOM and brief_plan.looked_at(entry) is None:
                instead = Instead.GONE
            tokens = estimated_tokens(entry_line(entry, section.limit))
            yield NotShown(entry.id, entry.ref, entry.title, section.title, tokens, instead)
    for entry in brief_plan.by_title:
        if entry.ref not in shown_refs | titled:
            tokens = estimated_tokens(pointer_line(entry.ending, entry.title))
            yield NotShown(entry.id, entry.ref, entry.title, TITLED, tokens, Instead.NO_ROOM)


def _block(store: Store, folder: Path | None) -> ShownBlock | None:
    name = chosen(store)
    if not name or not store.project:
        return None
    text = block_in(store.project, name).decode("utf-8", "replace")
    return ShownBlock(name, text, tuple(shown_by_block(store, folder)))
