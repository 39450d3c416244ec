"""
work: do what the ledger says is pending, then end.

One process for each store at a time; a second one leaves the work to the first. A kill at any point loses
nothing, because everything it does ends with an event.
"""

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mcp_server.actions.capture.capture import keep, with_subagents
from mcp_server.actions.capture.learn import learn_pieces, learn_rests
from mcp_server.actions.capture.mine import mine_when_logged
from mcp_server.actions.capture.note import note_ended, note_seen, noted_folder
from mcp_server.actions.capture.occasions import ask as ask_for_occasions
from mcp_server.actions.capture.pending_answers import sweep_answers
from mcp_server.actions.capture.pieces import AT_ONCE, Part
from mcp_server.actions.context.claude_md import refresh
from mcp_server.actions.context.compaction import forget_compactions
from mcp_server.actions.files.sync import catch_up, ensure_synced
from mcp_server.actions.files.unfinished_files import sweep_litter
from mcp_server.actions.judge.draft_outcome import DraftOutcome
from mcp_server.actions.judge.origins import judge_session
from mcp_server.actions.model.embed import embed_pending, pending
from mcp_server.actions.model.model_call import refusal
from mcp_server.actions.upkeep.tidy import tidy_when_due
from mcp_server.adapters import files, team_membership, transcript_file
from mcp_server.adapters.index.events import spending, transcripts
from mcp_server.adapters.index.events.transcripts import Transcript
from mcp_server.adapters.remote.notes import ask_for_exchange, has_remote, is_asked_for, is_due
from mcp_server.core.errors import DaybookError, Held, ModelUnavailable
from mcp_server.core.memory_parts import DAY
from mcp_server.store import Store

log = logging.getLogger(__name__)

LOCK = ".worker.lock"
ROUNDS = 100  # looks at what is pending, in one process: hooks may go on adding to it

MOST_EMBEDDED = 2000  # newest passages: a minute of one core; a server does what is left

QUIET = 600  # seconds without a new line after which a session without an end event is kept as far as it came
LEFT = 6 * 3600  # the same, after which it counts as over: people have lunch, and a rest costs a call
EXCHANGED_EVERY = 600  # seconds between two exchanges with others while a session runs
REMEMBERED = 30 * DAY  # seconds; Claude Code deletes older transcripts

StoreFor = Callable[[Path | None], Store]
"""Opens the store as seen from a folder; None is the folder where the process works."""


@dataclass(slots=True)
class Work:
    """
    What a worker did: utterances kept, what became of proposals, and why it could not learn ('' if so).

    `occasions`: how many memories got some. `finished`: the steps after learning were done for some project.
    """

    kept: int = 0
    outcomes: list[DraftOutcome] = field(default_factory=list)
    waits: str = ""
    failed: dict[str, str] = field(default_factory=dict)
    occasions: int = 0
    finished: bool = False


def work(store_for: StoreFor) -> Work | None:
    """
    Keep and learn every pending transcript, tidy when due, refresh the managed blocks of those projects.

    Return what was done, None when another process works. The error for each failed transcript is collected.
    """
    store = store_for(None)
    tally = Work()
    files.make_folder(store.home)
    met = _exchange(store, tally)  # first, so that what other machines know is not learned again
    new_of_team = _follow_team(store, tally)
    for _ in range(ROUNDS):
        try:
            with files.lock(store.home / LOCK, patience=0):
                while _work_once(store_for, tally):
                    pass
                if not tally.finished:
                    _finish(store_for(None), tally)  # memories age even when nothing is captured
        except Held:
            return None
        # A process that noted something after our last look found the lock held and left it to us.
        catch_up(store)
        if not _pending(store, tally):
            break
    if tally.kept or tally.outcomes or tally.occasions or new_of_team:
        _embed(store, tally)
        if met:
            _exchange(store, tally)
    return tally


def note_left_behind(store: Store) -> bool:
    """
    Note the sessions that ended without an end event: their client was killed, or the machine went down.

    They are known transcripts that have grown and were not touched for ten minutes, or end with a rest that
    no model read and were not touched for six hours. Return whether anything waits for a worker: rests that
    were not worth a call yesterday, too. Raises OSError, IndexUnavailable.
    """
    if store.settings.capture == "manual":
        return False
    is_noted = note_quiet(store)
    with store.database.read() as db:
        if is_noted or transcripts.unkept(db):
            return True
        ended = store.settings.model_calls and any(
            transcript.ended for transcript in transcripts.unlearned(db, paid=True)
        )
        answers = spending.learned_today(db, store.now())
    return ended and answers < AT_ONCE and not refusal(store)


def exchange_is_due(store: Store) -> bool:
    """Tell whether other machines of the person's, or their team, were not heard of for a while."""
    now = time.time()
    return is_due(store.home, every=EXCHANGED_EVERY, now=now) or team_membership.is_due(
        store.home, every=EXCHANGED_EVERY, now=now
    )


def begins_work(store: Store) -> bool:
    """Tell whether a worker has something to do when a session starts; raises OSError, IndexUnavailable."""
    return note_left_behind(store) or has_remote(store.home)


def goes_on(store: Store) -> bool:
    """Tell whether a worker has something to do while a session runs; raises OSError, IndexUnavailable."""
    return note_quiet(store) or exchange_is_due(store)


