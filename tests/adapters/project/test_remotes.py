"""Which remote of a repository counts, and how its address is written."""

from pathlib import Path

import pytest

from mcp_server.adapters.project import normalise_remote
from tests.adapters.project.repositories import needs_git, repository, resolved, write_config

pytestmark = needs_git


# Which remote


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


# How it is written


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
