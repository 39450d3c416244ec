"""
mine: find what recurs in programs' outputs and in sessions, by patterns alone.

What patterns find becomes a candidate. What was only in a program's output is never shown unasked, even when
it was seen often enough to be stored: any outsider may have written that output.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from mcp_server.actions.capture.settling import judge_of
from mcp_server.actions.files.clock_check import old_before
from mcp_server.actions.files.sync import catch_up_if_free
from mcp_server.actions.judge.candidate import promote, propose_mined, review_candidates
from mcp_server.actions.judge.draft_outcome import DraftOutcome
from mcp_server.actions.memory.list import list_memories
from mcp_server.adapters import documents, output_log
from mcp_server.adapters.index.events import candidates, deeds
from mcp_server.adapters.index.events.deeds import Deed
from mcp_server.adapters.output_log import Output
from mcp_server.adapters.vault import Vault
from mcp_server.core.capture.mining import mine
from mcp_server.core.errors import Rejected
from mcp_server.core.memory_parts import DAY, Kind
from mcp_server.core.provenance.provenance import OUTPUT, TRANSCRIPT
from mcp_server.core.search.query import Filter
from mcp_server.core.secrets.redaction import find_secrets, redact
from mcp_server.core.sessions.conversation import parse_turns
from mcp_server.core.text.private import without_private
from mcp_server.store import Store

MOST_LOGGED = 64 * 1024  # bytes of one output
MOST_HOURS = 24 * output_log.KEPT_DAYS
MOST_CONVERSATIONS = 200  # of one run, those that grew last
RUNS_TOLD = 5
RUNS_LOOKED_AT = 50  # of all projects
MOST_NOTED = 5000  # sightings of one session in one run: an event's length is limited


@dataclass(frozen=True, slots=True)
class Logged:
    """What was added to the output log: bytes, and how many secrets were masked in it."""

    size: int
    masked: int


@dataclass(slots=True)
class Mining:
    """What a mining run did: outputs and conversations read, new sightings, and what was stored."""

    outputs: int = 0
    conversations: int = 0
    sighted: int = 0
    stored: list[DraftOutcome] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class MiningStatus:
    """State of mining: the log's days and bytes, candidates that wait, stored, rejected, the last runs."""

    days: int
    size: int
    waiting: int
    verdicts: dict[str, int]
    runs: tuple[Deed, ...]


def log_output(store: Store, content: str) -> Logged:
    """
    Add *content* to the output log, secrets masked and without what is private; it is kept for a week.

    Raises Rejected when there is nothing, more than 64 KiB, when the day's log is full, and when the
    person wants nothing captured; OSError when the disk refuses.
    """
    if store.settings.capture == "manual":
        raise Rejected("Nothing is captured: capture is 'manual'.", "Change that with 'daybook setup'.")
    output = without_private(content).strip()
    if not output:
        raise Rejected("There is nothing to log.", "Give some output to log.")
    size = len(output.encode("utf-8", "replace"))
    if size > MOST_LOGGED:
        raise Rejected(
            f"The output has {size:,} bytes; {MOST_LOGGED:,} is the limit.",
            "Log only the useful part.",
        )
    now = store.clock()
    folder = _folder(store)
    output_log.prune(folder, old_before(store, output_log.KEPT_DAYS * DAY))
    masked = len(find_secrets(output))
    entry = Output(now, store.session or f"log-{now:%Y-%m-%d}", redact(output))
    if not output_log.append(folder, entry):
        raise Rejected(
            "Today's output log is full.",
            "Mine it with run_mining or 'daybook mine'; logging continues tomorrow.",
        )
    return Logged(size, masked)


def read_output(path: Path) -> str:
    """Return the text of a file to be logged; raises Unreadable, Rejected when there is none."""
    try:
        return documents.text_of(path)
    except FileNotFoundError:
        raise Rejected(f"There is no file {path}.", "Give the path of a text file, or '-'.") from None


def run_mining(store: Store, *, hours: float = 24) -> Mining:
    """
    Look for patterns in what was logged and said in the last *hours*, at most 168.

    What was seen in a session before is not counted again. Raises Rejected for hours out of range,
    OSError, IndexUnavailable.
    """
    if not 0 < hours <= MOST_HOURS:
        raise Rejected(f"{hours:g} hours cannot be mined.", f"Give more than 0 and at most {MOST_HOURS}.")
    mining, judge = Mining(), judge_of(store)
    catch_up_if_free(store)
    since = store.clock() - timedelta(hours=hours)
    output_log.prune(_folder(store), old_before(store, output_log.KEPT_DAYS * DAY))
    sightings: dict[str, Counter[str]] = defaultdict(Counter)
    for entry in output_log.outputs(_folder(store), since):
        mining.outputs += 1
        facts = mine([("output", entry.text)])
        sightings[entry.session].update(
            propose_mined(store, facts, session=entry.session, conversation="", source=OUTPUT)
        )
    conversations = Filter(kinds=(Kind.CONVERSATION,), since=since)
    for row in list_memories(store, conversations, limit=MOST_CONVERSATIONS).rows:
        if row.source != TRANSCRIPT:
            continue  # not taken from a transcript, so nothing shows who said what
        mining.conversations += 1
        # Only the person's turns: in Claude's, a command that it ran looks like one that it quotes.
        prompts = [("user", turn.words) for turn in parse_turns(row.text) if turn.speaker == "user"]
        session = row.session or row.id
        facts = [fact for turn in prompts for fact in mine([turn], judge=judge)]
        sightings[session].update(propose_mined(store, facts, session=session, conversation=row.id))
    for session, counts in sightings.items():
        mining.sighted += _note(store, session, counts)
    catch_up_if_free(store)
    mining.stored = promote(store, dict.fromkeys(key for counts in sightings.values() for key in counts))
    store.record(
        "mining_run",
        outputs=mining.outputs,
        conversations=mining.conversations,
        sighted=mining.sighted,
        stored=len(mining.stored),
        vault=_vault(store).key,
    )
    catch_up_if_free(store)
    return mining


def mine_when_logged(store: Store) -> Mining | None:
    """Mine when something was logged for this project since the last run, else return None."""
    logged = output_log.changed(_folder(store))
    if not logged:
        return None
    catch_up_if_free(store)
    with store.database.read() as db:
        runs = deeds.listed(db, events=("mining_run",), limit=RUNS_LOOKED_AT)
    last = max((run.at for run in runs if run.detail.get("vault") == _vault(store).key), default=0)
    return run_mining(store, hours=MOST_HOURS) if logged >= last else None


def mining_status(store: Store) -> MiningStatus:
    """Return how large the output log is, what waits, what was stored and rejected, and the last runs."""
    waiting = len(review_candidates(store))
    days, size = output_log.size(_folder(store))
    with store.database.read() as db:
        runs = deeds.listed(db, events=("mining_run",), limit=RUNS_TOLD)
        return MiningStatus(days, size, waiting, candidates.verdicts(db), tuple(runs))


def _note(store: Store, session: str, counts: Counter[str]) -> int:
    """Note the sightings of *session* that were not counted yet; return how many."""
    with store.database.read() as db:
        new = {key: times - candidates.times_in(db, key, session) for key, times in counts.items()}
    keys = list(Counter(new).elements())[:MOST_NOTED]
    if keys:
        store.record("mined", session=session, sighted=keys)
    return len(keys)


def _vault(store: Store) -> Vault:
    """Return the vault beside which this project's outputs are logged; never a vault in a repository."""
    return store.private_vaults[-1]


def _folder(store: Store) -> Path:
    return _vault(store).root / output_log.FOLDER