def note_quiet(store: Store) -> bool:
    """Note the sessions that ended without an end event; return whether a worker has to look at one."""
    if store.settings.capture == "manual":
        return False
    catch_up(store)
    now, is_noted = store.now(), False
    with store.database.read() as db:
        recent = transcripts.told_since(db, now - REMEMBERED)
    for transcript in recent:
        path = Path(transcript.path)
        unread = transcript.kept > transcript.unread_from(paid=store.settings.model_calls)
        has_rest = store.settings.model_reads and not transcript.ended and unread
        size, changed = transcript_file.size(path), transcript_file.changed(path)
        grown = size > transcript.seen
        if (grown or has_rest) and 0 < changed < now - LEFT:
            note_ended(store.in_session(transcript.session), path, folder=transcript.folder)
        elif grown and 0 < changed < now - QUIET:
            note_seen(store.in_session(transcript.session), path, size, folder=transcript.folder, ended=False)
        else:
            continue
        is_noted = True
    return is_noted


def _work_once(store_for: StoreFor, tally: Work) -> bool:
    store = store_for(None)
    catch_up(store)
    _note_consent(store)
    forget_compactions(store)
    sweep_litter(store)
    sweep_answers(store)
    touched: dict[str, Store] = {}
    for transcript in _pending(store, tally):
        scoped = store_for(noted_folder(store, transcript))
        with _noting(tally, transcript.path):
            for part in with_subagents(scoped, transcript):
                tally.kept += keep(scoped, part)
            judge_session(
                scoped.in_session(transcript.session), transcript_file.session_file(Path(transcript.path))
            )
            touched[scoped.project.key if scoped.project else ""] = scoped
    if store.settings.model_calls and store.settings.capture != "manual":
        _learn_all(store_for, tally, touched)
    for scoped in touched.values():
        _finish(scoped, tally)
    return bool(touched)


def _learn_all(store_for: StoreFor, tally: Work, touched: dict[str, Store]) -> None:
    store = store_for(None)
    with store.database.read() as db:
        unlearned = transcripts.unlearned(db, paid=True)
    # Checked first, so that nothing is searched for a question that could not be asked.
    if unlearned and (refused := refusal(store)):
        tally.waits = refused
        return
    rests: dict[str, list[Part]] = {}
    stores: dict[str, Store] = {}

    def learn(path: str, store: Store, outcomes: Iterator[DraftOutcome]) -> None:
        try:
            for outcome in outcomes:  # one by one: what was stored before the model says no counts
                tally.outcomes.append(outcome)
                touched[store.project.key if store.project else ""] = store
        except (DaybookError, OSError) as error:
            if isinstance(error, ModelUnavailable):
                raise
            tally.failed[path] = str(error)
            log.warning("%s was not learned: %s", path, error)

    try:
        for transcript in unlearned:
            scoped = store_for(noted_folder(store, transcript))
            key = scoped.project.key if scoped.project else ""
            stores[key] = scoped
            learn(transcript.path, scoped, learn_pieces(scoped, transcript, rests.setdefault(key, [])))
        for key, parts in rests.items():
            if parts:
                learn(parts[0].transcript.path, stores[key], learn_rests(stores[key], parts))
    except ModelUnavailable as error:
        tally.waits = str(error)


def _finish(store: Store, tally: Work) -> None:
    """
    Ask for occasions, make a new index whole, mine the logged outputs, tidy when due, refresh the blocks.

    The hooks of the next session read no file: they ask the index.
    """
    tally.finished = True
    captures = store.settings.capture != "manual"
    with _noting(tally, "occasions"):
        tally.occasions += ask_for_occasions(store)
    for step in (ensure_synced, *((mine_when_logged,) if captures else ()), tidy_when_due, refresh):
        with _noting(tally, step.__name__):
            step(store)


def _exchange(store: Store, tally: Work) -> bool:
    """
    Exchange with the person's other machines, if there is a remote; return whether it was reached.

    A process that exchanges already does it once more for this one: it may have read the files before the
    last words of a session were in them.
    """
    if not has_remote(store.home):
        return False
    from mcp_server.actions.remote.exchange import exchange  # most stores have no remote

    reached = False
    with _noting(tally, "exchange"), contextlib.suppress(Held):
        ask_for_exchange(store.home)
        for _ in range(ROUNDS):
            if not is_asked_for(store.home):
                break
            reached = not exchange(store).trouble
    return reached


def _follow_team(store: Store, tally: Work) -> bool:
    """Give the team what waits, and copy what it confirmed, if there is one; return whether that is new."""
    if not team_membership.has_team(store.home):
        if team_membership.has_rest(store.home):
            from mcp_server.actions.team.membership import finish_leaving  # as below

            with _noting(tally, "team"), contextlib.suppress(Held):
                finish_leaving(store)
        return False
    from mcp_server.actions.team.copy import copy  # most people have no team
    from mcp_server.actions.team.send import send, stayed_after

    with _noting(tally, "team"), contextlib.suppress(Held):
        if team := store.team():
            if stayed := stayed_after(send(store, team)):
                team_membership.note_stayed(store.home, stayed)
            return bool(copy(store, team).written)
    return False


def _embed(store: Store, tally: Work) -> None:
    """Embed what was stored before the next session asks; a model is loaded only for that."""
    with _noting(tally, "embed"):
        if pending(store):
            embed_pending(store, replace=False, most=MOST_EMBEDDED)


@contextlib.contextmanager
def _noting(tally: Work, what: str) -> Iterator[None]:
    """Note and log why the block could not do *what*; the work goes on."""
    try:
        yield
    except (DaybookError, OSError) as error:
        tally.failed[what] = str(error)
        log.warning("%s: %s", what, error)


def _note_consent(store: Store) -> None:
    """Note when the person has agreed: what was said before is not sent to the model."""
    with store.database.read() as db:
        agreed = transcripts.agreed(db)
    if agreed != store.settings.model_calls:
        store.record("consented", model_calls=store.settings.model_calls)
        catch_up(store)


def _pending(store: Store, tally: Work) -> list[Transcript]:
    if store.settings.capture == "manual":
        return []
    with store.database.read() as db:
        return [transcript for transcript in transcripts.unkept(db) if transcript.path not in tally.failed]
