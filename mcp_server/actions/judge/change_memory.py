"""
change_memory: all that one call changes of a memory: its words, then its level, then how it stands to others.

Where only the person may change the words, they are stored beside it, and nothing else is changed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from mcp_server.actions.files.commit import one_change
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import read
from mcp_server.actions.judge.compare_and_store import compare_and_store, let_replace, looked_up, near_now
from mcp_server.actions.judge.contradiction import tell_apart
from mcp_server.actions.judge.draft_outcome import DraftOutcome
from mcp_server.actions.judge.persons_word import Turns, may_change
from mcp_server.actions.memory.change_level import LevelChange, change_level, check_level
from mcp_server.actions.memory.promote import require_place
from mcp_server.actions.memory.revise import Revision, revise, revised_draft
from mcp_server.actions.recall.nearby import Near, stated
from mcp_server.core.errors import Rejected
from mcp_server.core.links import without_successions
from mcp_server.core.memory_parts import Level, typed_id
from mcp_server.core.sessions.snapshot import renoted
from mcp_server.store import Store

UNREVISED = Revision()


@dataclass(frozen=True, slots=True)
class Wanted:
    """
    What is to change of a memory: its words and keys, metadata (None removes a key), and its level.

    It is to replace the memories `supersedes`, and to hold beside those of `distinct`.
    """

    revision: Revision = UNREVISED
    metadata: Mapping[str, object] = field(default_factory=dict)
    level: Level | None = None
    supersedes: tuple[str, ...] = ()
    distinct: tuple[str, ...] = ()

    @property
    def is_revision(self) -> bool:
        """Whether only words and keys of the memory's own file are to change."""
        return self == Wanted(self.revision)


@dataclass(frozen=True, slots=True)
class Changed:
    """
    What became of a memory, whose file is now `file`, and of others.

    `beside`: the new words were stored as another memory, whose file `file` is then; `unmoved` tells that a
    level was wanted, too. `same`: it had all the words and keys that were given. `waits` is what *judged*
    said of the new words, `near` may be about the same thing, `apart` holds beside it.
    """

    file: MemoryFile
    beside: DraftOutcome | None = None
    unmoved: bool = False
    same: bool = False
    waits: str = ""
    near: tuple[Near, ...] = ()
    moved: LevelChange | None = None
    apart: tuple[str, ...] = ()
    replaced: DraftOutcome | None = None


def with_successions(wanted: Wanted) -> Wanted:
    """Return *wanted* with the links labelled supersedes among `supersedes`, which are asked about."""
    if wanted.revision.links is None:
        return wanted
    links, olds = without_successions(wanted.revision.links)
    return replace(
        wanted, revision=replace(wanted.revision, links=links), supersedes=(*wanted.supersedes, *olds)
    )


def check_change(
    store: Store, memory_id: str, wanted: Wanted, *, version: str = "", keep_secrets: bool = False
) -> None:
    """
    Raise what can be known before the person is asked and anything is written.

    That is what `check_level` raises, and Rejected or NotFound for a memory that cannot be pinned, or that is
    to replace itself.
    """
    if typed_id(memory_id) in map(typed_id, (*wanted.supersedes, *wanted.distinct)):
        raise Rejected(
            "A memory can neither replace itself nor hold beside itself.", "Give the id of another one."
        )
    if wanted.level:
        check_level(store, memory_id, wanted.level, version=version, keep_secrets=keep_secrets)
    if wanted.revision.pinned:
        require_place(store, memory_id)


@one_change()
def change_memory(
    store: Store,
    memory_id: str,
    wanted: Wanted,
    *,
    version: str = "",
    keep_secrets: bool = False,
    source: str,
    replacing: str,
    turns: Turns,
    judged: Callable[[str], str],
) -> Changed:
    """
    Change a memory as *wanted*, after `check_change`, all of it as one change.

    *source* tells whose its new words are, *replacing* whose word it is that it replaces others. *judged* is
    called with the id of the memory that has the new words, before it moves, and returns why it is not shown
    unasked. Raises what `revise`, `change_level`, `tell_apart` and `let_replace` raise; what was done stays.
    """
    revision, waits, same = wanted.revision, "", False
    near: tuple[Near, ...] = ()
    if wanted.metadata:
        notes = read(store, memory_id).memory.notes
        revision = replace(revision, notes=renoted(notes, wanted.metadata))
    if revision != UNREVISED:
        file = read(store, memory_id)
        new = replace(revised_draft(file, revision), source=source, session=store.session)
        is_reworded = (new.title, new.text) != (file.memory.title, file.memory.text)
        if is_reworded and not may_change(file, stated(new), turns):
            new = replace(new, supersedes=(file.memory.id,))
            beside = compare_and_store(store, new, keep_secrets=keep_secrets, turns=turns, had=file.memory)
            waits = judged(beside.id)
            outcome = looked_up(store, beside)
            unmoved = wanted.level is not None
            return Changed(read(store, beside.id), outcome, unmoved=unmoved, waits=waits)
        revised = revise(
            store, memory_id, revision, version=version, keep_secrets=keep_secrets, source=source
        )
        same = revised.digest == file.digest
        waits = judged(memory_id)
        if revision.title or revision.text:
            near = near_now(store, memory_id)
    moved = replaced = None
    apart: tuple[str, ...] = ()
    if wanted.level:
        moved = change_level(store, memory_id, wanted.level, keep_secrets=keep_secrets)
    if wanted.distinct:
        apart = tell_apart(store, memory_id, wanted.distinct)
    if wanted.supersedes:
        replaced = let_replace(store, memory_id, wanted.supersedes, source=replacing, turns=turns)
    return Changed(
        read(store, memory_id),
        same=same,
        waits=waits,
        near=near,
        moved=moved,
        apart=apart,
        replaced=looked_up(store, replaced) if replaced else None,
    )
