"""
candidates: memories that were proposed and wait, for more sightings or for the person.

Each is a markdown file in the folder `candidates/` beside the vault's own folders, which people may edit
or delete. The ledger has how often it was seen, and the verdict on it.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum, auto
from pathlib import Path

from mcp_server.actions.files import runs
from mcp_server.actions.files.clock_check import old_before
from mcp_server.actions.files.commit import move, one_change
from mcp_server.actions.files.conflict_copies import why_not_taken_in
from mcp_server.actions.files.load import load
from mcp_server.actions.files.read import look_up
from mcp_server.actions.files.sync import catch_up_if_free
from mcp_server.actions.files.trash import path_in_trash
from mcp_server.actions.judge.compare_and_store import compare_and_store
from mcp_server.actions.judge.draft_outcome import DraftOutcome
from mcp_server.actions.memory.repository import keep
from mcp_server.adapters import files, memory_file, places
from mcp_server.adapters.index.events import candidates
from mcp_server.adapters.index.events.tidying import EXPIRY
from mcp_server.adapters.index.memories.unreadable import Problem
from mcp_server.adapters.vault import Vault, is_candidate_name
from mcp_server.core.capture.mining import EXPIRES_AFTER, STORED_CONFIDENCE, Mined, is_stored
from mcp_server.core.errors import Conflict, NotFound, Rejected, Unreadable
from mcp_server.core.memory import Draft, Memory, as_draft, made_of
from mcp_server.core.memory_parts import DAY, Kind, Level, check_id, typed_id
from mcp_server.core.provenance.instructions import reads_like_instruction
from mcp_server.core.provenance.provenance import SETTLED_ONCE
from mcp_server.core.runs import Reason, RunEntry, Why, change
from mcp_server.core.secrets.redaction import find_secrets
from mcp_server.core.text.titles import clean_title
from mcp_server.store import Store

FOLDER = places.CANDIDATES
WAITS = "waits "  # begins the note of a candidate's file that says why it waits
SEEN_SELDOM = "waits to be seen more often"
MOST = 200  # candidates in one folder; when it is full, new ones are not kept


class WaitsFor(StrEnum):
    """Why a candidate waits for the person, where its file does not say it."""

    PERSON = auto()
    INSTRUCTS = auto()  # it reads like an instruction
    UNSURE = auto()  # its confidence is too low


@dataclass(frozen=True, slots=True)
class Candidate:
    """
    A candidate: the memory it would become, its confidence, and how often it was seen.

    It waits beside `vault`. `why` is what it waits for: the sentence of its file, or a value. `data` are the
    bytes of its file, `digest` is their digest.
    """

    memory: Memory
    vault: Vault
    path: Path
    confidence: float
    times: int
    sessions: int
    why: str | WaitsFor
    digest: str
    data: bytes

    @property
    def for_person(self) -> bool:
        """Whether it waits for the person's decision, not for more sightings."""
        return self.why != SEEN_SELDOM


def propose(store: Store, draft: Draft, *, key: str, confidence: float, why: str) -> None:
    """
    Put *draft* among the candidates under *key* unless it is there, was judged or holds a secret.

    *why* tells people what it waits for.
    """
    with store.database.read() as db:
        if candidates.verdict_on(db, key) or find_secrets(f"{draft.title}\n{draft.text}"):
            return
    folder = _vault(store, draft.level).root / FOLDER
    path = folder / f"{check_id(key)}.md"
    if path.exists() or (folder.is_dir() and sum(1 for _ in folder.glob("*.md")) >= MOST):
        return
    memory = made_of(draft, key, store.moment())
    memory = replace(memory, title=clean_title(draft.title), trust=confidence, notes=(why,))
    with contextlib.suppress(FileExistsError):
        files.write_new(path, memory_file.render(memory))


def propose_mined(
    store: Store, facts: Iterable[Mined], *, session: str, conversation: str, source: str = "mined"
) -> list[str]:
    """Put what patterns found among the candidates; return one key for each sighting, to be noted."""
    keys = []
    for mined in facts:
        draft = Draft(
            mined.title,
            f"{mined.text}\n\nIt corrects: {mined.corrects}" if mined.corrects else mined.text,
            type=mined.type,
            source=source,
            # A pattern cannot tell whether a rule holds everywhere: "always use pnpm in this repo".
            level=Level.PROJECT if store.project else None,
            session=session,
            conversation=conversation,
            evidence=mined.text if mined.from_person else "",
        )
        why = SETTLED_ONCE if mined.settles else SEEN_SELDOM
        propose(store, draft, key=mined.key, confidence=mined.confidence, why=why)
        keys += [mined.key] * mined.times
    return keys


