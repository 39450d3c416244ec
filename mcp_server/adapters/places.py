"""
Where things lie below MEMORY_DIR, and which vaults belong to a project.

    knowledge/ conversations/ sessions/ archive/   the user vault
    projects/<key>/                                a project's vault, with project.json beside its folders
    memory.db  ledger/  trash/  logs/  config.toml
"""

import hashlib
import json
from pathlib import Path

from mcp_server.adapters import files
from mcp_server.adapters.project import Project
from mcp_server.adapters.vault import Vault
from mcp_server.core.errors import Unreadable
from mcp_server.core.memory import Kind, Level

REPOSITORY_FOLDER = ".claude-memory"
PROJECTS = "projects"
PROJECT_FILE = "project.json"
USER_KEY = "user"


def user_vault(home: Path) -> Vault:
    return Vault(USER_KEY, home, Level.USER)


def project_vaults(home: Path, project: Project) -> list[Vault]:
    """Return the project's private vault, and the one in its repository when there is one."""
    private = Vault(project.key, home / PROJECTS / project.key, Level.PROJECT, project.key)
    root = project.root / REPOSITORY_FOLDER
    if not (root / Kind.KNOWLEDGE.folder).is_dir() or root == home:
        return [private]
    return [private, repository_vault(home, project)]


def repository_vault(home: Path, project: Project) -> Vault:
    """Return the vault inside the project's repository, whether or not it exists."""
    root = project.root / REPOSITORY_FOLDER
    place = hashlib.blake2b(str(root).encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
    return Vault(
        key=f"{project.key}-repository-{place}",
        root=root,
        level=Level.PROJECT,
        project=project.key,
        in_repository=True,
        adopted=str(root) in adopted_roots(home, project.key),
        kinds=(Kind.KNOWLEDGE,),
    )


def all_vaults(home: Path) -> list[Vault]:
    """Return every vault below *home* and those adopted in repositories that still exist."""
    vaults = [user_vault(home)]
    folder = home / PROJECTS
    for place in sorted(folder.iterdir()) if folder.is_dir() else []:
        if not place.is_dir():
            continue
        vaults.append(Vault(place.name, place, Level.PROJECT, place.name))
        for root in map(Path, adopted_roots(home, place.name)):
            if (root / Kind.KNOWLEDGE.folder).is_dir():
                project = Project(key=place.name, name="", root=root.parent, reason="", remote="")
                vaults.append(repository_vault(home, project))
    return vaults


def adopted_roots(home: Path, key: str) -> list[str]:
    """Return the vaults in repositories that the person made for the project *key*."""
    roots = _project_file(home, key).get("repositories")
    return [str(root) for root in roots] if isinstance(roots, list) else []


def note_project(home: Path, project: Project, *, adopt: Path | None = None) -> None:
    """Write down for people which project a folder belongs to, and *adopt* a vault in its repository."""
    known = _project_file(home, project.key)
    roots = adopted_roots(home, project.key)
    if known.get("root") and (adopt is None or str(adopt) in roots):
        return
    said = {
        "name": project.name,
        "root": str(project.root),
        "remote": project.remote,
        "repositories": sorted({*roots, *([str(adopt)] if adopt else [])}),
    }
    path = home / PROJECTS / project.key / PROJECT_FILE
    data = (json.dumps(said, indent=2, ensure_ascii=False) + "\n").encode()
    try:
        files.replace(path, data, expected=files.digest(files.read(path)))
    except FileNotFoundError:
        files.write_new(path, data)


def trash_folder(home: Path, vault: Vault) -> Path:
    return home / "trash" / vault.key


def _project_file(home: Path, key: str) -> dict[str, object]:
    try:
        said = json.loads(files.read(home / PROJECTS / key / PROJECT_FILE))
    except (OSError, ValueError, Unreadable):
        return {}
    return said if isinstance(said, dict) else {}
