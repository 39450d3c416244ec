"""change_level: move a memory to the user level or to this project; its id, words, use and history stay."""

from dataclasses import dataclass

from mcp_server.actions.files.between_vaults import Crossing, cross, other_place
from mcp_server.actions.files.commit import by_whom, one_change
from mcp_server.actions.files.load import MemoryFile, load
from mcp_server.actions.files.read import is_accepted, is_shown, read
from mcp_server.actions.files.shadows import shadowed
from mcp_server.actions.files.sync import make_folders, refresh_index, take_across
from mcp_server.actions.files.trash import in_trash
from mcp_server.actions.memory.remember import still_superseded, supersede
from mcp_server.actions.memory.repository import is_shared
from mcp_server.actions.memory.revise import check_version, take_over
from mcp_server.adapters import places
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.vault import Vault, confined, free_path
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.memory import Memory, texts_beside
from mcp_server.core.memory_parts import Kind, Level, Status, check_id, fingerprint, typed_id
from mcp_server.core.provenance.provenance import ACCEPTED_AS
from mcp_server.core.secrets.redaction import KEEP_SECRETS, refuse_secrets
from mcp_server.store import Store


@dataclass(frozen=True, slots=True)
class LevelChange:
    """
    A memory at its level now, and the vault that it left; None when it was at that level already.

    `superseded` are the memories whose place it took there, `still_superseded` those of the old level which
    stay superseded by it. `shared`: git sees that its file came into the repository or left it.
    """

    file: MemoryFile
    old_vault: Vault | None = None
    superseded: tuple[str, ...] = ()
    still_superseded: tuple[str, ...] = ()
    shared: bool = False


@one_change()
def change_level(store: Store, memory_id: str, level: Level, *, keep_secrets: bool = False) -> LevelChange:
    """
    Move a memory to *level*; what it may be shown for, and all that the ledger says of it, stays.

    At the user level it takes the place of the memories there that it shadowed in its project.
    Raises what `check_level` does, Conflict when its file is saved just now, OSError; it is untouched then.
    """
    file, vault = _checked(store, memory_id, level, keep_secrets=keep_secrets)
    if vault is None:
        return LevelChange(file)
    if file.vault.in_repository and file.memory.source in ACCEPTED_AS:
        # Outside of a repository its source says that the person accepted it.
        file = take_over(store, file.memory.id, file.memory.source, version=file.digest)
    accepted = vault.in_repository and is_shown(store, file)
    now = _move(store, file, vault, digests=[file.digest] if accepted else [])
    supersedes = now.memory.supersedes
    active = [name for name in supersedes if _status(store, name) is Status.ACTIVE]
    if active and level is Level.USER:
        supersede(store, now)
    of_user = store.scoped([store.user_vault])
    return LevelChange(
        read(store, now.memory.id),
        file.vault,
        superseded=tuple(name for name in active if _status(store, name) is Status.SUPERSEDED),
        still_superseded=still_superseded(of_user, now.memory.id) if level is Level.PROJECT else (),
        shared=is_shared(vault) or is_shared(file.vault),
    )


def check_level(
    store: Store, memory_id: str, level: Level, *, version: str = "", keep_secrets: bool = False
) -> None:
    """
    Raise Rejected, with a sentence that says why, when the memory cannot be moved to *level*; NotFound.

    Raises Conflict when its file is not at *version* any more.

    A memory at that level passes. What seems a secret goes into a repository only with *keep_secrets*.
    """
    file, _ = _checked(store, memory_id, level, keep_secrets=keep_secrets)
    check_version(memory_id, file.digest, version)


