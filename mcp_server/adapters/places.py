"""
The places of everything below MEMORY_DIR, and which vaults belong to a project.

It is long because what lies where is one thing to read.

    knowledge/ conversations/ sessions/ archive/   the user vault
    projects/<key>/                                a project's vault, with project.json beside its folders
    team/                                          what a team's curators confirmed, and what waits for it
    memory.db  ledger/  trash/  history/  logs/  config.toml
"""

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from mcp_server.adapters import files
from mcp_server.adapters.json_file import bytes_of, object_in, read_object
from mcp_server.adapters.project import Project, has_remote, leads_out
from mcp_server.adapters.vault import Vault, confined
from mcp_server.core.digests import text_digest
from mcp_server.core.errors import Conflict, Rejected
from mcp_server.core.memory_parts import ARCHIVE_FOLDER, TRASH, Kind, Level, slug

REPOSITORY_FOLDER = ".claude-memory"
PROJECTS = "projects"
HISTORY = "history"
CANDIDATES = "candidates"  # in a vault: memories that were proposed and wait
WORK = "work"  # unfinished work: answers that were paid for, and notes of what was told once
COMPACTIONS = "compaction-{}.json"  # in `work`, for each session: what survives when it is shortened
OWED_BRIEFS = "brief-owed-{}"  # in `work`, an empty file for each session that was shown no brief
PROJECT_FILE = "project.json"
ACCEPTED = "accepted"  # in project.json: the folders whose files the person accepted
NUMBER = "number"  # in project.json: the number that the file system gives its folder
NUMBERS = "numbers"  # in project.json: the same of each folder for which the person chose something
REPOSITORIES = "repositories"  # in project.json: the vaults in repositories that the person made
BLOCK_FILES = ("CLAUDE.md", "CLAUDE.local.md")
BLOCKS = "blocks"  # in project.json: what is known of the managed block in each folder
USER_KEY = "user"
TEAM_KEY = "team"  # of the vault with what a team's curators confirmed, and its folder below the store
JOINED = "joined.json"  # in that folder: which team the person joined, and their token
AUTO_MEMORY = "auto-memory"  # where earlier versions noted what was imported from Claude Code's own memory
ATTEMPTS = 5  # to change a project's file while other processes change it, too


def user_vault(home: Path) -> Vault:
    """Return the vault of what holds for the person everywhere."""
    return Vault(USER_KEY, home, Level.USER)


def team_vaults(home: Path) -> list[Vault]:
    """Return the vault with what the curators of the person's team confirmed; [] without a team."""
    return [team_vault(home)] if os.path.exists(home / TEAM_KEY / JOINED) else []


def team_vault(home: Path) -> Vault:
    """Return the vault of a team's memories, whether or not the person is in one."""
    return Vault(
        TEAM_KEY,
        home / TEAM_KEY,
        Level.TEAM,
        in_repository=True,
        adopted=False,
        kinds=(Kind.KNOWLEDGE,),
    )


def private_vault(home: Path, key: str) -> Vault:
    """Return the vault outside repositories of the project with *key*, whether or not it exists."""
    return Vault(key, home / PROJECTS / key, Level.PROJECT, key)


def project_vaults(home: Path, project: Project) -> list[Vault]:
    """
    Return the project's private vault, and the one in its repository when there is one.

    Before them comes the vault from the time before the project had a remote: it is still read.
    """
    private = [
        private_vault(home, key)
        for key in reversed(_keys(project))
        if key == project.key or (home / PROJECTS / key).is_dir()
    ]
    root = project.root / REPOSITORY_FOLDER
    if not (root / Kind.KNOWLEDGE.folder).is_dir() or root == home or linked(root):
        return private
    return [*private, repository_vault(home, project)]


def linked(root: Path) -> Path | None:
    """
    Return the link at a place where the vault *root* in a repository needs something real, or None.

    A clone can bring such a link, to another project's memories or to any folder of the person.
    """
    needed = (root, *(root / name for name in (Kind.KNOWLEDGE.folder, ARCHIVE_FOLDER, ".gitignore")))
    return next((place for place in needed if os.path.islink(place)), None)


