"""Decide what each record of a source is to become: its vault, its id, and its memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count
from pathlib import Path

from mcp_server.actions.exchange.imports.existing import ExistingMemories
from mcp_server.actions.files.load import MemoryFile, load
from mcp_server.adapters import places
from mcp_server.adapters.foreign.daybook_export import KEY
from mcp_server.adapters.index.events.imports import Holder, ImportedRecord
from mcp_server.adapters.vault import Vault, kept_path, stamp
from mcp_server.core.errors import Conflict, Rejected
from mcp_server.core.exchange.foreign import Reading, Record, content_digest, tags_of, type_of
from mcp_server.core.memory import BESIDE, Memory, texts_beside
from mcp_server.core.memory_parts import (
    MAX_CONVERSATION,
    MAX_TEXT,
    Kind,
    Level,
    Status,
    clean_text,
    fingerprint,
    id_in,
    new_id,
    vault_in,
)
from mcp_server.core.memory_types import GENERAL
from mcp_server.core.provenance.provenance import SEEDED
from mcp_server.core.remote.paths import PathSort, sort_of
from mcp_server.core.secrets.redaction import find_secrets, refuse_masks_alone
from mcp_server.core.text.titles import titled
from mcp_server.store import Store

AWAY = (Status.ARCHIVED, Status.ORPHANED)
AS_GIVEN = (
    *"kind aliases source status pinned trust session".split(),
    *(name for name in BESIDE if name not in ("tags", "links")),
)  # the keys that a memory gets as its record has them


class LeftOut(Exception):
    """A record that is not to be taken here, and why; never leaves this package."""


@dataclass(slots=True)
class Plan:
    """
    A record to be imported: its origin, vault, words, the id it has or gets, and its last import.

    `path` is where the file of a new memory is to be. `holder` is the memory that it became before or that
    says the same already; `twin` tells whether this import makes that one, too. `revises` is that of the
    reading. `undone` is the ref of the memory that the record became before, if `undo` took that away.
    `inherits`: `last_import` is that of another record, which parts from the memory.
    """

    record: Record
    origin: str
    vault: Vault
    title: str
    text: str
    id: str = ""
    path: Path | None = None
    last_import: ImportedRecord | None = None
    holder: Holder | None = None
    twin: bool = False
    memory: Memory | None = None
    revises: tuple[str, ...] = ()
    undone: str = ""
    inherits: bool = False

    def digest(self, memory: Memory) -> str:
        """Return a digest of the parts of *memory* that the source has, too."""
        return fingerprint(memory.title, memory.text) if self.revises else content_digest(memory)


@dataclass(slots=True)
class Around:
    """
    The context of a record: all records by key, key → memory id (`ids`), and the older record's key → the
    record that superseded it (`successors`). `forgotten` is as in `words_in_trash`.
    """

    records: Mapping[str, Record]
    forgotten: Mapping[str, Sequence[str]]
    ids: dict[str, str] = field(default_factory=dict)
    successors: dict[str, Record] = field(init=False)

    def __post_init__(self) -> None:
        self.successors = {old: record for record in self.records.values() for old in record.supersedes}


def checked(
    store: Store, reading: Reading, record: Record, origin: str, *, level: Level | None, own_export: bool
) -> Plan:
    """
    Return a plan for *record* with its words cleaned; raises Rejected for empty, too long or secret.

    Those of a memory of Daybook stay as they are: a hand may have made it longer than what may be given.
    """
    limit = MAX_CONVERSATION if record.kind is Kind.CONVERSATION else MAX_TEXT
    text = record.text if record.lossless else clean_text(record.text, limit)
    title = record.title if record.lossless else titled(record.title, text)
    original = record.lossless or record
    secrets = find_secrets("\n".join([title, text, *texts_beside(original), *original.aliases]))
    if secrets and not (own_export and record.lossless):
        raise Rejected(f"it seems to contain {secrets[0].kind}")
    if not record.lossless:
        refuse_masks_alone(text)
    vault = store.user_vault if record.path else _vault(store, record, level)
    return Plan(record, origin, vault, title, text, revises=reading.revises)


def choose_id(plan: Plan, existing: ExistingMemories, now: datetime) -> None:
    """
    Give *plan* its id: that of the memory it became before or that says the same, else a free one.

    Raises LeftOut when the record cannot have its id, because another memory has it.
    """
    record, vault = plan.record, plan.vault
    if record.path:
        plan.id = record.id
        plan.holder = next(
            (holder for holder in existing.by_id.get(plan.id, ()) if holder.path == record.path), None
        )
        if not plan.holder:
            raise LeftOut("it cannot be read, or another memory has its id")
        return
    if plan.last_import:
        ref_vault, plan.id = vault_in(plan.last_import.ref), id_in(plan.last_import.ref)
        plan.holder = min(existing.by_id[plan.id], key=lambda holder: holder.vault != ref_vault)
        _not_in_repository(plan, existing)
        return
    words = fingerprint(plan.title, plan.text)
    if record.lossless or (plan.revises and record.id):
        plan.id = record.id
        rivals = existing.by_id.get(record.id, ())
        rival = next(
            (
                holder
                for holder in rivals
                if existing.repositories.get(holder.vault, holder.vault) == vault.key
            ),
            None,
        )
        if rival and rival.fingerprint != words:
            raise LeftOut(f"another memory has the id '{record.id}'")
        plan.holder = rival
        _not_in_repository(plan, existing)
    else:
        plan.holder = _saying(plan, existing, words)
        plan.id = plan.holder.id if plan.holder else _free_id(plan, existing, words, now)
    if not plan.holder:
        active = record.kind is Kind.KNOWLEDGE and record.status is Status.ACTIVE
        plan.path = _path(plan, existing)
        existing.add(Holder(vault.key, plan.id, str(plan.path), words, active and not record.lossless))
        existing.given_ids.add(plan.id)
        existing.given_paths.add(plan.path)
    plan.twin = plan.holder is not None and plan.id in existing.given_ids


def _path(plan: Plan, existing: ExistingMemories) -> Path:
    """Return where the file of a new memory is to be: as in its export if possible, else after its id."""
    record, vault = plan.record, plan.vault
    archived = record.status in AWAY
    if sort_of(record.place) is PathSort.MEMORY:  # it has a name that every system can hold
        path = kept_path(vault, record.kind, place=record.place, archived=archived)
        if path not in existing.given_paths and not stamp(path):
            return path
    return vault.path_for(plan.id, record.kind, archived=archived)


def _not_in_repository(plan: Plan, existing: ExistingMemories) -> None:
    """Raise LeftOut for a section whose memory was moved to the repository: its document is there, too."""
    if plan.record.source == SEEDED and plan.holder and plan.holder.vault in existing.repositories:
        raise LeftOut("its memory lives in the repository")


def has_moved_on(plan: Plan, memory: Memory) -> bool:
    """Tell whether a record that was merged with a memory here says something else by now."""
    if not plan.last_import or plan.last_import.own or plan.last_import.digest == plan.digest(memory):
        return False
    return plan.holder is None or plan.holder.fingerprint != fingerprint(plan.title, plan.text)


def _saying(plan: Plan, existing: ExistingMemories, words: str) -> Holder | None:
    """Return the memory that says the same already, if *plan* is about active knowledge; else None."""
    if plan.record.kind is not Kind.KNOWLEDGE or plan.record.status is not Status.ACTIVE:
        return None
    return existing.by_words.get((plan.vault.key, words))


def _free_id(plan: Plan, existing: ExistingMemories, words: str, now: datetime) -> str:
    """Return an id that no memory has, or that of a memory with the same words that a killed import wrote."""
    record, vault = plan.record, plan.vault
    created = record.created or record.updated or now
    for attempt in count():
        own_id = record.id if record.id and not attempt else ""
        memory_id = own_id or new_id(plan.title, plan.text, created, attempt)
        rivals = existing.by_id.get(memory_id, [])
        rival = next(
            (holder for holder in rivals if (holder.vault, holder.fingerprint) == (vault.key, words)), None
        )
        if rival and stamp(Path(rival.path)):
            plan.holder = rival
            return memory_id
        folders = (
            vault.path_for(memory_id, record.kind, archived=is_archived) for is_archived in (False, True)
        )
        if not rivals and not any(map(stamp, folders)):
            return memory_id
    raise AssertionError


def build(plan: Plan, around: Around, now: datetime) -> tuple[Memory, str]:
    """
    Return the memory that *plan* is to be, with links to the records *around* it, and a remark ('').

    A link to a record that was not taken is left out.
    """
    record, ids = plan.record, around.ids
    if record.lossless:
        return replace(record.lossless, id=plan.id), ""

    def resolved(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(ids[name] for name in names if name in ids))

    lost_links = [link.to for link in record.links if link.to in around.records and link.to not in ids]
    links = [
        replace(link, to=ids.get(link.to, link.to)) for link in record.links if link.to not in lost_links
    ]
    created = record.created or record.updated or now
    updated = record.updated or created
    successor = ids.get(record.superseded_by, "")
    memory = Memory(
        id=plan.id,
        title=plan.title,
        text=plan.text,
        created=created.replace(microsecond=0),
        updated=updated.replace(microsecond=0),
        type=type_of(record.type),
        tags=tags_of(list(record.tags)),
        links=tuple(dict.fromkeys(link for link in links if link.to != plan.id)),
        supersedes=tuple(memory_id for memory_id in resolved(record.supersedes) if memory_id != plan.id),
        superseded_by=successor,
        merged_from=tuple(memory_id for memory_id in resolved(record.merged_from) if memory_id != plan.id),
        valid_to=_end(record, around, updated) if record.status is Status.SUPERSEDED else None,
        archived_reason="archived before the import" if record.status is Status.ARCHIVED else "",
        **{name: getattr(record, name) for name in AS_GIVEN},
    )
    remark = f"without its link to {', '.join(lost_links[:3])}, which was not taken" if lost_links else ""
    return memory, record.remark or remark


def _end(record: Record, around: Around, updated: datetime) -> datetime:
    """Return when a superseded record ended: when its successor was created, else when it changed last."""
    successor = around.records.get(record.superseded_by) or around.successors.get(record.key)
    began = successor.created if successor else None
    return (began or updated).replace(microsecond=0)


def _vault(store: Store, record: Record, level: Level | None) -> Vault:
    """Return the vault where *record* belongs; raises LeftOut when that is another project's."""
    if level:
        return store.vault_for(record.kind, level)
    if record.lossless:
        return _own_vault(store, record)
    if record.project and not _is_here(store, record.project):
        raise LeftOut(f"belongs to the project {record.project}; import it from there, or use --level")
    wanted_level = record.level
    if wanted_level is None:
        general = type_of(record.type) in GENERAL or not store.project
        wanted_level = Level.USER if general else Level.PROJECT
    return store.vault_for(record.kind, wanted_level)


