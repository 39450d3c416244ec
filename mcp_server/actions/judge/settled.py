"""settled: what became of something new that met what was known, in words for both doors."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from mcp_server.actions.recall.nearby import Near
from mcp_server.core.memory import ID
from mcp_server.core.render import one_line


class Action(StrEnum):
    """What became of a draft."""

    ADD = "add"
    KNOWN = "known"
    REPLACE = "replace"
    RESTORE = "restore"


@dataclass(frozen=True, slots=True)
class Settled:
    """
    What was done with a draft: the action, and the id that holds it now.

    `superseded` gave way to it, `shadowed` does so in this project alone, `later` will once it is accepted.
    `unmoved` was named but leads to no active memory, `several` are quotes with the ids of all that contain
    them, `elsewhere` belongs to other projects, and `kept` only the person may replace. `near` may be about
    the same thing, and `waiting` are names that no memory has yet. `successor` had taken the place of what
    says the same; `uncovered` holds here again, because what stood in for it gave way, and `apart` were told
    apart from it. `unlike` is what a memory that was known has otherwise than the draft beside its words.
    """

    action: Action
    id: str
    superseded: tuple[str, ...] = ()
    shadowed: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    unmoved: tuple[str, ...] = ()
    several: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    elsewhere: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    near: tuple[Near, ...] = ()
    waiting: tuple[str, ...] = ()
    successor: str = ""
    uncovered: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether nothing new was stored."""
        return self.action in (Action.KNOWN, Action.RESTORE)

    @property
    def note(self) -> str:
        """What became of other memories and what to do about those that are near, '' for nothing."""
        return self.told(near_note)

    def told(self, settling: Callable[[str, Sequence[Near]], str]) -> str:
        """Return what became of other memories, and what *settling* says of those that are near."""
        near = [settling(self.id, self.near)] if self.near else []
        return " ".join((*self._put_away(), *self._replaced(), *self._unmoved(), *near))

    def _put_away(self) -> Iterator[str]:
        if self.unlike:
            yield f"It stays as it was in: {_all(self.unlike)}; to change that, revise {self.id}."
        if self.action is Action.RESTORE:
            yield "It had been put away and is active again."
        if self.successor and self.action is Action.RESTORE:
            yield f"{self.successor} had taken its place and stays; ask which one holds."
        elif self.successor:
            yield f"{self.successor} took its place, so it stays put away; ask the person which one holds."

    def _replaced(self) -> Iterator[str]:
        if self.superseded:
            kept = "which is" if len(self.superseded) == 1 else "which are"
            yield f"It takes the place of {_all(self.superseded)}, {kept} kept as superseded."
        if self.shadowed:
            yield f"It stands in for {_all(self.shadowed)} in this project, as long as it is active here;"
            yield "elsewhere that holds as before."
        if self.later:
            yield f"It takes the place of {_all(self.later)} once it is accepted."
        if self.apart:
            yield beside_note(self.apart)
        if self.uncovered:
            yield f"{_all(self.uncovered)} holds in this project again: what stood in for it gave way."
            yield f"If it does not, revise {self.id} with supersedes."

    def _unmoved(self) -> Iterator[str]:
        ids = [name for name in self.unmoved if ID.fullmatch(name)]
        quotes = [name for name in self.unmoved if name not in ids]
        if ids:
            yield f"No active memory has the id {_all(ids)}, so nothing became of that."
        if quotes:
            yield f"No active memory contains “{'”, “'.join(map(_cut, quotes))}”, so nothing became of that."
        for quote, found in self.several.items():
            yield f"“{_cut(quote)}” stands in {_all(found)}: name the one that is meant by its id."
        if self.elsewhere:
            yield f"{_all(self.elsewhere)} belongs to another project, from where alone it can be replaced."
        if self.kept:
            yield f"{_all(self.kept)} stays: only the person's own word takes its place."
            yield f"Ask which one holds; if the new one does, revise {self.id} with supersedes asks them in a"
            yield f"dialog, or they type: daybook revise {self.id} --supersedes {self.kept[0]}."
        if self.waiting:
            yield f"No memory is called {_all(self.waiting)} yet; a link to it waits until one is."


def beside_note(others: Sequence[str]) -> str:
    """Return what is said when a memory was told apart from *others*."""
    return f"It holds beside {_all(others)}; nobody is asked about them again."


def near_note(memory_id: str, near: Sequence[Near]) -> str:
    """Return which memories are *near* a memory, and the words by which Claude settles how they stand."""
    again = "call remember again with the same words and supersedes"
    return f"{_near(near)} If {memory_id} replaces one, {again}; if both hold, with distinct."


def near_command(memory_id: str, near: Sequence[Near]) -> str:
    """Return which memories are *near* a memory, and what a person types to settle how they stand."""
    command, old = f"daybook revise {memory_id}", near[0].id
    return f"{_near(near)} If it replaces one: {command} --supersedes {old}; if both hold: --distinct {old}"


def _near(near: Sequence[Near]) -> str:
    return f"Near it: {'; '.join(map(str, near))}."


def _all(names: Iterable[str]) -> str:
    return ", ".join(map(_cut, names))


def _cut(name: str) -> str:
    return one_line(name, 80)
