"""answer: list the questions about two memories as they are shown, and carry out the person's answers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mcp_server.actions.context.questions import Question, open_questions
from mcp_server.actions.files import journal
from mcp_server.actions.files.commit import one_run, write_line
from mcp_server.actions.files.read import Found, read, read_row
from mcp_server.actions.files.sync import catch_up_if_free
from mcp_server.actions.judge.compare import compare_pending
from mcp_server.actions.judge.contradiction import resolve_contradiction
from mcp_server.actions.memory.link import note_resolved
from mcp_server.actions.review.entries import Became, Entry, Verdict, WaitingKind, entry_of
from mcp_server.actions.upkeep.consolidate import merged_entry
from mcp_server.adapters.index.events import resolved
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.vault import Vault
from mcp_server.core.errors import Conflict, NotFound, Unreadable
from mcp_server.core.judge.consolidation import Merge
from mcp_server.core.judge.questions import merged_text
from mcp_server.core.memory import MAX_TEXT, Level
from mcp_server.store import Store

QUESTION = "question"
WHERE = {Level.USER: "holds everywhere", Level.PROJECT: "is this project's"}
JUST_NOW = 50  # memories, at most, that are compared before an answer counts


def _listed(store: Store) -> tuple[int, Iterator[Entry]]:
    with store.database.read() as db:
        found = open_questions(store, db)
    return len(found), (entry for each in found if (entry := _entry(store, each)))


def _again(store: Store, entry: Entry) -> Entry | None:
    assert entry.against
    compare_pending(store, most=JUST_NOW)
    with store.database.read() as db:
        row = selections.with_ref(db, entry.ref)
        found = open_questions(store, db, about=row.row) if row else []
    for each in found:
        if {each.holds.ref, each.gives_way.ref} == {entry.ref, entry.against.ref}:
            return _entry(store, each)
    return None


def _entry(store: Store, question: Question) -> Entry | None:
    try:
        one, other = read_row(store, question.holds), read_row(store, question.gives_way)
    except (NotFound, Unreadable):
        return None  # the file vanished this moment, or `status` reports it
    merged = merged_text(one.memory, other.memory)
    within = one.vault == other.vault and not question.said and len(merged[1]) <= MAX_TEXT
    words = KIND.words if within else tuple(word for word in KIND.words if word is not Verdict.MERGE)
    against = entry_of(QUESTION, question.gives_way, other, "")
    level, why = None, question.why
    if one.vault.level is not other.vault.level:
        level = one.vault.level
        first, second = (WHERE[each.vault.level] for each in (one, other))
        why = f"{why}; the first {first}, the second {second}"
    return replace(
        entry_of(QUESTION, question.holds, one, why),
        answers=words,
        against=against,
        level=level,
        merged=merged if within else None,
        digest=f"{one.digest} {other.digest}",
    )


def _replaces(store: Store, entry: Entry, session: str) -> Became:
    _resolve(store, entry, "supersede", session)
    return Became.SHADOWED if entry.shadows else Became.REPLACED


def _keep_both(store: Store, entry: Entry, session: str) -> Became:
    _resolve(store, entry, "keep_both", session)
    return Became.KEPT_BOTH


def _merge(store: Store, entry: Entry, session: str) -> Became:
    """Replace both memories by one with the text that was shown, as one entry of the journal."""
    assert entry.against and entry.merged
    both = [_read(store, entry.ref), _read(store, entry.against.ref)]
    if " ".join(each.digest for each in both) != entry.digest:
        raise Conflict(f"{entry.path} changed after it was shown; nothing was settled.")
    joined(store, both, *entry.merged, vault=both[0].vault, session=session)
    return Became.MERGED


def joined(store: Store, found: Sequence[Found], title: str, text: str, *, vault: Vault, session: str) -> str:
    """
    Replace all memories that were *found* by one in *vault*, as one entry of the journal.

    The person has read its text. Return its id. Raises Conflict, OSError.
    """
    with journal.alone(store), one_run(journal.new_run(store)) as run:
        merge = Merge(tuple(range(len(found))), title, text, ())
        made = merged_entry(store, merge, found, by_person=True, vault=vault)
        if failed := journal.perform(store, made, run):
            raise Conflict(f"{', '.join(failed)} changed meanwhile.", "'daybook undo' takes back the rest.")
        now = _read(store, made.heir)
        write_line(store, "accepted", refs=[made.heir], digests=[now.digest], session=session)
    catch_up_if_free(store)
    return now.memory.id


def _resolve(store: Store, entry: Entry, how: str, session: str) -> None:
    """Settle the two of *entry*; raises Conflict when an id means another memory here."""
    assert entry.against
    for each in (entry, entry.against):
        if read(store, each.id).ref != each.ref:
            raise Conflict(f"'{each.id}' is the id of two memories; nothing was settled.")
    resolve_contradiction(store, entry.id, entry.against.id, how, session=session)


def ask_again(store: Store, one: str, other: str, *, session: str = "") -> None:
    """Ask again about two memories that were settled as both holding. Raises NotFound, Unreadable."""
    first, second = read(store, one), read(store, other)
    note_resolved(store, first.memory.id, second.memory.id, how=resolved.AGAIN, session=session)
    catch_up_if_free(store)


def _read(store: Store, ref: str) -> Found:
    with store.database.read() as db:
        row = selections.with_ref(db, ref)
    if row is None:
        raise NotFound(ref.rpartition("/")[2])
    return read_row(store, row)


KIND = WaitingKind(
    _listed, _again, {Verdict.REPLACES: _replaces, Verdict.KEEP_BOTH: _keep_both, Verdict.MERGE: _merge}
)