def repository_vault(home: Path, project: Project) -> Vault:
    """
    Return the vault inside the project's repository, whether or not it exists.

    One that the person made before the project had a remote keeps its key, and with it history and trash.
    """
    root = project.root / REPOSITORY_FOLDER
    made_as = next((key for key in reversed(_keys(project)) if str(root) in adopted_roots(home, key)), "")
    return Vault(
        key=f"{made_as or project.key}-repository-{text_digest(str(root), size=4)}",
        root=root,
        level=Level.PROJECT,
        project=project.key,
        in_repository=True,
        adopted=bool(made_as),
        kinds=(Kind.KNOWLEDGE,),
    )


def repository_vaults(home: Path, current: Project | None) -> list[Vault]:
    """
    Return the vaults in the repositories of known projects and of *current*, whether or not they exist.

    None of them is a link or has one in it.
    """
    projects = [*known_projects(home), *([current] if current else [])]
    vaults = [repository_vault(home, project) for project in projects]
    return [vault for vault in vaults if vault.root != home and not linked(vault.root)]


def all_vaults(home: Path, current: Iterable[Vault] = ()) -> list[Vault]:
    """
    Return every vault below *home*, those adopted in repositories that still exist, and the *current* ones.

    Each folder comes once, with its present key: a project that got a remote has another key than before.
    """
    vaults = [user_vault(home), *team_vaults(home)]
    for place in project_folders(home):
        vaults.append(private_vault(home, place.name))
        for root in map(Path, adopted_roots(home, place.name)):
            if (root / Kind.KNOWLEDGE.folder).is_dir() and not linked(root):
                project = Project(key=place.name, name="", root=root.parent, reason="", remote="")
                vaults.append(repository_vault(home, project))
    return list({vault.root: vault for vault in (*vaults, *current)}.values())


def project_folders(home: Path) -> list[Path]:
    """Return the folders of projects below *home*, by name; the name of each is the project's key."""
    return sorted((home / PROJECTS).glob("*/"))


def known_projects(home: Path) -> list[Project]:
    """Return the projects below *home* whose folders exist, by name; two may have the same name."""
    projects = []
    for place in project_folders(home):
        notes = project_notes(home, place.name)
        root = Path(str(notes.get("root") or ""))
        if root.is_absolute() and root.is_dir():
            name = str(notes.get("name") or root.name)
            projects.append(Project(key=place.name, name=name, root=root, reason="", remote=""))
    return sorted(projects, key=lambda project: (project.name.casefold(), project.key))


def adopted_roots(home: Path, key: str) -> list[str]:
    """Return the vaults in repositories that the person made for the project *key*."""
    return folders_in(project_notes(home, key), REPOSITORIES)


def is_accepted(home: Path, project: Project) -> bool:
    """
    Tell whether the files of *project* count as the person's own.

    Those of a folder without git and of a repository without a remote do; those of another repository only
    after the person put a vault there (`init`) or accepted it (`trust`).
    """
    if not has_remote(project.root):
        return True
    for key in _keys(project):
        values = project_notes(home, key)
        roots = (*folders_in(values, REPOSITORIES), *folders_in(values, ACCEPTED), *blocks_in(values))
        if {str(project.root), str(project.root / REPOSITORY_FOLDER)}.intersection(roots):
            return True
    return False


def note_accepted(home: Path, project: Project) -> None:
    """Note that the person accepted the repository of *project*, as it is in this folder."""
    note_project(home, project)

    def noted(values: dict[str, object]) -> dict[str, object]:
        accepted = sorted({*folders_in(values, ACCEPTED), str(project.root)})
        return {**values, ACCEPTED: accepted, NUMBERS: _numbers_with(values, project.root)}

    _change_project_notes(home, project.key, noted)


def folder_number(folder: Path) -> str:
    """Return the file system's number of *folder*, which a rename does not change; '' when it is gone."""
    try:
        stat = folder.stat()
    except OSError:
        return ""
    return f"{stat.st_dev}:{stat.st_ino}"


