"""
tidy: consolidation and upkeep in one bounded run.

Equal memories become one, those that may differ are listed, a model may merge and drop, unused memories are
put away. Every step is in the ledger before it is done; nothing is deleted while there is room. It is
long because the order of the steps, and what each may still do, is one thing to read.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mcp_server.actions.context.open_questions import Question, open_questions
from mcp_server.actions.files import runs, trash
from mcp_server.actions.files.clock_check import clock_doubt
from mcp_server.actions.files.size_limit import measure, prune
from mcp_server.actions.files.sync import catch_up, ensure_synced, sync
from mcp_server.actions.judge.candidate import expired
from mcp_server.actions.judge.compare import compare_pending
from mcp_server.actions.model.model_call import call_model
from mcp_server.actions.upkeep import age
from mcp_server.actions.upkeep.consolidate import (
    VaultKnowledge,
    duplicates,
    knowledge_of,
    planned,
)
from mcp_server.adapters import files, places
from mcp_server.adapters.index.events import tidying
from mcp_server.adapters.index.memories import counts
from mcp_server.adapters.prompts import prompt
from mcp_server.adapters.vault import Vault
from mcp_server.core import budget
from mcp_server.core.authors import TIDY
from mcp_server.core.errors import ModelUnavailable
from mcp_server.core.judge.consolidation import (
    ANSWER_TOKENS,
    MOST_CALLS,
    TidyItem,
    digest_of,
    groups,
    plan,
    request,
)
from mcp_server.core.runs import NotMade, RunEntry
from mcp_server.core.worth.steady_clock import Doubt
from mcp_server.store import Store

MOST_CHANGES = 1_000  # entries of one run; what is left waits for the next
NONE: frozenset[str] = frozenset()


@dataclass(slots=True)
class Tidied:
    """
    What a run did, or would do: the entries of the run, and what it only proposes.

    `proposals` are open questions about two memories, `refused` has a sentence for each answer of a model
    that was not believed, `repaired` is the number of files that the index had wrong, `pruned` that of
    versions that the history had no room for, `clock` says why nothing was put away for its age, `left` is
    how much more has aged than one run may put away, `spent` is what the calls of the model cost, `unasked`
    is how many a dry run left out, and `price` what those would cost at most, in USD.
    """

    run: str
    dry_run: bool = False
    entries: list[RunEntry] = field(default_factory=list)
    proposals: list[Question] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    failed: list[NotMade] = field(default_factory=list)
    waits: str = ""
    clock: Doubt | None = None
    repaired: int = 0
    emptied: int = 0
    pruned: int = 0
    left: int = 0
    calls: int = 0
    spent: float = 0.0
    unasked: int = 0
    price: float = 0.0

    @property
    def counts(self) -> dict[str, int]:
        """How many entries each step has."""
        return dict(Counter(entry.step for entry in self.entries))

    def refs(self, *steps: str) -> frozenset[str]:
        """Return what the entries of *steps* changed."""
        return NONE.union(*(entry.refs for entry in self.entries if entry.step in steps))

    @property
    def is_empty(self) -> bool:
        """Whether nothing was done, or would be, and there is nothing to look at."""
        deleted = self.emptied or self.pruned
        return not (self.entries or self.proposals or self.refused or self.failed or deleted)


def tidy(
    store: Store, *, dry_run: bool = False, with_model: bool | None = None, unattended: bool = False
) -> Tidied:
    """
    Tidy the memories of the person and of this project; *unattended*: no person reads what is returned.

    With *dry_run* nothing is changed, and the model is asked only when *with_model* says so; its answers
    are kept for the run that carries them out. Raises Conflict when another process is tidying,
    IndexUnavailable, OSError when the ledger cannot be written.
    """
    tidied = Tidied(runs.new_run(store), dry_run)
    asking = store.settings.model_calls and (with_model if with_model is not None else not dry_run)
    if dry_run:
        ensure_synced(store)
        catch_up(store)
        _steps(store, tidied, asking)
        tidied.emptied = len(trash.late(store)) if measure(store).is_over else 0
        return tidied
    scope = _scope(store)
    with runs.alone(store):
        catch_up(store)
        with store.database.read() as db:
            unended = tidying.open_run(db, scope)
        if unended:
            runs.complete(store, unended)
        alone = {"unattended": True} if unattended else {}
        store.record("tidied", run=tidied.run, began=scope, **alone)
        tidied.repaired = sync(store, deep=True).changed
        settled = _steps(store, tidied, asking)
        if measure(store).is_over:
            tidied.emptied = len(trash.empty(store, trash.late(store)))
        tidied.pruned = prune(store)
        with store.database.read() as db:
            active = counts.active_knowledge(db, [scope])
        store.record("tidied", run=tidied.run, ended=scope, active=active, groups=settled, left=tidied.left)
        catch_up(store)
    return tidied


def tidy_when_due(store: Store) -> Tidied | None:
    """
    Tidy when enough happened since the last run, at most once an hour; None when it is not due.

    Raises what `tidy` raises.
    """
    with store.database.read() as db:
        captures = store.settings.capture != "manual"
        due = tidying.is_due(db, _scope(store), store.now(), captures=captures)
    return tidy(store, unattended=True) if due else None


def _scope(store: Store) -> str:
    """Return the key of the private vault that says how long ago this project was tidied."""
    return tidying.scope_of(store.private)


def _steps(store: Store, tidied: Tidied, asking: bool) -> list[str]:
    """Take the steps in their order; return the digests of what a model need not see again."""
    with store.database.read() as db:
        untouched = frozenset(tidying.brought_back(db))
    settled: list[str] = []
    for vault in store.vaults:
        if not vault.adopted:
            continue
        memories = knowledge_of(store, vault)
        _take(store, tidied, duplicates(store, memories, untouched=untouched))
        if tidied.dry_run and not asking and store.settings.model_calls:
            _leave_out(store, tidied, memories, untouched)
        if asking and not tidied.waits:
            if not tidied.dry_run:
                memories = knowledge_of(store, vault)  # read again after the earlier steps
            _ask_all(store, tidied, memories, untouched)
            if not tidied.dry_run:
                settled += _settled(store, tidied, memories, knowledge_of(store, vault), untouched)
    compare_pending(store)
    with store.database.read() as db:
        tidied.proposals += open_questions(store, db)
    put_aged_away(store, tidied)
    return settled


def put_aged_away(store: Store, tidied: Tidied) -> None:
    """Put away what has aged, mark orphans, throw away what waited long enough; a dry run only notes it."""
    # Other people use a repository's memories too, and this ledger does not know how much.
    private = store.private
    tidied.clock = clock_doubt(store)
    if not tidied.clock:
        if not tidied.dry_run:
            age.note_unseen(store, private)
        _take(store, tidied, age.compacted(store, private))
        due = age.due(store, private)
        tidied.left = len(due.remaining)
        _take(store, tidied, age.aged(store, due.selected))
    new = tidied.refs(tidying.DROPS, tidying.AGEING, tidying.COMPACTION)
    _take(store, tidied, age.reconnected(store, private))
    _take(store, tidied, age.orphaned(store, private, new))
    _take(store, tidied, age.thrown_away(store, private, new | tidied.refs(tidying.ORPHANS)))
    _take(store, tidied, expired(store))
    if measure(store).is_over:
        _take(store, tidied, age.crowded(store, private, new))


def _take(store: Store, tidied: Tidied, entries: Iterable[RunEntry]) -> None:
    """Carry out *entries* one by one, or only note them in a dry run."""
    for entry in entries:
        if len(tidied.entries) >= MOST_CHANGES:
            break
        if tidied.dry_run or runs.attempt(store.acting_as(TIDY), entry, tidied.run, tidied.failed):
            tidied.entries.append(entry)


def _ask_all(store: Store, tidied: Tidied, knowledge: VaultKnowledge, untouched: frozenset[str]) -> None:
    """Ask the model about each group that it has not seen as it is, and carry out what holds."""
    for group, digest in _unseen(store, knowledge, untouched):
        if tidied.calls >= MOST_CALLS or tidied.waits:
            break
        answer = _answer(store, tidied, knowledge.vault, group, digest)
        if answer is None:
            continue
        merge_plan = plan(answer, group)
        if isinstance(merge_plan, str):
            tidied.refused.append(
                f"the plan for {len(group)} of type {group[0].statement.type}: {merge_plan}"
            )
        else:
            _take(store, tidied, planned(store, knowledge, group, merge_plan))
        knowledge.answered[digest] = group[0].statement.type


def _unseen(
    store: Store, knowledge: VaultKnowledge, untouched: frozenset[str]
) -> list[tuple[list[TidyItem], str]]:
    """Return the groups that the model has not seen as they are, each with its digest."""
    all_groups = groups(item for item in knowledge.items if item.ref not in untouched)
    digests = [digest_of(group) for group in all_groups]
    with store.database.read() as db:
        settled = tidying.settled_groups(db, digests)
    return [
        (group, digest) for group, digest in zip(all_groups, digests, strict=True) if digest not in settled
    ]


def _leave_out(store: Store, tidied: Tidied, knowledge: VaultKnowledge, untouched: frozenset[str]) -> None:
    """Note in *tidied* what the model was not asked, and what that would have cost."""
    for group, digest in _unseen(store, knowledge, untouched):
        if tidied.unasked < MOST_CALLS and not _spool(store, knowledge.vault, digest).exists():
            question = prompt("consolidate") + _question(store, group)
            size = len(question.encode("utf-8", "surrogatepass"))
            tidied.price += budget.reserve(store.settings, size, ANSWER_TOKENS)
            tidied.unasked += 1


def _question(store: Store, group: Sequence[TidyItem]) -> str:
    return request(group, today=f"{store.clock():%Y-%m-%d}")


def _answer(store: Store, tidied: Tidied, vault: Vault, group: Sequence[TidyItem], digest: str) -> str | None:
    """Return the model's answer about *group*, from the disk when it was paid for before."""
    spool = _spool(store, vault, digest)
    try:
        return str(json.loads(files.read(spool)))
    except (FileNotFoundError, ValueError):
        pass
    system, question = prompt("consolidate"), _question(store, group)
    try:
        reply = call_model(store, item=digest, system=system, prompt=question, most_tokens=ANSWER_TOKENS)
    except ModelUnavailable as error:
        if error.later:
            tidied.waits = str(error)
        return None
    tidied.calls += 1
    tidied.spent += budget.cost(store.settings, reply.input_tokens, reply.output_tokens)
    files.write_over(spool, json.dumps(reply.text).encode("ascii"))
    return reply.text


def _settled(
    store: Store, tidied: Tidied, before: VaultKnowledge, after: VaultKnowledge, untouched: frozenset[str]
) -> list[str]:
    """Return the digests of the groups that were asked about, as they were and as they are now."""
    for spool in (store.home / places.WORK).glob(f"tidy-{before.vault.key}-{'[0-9a-f]' * 32}.json"):
        files.delete(spool)
    types = set(before.answered.values())
    if tidied.waits or tidied.calls >= MOST_CALLS:
        return list(before.answered)
    current_groups = groups(item for item in after.items if item.ref not in untouched)
    now = [digest_of(group) for group in current_groups if group[0].statement.type in types]
    return list(dict.fromkeys([*before.answered, *now]))


def _spool(store: Store, vault: Vault, digest: str) -> Path:
    return store.home / places.WORK / f"tidy-{vault.key}-{digest}.json"