def promote(store: Store, keys: Iterable[str]) -> list[DraftOutcome]:
    """Store those of *keys* that were seen often enough by now and do not read like an instruction."""
    outcomes: list[DraftOutcome] = []
    if store.settings.capture != "auto":
        return outcomes
    for key in dict.fromkeys(keys):
        with store.database.read() as db:
            times, verdict = candidates.times(db, key), candidates.verdict_on(db, key)
        candidate = None if verdict else _find(store, key)
        if candidate and is_stored(candidate.confidence, times):
            memory = candidate.memory
            if not reads_like_instruction(f"{memory.title}\n{memory.text}"):
                outcomes.append(_store(store, candidate, source=memory.source))
                _judge(store, candidate)
    return outcomes


def review_candidates(store: Store) -> list[Candidate]:
    """Return the candidates that wait here, the most believable and most often seen first."""
    catch_up_if_free(store)
    candidates = [_read(store, vault, path) for vault, path in _files(store)]
    return sorted(
        filter(None, candidates),
        key=lambda candidate: (-candidate.confidence, -candidate.times, candidate.memory.id),
    )


def unreadable_candidates(store: Store) -> list[Problem]:
    """Return why files among the candidates here are none: they neither wait nor expire."""
    problems = []
    for vault, path in _files(store):
        if not is_candidate_name(path.name):
            reason = why_not_taken_in(str(path)) or "has a name that is no id; rename it, or delete it"
            problems.append(Problem(str(path), 0, reason))
            continue
        try:
            load(vault, path)
        except Unreadable as error:
            problems.append(Problem(str(path), error.line, error.reason))
        except (Rejected, FileNotFoundError):
            continue  # it leads out of the vault, or was settled at this moment
    return problems


def approve(store: Store, keys: Sequence[str]) -> list[DraftOutcome]:
    """
    Store the candidates with these *keys* as memories that the person accepted.

    Raises NotFound for a key that does not wait, before anything is stored.
    """
    outcomes = []
    for candidate in _named(store, keys):
        with one_change():
            outcomes.append(_store(store, candidate, source=_confirmed(candidate.memory.source)))
            keep(store, [row.ref for row in [look_up(store, outcomes[-1].id)] if row])
            _put_away(store, candidate, "approved")
    return outcomes


def reject(store: Store, keys: Sequence[str]) -> None:
    """Move the candidates with these *keys* to the trash; they are not proposed again. Raises NotFound."""
    for candidate in _named(store, keys):
        _put_away(store, candidate, "rejected")


def expired(store: Store) -> Iterator[RunEntry]:
    """Yield entries that move candidates not seen for 30 days to the trash; they may be proposed again."""
    oldest = old_before(store, EXPIRES_AFTER * DAY)
    for candidate in review_candidates(store):
        with store.database.read() as db:
            last = candidates.last_seen(db, candidate.memory.id)
        if max(last, int(candidate.memory.updated.timestamp())) >= oldest:
            continue
        with contextlib.suppress(NotFound, Unreadable, Rejected):
            file = runs.load_at(store, candidate.vault, f"{FOLDER}/{candidate.path.name}")
            to = runs.trash_place(store, file)
            reason = Reason(Why.EXPIRED, (file.memory.id,), int(EXPIRES_AFTER))
            yield RunEntry(EXPIRY, reason, (change(file.ref, file.memory, file.place, to=to),))


def _confirmed(source: str) -> str:
    """Return the source of a memory that the person approved."""
    return {"assistant": "extracted", "output": "mined"}.get(source, source)


