"""
tidy: consolidation and upkeep in one bounded run.

Equal memories become one, those that may differ are listed, a model may merge and drop, unused memories are
put away. Every step stands in the ledger before it is done; nothing is deleted while there is room. It is
long because the order of the steps, and what each may still do, is one thing to read.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mcp_server.actions.context.questions import open_questions
from mcp_server.actions.files import runs, trash
from mcp_server.actions.files.clock_check import clock_doubt
from mcp_server.actions.files.size_limit import measure, prune
from mcp_server.actions.files.sync import catch_up, ensure_synced, sync
from mcp_server.actions.judge.candidate import expired
from mcp_server.actions.judge.compare import compare_pending
from mcp_server.actions.model.model_call import call_model
from mcp_server.actions.upkeep import age
from mcp_server.actions.upkeep.consolidate import (
    Known,
    day_of,
    duplicates,
    known,
    planned,
)
from mcp_server.actions.upkeep.guesses import take_back_guesses
from mcp_server.adapters import files, places
from mcp_server.adapters.index.events import tidying
from mcp_server.adapters.prompts import prompt
from mcp_server.adapters.vault import Vault
from mcp_server.core import budget
from mcp_server.core.authors import TIDY
from mcp_server.core.errors import DaybookError, ModelUnavailable
from mcp_server.core.judge.consolidation import (
    ANSWER_TOKENS,
    MOST_CALLS,
    TidyItem,
    digest_of,
    groups,
    plan,
    request,
)
from mcp_server.core.runs import RunEntry
from mcp_server.store import Store

MOST_CHANGES = 1_000  # entries of one run; what is left waits for the next
NONE: frozenset[str] = frozenset()


@dataclass(slots=True)
class Tidied:
    """
    What a run did, or would do: the entries of the run, and what it only proposes.

    `refused` has a sentence for each answer of a model that was not believed, `failed` for each change
    that could not be made, `repaired` is the number of files that the index had wrong, `pruned` that of
    versions that the history had no room for, `clock` says why nothing was put away for its age, `left` is
    how much more has aged than one run may put away, `spent` is what the calls of the model cost, `unasked`
    is how many a dry run left out, and `price` what those would cost at most, in USD.
    """

    run: str
    dry_run: bool = False
    entries: list[RunEntry] = field(default_factory=list)
    proposals: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    waits: str = ""
    clock: str = ""
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
        done = self.emptied or self.pruned
        return not (self.entries or self.proposals or self.refused or self.failed or done)


def tidy(
    store: Store, *, dry_run: bool = False, with_model: bool | None = None, unattended: bool = False
) -> Tidied:
    """
    Tidy the memories of the person and of this project; *unattended*: no person reads what is returned.

    With *dry_run* nothing is changed, and the model is asked only when *with_model* says so; its answers
    are kept for the run that carries them out. Raises Conflict when another process is tidying,
    IndexUnavailable, OSError when the ledger cannot be written.
    """
    done = Tidied(runs.new_run(store), dry_run)
    asking = store.settings.model_calls and (with_model if with_model is not None else not dry_run)
    if dry_run:
        ensure_synced(store)
        catch_up(store)
        _steps(store, done, asking)
        done.emptied = len(trash.late(store)) if measure(store).is_over else 0
        return done
    scope = _scope(store)
    with runs.alone(store):
        catch_up(store)
        with store.database.read() as db:
            unended = tidying.open_run(db, scope)
        if unended:
            runs.complete(store, unended)
        alone = {"unattended": True} if unattended else {}
        store.ledger.append("tidied", store.clock(), run=done.run, began=scope, **alone)
        done.repaired = sync(store, deep=True).changed
        done.entries += take_back_guesses(store, done.run)
        settled = _steps(store, done, asking)
        if measure(store).is_over:
            done.emptied = len(trash.empty(store, trash.late(store)))
        done.pruned = prune(store)
        with store.database.read() as db:
            active = tidying.count_active(db, scope)
        store.ledger.append(
            "tidied", store.clock(), run=done.run, ended=scope, active=active, groups=settled, left=done.left
        )
        catch_up(store)
    return done


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


def _steps(store: Store, done: Tidied, asking: bool) -> list[str]:
    """Take the steps in their order; return the digests of what a model need not see again."""
    with store.database.read() as db:
        untouched = frozenset(tidying.brought_back(db))
    settled: list[str] = []
    for vault in store.vaults:
        if not vault.adopted:
            continue
        memories = known(store, vault)
        _take(store, done, duplicates(store, memories, untouched=untouched))
        if done.dry_run and not asking and store.settings.model_calls:
            _leave_out(store, done, memories, untouched)
        if asking and not done.waits:
            memories = memories if done.dry_run else known(store, vault)  # read again after the earlier steps
            _ask_all(store, done, memories, untouched)
            if not done.dry_run:
                settled += _settled(store, done, memories, known(store, vault), untouched)
    compare_pending(store)
    with store.database.read() as db:
        done.proposals += [
            f"[{question.newer.id}] and [{question.older.id}] {question.why}"
            for question in open_questions(store, db)
        ]
    put_aged_away(store, done)
    return settled


def put_aged_away(store: Store, done: Tidied) -> None:
    """Put away what has aged, mark orphans, throw away what waited long enough; a dry run only notes it."""
    # Other people use a repository's memories too, and this ledger does not know how much.
    private = store.private
    doubt = clock_doubt(store)
    done.clock = str(doubt or "")
    if not doubt:
        if not done.dry_run:
            age.note_unseen(store, private)
        _take(store, done, age.compacted(store, private))
        due = age.due(store, private)
        done.left = len(due.left)
        _take(store, done, age.aged(store, due.taken))
    new = done.refs(tidying.DROPS, tidying.AGEING, tidying.COMPACTION)
    _take(store, done, age.reconnected(store, private))
    _take(store, done, age.orphaned(store, private, new))
    _take(store, done, age.thrown_away(store, private, new | done.refs(tidying.ORPHANS)))
    _take(store, done, expired(store))
    if measure(store).is_over:
        _take(store, done, age.crowded(store, private, new))


def _take(store: Store, done: Tidied, entries: Iterable[RunEntry]) -> None:
    """Carry out *entries* one by one, or only note them in a dry run."""
    for entry in entries:
        if len(done.entries) >= MOST_CHANGES:
            break
        if not done.dry_run:
            try:
                failed = runs.perform(store.acting_as(TIDY), entry, done.run)
            except DaybookError as error:
                done.failed.append(f"{entry.line}: {error}")
                continue
            done.failed += [f"{entry.line}: {ref} {why}" for ref, why in failed.items()]
        done.entries.append(entry)


def _ask_all(store: Store, done: Tidied, known: Known, untouched: frozenset[str]) -> None:
    """Ask the model about each group that it has not seen as it is, and carry out what holds."""
    for group, digest in _unseen(store, known, untouched):
        if done.calls >= MOST_CALLS or done.waits:
            break
        answer = _answer(store, done, known, group, digest)
        if answer is None:
            continue
        merge_plan = plan(answer, group)
        if isinstance(merge_plan, str):
            done.refused.append(f"the plan for {len(group)} of type {group[0].statement.type}: {merge_plan}")
        else:
            _take(store, done, planned(store, known, group, merge_plan))
        known.asked[digest] = group[0].statement.type


def _unseen(store: Store, known: Known, untouched: frozenset[str]) -> list[tuple[list[TidyItem], str]]:
    """Return the groups that the model has not seen as they are, each with its digest."""
    shown = groups(item for item in known.items if item.ref not in untouched)
    digests = [digest_of(group) for group in shown]
    with store.database.read() as db:
        seen = tidying.settled_groups(db, digests)
    return [(group, each) for group, each in zip(shown, digests, strict=True) if each not in seen]


def _leave_out(store: Store, done: Tidied, known: Known, untouched: frozenset[str]) -> None:
    """Note in *done* what the model was not asked, and what that would have cost."""
    for group, digest in _unseen(store, known, untouched):
        if done.unasked < MOST_CALLS and not _spool(store, known.vault, digest).exists():
            size = len((prompt("consolidate") + _asked(store, known, group)).encode("utf-8", "surrogatepass"))
            done.price += budget.reserve(store.settings, size, ANSWER_TOKENS)
            done.unasked += 1


def _asked(store: Store, known: Known, group: Sequence[TidyItem]) -> str:
    return request(group, [day_of(known.rows[item.ref]) for item in group], today=f"{store.clock():%Y-%m-%d}")


def _answer(store: Store, done: Tidied, known: Known, group: Sequence[TidyItem], digest: str) -> str | None:
    """Return the model's answer about *group*, from the disk when it was paid for before."""
    spool = _spool(store, known.vault, digest)
    try:
        return str(json.loads(files.read(spool)))
    except (FileNotFoundError, ValueError):
        pass
    asked = _asked(store, known, group)
    try:
        reply = call_model(
            store, item=digest, system=prompt("consolidate"), prompt=asked, most_tokens=ANSWER_TOKENS
        )
    except ModelUnavailable as error:
        if error.later:
            done.waits = str(error)
        return None
    done.calls += 1
    done.spent += budget.cost(store.settings, reply.input_tokens, reply.output_tokens)
    files.write_new(spool, json.dumps(reply.text).encode("ascii"))
    return reply.text


def _settled(store: Store, done: Tidied, before: Known, after: Known, untouched: frozenset[str]) -> list[str]:
    """Return the digests of the groups that were asked about, as they were and as they are now."""
    for spool in (store.home / places.WORK).glob(f"tidy-{before.vault.key}-{'[0-9a-f]' * 32}.json"):
        files.delete(spool)
    types = set(before.asked.values())
    if done.waits or done.calls >= MOST_CALLS:
        return list(before.asked)
    shown = groups(item for item in after.items if item.ref not in untouched)
    now = [digest_of(group) for group in shown if group[0].statement.type in types]
    return list(dict.fromkeys([*before.asked, *now]))


def _spool(store: Store, vault: Vault, digest: str) -> Path:
    return store.home / places.WORK / f"tidy-{vault.key}-{digest}.json"