def note_project(home: Path, project: Project, *, adopt: Path | None = None) -> None:
    """Write project.json, which shows people the project of a folder; *adopt* a vault in its repository."""
    roots = adopted_roots(home, project.key)
    before = project_notes(home, project.key)
    if before.get("root") and NUMBER in before and (adopt is None or str(adopt) in roots):
        return

    def noted(values: dict[str, object]) -> dict[str, object]:
        adopted = {*folders_in(values, REPOSITORIES), *([str(adopt)] if adopt else [])}
        about = {"name": project.name, "root": str(project.root), "remote": project.remote}
        noted_number = values.get(NUMBER) if values.get("root") == about["root"] else ""
        about[NUMBER] = str(noted_number or folder_number(project.root))
        numbers = {NUMBERS: _numbers_with(values, project.root)} if adopt else {}
        return {**values, **about, REPOSITORIES: sorted(adopted), **numbers}

    _change_project_notes(home, project.key, noted)


def note_left(home: Path, project: Project, root: Path) -> None:
    """Note that the person took the memories of *project* out of the vault *root* in its repository."""

    def noted(values: dict[str, object]) -> dict[str, object]:
        return {**values, REPOSITORIES: [*filter(str(root).__ne__, folders_in(values, REPOSITORIES))]}

    for key in _keys(project):
        if str(root) in adopted_roots(home, key):
            _change_project_notes(home, key, noted)


def has_choices(values: Mapping[str, object], root: Path) -> bool:
    """Tell whether the *values* of project.json say that the person chose something for the folder *root*."""
    return (
        str(root / REPOSITORY_FOLDER) in folders_in(values, REPOSITORIES)
        or str(root) in folders_in(values, ACCEPTED)
        or str(root) in blocks_in(values)
    )


def note_moved(home: Path, key: str, project: Project, root: Path) -> None:
    """Take away what the notes of the project *key* say of the folder *root*, which *project* has now."""

    def noted(values: dict[str, object]) -> dict[str, object]:
        left = {
            **values,
            REPOSITORIES: [*filter(str(root / REPOSITORY_FOLDER).__ne__, folders_in(values, REPOSITORIES))],
            ACCEPTED: [*filter(str(root).__ne__, folders_in(values, ACCEPTED))],
            BLOCKS: {folder: note for folder, note in blocks_in(values).items() if folder != str(root)},
            NUMBERS: {folder: number for folder, number in numbers_in(values).items() if folder != str(root)},
        }
        is_noted_root = key == project.key and values.get("root") == str(root)
        return {**left, "root": str(project.root)} if is_noted_root else left

    _change_project_notes(home, key, noted)


def note_elsewhere(home: Path, key: str, name: str, remote: str) -> None:
    """Note the name and the git remote of a project that another machine of the person's knows."""
    if "name" not in project_notes(home, key):
        files.make_folder(home / PROJECTS / key)
        _change_project_notes(home, key, lambda values: {"name": name, "remote": remote, **values})


def block_note(home: Path, project: Project) -> dict[str, object]:
    """Return what was noted about the managed block in this folder of *project*, {} for nothing."""
    for key in _keys(project):
        note = blocks_in(project_notes(home, key)).get(str(project.root))
        if isinstance(note, dict):
            return note
    return {}


def note_block(home: Path, project: Project, note: Mapping[str, object]) -> None:
    """Note the file of this folder's managed block and what it tells; other folders' notes stay."""
    note_project(home, project)

    def noted(values: dict[str, object]) -> dict[str, object]:
        blocks = {**blocks_in(values), str(project.root): dict(note)}
        return {**values, BLOCKS: blocks, NUMBERS: _numbers_with(values, project.root)}

    _change_project_notes(home, project.key, noted)


def block_file(project: Project, name: str) -> Path:
    """
    Return the real path of the file *name* at the root of *project*, whether or not it exists.

    Raises Rejected for a symbolic link that leads out of the project, into `.git` or to nothing.
    """
    path = project.root / name
    real = Path(os.path.realpath(path))
    if leads_out(path, project.root):
        raise Rejected(f"{path} is a link that leads out of the project.", "Choose a file of this project.")
    if path.is_symlink() and not real.exists():
        raise Rejected(
            f"{path} is a link to a file that is missing.", "Create that file, or delete the link."
        )
    return real


def block_folders(home: Path) -> list[Path]:
    """Return the folders in which Daybook keeps or kept a managed block."""
    folders: dict[Path, None] = {}
    for place in project_folders(home):
        for root in blocks_in(project_notes(home, place.name)):
            project = Project(key=place.name, name="", root=Path(root), reason="", remote="")
            folders[project.root] = None
            for name in BLOCK_FILES:
                with contextlib.suppress(Rejected, ValueError):
                    folders[block_file(project, name).parent] = None
    return list(folders)


