"""Which addresses a remote may have."""

import pytest

from mcp_server.core.errors import Rejected
from mcp_server.core.remote.url import check_url


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:me/memory.git",
        "ssh://me@host:2222/memory.git",
        "https://host/me/memory.git",
        "http://127.0.0.1:3000/me/memory.git",
        "http://localhost/memory.git",
        "/mnt/disk/memory.git",
        "file:///mnt/disk/memory.git",
        "C:\\Users\\me\\memory.git",
    ],
)
def test_an_address_or_a_folder_is_taken_as_it_is(url: str) -> None:
    assert check_url(f" {url} ") == url


@pytest.mark.parametrize(
    "url",
    [
        *(
            "",
            "memory",
            "memory.git",
            "-u/x",
            "ext::sh -c id",
            "host::x:y",
            "git://host/memory.git",
            "/a\n/b",
        ),
        *("https://", "ssh://", "https:///memory.git", "https://host", "ssh://host/", "file://memory.git"),
    ],
)
def test_what_git_could_take_for_something_else_is_refused(url: str) -> None:
    with pytest.raises(Rejected, match="is not the address of a remote"):
        check_url(url)


def test_the_memory_does_not_travel_unencrypted() -> None:
    with pytest.raises(Rejected, match="Your memories would travel unencrypted"):
        check_url("http://me:secret@host/me.git")


@pytest.mark.parametrize(
    "url", ["http://me:secret@host/me.git", "https://me:secret@host", "ftp://me:secret@host/x"]
)
def test_a_refusal_shows_no_password(url: str) -> None:
    with pytest.raises(Rejected) as refused:
        check_url(url)

    assert "secret" not in refused.value.with_hint
