"""adopt: give a project that was renamed or moved the memories that it had under its old path."""

import os
from dataclasses import dataclass
from pathlib import Path

from mcp_server.actions.context.notice import offered
from mcp_server.actions.files.commit import relocate, rename
from mcp_server.actions.files.sync import sync, sync_if_free
from mcp_server.actions.files.trash import same_places
from mcp_server.actions.judge.candidate import FOLDER
from mcp_server.adapters import missing_projects, moving, places
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.missing_projects import Former
from mcp_server.adapters.project import Project
from mcp_server.adapters.remote.same_projects import note_same_project
from mcp_server.adapters.vault import Vault, make_vault_folders, stamps
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.store import Store


@dataclass(frozen=True, slots=True)
class Adopted:
    """Where the memories came from, how many files moved, and those that stayed: their names are taken."""

    source: Former
    moved: int
    not_moved: tuple[Path, ...]


def adopt(store: Store, key: str = "") -> Adopted:
    """
    Move the memories known by *key*, by default the only ones `offered`, with their use, to this project.

    Those in the repository moved with its folder: what is known of them goes on under its new place.
    A project that another machine of the person's knows by *key* becomes this one; nothing moves.

    Raises Rejected, NotFound for a key that nothing has, OSError when the disk refuses; what moved until then
    stays moved, and the next call continues.
    """
    project = store.project
    if not project:
        raise Rejected("This folder belongs to no project.", "Go into the project's folder and run it again.")
    source = _chosen(store, key)
    if source.elsewhere:
        note_same_project(store.home, project.former or project.key, source.key)
        return Adopted(source, 0, ())
    # What was chosen for a folder that is still there, elsewhere or within this one, stays with it.
    has_moved = source.root == project.root or not os.path.lexists(source.root)
    carried = _carry_over_shared(store, project, source) if has_moved else 0
    if source.key == project.key:
        missing_projects.inherit(store.home, project, source)
        return Adopted(source, carried, ())
    old = places.private_vault(store.home, source.key)
    new = next(vault for vault in store.vaults if vault.key == project.key)
    both_vaults = store.scoped([*store.vaults, old])
    sync(both_vaults, vaults=[old, new])
    with store.database.read() as db:
        ids = selections.ids_of(db, old.key)
    make_vault_folders(new)
    if has_moved:
        missing_projects.inherit(store.home, project, source)
    targets = {Path(stamp.path): new.root / Path(stamp.path).relative_to(old.root) for stamp in stamps(old)}
    not_moved = [path for path, target in targets.items() if not moving.is_free(path, target)]
    coming = {path: target for path, target in targets.items() if path not in not_moved}
    # What lies in the trash goes first: as long as memories are left, a killed adoption is offered again.
    relocate(store, old, new, _put_away(store, old, new) | coming, ids=ids)
    sync_if_free(both_vaults, vaults=[old, new])
    return Adopted(source, carried + len(coming), tuple(not_moved))


def _carry_over_shared(store: Store, project: Project, source: Former) -> int:
    """
    Let what is known of the memories in the repository of *source* count for those in that of *project*.

    Return how many they are. What was forgotten of them moves to the trash of the new place.
    """
    there = project._replace(key=source.key, root=source.root, former="")
    old, new = places.repository_vault(store.home, there), places.repository_vault(store.home, project)
    both_vaults = store.scoped([*store.vaults, old])
    sync(both_vaults, vaults=[new])
    with store.database.read() as db:
        ids = {*selections.ids_of(db, old.key).values(), *selections.ids_of(db, new.key).values()}
    trash, goal = (places.trash_folder(store.home, vault) for vault in (old, new))
    rename(store, old, new, sorted(ids))
    relocate(store, old, new, same_places(trash, goal), ids={})
    if source.root != project.root:
        sync_if_free(both_vaults, vaults=[new, old])
    return len(ids)


def _put_away(store: Store, old: Vault, new: Vault) -> dict[Path, Path]:
    """Return what is in the trash of *old*, and its candidates -> where each of them goes in *new*."""
    trash, goal = (places.trash_folder(store.home, vault) for vault in (old, new))
    return same_places(trash, goal) | same_places(old.root / FOLDER, new.root / FOLDER)


def _chosen(store: Store, key: str) -> Former:
    assert store.project
    projects = offered(store)
    if not key:
        if len(projects) == 1:
            return projects[0]
        keys = ", ".join(project.key for project in projects)
        raise Rejected(
            f"Several projects may be this one: {keys}." if projects else "No other project may be this one.",
            "Name one: daybook adopt KEY",
        )
    offers = {project.key: project for project in projects}
    known_project = offers.get(key) or missing_projects.former(store.home, key)
    is_there = known_project is not None and os.path.lexists(known_project.root)
    if known_project is None or (key == store.project.key and is_there and key not in offers):
        raise NotFound(
            key,
            sentence=f"No project has the key '{key[:80]}'.",
            hint="'daybook where' lists the candidates.",
        )
    return known_project
