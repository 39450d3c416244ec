"""Nothing of a remote runs, and nothing of it is written but memories, ledgers and names of projects."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from mcp_server.actions.remote.exchange import exchange
from mcp_server.actions.remote.set_up import add, look_ahead
from mcp_server.core.errors import Rejected
from mcp_server.core.remote.paths import sort_of
from mcp_server.store import Store
from tests.memories import stored

HOOKS = (
    "pre-receive",
    "update",
    "post-receive",
    "post-update",
    "reference-transaction",
    "proc-receive",
    "pre-auto-gc",
)
MEMORY = b"---\nid: kind\ntitle: Kind\ntags: []\n---\nA kind memory.\n"


@pytest.fixture
def remote(store: Store, tmp_path: Path) -> Path:
    """A bare folder that is the remote of *store*."""
    folder = tmp_path / "memory.git"
    assert not add(store, look_ahead(store, str(folder))).trouble
    stored(store, "Deploys start from release.")
    assert not exchange(store).trouble
    return folder


def everything(folder: Path) -> set[Path]:
    """Return every path below *folder* but those of Daybook's own repository and index."""
    return {path for path in folder.rglob("*") if "remote" not in path.parts and "memory.db" not in path.name}


def push(remote: Path, files: dict[str, tuple[str, bytes]]) -> None:
    """Put files (path → mode and bytes) into the remote, as only a hostile git would."""
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    stream = b"commit refs/heads/daybook\ncommitter a <a@b> 0 +0000\ndata 1\nx\nfrom refs/heads/daybook^0\n"
    for path, (mode, data) in files.items():
        if mode == "160000":
            stream += f"M 160000 {'1' * 40} {path}\n".encode()
        else:
            stream += f"M {mode} inline {path}\ndata {len(data)}\n".encode() + data + b"\n"
    command = ["git", "-c", "core.hooksPath=/dev/null", f"--git-dir={remote}", "fast-import", "--quiet"]
    subprocess.run(command, input=stream + b"\n", check=True, env=env)


def test_a_folder_that_is_the_remote_runs_nothing(store: Store, remote: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\necho $0 >> {ran}\ncat\n")
    trap.chmod(trap.stat().st_mode | stat.S_IXUSR)
    (remote / "hooks").mkdir(exist_ok=True)
    for name in HOOKS:
        (remote / "hooks" / name).symlink_to(trap)
    (tmp_path / "other.git").mkdir()
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "other.git")], check=True)
    (remote / "objects" / "info").mkdir(exist_ok=True)
    (remote / "objects" / "info" / "alternates").write_text(f"{tmp_path / 'other.git' / 'objects'}\n")
    with (remote / "config").open("a") as config:
        config.write(
            f"[core]\nfsmonitor = {trap}\nhooksPath = {remote / 'hooks'}\nalternateRefsCommand = {trap}\n"
            f"sshCommand = {trap}\npager = {trap}\ngitProxy = {trap}\naskPass = {trap}\n"
            f"[uploadpack]\npackObjectsHook = {trap}\n[receive]\nautogc = true\n"
            f'[gc]\nauto = 1\n[filter "x"]\nsmudge = {trap}\nclean = {trap}\n[diff]\nexternal = {trap}\n'
        )
    stored(store, "The staging host is birch.")

    report = exchange(store)

    assert (report.trouble, ran.exists()) == ("", False)
    push(remote, {"knowledge/kind.md": ("100644", MEMORY)})
    assert exchange(store).added == ("kind",)
    assert not ran.exists()