def _store(store: Store, candidate: Candidate, *, source: str) -> DraftOutcome:
    memory = candidate.memory
    level = Level.PROJECT if memory.source in ("mined", "output") and store.project else None
    draft = replace(
        as_draft(memory),
        kind=Kind.KNOWLEDGE,
        source=source,
        level=level,
        supersedes=(),
        notes=tuple(note for note in memory.notes if not _is_why(note)),
    )
    supersedes = memory.supersedes[0] if memory.supersedes else ""
    return compare_and_store(store, draft, supersedes=supersedes, had=memory, form=candidate.data)


def _judge(store: Store, candidate: Candidate) -> None:
    """Delete a candidate that was stored automatically: a person who undoes that is not asked again."""
    store.record("judged", candidates=[candidate.memory.id], verdict="approved")
    files.delete(candidate.path, expected=candidate.digest)
    catch_up_if_free(store)


def _put_away(store: Store, candidate: Candidate, verdict: str) -> None:
    """Move a candidate to the trash, from where `undo` lets it wait again. Raises Conflict, OSError."""
    vault = candidate.vault
    data = {"candidates": [candidate.memory.id], "verdict": verdict}
    try:
        if files.digest(files.read(candidate.path)) != candidate.digest:
            raise Conflict(f"{candidate.path} changed after it was read, so nothing was settled.")
        target = path_in_trash(store, vault, candidate.path, candidate.memory.id)
        move(store, vault, vault.ref(candidate.memory.id), candidate.path, target, "judged", **data)
    except (FileNotFoundError, Conflict):
        if candidate.path.exists():
            raise
        raise Conflict(f"The candidate '{candidate.memory.id}' was settled by another process.") from None


def _files(store: Store) -> Iterator[tuple[Vault, Path]]:
    """Yield the files among the candidates here, each with the vault beside which it lies."""
    for vault in dict.fromkeys((_vault(store, Level.USER), _vault(store, None))):
        folder = vault.root / FOLDER
        yield from ((vault, path) for path in (sorted(folder.glob("*.md")) if folder.is_dir() else ()))


def _vault(store: Store, level: Level | None) -> Vault:
    """Return the vault beside which candidates of *level* wait: never one in a repository."""
    return store.private_vaults[0 if level is Level.USER else -1]


def expected(store: Store, key: str) -> Candidate:
    """Return the candidate with the id *key*; raises NotFound."""
    candidate = _find(store, key)
    if candidate is None:
        raise NotFound(
            key,
            [candidate.memory.id for candidate in review_candidates(store)][:3],
            sentence=f"There is no candidate '{key[:80]}'.",
            hint="No candidate waits.",
        )
    return candidate


def _named(store: Store, keys: Iterable[str]) -> list[Candidate]:
    """Return the candidates with these *keys*, each once; raises NotFound when one of them does not wait."""
    by_path = {candidate.path: candidate for candidate in (expected(store, key) for key in keys)}
    return list(by_path.values())


def _find(store: Store, key: str) -> Candidate | None:
    candidate_id = check_id(typed_id(key))
    for vault in (_vault(store, None), _vault(store, Level.USER)):
        if candidate := _read(store, vault, vault.root / FOLDER / f"{candidate_id}.md"):
            return candidate
    return None


def _read(store: Store, vault: Vault, path: Path) -> Candidate | None:
    if not is_candidate_name(path.name):
        return None  # nobody could name it; a sync service copies a file under such a name
    try:
        file = load(vault, path)
    except (Unreadable, Rejected, FileNotFoundError):
        return None  # an unreadable file is no candidate; `unreadable_candidates` names it
    memory = replace(file.memory, id=path.stem)
    with store.database.read() as db:
        times = candidates.times(db, memory.id)
    why: str | WaitsFor = next(filter(_is_why, memory.notes), WaitsFor.PERSON)
    if reads_like_instruction(f"{memory.title}\n{memory.text}"):
        why = WaitsFor.INSTRUCTS
    elif why == SEEN_SELDOM and store.settings.capture != "auto":
        why = WaitsFor.PERSON
    elif why == SEEN_SELDOM and (memory.trust or 0.0) < STORED_CONFIDENCE:
        why = WaitsFor.UNSURE
    confidence = memory.trust or 0.0
    return Candidate(memory, vault, path, confidence, sum(times), len(times), why, file.digest, file.data)


def _is_why(note: str) -> bool:
    """Tell whether *note* is what `propose` wrote; the others are a person's."""
    return note.startswith(WAITS)
