"""
The questions to the person before Claude changes what they said, and the texts shown with them.

Each may end the call by PersonAsked, after which the client calls again with the answer.
"""

from collections.abc import Sequence
from contextlib import suppress

from mcp_server.actions.files.read import read
from mcp_server.actions.files.trash import in_trash
from mcp_server.actions.judge.change_memory import Wanted
from mcp_server.actions.judge.compare_and_store import kept_from, kept_from_link
from mcp_server.actions.judge.persons_word import (
    Turns,
    is_kept_from_fading,
    kept_from_moving,
    may_change,
    may_forget,
)
from mcp_server.actions.judge.taking_back import (
    Ends,
    kept_from_relinking,
    kept_from_restoring,
    kept_from_unlinking,
)
from mcp_server.actions.memory.revise import Revision
from mcp_server.actions.sessions.forget_session import kept_from_forgetting
from mcp_server.core.errors import NotFound, PersonNeeded
from mcp_server.core.graph.graph import GRAPH
from mcp_server.core.memory import Draft, Link
from mcp_server.core.memory_parts import ID, Level, split_list, type_or_kind, typed_id
from mcp_server.core.provenance.provenance import ASSISTANT
from mcp_server.core.render import counted, one_line
from mcp_server.core.text.text_relation import Statement
from mcp_server.core.text.titles import clipped
from mcp_server.doors.server.dialog import YES_OR_NO, Asking, Unanswered
from mcp_server.doors.server.typed import revise
from mcp_server.doors.shown.persons_acts import FADING, FORGETTING, MOVING, REPLACING, REWORDING, TAKING_BACK
from mcp_server.store import Store


def names_in(names: list[str] | str) -> tuple[str, ...]:
    """Return the names in a list, or in one text with commas; a text that is no list of ids is one quote."""
    parts = split_list(names)
    ids = all(ID.fullmatch(part.removesuffix(".md")) for part in parts)
    return parts if ids or not isinstance(names, str) else (names.strip(),)


def may_replace(dialog: Asking, store: Store, new: Draft, olds: Sequence[str], turns: Turns) -> bool:
    """
    Ask the person whether *new* may replace what they said; tell whether they agreed to all.

    Does not ask when none of the memories is the person's, or when they said so in the session. Without a
    dialog nothing is decided. Raises PersonNeeded when they say no.
    """
    files = kept_from(store, new, olds, turns=turns)
    for old in files:
        message = f"Replace “{one_line(old.memory.text)}” ({old.memory.id}) by “{one_line(new.text)}”?"
        answer = dialog.ask(message, YES_OR_NO)
        if isinstance(answer, Unanswered):
            return False
        if answer != "yes":
            raise PersonNeeded(REPLACING, f"read {old.memory.id}", why="they said no")
    return bool(files)


def ask_before_replacing(
    dialog: Asking,
    store: Store,
    start: str,
    end: str,
    rel: str,
    turns: Turns,
    *,
    level: Level | None = None,
) -> None:
    """Ask the person before *start*, of *level*, supersedes what they said. Raises PersonNeeded."""
    if pair := kept_from_link(store, start, end, rel, turns=turns, level=level):
        new, old = (file.memory for file in pair)
        dialog.consent(
            f"Replace {old.id} by “{one_line(new.text)}” ({new.id})?"
            f" {told_title(store, old.id, lasting=False)}",
            act=REPLACING,
            typed=f"link {new.id} {old.id} --rel supersedes",
        )


def ask_before_forgetting(
    dialog: Asking, store: Store, memory_id: str, turns: Turns, *, verb: str = "forget"
) -> None:
    """Ask the person before Claude puts away what they said, by *verb*. Raises PersonNeeded."""
    with suppress(NotFound):  # the action itself reports a missing memory
        if not may_forget(read(store, memory_id), turns):
            name = one_line(memory_id, 80)
            dialog.consent(
                f"Put away the memory {name}? {told_title(store, memory_id, lasting=False)}",
                act=FORGETTING,
                typed=f"{verb} {name}",
            )


def ask_before_forgetting_session(dialog: Asking, store: Store, name: str, turns: Turns) -> None:
    """Ask the person before Claude forgets a session of their words. Raises PersonNeeded, Rejected."""
    if ids := kept_from_forgetting(store, name, turns):
        dialog.consent(
            f"Forget what the session {one_line(name, 80)} taught?"
            f" You said {counted(len(ids), 'memory')} of it: {one_line(', '.join(ids))}",
            act=FORGETTING,
            typed=f"forget-session {one_line(name, 80)}",
        )


