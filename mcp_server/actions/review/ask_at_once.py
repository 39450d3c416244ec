"""
ask_at_once: ask the person, right after they stored a memory, how it relates to the known memories near it.

`review` asks the same later, about fewer pairs: here they have just said it, and know.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mcp_server.actions.files.commit import one_change
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import read, read_or_none
from mcp_server.actions.judge.compare_and_store import let_replace, looked_up, near_now
from mcp_server.actions.judge.contradiction import tell_apart
from mcp_server.actions.judge.draft_outcome import Action, DraftOutcome
from mcp_server.actions.recall.nearby import Near
from mcp_server.actions.review.answer import joined, merge_of
from mcp_server.actions.review.entries import Verdict
from mcp_server.core.errors import Conflict
from mcp_server.store import Store


@dataclass(frozen=True, slots=True)
class NewAndNear:
    """
    A new memory and one near it, whole and as it is shown.

    `merged` is the title and the text that would replace both, None when they may not be merged.
    """

    new: MemoryFile
    old: MemoryFile
    near: Near
    merged: tuple[str, str] | None

    @property
    def answers(self) -> tuple[Verdict, ...]:
        """The verdicts that the person may give on the pair."""
        return (Verdict.REPLACES, Verdict.KEEP_BOTH, *([Verdict.MERGE] if self.merged else []))


def pairs_of(store: Store, memory_id: str) -> list[NewAndNear]:
    """Pair the memory with those near it and not told apart from it, at most three. Raises NotFound."""
    new = read(store, memory_id)
    memories = [(near, read_or_none(store, near.id)) for near in near_now(store, memory_id)]
    return [NewAndNear(new, old, near, merge_of(new, old)) for near, old in memories if old]


@one_change()
def say(store: Store, verdicts: Sequence[tuple[NewAndNear, Verdict]]) -> list[DraftOutcome]:
    """
    Carry out the person's *verdicts* on the pairs of one memory; return what became of each.

    A pair to be merged comes last, because merging supersedes the new memory.
    Raises NotFound, Conflict, Held, OSError.
    """
    outcomes = []
    for pair, answer in verdicts:
        new, old = pair.new.memory.id, pair.old.memory.id
        if answer is Verdict.REPLACES:
            outcomes.append(looked_up(store, let_replace(store, new, [old])))
        elif answer is Verdict.KEEP_BOTH:
            told_apart = tell_apart(store, new, [old])
            outcomes.append(DraftOutcome(Action.KNOWN, new, apart=tuple(told_apart)))
    for pair, answer in verdicts:
        if answer is Verdict.MERGE:
            outcomes.append(_merged(store, pair))
    return outcomes


def _merged(store: Store, pair: NewAndNear) -> DraftOutcome:
    memory_files = [read(store, file.memory.id) for file in (pair.new, pair.old)]
    if not pair.merged or merge_of(*memory_files) != pair.merged:
        raise Conflict(f"{memory_files[1].path} changed after it was shown; the two were not merged.")
    heir = joined(store, memory_files, *pair.merged, vault=pair.new.vault)
    return DraftOutcome(
        Action.REPLACE, heir, superseded=(memory_files[0].memory.id, memory_files[1].memory.id)
    )
