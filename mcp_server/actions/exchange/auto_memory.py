"""
auto_memory: import what Claude Code noted in its own memory of this project.

Each topic file becomes a memory, once. One that changed revises the memory it became, unless the person
edited or forgot that memory: then it is only reported.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from mcp_server.actions.files.commit import Accept, one_run
from mcp_server.actions.files.read import Found, read
from mcp_server.actions.judge.settle import settle
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.adapters import auto_memory_folder as folder_of
from mcp_server.adapters.auto_memory_folder import Noted, Place, Topic
from mcp_server.core.errors import Conflict, NotFound, Rejected, Unreadable
from mcp_server.core.memory import Draft, Level, Memory, Status, clean_text, fingerprint
from mcp_server.core.provenance.instructions import reads_like_instruction
from mcp_server.core.provenance.provenance import ASSISTANT
from mcp_server.core.secrets.redaction import find_secrets, redact
from mcp_server.core.text.titles import clean_title, clipped
from mcp_server.store import Store

TAG = "auto-memory"
IMPORTED = "imported"
MASKED = "what looks like a secret was masked"
WAITS = "reads like an instruction, so it waits for 'daybook review'"

_EVERYWHERE = re.compile(
    r"\b(?:everywhere|globally|(?:all|every|any|across|regardless of|whatever) (?:the |of the |my |our )?"
    r"(?:projects?|repositor(?:y|ies)|repos?|code ?bases?))\b",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"\b(?:decided|decision|chose|chosen|opted for|settled on|went with|agreed (?:on|to))\b", re.IGNORECASE
)


class Outcome(StrEnum):
    """What became of a topic file."""

    TAKEN = "taken"
    MERGED = "merged"  # it was known already
    REVISED = "revised"
    UNCHANGED = "unchanged"
    LEFT = "left"  # not taken in


@dataclass(frozen=True, slots=True)
class Imported:
    """One topic file: what became of it, the memory that holds it now ('' for none), and why or how."""

    file: str
    outcome: Outcome
    id: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class AutoMemory:
    """What an import did, or would do: where it looked, and each topic file."""

    place: Place
    topics: list[Imported] = field(default_factory=list)


@one_run()
def import_auto_memory(
    store: Store, claude: Path, *, folder: Path | None = None, dry_run: bool = False
) -> AutoMemory:
    """
    Take in the topic files of this project's auto memory; *claude* is the folder of Claude Code's settings.

    *folder* is where sessions start when that is not the project's root. With *dry_run* nothing is written.
    A file that cannot be taken in is reported and stops nothing. Raises IndexUnavailable, and OSError when
    the disk refuses; what was taken in until then stays.
    """
    place = folder_of.locate(claude, roots(store, folder))
    if place.folder is None:
        return AutoMemory(place)
    if dry_run:
        noted = folder_of.notes(store.home, place.folder)
        return AutoMemory(place, _take(store, place.folder, noted, dry_run=True))
    with folder_of.alone(store.home):
        noted = folder_of.notes(store.home, place.folder)
        before = dict(noted)
        try:
            return AutoMemory(place, _take(store, place.folder, noted, dry_run=False))
        finally:
            if noted != before:
                folder_of.note(store.home, place.folder, noted)


def roots(store: Store, folder: Path | None) -> list[Path]:
    """Return the folders by which Claude Code may name its memory of this project."""
    project = [store.project.root] if store.project else []
    return list(dict.fromkeys([*project, *([folder] if folder else [])]))


def draft_of(topic: Topic, level: Level) -> tuple[Draft, str]:
    """
    Return what *topic* is as a memory, and what has to be said about it.

    *level* is where knowledge of this project belongs. Raises Rejected when it says nothing or too much.
    """
    said = topic.text if topic.text.strip() else topic.description
    title = topic.description or topic.name or Path(topic.file).stem.replace("_", " ").replace("-", " ")
    remarks = [MASKED] if find_secrets(f"{title}\n{said}") else []
    title, text = clean_title(clipped(redact(title))), clean_text(redact(said))
    whole = f"{title}\n{text}"
    source = IMPORTED
    if reads_like_instruction(whole):
        # Claude wrote these files by itself, maybe because a web page told it to.
        source = ASSISTANT
        remarks.append(WAITS)
    match topic.type:
        case "user":
            kind, level = "preference", Level.USER
        case "feedback":
            kind, level = "preference", Level.USER if _EVERYWHERE.search(whole) else level
        case "reference":
            kind = "reference"
        case "project":
            kind = "decision" if _DECIDED.search(whole) else "context"
        case _:
            kind = "note"
    draft = Draft(
        title, text, type=kind, tags=(TAG,), level=level, source=source, notes=(_note_on(topic.file),)
    )
    return draft, "; ".join(remarks)


def _take(store: Store, folder: Path, noted: dict[str, Noted], *, dry_run: bool) -> list[Imported]:
    """Take in the topic files of *folder*, and keep *noted* up to date."""
    listing = folder_of.topics(folder)
    done = [Imported(file, Outcome.LEFT, why=reason) for file, reason in listing.unreadable.items()]
    # Of two that say different things about one subject the newer one takes the other's place.
    for topic in sorted(listing.topics, key=lambda one: (one.mtime_ns, one.file)):
        try:
            imported, now = _take_one(store, topic, noted.get(topic.file), dry_run=dry_run)
        except (Rejected, Unreadable, Conflict) as error:
            done.append(Imported(topic.file, Outcome.LEFT, why=str(error)))
            continue
        done.append(imported)
        if now:
            noted[topic.file] = now
    there = {one.file for one in done}
    for file in noted.keys() - there:
        del noted[file]
    return sorted(done, key=lambda one: one.file)


def _take_one(
    store: Store, topic: Topic, before: Noted | None, *, dry_run: bool
) -> tuple[Imported, Noted | None]:
    """Return what became of *topic*, and what is to be noted of it from now on."""
    draft, remarks = draft_of(topic, Level.PROJECT if store.project else Level.USER)
    if before is None:
        return _settle(store, topic, draft, remarks, dry_run=dry_run)
    held = _held(store, before)
    changed = before.topic != topic.digest
    if held is None:
        why = f"{'it changed, but ' if changed else ''}its memory was forgotten"
        return Imported(topic.file, Outcome.LEFT, why=why), before
    memory = held.memory
    untouched = _words(memory) == before.words
    if not changed:
        # Its memory may have been pinned, tagged or moved since.
        now = _noted(held, topic, draft) if untouched else before
        return Imported(topic.file, Outcome.UNCHANGED, memory.id), now
    if not _is_own(memory, topic.file):
        return _settle(store, topic, draft, remarks, dry_run=dry_run)
    if not untouched or memory.status is not Status.ACTIVE:
        state = f"its memory is {memory.status}" if untouched else "its memory was edited since"
        return Imported(topic.file, Outcome.LEFT, memory.id, f"it changed, but {state}"), before
    if draft.source == ASSISTANT != memory.source:
        # Revised, it would be shown unasked as before.
        return _settle(store, topic, draft, remarks, dry_run=dry_run, supersedes=memory.id)
    if not dry_run:
        held = _revise(store, held, draft)
    return Imported(topic.file, Outcome.REVISED, memory.id, remarks), _noted(held, topic, draft)


def _settle(
    store: Store, topic: Topic, draft: Draft, remarks: str, *, dry_run: bool, supersedes: str = ""
) -> tuple[Imported, Noted | None]:
    if dry_run:
        return Imported(topic.file, Outcome.TAKEN, why=remarks), None
    settled = settle(store, draft, supersedes=supersedes)
    outcome = Outcome.MERGED if settled.known else Outcome.TAKEN
    relation = f"takes the place of {', '.join(settled.superseded)}" if settled.superseded else ""
    why = "; ".join(filter(None, [remarks, relation]))
    return Imported(topic.file, outcome, settled.id, why), _noted(read(store, settled.id), topic, draft)


def _revise(store: Store, held: Found, draft: Draft) -> Found:
    accept = Accept.NO if reads_like_instruction(f"{draft.title}\n{draft.text}") else Accept.YES
    revision = Revision(title=draft.title, text=draft.text, type=draft.type)
    return revise(store, held.memory.id, revision, version=held.digest, accept=accept)


def _held(store: Store, noted: Noted) -> Found | None:
    """Return the memory that a topic file became, None when it is gone."""
    try:
        return read(store, noted.ref.rpartition("/")[2])
    except NotFound:
        return None


def _noted(found: Found, topic: Topic, draft: Draft) -> Noted:
    same = fingerprint("", found.memory.text) == fingerprint("", draft.text)
    return Noted(
        found.ref, found.digest, _words(found.memory), same, topic.digest, topic.size, topic.mtime_ns
    )


def _words(memory: Memory) -> str:
    return fingerprint(memory.title, memory.text)


def _note_on(file: str) -> str:
    return f"{TAG}: {file}"


def _is_own(memory: Memory, file: str) -> bool:
    """Tell whether *memory* was made of the topic file, and not merely said the same already."""
    return memory.source in (IMPORTED, ASSISTANT) and _note_on(file) in memory.notes


def counts(topics: Sequence[Imported]) -> Mapping[Outcome, int]:
    """Return how many topic files had each outcome."""
    return {outcome: sum(one.outcome is outcome for one in topics) for outcome in Outcome}
