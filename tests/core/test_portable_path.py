"""Paths without the name of a home folder."""

import pytest

from mcp_server.core.portable_path import portable, without_home


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/home/jane/shop/src/a.py:4", "src/a.py:4"),
        ("/home/jane/shop", "~/shop"),
        ("/home/jane/shopping/a.py", "~/shopping/a.py"),
        ("/home/jane", "~"),
        ("/home/janet/a.py", "/home/janet/a.py"),
        ("/mnt/home/jane/a.py", "/mnt/home/jane/a.py"),
        ("src/a.py", "src/a.py"),
    ],
)
def test_a_path_is_relative_to_the_folder_or_begins_with_the_home(path: str, named: str) -> None:
    assert portable(path, folder="/home/jane/shop", home="/home/jane") == named


def test_each_path_in_a_text_loses_the_home_and_nothing_else_does() -> None:
    text = 'cp /home/jane/a "user//home/jane/b" /home/jane.old /srv/home/jane'

    assert without_home(text, "/home/jane") == 'cp ~/a "user/~/b" /home/jane.old /srv/home/jane'
    assert without_home(text, "") == without_home(text, "/") == text
