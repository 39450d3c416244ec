"""What is shown of an address."""

import pytest

from mcp_server.core.addresses import shown_url


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://me:secret@host/me.git", "https://host/me.git"),
        ("https://me:se@c?r#et@host/me.git", "https://host/me.git"),
        ("ssh://git@host:22/~me/memory.git", "ssh://host:22/~me/memory.git"),
        ("https://host/@me?to=you@host#@here", "https://host/@me?…#@here"),
        (
            "no access to 'https://host/me.git?access_token=abc/': x?",
            "no access to 'https://host/me.git?…': x?",
        ),
        ("https://me:secret@host?private_token=abc&x=y", "https://host?…"),
        ("no https://me:a@b@one/x and no https://two/y", "no https://one/x and no https://two/y"),
    ],
)
def test_no_name_and_no_password_is_shown(address: str, shown: str) -> None:
    assert shown_url(address) == shown
