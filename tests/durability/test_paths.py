"""6.6: no id, link or special file leads out of a vault, and nobody else can read what is in it."""

import contextlib
import hashlib
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.recall.recall import recall
from mcp_server.adapters.vault import Vault
from mcp_server.core.errors import NotFound, Rejected, Unreadable
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind, Level, check_id
from mcp_server.core.search.query import Query
from mcp_server.store import Store

OUT = ("canary/secret", "canary/sub/x", "canary", "etc/passwd")
UP = (
    "../", "../../", "../../../", "./../", "knowledge/../../", "..\\", "..\\..\\", "%2e%2e/", "%2e%2e%2f",
    "%252e%252e%252f", "..%2f", "..%5c", "....//", "..;/", "..\u2215", "..\u2044", "\uff0e\uff0e\uff0f",
    "/", "//", "\\\\host\\share\\", "C:\\", "C:/", "~/", "~root/", "file:///", "$HOME/",
)  # fmt: skip
ODD = (
    "", " ", ".", "..", "...", "-", "-rf", "a b", "a/b", "a\\b", "a.b", "a..b", "A", "É", "a\u0000", "\u0000",
    "a\u0000.md", "a\n", "a\r", "a\t", "a\u200b", "a\u202e", "ａ", "a:stream", "con.", "NUL.md", "a*", "a?",
    "[a]", "a|b",
    "a;b", "a$(b)", "`a`", "a'b", 'a"b', "a%00", "*", "**/*", "a" * 81, "a" * 300, "a" * 100_000,
    "canary/secret.md", "x/../../canary/secret", "knowledge-evil/x", "../knowledge-evil/x", "user/../canary",
)  # fmt: skip
Verb = Callable[[Store, str], object]
VERBS: list[Verb] = [
    read,
    lambda store, memory_id: revise(store, memory_id, Revision(text="changed")),
    forget,
    lambda store, memory_id: forget(store, memory_id, forever=True),
    restore,
    lambda store, memory_id: remember(store, Draft("T", "text", id=memory_id)),
]
VECTORS = [*(up + out for up in UP for out in OUT), *ODD]


@pytest.fixture
def canary(memory_dir: Path) -> Path:
    """A tree beside the store that must stay as it is."""
    tree = memory_dir.parent / "canary"
    (tree / "sub").mkdir(parents=True)
    for name in ("secret.md", "sub/x.md", "a.md"):
        (tree / name).write_text("---\ntitle: The canary\n---\nflamingo\n", encoding="utf-8")
    return tree


def print_of(tree: Path) -> dict[str, tuple[int, int, str]]:
    """Return mode, time and digest of everything in *tree*."""
    return {
        str(path.relative_to(tree)): (
            path.stat().st_mode,
            path.stat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in (tree, *tree.rglob("*"))
    }


def test_there_are_enough_vectors() -> None:
    assert len(set(VECTORS)) >= 100


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: ascii(vector)[:40])
def test_no_such_thing_is_an_id(vector: str) -> None:
    with pytest.raises(Rejected):
        check_id(vector)
    with pytest.raises(Rejected):
        Vault("user", Path("/nowhere"), Level.USER).path_for(vector, Kind.KNOWLEDGE)


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_follows_such_an_id_out_of_the_store(store: Store, canary: Path, verb: Verb) -> None:
    memory_id = remember(store, Draft("Known", "herons are grey", level=Level.USER)).memory.id
    before = print_of(canary)

    for vector in VECTORS:
        with pytest.raises((NotFound, Rejected)) as refused:
            verb(store, vector or " ")
        assert len(str(refused.value)) < 300

    assert print_of(canary) == before
    assert read(store, memory_id).memory.text == "herons are grey"
    assert sorted(path.name for path in store.home.rglob("*.md")) == [f"{memory_id}.md"]


def test_links_and_special_files_are_not_followed_and_stop_nothing(store: Store, canary: Path) -> None:
    memory_id = remember(store, Draft("Known", "herons are grey", level=Level.USER)).memory.id
    knowledge = store.home / "knowledge"
    (knowledge / "linked folder").symlink_to(canary)
    (knowledge / "linked folder.md").symlink_to(canary)
    (knowledge / "link.md").symlink_to(canary / "secret.md")
    (knowledge / "loop.md").symlink_to("loop.md")
    (knowledge / "dangling.md").symlink_to(canary / "nothing")
    (knowledge / "folder.md").mkdir()
    os.mkfifo(knowledge / "pipe.md")
    with socket.socket(socket.AF_UNIX) as listener, contextlib.chdir(knowledge):
        listener.bind("socket.md")
    with contextlib.suppress(PermissionError):
        os.mknod(knowledge / "device.md", stat.S_IFCHR | 0o600, os.makedev(1, 5))
    before = print_of(canary)

    report = sync(store)

    assert {Path(problem.path).name for problem in report.unreadable} >= {
        "link.md", "loop.md", "dangling.md", "linked folder", "linked folder.md", "pipe.md", "socket.md",
    }  # fmt: skip
    assert recall(store, Query("flamingo canary")).hits == ()
    assert [hit.id for hit in recall(store, Query("herons")).hits] == [memory_id]
    assert print_of(canary) == before


def test_a_vault_folder_that_is_a_link_to_elsewhere_is_neither_read_nor_written(
    store: Store, canary: Path
) -> None:
    (store.home / "knowledge").symlink_to(canary)
    before = print_of(canary)

    sync(store)

    assert recall(store, Query("flamingo canary")).hits == ()
    with pytest.raises(Rejected, match="leads out"):
        remember(store, Draft("New", "text", level=Level.USER))
    assert print_of(canary) == before


def test_a_folder_swapped_for_a_link_after_it_was_taken_in_is_not_followed(
    store: Store, canary: Path
) -> None:
    inside = store.home / "knowledge" / "sub"
    inside.mkdir(parents=True)
    for name in ("x.md", "gone.md"):
        (inside / name).write_text("---\ntitle: Mine\n---\nheron\n", encoding="utf-8")
    sync(store)
    forget(store, "gone")
    inside.rename(store.home / "aside")
    inside.symlink_to(canary / "sub")
    before = print_of(canary)

    for verb in VERBS[:4]:
        with pytest.raises((NotFound, Rejected, Unreadable)):
            verb(store, "x")
    with pytest.raises(Rejected, match="leads out"):
        restore(store, "gone")

    assert print_of(canary) == before