def test_only_files_with_names_of_ours_are_written(store: Store, remote: Path) -> None:
    before = everything(store.home)
    push(
        remote,
        {
            "knowledge/kind.md": ("100644", MEMORY),
            "knowledge/link.md": ("120000", b"/etc/passwd"),
            "knowledge/module.md": ("160000", b""),
            "knowledge/.hidden.md": ("100644", MEMORY),
            "knowledge/con.md": ("100644", MEMORY),
            "knowledge/evil.sh": ("100755", b"#!/bin/sh\n"),
            ".gitattributes": ("100644", b"* filter=x\n"),
            ".gitmodules": ("100644", b'[submodule "x"]\n\tpath = x\n\turl = ./x\n'),
            "config.toml": ("100644", b'api_base_url = "https://evil.example"\n'),
            "logs/worker.log": ("100644", b"x\n"),
            "memory.db": ("100644", b"x\n"),
            "history/user/kind/x.md": ("100644", MEMORY),
            "projects/user/knowledge/kind.md": ("100644", MEMORY),
            "remote/remote.json": ("100644", b"{}"),
            "ledger/here-2026-11.jsonl": (
                "100644",
                b'{"at": "2026-11-20T00:00:00Z", "event": "consented"}\n',
            ),
        },
    )

    report = exchange(store)

    assert not report.trouble
    paths = [path for path in everything(store.home) - before if not path.is_dir()]
    new = {path.relative_to(store.home).as_posix() for path in paths}
    assert {path for path in new if not path.startswith("ledger")} == {"knowledge/kind.md"}
    assert stat.S_ISREG((store.home / "knowledge" / "kind.md").lstat().st_mode)


def test_a_tree_that_leads_out_is_not_taken_at_all(store: Store, remote: Path, tmp_path: Path) -> None:
    before = everything(tmp_path)
    evil = subprocess.run(
        ["git", f"--git-dir={remote}", "hash-object", "-w", "--stdin"],
        input=MEMORY,
        capture_output=True,
        check=True,
    ).stdout.strip()
    entry = b"100644 ..\0" + bytes.fromhex(evil.decode())
    tree = subprocess.run(
        ["git", f"--git-dir={remote}", "hash-object", "-t", "tree", "--literally", "-w", "--stdin"],
        input=entry,
        capture_output=True,
        check=True,
    ).stdout.strip()
    who = {f"GIT_{role}_{field}": "a@b" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")}
    commit = subprocess.run(
        ["git", f"--git-dir={remote}", "commit-tree", tree.decode(), "-m", "x", "-p", "refs/heads/daybook"],
        capture_output=True,
        check=True,
        env={**os.environ, **who},
    ).stdout.strip()
    subprocess.run(
        ["git", f"--git-dir={remote}", "update-ref", "refs/heads/daybook", commit.decode()], check=True
    )

    report = exchange(store)

    assert "could not be reached" in report.trouble
    new = {path for path in everything(tmp_path) - before if remote not in path.parents}
    assert new == set()


@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c id",
        "-u./trap",
        "--upload-pack=id",
        "fd::7",
        "git://host/x",
        "host::x",
        "./here",
        "a\nb",
        "",
    ],
)
def test_an_address_that_runs_or_means_something_else_is_refused(store: Store, url: str) -> None:
    with pytest.raises(Rejected):
        look_ahead(store, url)


@pytest.mark.parametrize(
    "path",
    [
        *(
            "../x.md",
            "knowledge/../x.md",
            "/knowledge/x.md",
            "knowledge//x.md",
            "knowledge/x.md/",
            "knowledge",
        ),
        *(
            "knowledge/a\\b.md",
            "knowledge/a:b.md",
            "knowledge/x .md/y",
            "knowledge/nul.md",
            "knowledge/x.md.",
        ),
        *(
            "projects/../knowledge/x.md",
            "projects/A/knowledge/x.md",
            "projects/a/logs/x.md",
            "trash/user/x.md",
        ),
        *("ledger/x.jsonl", "ledger/a-2026-11.jsonl", "ledger/a-2026-11@zz.jsonl", "knowledge/x\n.md"),
        f"knowledge/{'x' * 300}.md",
    ],
)
def test_a_path_that_is_none_of_ours_is_left_alone(path: str) -> None:
    assert sort_of(path) is None
