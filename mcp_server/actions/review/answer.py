"""answer: list the questions about two memories as they are shown, and carry out the person's answers."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mcp_server.actions.context.open_questions import Question, open_questions
from mcp_server.actions.files import runs
from mcp_server.actions.files.commit import one_run, write_line
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import read, read_row
from mcp_server.actions.files.sync import catch_up, catch_up_if_free
from mcp_server.actions.judge.compare import compare_pending
from mcp_server.actions.judge.contradiction import resolve_contradiction
from mcp_server.actions.review.entries import Became, Entry, Verdict, WaitingKind, changed_after, entry_of
from mcp_server.actions.upkeep.consolidate import merged_entry
from mcp_server.adapters import files
from mcp_server.adapters.index.events import tidying
from mcp_server.adapters.index.events.tidying import SETTLING
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.vault import Vault
from mcp_server.core.errors import Conflict, Held, NotFound, Unreadable
from mcp_server.core.judge.consolidation import Merge
from mcp_server.core.judge.questions import merged_text
from mcp_server.core.memory_parts import MAX_TEXT, id_in, vault_in
from mcp_server.store import Store

QUESTION = "question"
JUST_NOW = 50  # memories, at most, that are compared before an answer counts


def _listed(store: Store) -> tuple[int, Iterator[Entry]]:
    with store.database.read() as db:
        questions = open_questions(store, db)
    return len(questions), (entry for question in questions if (entry := _entry(store, question)))


def _again(store: Store, entry: Entry) -> Entry | None:
    assert entry.against
    compare_pending(store, most=JUST_NOW)
    with store.database.read() as db:
        row = selections.with_ref(db, entry.ref)
        questions = open_questions(store, db, about=row.row) if row else []
    for question in questions:
        if {question.holds.ref, question.gives_way.ref} == {entry.ref, entry.against.ref}:
            return _entry(store, question)
    return None


def _entry(store: Store, question: Question) -> Entry | None:
    try:
        file, other = read_row(store, question.holds), read_row(store, question.gives_way)
    except (NotFound, Unreadable):
        return None  # the file vanished this moment, or `status` reports it
    merged = None if question.rel else merge_of(file, other)
    words = KIND.words if merged else tuple(word for word in KIND.words if word is not Verdict.MERGE)
    against = entry_of(QUESTION, question.gives_way, other, "")
    return replace(
        entry_of(QUESTION, question.holds, file, question),
        answers=words,
        against=against,
        level=file.vault.level if file.vault.level is not other.vault.level else None,
        merged=merged,
        digest=f"{file.digest} {other.digest}",
    )


def merge_of(newer: MemoryFile, older: MemoryFile) -> tuple[str, str] | None:
    """Return the title and the text that would replace both memories, None when they may not be merged."""
    merged = merged_text(newer.memory, older.memory)
    return merged if newer.vault == older.vault and len(merged[1]) <= MAX_TEXT else None


def _replaces(store: Store, entry: Entry) -> Became:
    _resolve(store, entry, "supersede")
    return Became.SHADOWED if entry.shadows else Became.REPLACED


def _keep_both(store: Store, entry: Entry) -> Became:
    _resolve(store, entry, "keep_both")
    return Became.KEPT_BOTH


def _merge(store: Store, entry: Entry) -> Became:
    """Replace both memories by one with the text that was shown, as one entry of a run."""
    assert entry.against and entry.merged
    memory_files = [_read(store, entry.ref), _read(store, entry.against.ref)]
    if " ".join(file.digest for file in memory_files) != entry.digest:
        raise changed_after(entry.path)
    joined(store, memory_files, *entry.merged, vault=memory_files[0].vault)
    return Became.MERGED


def joined(store: Store, memory_files: Sequence[MemoryFile], title: str, text: str, *, vault: Vault) -> str:
    """
    Replace all memories that were *memory_files* by one in *vault*, as one entry of a run.

    The person has read its text. Return its id. Raises Conflict, OSError.
    """
    with runs.alone(store), one_run(runs.new_run(store)) as run:
        for file in memory_files:  # another process may have merged them while this one waited
            if not _is_unchanged(file):
                raise changed_after(file.path)
        merge = Merge(tuple(range(len(memory_files))), title, text, ())
        entry = merged_entry(store, merge, memory_files, by_person=True, vault=vault)
        failed = runs.perform(store, entry, run, began=SETTLING)
        now = _end_merge(store, run, "" if failed else entry.heir)
    if failed or now is None:
        raise Conflict(f"{', '.join(failed)} changed meanwhile.", "'daybook undo' reverses the rest.")
    return now.memory.id


def _is_unchanged(file: MemoryFile) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return files.digest(files.read(file.path)) == file.digest
    return False


def complete_merge(store: Store) -> None:
    """
    Complete the merge of a killed process, whose text the person had agreed to; costs one query.

    One that another process makes just now is left alone. Raises OSError.
    """
    with store.database.read() as db:
        if not tidying.open_run(db, SETTLING):
            return
    with contextlib.suppress(Held), files.lock(store.home / runs.LOCK, patience=0):
        catch_up(store)
        with store.database.read() as db:
            run = tidying.open_run(db, SETTLING)
        if run:
            runs.complete(store, run)
            with store.database.read() as db:
                entries = tidying.entries(db, run)  # none when not even the new memory was there
            _end_merge(store, run, entries[0].changes[0].ref if entries else "")


def _end_merge(store: Store, run: str, heir: str) -> MemoryFile | None:
    """Note that the person accepted the memory *heir* ('' for none), and that the merge has ended."""
    now = _read(store, heir) if heir else None
    if now:
        write_line(store, "accepted", refs=[heir], digests=[now.digest])
    store.record("tidied", run=run, ended=SETTLING)
    catch_up_if_free(store)
    return now


def _resolve(store: Store, entry: Entry, how: str) -> None:
    """Settle the two of *entry*; raises Conflict when their vaults have two memories of one of the ids."""
    assert entry.against
    store = store.only(vault_in(entry.ref), vault_in(entry.against.ref))
    for side in (entry, entry.against):
        if read(store, side.id).ref != side.ref:
            raise Conflict(f"'{side.id}' is the id of two memories; nothing was settled.")
    resolve_contradiction(store, entry.id, entry.against.id, how)


def _read(store: Store, ref: str) -> MemoryFile:
    with store.database.read() as db:
        row = selections.with_ref(db, ref)
    if row is None:
        raise NotFound(id_in(ref))
    return read_row(store, row)


KIND = WaitingKind(
    _listed, _again, {Verdict.REPLACES: _replaces, Verdict.KEEP_BOTH: _keep_both, Verdict.MERGE: _merge}
)