def trash_folder(home: Path, vault: Vault) -> Path:
    """Return the folder in which forgotten memories of *vault* wait to be restored."""
    return trash_of(home, vault.key)


def trash_of(home: Path, key: str) -> Path:
    """Return the folder in which forgotten memories of the vault *key* wait to be restored."""
    return home / "trash" / key


def history_folder(home: Path, ref: str) -> Path:
    """Return the folder of the versions of the memory *ref* (`vault/id`)."""
    return home / HISTORY / ref


def compaction(home: Path, session: str) -> Path:
    """Return where is kept what survives when *session* is shortened; there is no file before."""
    return home / WORK / COMPACTIONS.format(slug(session) or "session")


def owed_brief(home: Path, session: str) -> Path:
    """Return where is noted that *session* was shown no brief."""
    return home / WORK / OWED_BRIEFS.format(slug(session) or "session")


def place_of(home: Path, vault: Vault, path: Path) -> str:
    """Return the ledger's name for a file's place: its path in *vault*, or in its folder of the trash."""
    if path.is_relative_to(trash := trash_folder(home, vault)):
        return TRASH + path.relative_to(trash).as_posix()
    return path.relative_to(vault.root).as_posix()


def at_place(home: Path, vault: Vault, place: str) -> Path:
    """Return the path of *place*; raise Rejected when it leads out of the vault or of the trash."""
    if not place.startswith(TRASH):
        return confined(vault, vault.root / place)
    relative = Path(place.removeprefix(TRASH))
    if relative.is_absolute() or ".." in relative.parts:
        raise Rejected(f"{place} leads out of the trash.", "Correct the ledger.")
    return trash_folder(home, vault) / relative


def _keys(project: Project) -> list[str]:
    """Return the keys that *project* is known by, its own first."""
    return list(filter(None, (project.key, project.former)))


def _change_project_notes(
    home: Path, key: str, change: Callable[[dict[str, object]], dict[str, object]]
) -> None:
    """
    Apply *change* to the values in the project's file; other processes may change it, too.

    A file that is no JSON object, as after a slip of the person's, stays beside it under another name.
    """
    path = home / PROJECTS / key / PROJECT_FILE
    for attempt in range(ATTEMPTS):
        try:
            before = files.read(path) if path.exists() else None
            data = bytes_of(change(object_in(before or b"")))
            if before is None:
                files.write_new(path, data)
            elif data != before:
                files.replace(path, data, expected=files.digest(before), former=_kept_if_broken(path, before))
            return
        except (Conflict, FileExistsError, FileNotFoundError):
            if attempt == ATTEMPTS - 1:
                raise


def _kept_if_broken(path: Path, data: bytes) -> tuple[Path, bytes] | None:
    """Return under which name the *data* of a project's file are kept, None when they can be read."""
    aside = path.with_name(f"{PROJECT_FILE}.broken-{files.digest(data)[:8]}")
    is_read = object_in(data) or data.strip() in (b"", b"{}")
    return None if is_read or aside.exists() else (aside, data)


def project_notes(home: Path, key: str) -> dict[str, object]:
    """Return the values in project.json of the project with *key*, {} when there are none."""
    return read_object(home / PROJECTS / key / PROJECT_FILE)


def folders_in(values: Mapping[str, object], name: str) -> list[str]:
    """Return the folders that the *values* of project.json list under *name*."""
    folders = values.get(name)
    return [*map(str, folders)] if isinstance(folders, list) else []


def numbers_in(values: Mapping[str, object]) -> dict[str, object]:
    """Return folder → the number that *values* of project.json note of it."""
    numbers = values.get(NUMBERS)
    return numbers if isinstance(numbers, dict) else {}


def _numbers_with(values: Mapping[str, object], folder: Path) -> dict[str, object]:
    return {**numbers_in(values), str(folder): folder_number(folder)}


def blocks_in(values: Mapping[str, object]) -> dict[str, object]:
    """Return folder → what the *values* of project.json note of its managed block."""
    blocks = values.get(BLOCKS)
    return blocks if isinstance(blocks, dict) else {}