def _checked(
    store: Store, memory_id: str, level: Level, *, keep_secrets: bool
) -> tuple[MemoryFile, Vault | None]:
    """Return the memory and the vault that it is to move to, None when it is at *level* already."""
    refresh_index(store)
    file = _known(store, memory_id)
    memory = file.memory
    if memory.kind is not Kind.KNOWLEDGE:
        raise Rejected(
            f"'{memory.id}' is a {memory.kind.value}; only knowledge moves between levels.",
            "Remember what matters of it at that level.",
        )
    if file.vault.level is level:
        return file, None
    if level is Level.TEAM:
        raise Rejected(
            f"'{memory.id}' cannot be moved to the team, only shared with it: you keep your copy.",
            f"Give it to the team with 'daybook promote {memory.id} --to team'.",
        )
    if file.vault.level is Level.TEAM:
        raise Rejected(f"'{memory.id}' is the team's.", "Remember its words at the other level.")
    _check_may_leave(store, file)
    vault = _vault_of(store, memory, level)
    _check_is_free(store, file, vault)
    if vault.in_repository and not keep_secrets:
        refuse_secrets(memory.title, memory.text, *texts_beside(memory), anyway=KEEP_SECRETS)
    return file, vault


def _check_is_free(store: Store, file: MemoryFile, vault: Vault) -> None:
    """Raise Rejected when another memory stands in the way of *file* in *vault*, or hides it here."""
    memory, level = file.memory, vault.level
    with store.database.read() as db:
        row = selections.with_ref(db, file.ref)
        shadow = shadowed(store, db).get(row.row) if row else None
        equal_row = selections.saying(db, vault.key, fingerprint(memory.title, memory.text))
        keys = [vault.key for vault in store.vaults if vault.level is level]
        namesake = selections.with_id(db, keys, memory.id)
    if shadow:
        raise Rejected(
            f"In this project '{shadow.id}' shadows '{memory.id}', so '{memory.id}' cannot move here.",
            f"Forget '{shadow.id}' first.",
        )
    if equal_row:
        raise Rejected(
            f"'{equal_row.id}' already says the same at {level.value} level.", "Forget one of the two."
        )
    if namesake:
        raise _taken(memory, level)


def _check_may_leave(store: Store, file: MemoryFile) -> None:
    """Raise Rejected when *file* may not leave its level: it is put away, not adopted, or not accepted."""
    name, status = file.memory.id, file.memory.status
    if status is not Status.ACTIVE:
        raise Rejected(
            f"'{name}' is {status.value}; only active memories move between levels.",
            f"Bring it back first: daybook restore {name}",
        )
    if not file.vault.adopted:
        raise Rejected(
            f"'{name}' came with the repository, where you keep no memories.",
            "Remember its words at the other level, or run 'daybook init --repository' first.",
        )
    if file.vault.in_repository and not is_accepted(store, file):
        raise Rejected(
            f"'{name}' is in the repository and is not accepted yet.",
            f"Accept it first: daybook trust {name}",
        )


def _vault_of(store: Store, memory: Memory, level: Level) -> Vault:
    if level is Level.PROJECT and not store.project:
        raise Rejected(
            f"There is no project here to move '{memory.id}' to.", "Work inside a project's folder."
        )
    if not any(vault.level is level for vault in store.vaults):  # it was chosen beside its namesake
        raise _taken(memory, level)
    return store.vault_for(memory.kind, level)


def _taken(memory: Memory, level: Level) -> Rejected:
    return Rejected(
        f"Another memory has the id '{memory.id}' at {level.value} level.",
        "Give one of the two another id in its file.",
    )


def _known(store: Store, memory_id: str) -> MemoryFile:
    try:
        return read(store, memory_id)
    except NotFound:
        name = check_id(typed_id(memory_id))
        if next(in_trash(store, name), None):
            raise Rejected(
                f"'{name}' is in the trash.", f"Bring it back first: daybook restore {name}"
            ) from None
        raise


def _move(store: Store, file: MemoryFile, vault: Vault, **detail: object) -> MemoryFile:
    make_folders(store, vault)
    target = free_path(vault, file.memory.id, file.memory.kind, place=file.place)
    place = other_place(file.vault.key, file.place)
    ref = vault.ref(file.memory.id)
    effect = [ref, place, file.digest, places.place_of(store.home, vault, target), file.digest]
    crossing = Crossing(file.ref, ref, str(confined(file.vault, file.path)), str(target), file.digest)
    cross(store, crossing, "moved", **by_whom(store), files=[effect], level=vault.level.value, **detail)
    take_across(store, file.vault, file.path, vault, target)
    return load(vault, target)


def _status(store: Store, name: str) -> Status | None:
    with store.database.read() as db:
        row = selections.with_id(db, store.keys, name)
    return row.status if row else None
