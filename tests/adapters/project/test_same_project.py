"""What a project is known by, and which folders share one."""

from pathlib import Path

import pytest

from tests.adapters.project.repositories import GITHUB, folder, git, needs_git, repository, resolved

pytestmark = needs_git


# What a project is known by


def test_a_repository_with_a_remote_is_known_by_the_remote(home: Path) -> None:
    project = resolved(repository(home / "code" / "checkout", GITHUB), home)

    assert project.remote == "github.com/acme/shop"
    assert project.name == "shop"
    assert project.root == home / "code" / "checkout"
    assert project.reason == "the git remote github.com/acme/shop"
    assert project.key.startswith("shop-") and len(project.key) == len("shop-") + 8


def test_a_repository_without_a_remote_is_known_by_its_place(home: Path) -> None:
    project = resolved(repository(home / "Mein Büro"), home)

    assert project.name == "Mein Büro"
    assert project.reason == f"the git repository at {home / 'Mein Büro'}"
    assert project.key.startswith("mein-buro-")
    assert project.remote == ""


def test_outside_git_the_folder_itself_is_the_project(home: Path) -> None:
    project = resolved(folder(home / "notes"), home)

    assert (project.name, project.root, project.remote) == ("notes", home / "notes", "")
    assert project.reason == f"the folder {home / 'notes'}, which is in no git repository"


def test_a_name_without_latin_letters_gives_a_key_all_the_same(home: Path) -> None:
    assert resolved(folder(home / "日本語"), home).key.startswith("project-")


def test_a_folder_that_does_not_exist_is_the_project_of_its_normalised_path(home: Path) -> None:
    project = resolved(home / "gone" / ".." / "gone" / "deep", home)

    assert project.root == home / "gone" / "deep"
    assert not project.root.exists()


def test_a_folder_keeps_its_project_when_it_becomes_a_repository(home: Path) -> None:
    before = resolved(folder(home / "idea"), home)

    assert resolved(repository(home / "idea"), home).key == before.key


# One project, seen from many places


def test_subfolders_share_the_project_even_when_a_checkout_deleted_them(home: Path) -> None:
    root = repository(home / "shop")
    folder(root / "src" / "web")

    assert (
        resolved(root / "src" / "web", home) == resolved(root, home) == resolved(root / "no" / "more", home)
    )


def test_the_inside_of_the_git_folder_belongs_to_the_project(home: Path) -> None:
    root = repository(home / "shop")

    assert resolved(root / ".git" / "hooks", home) == resolved(root, home)


@pytest.mark.parametrize("remote", ["", GITHUB])
def test_all_worktrees_share_the_project_of_the_main_one(home: Path, remote: str) -> None:
    main = repository(home / "shop", remote)
    git(main, "worktree", "add", str(home / "elsewhere" / "hotfix"))
    git(main, "worktree", "add", str(main / ".claude" / "worktrees" / "inner"))
    folder(home / "elsewhere" / "hotfix" / "src")

    for place in (home / "elsewhere/hotfix", home / "elsewhere/hotfix/src", main / ".claude/worktrees/inner"):
        assert resolved(place, home) == resolved(main, home)
    assert resolved(main / ".git" / "worktrees" / "hotfix", home) == resolved(main, home)


def test_all_worktrees_share_the_project_of_a_bare_repository(home: Path) -> None:
    seed = repository(home / "seed")
    git(home, "clone", "--bare", str(seed), "shop.git")
    git(home / "shop.git", "worktree", "add", str(home / "work"), "main")

    project = resolved(home / "work", home)

    assert project == resolved(home / "shop.git", home)
    assert (project.name, project.root) == ("shop", home / "shop.git")


def test_worktrees_beside_a_hidden_bare_repository_share_the_folder_around_them(home: Path) -> None:
    seed = repository(home / "seed")
    shop = folder(home / "shop")
    git(shop, "clone", "--bare", str(seed), ".bare")
    (shop / ".git").write_text("gitdir: ./.bare\n", encoding="utf-8")
    git(shop, "worktree", "add", "main", "main")

    project = resolved(shop / "main", home)

    assert project == resolved(shop, home)
    assert (project.name, project.root) == ("shop", shop)


def test_clones_of_one_remote_share_the_project_however_the_remote_is_written(home: Path) -> None:
    by_ssh = repository(home / "one", "git@github.com:acme/shop.git")
    by_https = repository(home / "two", "https://ada:pa55word@GitHub.com/Acme/Shop")

    assert resolved(by_ssh, home).key == resolved(by_https, home).key


def test_a_symbolic_link_to_a_repository_is_the_repository(home: Path) -> None:
    root = repository(home / "shop")
    (home / "link").symlink_to(root / ".git" / "..", target_is_directory=True)

    assert resolved(home / "link", home) == resolved(root, home)


def test_a_separate_git_folder_leaves_the_project_where_the_files_are(home: Path) -> None:
    shop = folder(home / "shop")
    git(shop, "init", "--separate-git-dir", str(folder(home / "store") / "shop-git"))

    assert resolved(shop, home).root == shop


# Many projects, kept apart


def test_checkouts_without_a_remote_are_different_projects(home: Path) -> None:
    first, second = repository(home / "a" / "shop"), repository(home / "b" / "shop")

    assert resolved(first, home).key != resolved(second, home).key


def test_a_local_path_as_remote_does_not_join_checkouts(home: Path) -> None:
    seed = repository(home / "seed")
    for name in ("one", "two"):
        git(home, "clone", str(seed), name)

    assert resolved(home / "one", home).remote == ""
    assert len({resolved(home / name, home).key for name in ("seed", "one", "two")}) == 3


def test_a_submodule_is_a_project_of_its_own_from_every_side(home: Path) -> None:
    library = repository(home / "library")
    shop = repository(home / "shop")
    git(shop, "submodule", "add", str(library), "vendor/library")
    inside = shop / "vendor" / "library"

    project = resolved(inside, home)

    assert project.root == inside
    assert project.key not in (resolved(shop, home).key, resolved(library, home).key)
    assert resolved(shop / ".git" / "modules" / "vendor" / "library", home) == project
    git(inside, "worktree", "add", str(home / "library-hotfix"))
    assert resolved(home / "library-hotfix", home) == project
    git(inside, "remote", "set-url", "origin", "https://gitlab.com/Acme/Library")
    assert resolved(inside, home).remote == "gitlab.com/acme/library"


def test_a_repository_in_a_repository_is_a_project_of_its_own(home: Path) -> None:
    outer = repository(home / "shop", GITHUB)
    inner = repository(outer / "tools" / "inner")

    assert resolved(inner, home).root == inner
