"""revise: change what a memory says, or its other fields, without losing an edit made at the same time."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, TypeVar

from mcp_server.actions.files.commit import Accept, commit
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import read
from mcp_server.actions.files.touched import as_touched
from mcp_server.actions.recall.staleness import noted
from mcp_server.adapters.index.memories import relations
from mcp_server.core.errors import Conflict, Rejected
from mcp_server.core.links import as_name, with_labels
from mcp_server.core.memory import BESIDE, LISTS, Draft, Link, Memory, NewBeside, texts_beside
from mcp_server.core.memory_parts import MAX_TEXT, Status, check_type, clean_text
from mcp_server.core.memory_types import DEFAULT_TYPE, TYPES
from mcp_server.core.provenance.provenance import ACCEPTED_AS, MANUAL
from mcp_server.core.secrets.redaction import KEEP_SECRETS, refuse_masks_alone, refuse_secrets
from mcp_server.core.text.titles import clean_title
from mcp_server.store import Store

ATTEMPTS = 40  # attempts when another process changed the file first: with two processes, half come too late
VERSION_LENGTH = 12  # characters of the digest that `read` shows and `revise` takes
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Revision(NewBeside):
    """What is to change; None leaves a field as it is."""

    title: str | None = None
    text: str | None = None
    type: str | None = None
    pinned: bool | None = None
    status: Status | None = None
    superseded_by: str | None = None
    valid_to: datetime | None = None
    supersedes: tuple[str, ...] | None = None
    archived_reason: str | None = None
    updated: datetime | None = None
    source: str | None = None
    reinstated: bool | None = None
    """Make a superseded memory active again, without a successor."""


def version(file: MemoryFile) -> str:
    """Return the short digest of the file's bytes, which names its version."""
    return file.digest[:VERSION_LENGTH]


def check_version(memory_id: str, digest: str, version: str) -> None:
    """Raise Conflict when a file with that *digest* is not at *version* any more; '' stands for any."""
    if not digest.startswith(version.strip()):
        raise Conflict(f"'{memory_id}' changed since version {version.strip()} was read.")


def revise(
    store: Store,
    memory_id: str,
    revision: Revision,
    *,
    version: str = "",
    keep_secrets: bool = False,
    accept: Accept = Accept.CARRY,
    source: str = "",
    had: Memory | None = None,
) -> MemoryFile:
    """
    Apply *revision* to a memory and return it as it is now.

    Links by an old title go on leading to it: the old title becomes an alias when another memory uses it.

    *accept* is whether the new text may be shown unasked. *source* is whose words these are, '' when only
    relations between memories change. The person's words are accepted; new words of another source wait, and
    a memory of the person then gets that source. *had* is an earlier version, whose words and lists may be
    longer than what may be given.

    Raises Conflict when the file is not at *version* any more or changes while we write, and NotFound,
    Rejected, Unreadable, OSError; the file is untouched then.
    """
    file = read(store, memory_id)
    check_version(memory_id, file.digest, version)
    if revision.touches is not None:
        revision = replace(revision, touches=as_touched(store, revision.touches))
    memory = revised(file.memory, revision, keep_secrets=keep_secrets, had=had)
    if memory == file.memory:
        return file
    if memory.title != file.memory.title:
        memory = replace(memory, aliases=_aliases(store, file, memory.title))
    if source == MANUAL:
        accept = Accept.YES
    elif source and (memory.title, memory.text) != (file.memory.title, file.memory.text):
        accept = Accept.NO  # until its words have been looked up in the session
        memory = replace(memory, source=source if memory.source == MANUAL else memory.source)
    updated = max(revision.updated, file.memory.updated) if revision.updated else store.moment()
    memory = replace(memory, updated=updated)
    said_anew = (memory.title, memory.text, memory.touches) != (
        file.memory.title, file.memory.text, file.memory.touches
    )  # fmt: skip
    touched = noted(store, file.vault, memory.touches) if said_anew else None
    return commit(store, file, memory, "revised", accept=accept, touched=touched)


def mark(
    store: Store,
    memory_id: str,
    *,
    event: str,
    pinned: bool | None = None,
    verified: datetime | None = None,
    **detail: Any,
) -> MemoryFile:
    """
    Change how a memory is rated (pin, verification), not what it says, and return it.

    `updated` stays, and so does whether it may be shown unasked. *event* with *detail* goes into the ledger.
    Raises Conflict, NotFound, Unreadable, OSError; the file is untouched then.
    """
    file = read(store, memory_id)
    memory = replace(
        file.memory,
        pinned=file.memory.pinned if pinned is None else pinned,
        verified=verified or file.memory.verified,
    )
    if memory == file.memory and not detail:
        return file
    return commit(store, file, memory, event, accept=Accept.CARRY, **detail)


