"""The questions to the person before Claude changes what they said, and the texts shown with them."""

import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from mcp_server.actions.files.load import MemoryFile
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
from mcp_server.doors.server.dialog import YES_OR_NO, Asking, Unanswered, fit_together, require_together
from mcp_server.doors.server.typed import revise
from mcp_server.doors.shown.persons_acts import FADING, FORGETTING, MOVING, REPLACING, REWORDING, TAKING_BACK
from mcp_server.store import Store


def names_in(names: list[str] | str) -> tuple[str, ...]:
    """Return the names in a list, or in one text with commas; a text that is no list of ids is one quote."""
    parts = split_list(names)
    ids = all(ID.fullmatch(part.removesuffix(".md")) for part in parts)
    return parts if ids or not isinstance(names, str) else (names.strip(),)


@dataclass(frozen=True, slots=True)
class Consent:
    """
    Asks for the person's yes in the dialog of one call of a tool, before Claude changes what they said.

    Nothing is asked about what is not theirs, or what they said in the session. A question may end the call
    by PersonAsked: the client calls again with the answer, and the dialog keeps those that it has had. Each
    but `may_replace` raises PersonNeeded without a yes.
    """

    dialog: Asking
    store: Store
    turns: Turns

    def may_replace(self, new: Draft, olds: Sequence[str]) -> bool:
        """
        Ask the person whether *new* may replace what they said; tell whether they agreed to all.

        Without a dialog nothing is decided. Raises PersonNeeded when they say no.
        """
        files = kept_from(self.store, new, olds, turns=self.turns)
        messages = [
            f"Replace “{one_line(old.memory.text)}” ({old.memory.id}) by “{one_line(new.text)}”?"
            for old in files
        ]
        if not fit_together(messages):
            return False
        for old, message in zip(files, messages, strict=True):
            answer = self.dialog.ask(message, YES_OR_NO)
            if isinstance(answer, Unanswered):
                return False
            if answer != "yes":
                raise PersonNeeded(REPLACING, f"read {old.memory.id}", why="they said no")
        return bool(files)

    def before_replacing(self, start: str, end: str, rel: str, *, level: Level | None = None) -> None:
        """Ask the person before *start*, of *level*, supersedes what they said."""
        if pair := kept_from_link(self.store, start, end, rel, turns=self.turns, level=level):
            new, old = (file.memory for file in pair)
            self.dialog.consent(
                f"Replace {old.id} by “{one_line(new.text)}” ({new.id})?"
                f" {told_title(self.store, old.id, lasting=False)}",
                act=REPLACING,
                typed=f"link {new.id} {old.id} --rel supersedes",
            )

    def before_forgetting(self, memory_id: str) -> None:
        """Ask the person before Claude puts away what they said."""
        with suppress(NotFound):  # the action itself reports a missing memory
            if not may_forget(read(self.store, memory_id), self.turns):
                name = one_line(memory_id, 80)
                self.dialog.consent(
                    f"Put away the memory {name}? {told_title(self.store, memory_id, lasting=False)}",
                    act=FORGETTING,
                    typed=f"forget {name}",
                )

    def before_archiving(self, files: Sequence[MemoryFile]) -> None:
        """Ask the person before Claude archives what they said, unless it is too much for a dialog."""
        kept = [file.memory for file in files if not may_forget(file, self.turns)]
        questions = {
            memory.id: f"Archive {memory.id}, “{one_line(memory.title)}”? It can be brought back."
            for memory in kept
        }
        require_together(questions.values(), act=FORGETTING, typed=f"archive {' '.join(questions)}")
        for name, question in questions.items():
            self.dialog.consent(question, act=FORGETTING, typed=f"archive {name}")

    def before_forgetting_session(self, name: str) -> None:
        """Ask the person before Claude forgets a session of their words. Raises Rejected."""
        if ids := kept_from_forgetting(self.store, name, self.turns):
            self.dialog.consent(
                f"Forget what the session {one_line(name, 80)} taught?"
                f" You said {counted(len(ids), 'memory')} of it: {one_line(', '.join(ids))}",
                act=FORGETTING,
                typed=f"forget-session {one_line(name, 80)}",
            )

    def before_moving(self, memory_id: str, level: Level, *, typed: str) -> None:
        """
        Ask the person before Claude moves what they said to *level*; *typed* is the command for all of it.

        Raises NotFound.
        """
        if files := kept_from_moving(self.store, memory_id, level, self.turns):
            memory = read(self.store, memory_id).memory
            olds = ", ".join(old.memory.id for old in files if old.memory.id != memory.id)
            self.dialog.consent(
                f"Move {memory.id}, “{one_line(memory.title)}”, to {level.value} level?"
                + (f" It replaces {olds} there." if olds else ""),
                act=MOVING,
                typed=typed,
            )

    def before_fading(self, memory_id: str, revision: Revision, *, typed: str) -> None:
        """
        Ask the person before *revision* unpins a memory that only they may unpin, or lets it fade.

        *typed* is the command that does all of it. Raises NotFound.
        """
        if is_kept_from_fading(self.store, memory_id, revision, self.turns):
            memory = read(self.store, memory_id).memory
            change = "unpinned" if revision.pinned is False else f"of the type {revision.type}"
            self.dialog.consent(
                f"Let {memory.id}, “{one_line(memory.title)}”, be {change}?"
                " Sessions may be shown it no longer.",
                act=FADING,
                typed=typed,
            )

    def before_rewording(self, memory_id: str, words: str) -> None:
        """Ask the person before *words* become the text of a memory of theirs."""
        with suppress(NotFound):
            file = read(self.store, memory_id)
            if not may_change(file, Statement("", words, file.memory.type, ASSISTANT), self.turns):
                own = file.memory.category == GRAPH
                rewording = Revision(title=clipped(words), text=words) if own else Revision(title=words)
                self.dialog.consent(
                    f"Let {file.memory.id}, “{one_line(file.memory.title)}”, say “{one_line(words)}”?",
                    act=REWORDING,
                    typed=revise(file.memory.id, Wanted(rewording)),
                )

    def before_restoring(self, memory_id: str, *, level: Level | None = None) -> None:
        """Ask the person before Claude brings back what they put away."""
        if file := kept_from_restoring(self.store, memory_id, self.turns, level=level):
            memory = file.memory
            self.dialog.consent(
                f"Bring back {memory.id}, “{one_line(memory.title)}”, which you put away?",
                act=TAKING_BACK,
                typed=f"restore {memory.id}",
            )

    def before_unlinking(self, start: str, end: str, rel: str, *, level: Level | None = None) -> None:
        """Ask the person before Claude removes a link of theirs that replaces or marks."""
        ends = kept_from_unlinking(self.store, start, end, rel, turns=self.turns, level=level)
        self._before_removing(ends, rel)

    def before_relinking(self, memory_id: str, links: Sequence[Link] | None) -> None:
        """Ask the person before *links* become those of a memory, without one of theirs."""
        if links is not None:
            self._before_removing(kept_from_relinking(self.store, memory_id, links, self.turns))

    def _before_removing(self, ends: Ends | None, rel: str = "") -> None:
        if ends:
            start, end = (file.memory for file in ends)
            self.dialog.consent(
                f"Remove the link from {start.id}, “{one_line(start.title)}”, to {end.id},"
                f" “{one_line(end.title)}”, by which you replaced or marked one of them?",
                act=TAKING_BACK,
                typed=shlex.join(
                    ["unlink", start.id, end.id, *(["--rel", one_line(rel, 80)] if rel else [])]
                ),
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