def ask_before_moving(
    dialog: Asking, store: Store, memory_id: str, level: Level, turns: Turns, *, typed: str
) -> None:
    """
    Ask the person before Claude moves what they said to *level*; *typed* is the command that does all of it.

    Raises PersonNeeded, NotFound.
    """
    if files := kept_from_moving(store, memory_id, level, turns):
        memory = read(store, memory_id).memory
        olds = ", ".join(old.memory.id for old in files if old.memory.id != memory.id)
        dialog.consent(
            f"Move {memory.id}, “{one_line(memory.title)}”, to {level.value} level?"
            + (f" It replaces {olds} there." if olds else ""),
            act=MOVING,
            typed=typed,
        )


def ask_before_fading(
    dialog: Asking, store: Store, memory_id: str, revision: Revision, turns: Turns, *, typed: str
) -> None:
    """
    Ask the person before *revision* unpins a memory that only they may unpin, or lets it fade.

    *typed* is the command that does all of it. Raises PersonNeeded, NotFound.
    """
    if is_kept_from_fading(store, memory_id, revision, turns):
        memory = read(store, memory_id).memory
        change = "unpinned" if revision.pinned is False else f"of the type {revision.type}"
        dialog.consent(
            f"Let {memory.id}, “{one_line(memory.title)}”, be {change}? Sessions may be shown it no longer.",
            act=FADING,
            typed=typed,
        )


def ask_before_rewording(dialog: Asking, store: Store, memory_id: str, words: str, turns: Turns) -> None:
    """Ask the person before *words* become the text of a memory of theirs. Raises PersonNeeded."""
    with suppress(NotFound):
        file = read(store, memory_id)
        if not may_change(file, Statement("", words, file.memory.type, ASSISTANT), turns):
            own = file.memory.category == GRAPH
            rewording = Revision(title=clipped(words), text=words) if own else Revision(title=words)
            dialog.consent(
                f"Let {file.memory.id}, “{one_line(file.memory.title)}”, say “{one_line(words)}”?",
                act=REWORDING,
                typed=revise(file.memory.id, Wanted(rewording)),
            )


def ask_before_restoring(
    dialog: Asking, store: Store, memory_id: str, turns: Turns, *, level: Level | None = None
) -> None:
    """Ask the person before Claude brings back what they put away. Raises PersonNeeded."""
    if file := kept_from_restoring(store, memory_id, turns, level=level):
        memory = file.memory
        dialog.consent(
            f"Bring back {memory.id}, “{one_line(memory.title)}”, which you put away?",
            act=TAKING_BACK,
            typed=f"restore {memory.id}",
        )


def ask_before_unlinking(
    dialog: Asking,
    store: Store,
    start: str,
    end: str,
    rel: str,
    turns: Turns,
    *,
    level: Level | None = None,
) -> None:
    """Ask the person before Claude removes a link of theirs that replaces or marks. Raises PersonNeeded."""
    _ask_before_removing(dialog, kept_from_unlinking(store, start, end, rel, turns=turns, level=level))


def ask_before_relinking(
    dialog: Asking, store: Store, memory_id: str, links: Sequence[Link] | None, turns: Turns
) -> None:
    """Ask the person before *links* become those of a memory, without one of theirs. Raises PersonNeeded."""
    if links is not None:
        _ask_before_removing(dialog, kept_from_relinking(store, memory_id, links, turns))


def _ask_before_removing(dialog: Asking, ends: Ends | None) -> None:
    if ends:
        start, end = (file.memory for file in ends)
        dialog.consent(
            f"Remove the link from {start.id}, “{one_line(start.title)}”, to {end.id},"
            f" “{one_line(end.title)}”, by which you replaced or marked one of them?",
            act=TAKING_BACK,
            typed=f"unlink {start.id} {end.id}",
        )


def told_title(store: Store, memory_id: str, *, lasting: bool = True) -> str:
    """Return the text about a memory that is to be deleted; raises NotFound when the trash lacks it, too."""
    try:
        memory = read(store, memory_id).memory
    except NotFound:
        if not any(in_trash(store, typed_id(memory_id))):
            raise
        return "It is in the trash."
    end = "cannot be brought back" if lasting else "can be brought back from the trash"
    return f"It is the {type_or_kind(memory.kind, memory.type)} “{memory.title}” and {end}."
