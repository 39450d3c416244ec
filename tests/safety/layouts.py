"""Repositories that are hostile in all ways at once, in every place where git looks for what they say."""

import shutil
from pathlib import Path

from tests.safety.ways import (
    PROGRAMS,
    SETTINGS,
    run_git,
    write_repository,
    write_way,
)


def by_settings(place: Path, marks: Path) -> Path:
    """The repository's own settings: one that came in an archive, or lies on a disk that others share."""
    folder = place / "shop"
    write_repository(folder)
    for way in SETTINGS:
        write_way(folder, way, marks)
    return folder


def by_included_settings(place: Path, marks: Path) -> Path:
    """Settings in a file of the work tree that the settings include, attributes in `.git/info`."""
    folder = by_settings(place, marks)
    shutil.copy(folder / ".git/config", folder / "settings")
    shutil.copy(folder / ".gitattributes", folder / ".git/info/attributes")
    (folder / ".git/config").write_text(
        "[core]\n\trepositoryformatversion = 0\n[include]\n\tpath = ../settings\n"
        '[includeIf "gitdir:**"]\n\tpath = ../settings\n',
        encoding="utf-8",
    )
    return folder


def in_a_bare_repository(place: Path, marks: Path) -> Path:
    """A bare repository that was committed to an ordinary one: `git clone` is enough to get it."""
    evil = place / "evil"
    write_repository(evil)
    inner = by_settings(place, marks)
    (inner / ".git").rename(evil / "docs")
    for name in (PROGRAMS, ".gitattributes"):
        (inner / name).rename(evil / name)
    run_git(evil, "config", "--file", "docs/config", "core.worktree", "..")
    shutil.rmtree(evil / "docs/hooks")
    for empty in [path for path in (evil / "docs").rglob("*") if path.is_dir() and not any(path.iterdir())]:
        (empty / ".keep").touch()
    run_git(evil, "add", "--all")
    run_git(evil, "commit", "-qm", "docs")
    run_git(place, "clone", "-q", "evil", "victim")
    return place / "victim/docs"


def by_a_git_file(place: Path, marks: Path) -> Path:
    """A `.git` that is a file and names a folder of the repository's own."""
    folder = by_settings(place, marks)
    (folder / ".git").rename(folder / "data")
    (folder / ".git").write_text("gitdir: data\n", encoding="utf-8")
    return folder


def in_a_worktree(place: Path, marks: Path) -> Path:
    """A second worktree, with settings of its own beside those of the repository."""
    folder = by_settings(place, marks)
    run_git(
        folder,
        "-c",
        "filter.x.smudge=cat",
        "-c",
        "filter.x.process=",
        "worktree",
        "add",
        "-q",
        "../second",
        "main~1",
        "--detach",
    )
    run_git(folder, "config", "extensions.worktreeConfig", "true")
    shutil.copy(folder / ".git/config", folder / ".git/worktrees/second/config.worktree")
    run_git(place / "second", "update-ref", "--no-deref", "HEAD", run_git(folder, "rev-parse", "main"))
    return place / "second"


def with_a_submodule(place: Path, marks: Path) -> Path:
    """A submodule with settings of its own, which git asks when it compares the work tree."""
    folder, inner = place / "outer", by_settings(place, marks)
    write_repository(folder)
    inner.rename(folder / "inner")
    commit = run_git(folder / "inner", "rev-parse", "main")
    run_git(folder, "update-index", "--add", "--cacheinfo", f"160000,{commit},inner")
    run_git(folder, "commit", "-qm", "inner")
    return folder


def without_objects(place: Path, marks: Path) -> Path:
    """A partial clone: git fetches what is missing by a program that the settings name."""
    folder = by_settings(place, marks)
    for key, value in (
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.partialclonefilter", "blob:none"),
        ("remote.origin.url", "ssh://nowhere.invalid/x"),
        ("protocol.ssh.allow", "always"),
        ("protocol.allow", "always"),
    ):
        run_git(folder, "config", "--replace-all", key, value)
    for name in ("HEAD~1^{tree}", "HEAD^{tree}", "HEAD:a.txt"):
        missing = run_git(folder, "rev-parse", name)
        (folder / ".git/objects" / missing[:2] / missing[2:]).unlink()
    return folder


def with_alternates(place: Path, marks: Path) -> Path:
    """Objects that lie in another folder of the repository's own."""
    folder = by_settings(place, marks)
    (folder / "objects").mkdir()
    for packed in [path for path in (folder / ".git/objects").iterdir() if len(path.name) == 2]:
        packed.rename(folder / "objects" / packed.name)
    (folder / ".git/objects/info").mkdir(exist_ok=True)
    (folder / ".git/objects/info/alternates").write_text("../../objects\n", encoding="utf-8")
    return folder


LAYOUTS = {
    by_settings: ("status",),
    by_included_settings: ("status",),
    in_a_bare_repository: ("--git-dir=.", "--work-tree=..", "status"),
    by_a_git_file: ("status",),
    in_a_worktree: ("status",),
    with_a_submodule: ("status",),
    without_objects: ("log", "-p", "-1"),
    with_alternates: ("status",),
}
"""How a hostile repository is made → what, asked of git there, runs a program of it."""