def repeated(attempt: Callable[[], T]) -> T:
    """Return what *attempt* returns; repeat it while other processes change the same file."""
    for _ in range(ATTEMPTS - 1):
        try:
            return attempt()
        except Conflict:
            continue
    return attempt()


def draft_of(file: MemoryFile) -> Draft:
    """Return a draft that says the same as an existing memory."""
    memory = file.memory
    return Draft(memory.title, memory.text, type=memory.type, level=file.vault.level, source=memory.source)


def revised_draft(file: MemoryFile, revision: Revision) -> Draft:
    """Return a draft that says what the memory would say after *revision*."""
    memory = file.memory
    beside = {name: getattr(memory, name) for name in BESIDE if name != "links"}
    of_draft = {field.name for field in fields(Draft)}
    revised_fields = {name: value for name, value in _given(revision).items() if name in of_draft}
    return replace(draft_of(file), **(beside | revised_fields))


def _aliases(store: Store, file: MemoryFile, title: str) -> tuple[str, ...]:
    """Return the aliases of a memory that is to be called *title*, with the old title if a link needs it."""
    memory = file.memory
    with store.database.read() as db:
        is_needed = relations.is_called(db, memory.title, but=(file.vault.key, memory.id))
    once = {as_name(alias): alias for alias in (*memory.aliases, *([memory.title] if is_needed else []))}
    once.pop(as_name(title), None)
    return tuple(once.values())


def take_over(store: Store, memory_id: str, source: str, *, version: str) -> MemoryFile:
    """
    Let the file of a memory from a program or a document, its *source*, say that the person accepted it.

    Raises Conflict when the file is not at *version* any more, NotFound.
    """
    revision = Revision(source=ACCEPTED_AS[source])
    return revise(store, memory_id, revision, version=version, accept=Accept.YES)


def _given(revision: Revision) -> dict[str, Any]:
    """Return the fields that *revision* changes, with their values."""
    values = {field.name: getattr(revision, field.name) for field in fields(revision)}
    return {name: value for name, value in values.items() if value is not None}


def revised(memory: Memory, revision: Revision, *, keep_secrets: bool, had: Memory | None = None) -> Memory:
    """
    Return *memory* as *revision* changes it; raises Rejected.

    What it says already, or an earlier version that *had* it, is not measured: hands write more than may be
    given.
    """
    before = [memory, *([had] if had else [])]
    changes = _given(revision)
    if changes.pop("reinstated", False):
        changes |= {"status": Status.ACTIVE, "superseded_by": "", "valid_to": None}
    if "title" in changes:
        changes["title"] = title_given(changes["title"], before)
    if "text" in changes:
        changes["text"] = text_given(changes["text"], before)
        refuse_masks_alone(changes["text"])
    if not changes.get("type", DEFAULT_TYPE).strip():
        raise Rejected("A memory needs a type.", f"Use one of: {', '.join(TYPES)}.")
    if "type" in changes:
        changes["type"] = check_type(changes["type"])
    as_given = replace(memory, **changes)  # a tag or label in lower case hides a secret
    for key in LISTS:
        if key.name in changes:
            lists = [getattr(former, key.name) for former in before]
            same = next((texts for texts in lists if texts == tuple(changes[key.name])), lists[0])
            changes[key.name] = key.cleaned(changes[key.name], had=same)
    if "links" in changes:
        changes["links"] = links_given(changes["links"], before)
    changed = replace(memory, **changes)
    if not keep_secrets:
        known = {memory.title, memory.text, *texts_beside(memory)}
        texts = (changed.title, changed.text, *texts_beside(as_given), *texts_beside(changed))
        refuse_secrets(*(text for text in texts if text not in known), anyway=KEEP_SECRETS)
    return changed


def title_given(title: str, before: Iterable[Memory]) -> str:
    """Return *title* cleaned, or as it is where one of *before* has it; raise Rejected."""
    return title if title in [former.title for former in before] else clean_title(title)


def text_given(text: str, before: Iterable[Memory], limit: int = MAX_TEXT) -> str:
    """Return *text* cleaned, or as it is where one of *before* has it; raise Rejected."""
    return text if text in [former.text for former in before] else clean_text(text, limit)


def links_given(links: Iterable[Link], before: Iterable[Memory]) -> tuple[Link, ...]:
    """Return *links* with labels in the form that is compared; those of *before* stay as they are."""
    own = {link for former in before for link in former.links}
    return tuple(link if link in own else with_labels([link])[0] for link in links)
