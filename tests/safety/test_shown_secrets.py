"""A secret that is in a file of the person's is printed by no list, and is in no file made for others."""

import random
from pathlib import Path

import pytest

from tests.core.made_secrets import ALNUM, any_of
from tests.doors.shell import daybook, output_of

TOKEN = any_of(ALNUM, 36, "gh", "p_")(random.Random(20261126))
MASK = "[secret removed: a GitHub token]"


@pytest.fixture
def with_token(memory_dir: Path) -> Path:
    """The store of a person who wrote a token into a memory, into its title and its text."""
    path = memory_dir / "knowledge" / "quagga.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"# Quagga {TOKEN}\n\nThe gate opens with {TOKEN} at noon, see [[other]].\n")
    (path.parent / "other.md").write_text("# Other\n\nThe other gate.\n")
    return memory_dir


@pytest.mark.parametrize("words", ["recall gate", "list", "related other"])
def test_no_list_prints_it(with_token: Path, words: str) -> None:
    printed = output_of(daybook(with_token, *words.split()))

    assert MASK[:20] in printed and TOKEN not in printed


def test_no_page_of_an_exported_viewer_has_it(with_token: Path, tmp_path: Path) -> None:
    file = tmp_path / "memory.html"

    output_of(daybook(with_token, "view", "--export", str(file)))

    text = file.read_text(encoding="utf-8")
    assert "The gate opens with" in text and MASK in text and TOKEN not in text