def _own_vault(store: Store, record: Record) -> Vault:
    """Return the private vault that a memory of ours came from; imports do not write to a repository's."""
    if record.level is Level.USER:
        return store.user_vault
    if not KEY.fullmatch(record.project):
        raise LeftOut("names no project")
    return places.private_vault(store.home, record.project)


def _is_here(store: Store, project: str) -> bool:
    """Tell whether *project*, `host/owner/name`, a path or a folder's name, is the one that we work in."""
    if not store.project:
        return False
    project_parts = project.casefold().removesuffix(".git").strip("/").split("/")[-2:]
    remote = store.project.remote.casefold().split("/")[-2:]
    root = [part.casefold() for part in store.project.root.parts[-2:]]
    return project_parts in (remote, root, remote[-1:], root[-1:])


def parsed(vault: Vault, path: Path) -> MemoryFile:
    """Return a memory with its file; raises Unreadable, or Conflict when it is gone."""
    try:
        return load(vault, path)
    except FileNotFoundError:
        raise Conflict(f"{path.name} was deleted or renamed meanwhile.") from None


def vault_at(store: Store, plan: Plan) -> Vault:
    """Return the vault that holds the memory which *plan* became: it may have been moved since."""
    assert plan.holder
    if plan.holder.vault == plan.vault.key:
        return plan.vault
    for vault in places.all_vaults(store.home, store.vaults):
        if vault.key == plan.holder.vault:
            return vault
    return plan.vault
