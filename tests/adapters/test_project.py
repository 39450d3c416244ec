"""Which project a folder belongs to, shown on repositories that the real git made."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from mcp_server.adapters.project import Project, normalise_remote, resolve_project

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

GITHUB = "git@github.com:Acme/Shop.git"
OPTIONS = (
    "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always",
    "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgSign=false",
)  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "ada"
    folder.mkdir(parents=True)
    return folder


def git(folder: Path, *arguments: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(
        ["git", *OPTIONS, *arguments], cwd=folder, env=environment, check=True, capture_output=True
    )


def repository(folder: Path, remote: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init")
    git(folder, "commit", "--allow-empty", "-m", "first")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


def folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def resolved(path: Path, home: Path) -> Project:
    project = resolve_project(path, home=home)
    assert project is not None, path
    return project


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
    one, other = repository(home / "a" / "shop"), repository(home / "b" / "shop")

    assert resolved(one, home).key != resolved(other, home).key


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


# What is never a project


def test_the_home_directory_and_everything_above_it_are_no_project(home: Path) -> None:
    for place in (home, home.parent, Path("/")):
        assert resolve_project(place, home=home) is None


def test_a_repository_rooted_at_home_or_above_it_is_no_project(home: Path) -> None:
    repository(home.parent)
    assert resolve_project(folder(home / "notes"), home=home) is None
    repository(home, GITHUB)
    assert resolve_project(home / "notes", home=home) is None
    assert resolved(repository(home / "code"), home).root == home / "code"


def test_home_behind_a_symbolic_link_is_still_no_project(home: Path, tmp_path: Path) -> None:
    (tmp_path / "door").symlink_to(home, target_is_directory=True)

    assert resolve_project(home, home=tmp_path / "door") is None
    assert resolve_project(tmp_path / "door", home=home) is None


# Which remote


def write_config(root: Path, text: str) -> None:
    (root / ".git" / "config").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    "config",
    [
        '[remote "origin"]\n\turl = git@github.com:acme/shop.git\n',
        '[REMOTE "origin"]\r\n\tURL=git@github.com:acme/shop.git\r\n',
        '\ufeff[remote "origin"] url = "git@github.com:acme/shop.git" ; ours\n',
        '# [remote "origin"]\n[remote.origin]\n  url = https://github.com/acme/shop # comment\n',
        '[remote "origin"]\r\n  url = https://github.com/\\\r\nacme/shop\r\n  url = https://github.com/second/url\n',
        '[remote "a"]\n url = github.com:other/a\n[remote "origin"]\n fetch\n url = github.com:acme/shop\n',
        '[remote "zeta"]\n url = github.com:z/z\n[remote "mirror"]\n url = github.com:acme/shop\n',
        '[remote "backup"]\n url = /mnt/shop.git\n[remote "forge"]\n url = "github.com:acme\\/shop"\n',
        '[include]\n path = elsewhere\n[remote "origin"]\n url = https://github.com/"acme"/shop\n',
    ],
)
def test_the_remote_is_found_in_every_way_git_writes_it(home: Path, config: str) -> None:
    root = repository(home / "shop")
    write_config(root, config)

    assert resolved(root, home).remote == "github.com/acme/shop"


def test_origin_decides_even_when_it_is_a_local_path(home: Path) -> None:
    root = repository(home / "shop")
    write_config(root, '[remote "origin"]\n url = /srv/shop.git\n[remote "x"]\n url = github.com:x/x\n')

    assert resolved(root, home).remote == ""


# Odd input


def test_a_git_folder_without_head_is_not_a_repository(home: Path) -> None:
    folder(home / "shop" / ".git" / "objects")
    folder(home / "shop" / ".git" / "refs")

    assert resolved(home / "shop", home).reason.endswith("which is in no git repository")


@pytest.mark.parametrize(
    "pointer", ["", "gitdir:", "gitdir: .git", "gitdir: .", "gitdir: /nowhere", "\0\xff"]
)
def test_a_git_file_that_leads_nowhere_is_no_repository(home: Path, pointer: str) -> None:
    (folder(home / "shop") / ".git").write_bytes(pointer.encode("latin-1"))

    assert resolved(home / "shop", home).reason.endswith("which is in no git repository")


def test_links_in_circles_pipes_and_devices_are_no_repository(home: Path) -> None:
    for name, target in (("circle", ".git"), ("device", "/dev/zero")):
        (folder(home / name) / ".git").symlink_to(target)
    os.mkfifo(folder(home / "pipe") / ".git")
    (home / "loop").symlink_to(home / "loop")

    for name in ("circle", "device", "pipe", "loop"):
        assert resolved(home / name, home).root == home / name


def test_a_config_that_is_a_pipe_or_a_link_is_not_read(home: Path, tmp_path: Path) -> None:
    root = repository(home / "shop", GITHUB)
    (root / ".git" / "config").rename(tmp_path / "config")
    os.mkfifo(root / ".git" / "config")
    assert resolved(root, home).remote == ""
    (root / ".git" / "config").unlink()
    (root / ".git" / "config").symlink_to(tmp_path / "config")
    assert resolved(root, home).remote == ""


def test_circular_commondir_files_end(home: Path) -> None:
    root = repository(home / "shop")
    (root / ".git" / "commondir").write_text(".\n", encoding="utf-8")
    assert resolved(root, home).root == root
    (root / ".git" / "commondir").write_text("../nowhere\n", encoding="utf-8")
    assert resolved(root, home).root == root


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_git_folder_is_no_repository(home: Path) -> None:
    root = repository(home / "shop")
    (root / ".git").chmod(0)
    try:
        assert resolved(root, home).root == root
    finally:
        (root / ".git").chmod(0o700)


def test_of_a_huge_config_the_beginning_is_read_in_whole_lines(home: Path) -> None:
    root = repository(home / "shop")
    padding = "#" * (64 * 1024 - 60)
    write_config(root, f'{padding}\n[remote "origin"]\n url = https://github.com/acme/shop-and-more\n')
    assert resolved(root, home).remote == ""
    write_config(root, f'[remote "origin"]\n url = {GITHUB}\n{padding * 9}')
    assert resolved(root, home).remote == "github.com/acme/shop"


@pytest.mark.parametrize("name", ["nul\0byte", "\ud800", "\udcff", "a\nb", "x" * 5000])
def test_no_name_of_a_folder_raises(home: Path, name: str) -> None:
    assert resolve_project(home / name, home=home) is not None


def test_a_deleted_working_directory_raises_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder(home / "short"))
    (home / "short").rmdir()

    assert resolve_project(Path("lived"), home=home) is not None


def test_git_itself_is_not_needed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(home / "shop", GITHUB)
    monkeypatch.setenv("PATH", "")

    assert resolved(root, home).remote == "github.com/acme/shop"


# Remotes


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:Acme/Shop.git",
        "github.com:acme/shop",
        "ssh://git@github.com:22/acme/shop",
        "ssh://git@ssh.github.com:443/acme/shop.git",
        "git+ssh://git@github.com/acme/shop.git",
        "https://github.com/acme/shop",
        "HTTPS://GitHub.COM:443/Acme//Shop.GIT/",
        "https://www.github.com/acme/shop/",
        "https://user:token@github.com/acme/shop.git/",
        "https://token@github.com/acme/shop",
        "https://user:p@ss@github.com/acme/shop?private_token=abc#readme",
        "git://github.com./acme/shop.git",
        "  https://github.com/acme/shop.git\n",
        "gcrypt::https://github.com/acme/shop",
    ],
)
def test_one_place_has_one_normal_form(url: str) -> None:
    assert normalise_remote(url) == "github.com/acme/shop"


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("git@git.corp.example:Team/App.git", "git.corp.example/Team/App"),
        ("ssh://git@git.corp.example:7999/~ada/App.git", "git.corp.example/~ada/App"),
        ("https://gitlab.com/group/sub/App", "gitlab.com/group/sub/app"),
        ("forge:app", "forge/app"),
        ("host:/srv/git/app.git", "host/srv/git/app"),
        ("git@[::1]:app.git", "[::1]/app"),
        ("ssh://git@[2001:db8::1]:22/app.git", "[2001:db8::1]/app"),
        ("https://dev.azure.com/acme/My%20Shop/_git/Shop", "dev.azure.com/acme/My%20Shop/_git/Shop"),
    ],
)
def test_other_hosts_keep_the_case_of_their_paths(url: str, normal: str) -> None:
    assert normalise_remote(url) == normal


@pytest.mark.parametrize(
    "url",
    [
        "", " ", "/srv/x.git", "../x", "./x", "x", "~/x.git", "C:/x", "C:\\x", "file:///srv/x.git", "FILE://h/x",
        "https://github.com", "https:///x", "github.com:", "ext::sh -c x", "https://a b/c", "host:a\tb",
        "https://user@/x",
    ],
)  # fmt: skip
def test_what_is_no_shared_place_has_no_normal_form(url: str) -> None:
    assert normalise_remote(url) == ""


@pytest.mark.parametrize("host", ["github.com", "git.corp.example", "h", "localhost:8080"])
@pytest.mark.parametrize("user", ["", "ada", "ada.l"])
@pytest.mark.parametrize(
    "password", ["hunter2", "hun/ter2", "hun@ter2", "hu@n/t@er2", "h?unter2", "h#u/nter2", "12/er2"]
)
def test_no_part_of_a_credential_survives(host: str, user: str, password: str) -> None:
    for url in (
        f"https://{user}:{password}@{host}/acme/shop",
        f"https://{password}@{host}/acme/shop",
        f"{user}:{password}@{host}:acme/shop",
        f"https://{host}/acme/shop?token={password}",
        f"https://{host}?token={password}/acme",
    ):
        normal = normalise_remote(url)
        assert normal in ("", f"{host.partition(':')[0]}/acme/shop"), url
