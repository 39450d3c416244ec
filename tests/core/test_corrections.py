"""What a person settles by one sentence, in seven languages, and what they only say for the moment."""

from pathlib import Path

import pytest

from mcp_server.core.capture.corrections import correction, what_it_corrects
from mcp_server.core.capture.mining import mine

DATA = Path(__file__).resolve().parents[1] / "data" / "corrections"
NOTHING = "-"
FOUND_AT_LEAST, FALSE_AT_MOST = 0.5, 0.05  # shares


def labelled(name: str) -> list[tuple[str, str, str]]:
    """Return (language, sentence, the type that it has as a memory, `-` for none) of each line."""
    lines = (DATA / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    return [(language, sentence, type) for language, sentence, type in (line.split("\t") for line in lines)]


def shares(name: str) -> tuple[float, float]:
    """Return which share of what settles something is found, and of the rest what is taken all the same."""
    judged = [(type != NOTHING, correction(sentence) is not None) for _, sentence, type in labelled(name)]
    settling = [taken for settles, taken in judged if settles]
    rest = [taken for settles, taken in judged if not settles]
    return sum(settling) / len(settling), sum(rest) / len(rest)


@pytest.mark.parametrize("name", ["chosen", "aside"])
def test_most_of_what_settles_something_is_found_and_hardly_anything_else(name: str) -> None:
    found_share, false = shares(name)

    assert found_share >= FOUND_AT_LEAST
    assert false <= FALSE_AT_MOST


def test_every_language_has_sentences_of_both_kinds() -> None:
    kinds = {(language, type == NOTHING) for language, _, type in labelled("aside")}

    assert kinds == {
        (language, none) for language in "de en es fr ja ru zh".split() for none in (True, False)
    }


@pytest.mark.parametrize(
    ("before", "sentence", "corrected"),
    [
        (
            ["I will install it.", "[Bash]: npm install stripe"],
            "no, use pnpm not npm",
            "[Bash]: npm install stripe",
        ),
        (["The port is 8080.\nAll tests pass."], "that is wrong, the port is 8081", "The port is 8080."),
        (["Done."], "no, use pnpm not npm", ""),
        ([], "that is wrong, the port is 8081", ""),
    ],
)
def test_the_line_that_is_corrected_is_known(before: list[str], sentence: str, corrected: str) -> None:
    (mined,) = mine([("user", sentence)], before=before)

    assert mined.settles
    assert mined.corrects == corrected == what_it_corrects(before, sentence)


def test_what_is_said_in_other_words_of_no_language_takes_no_time() -> None:
    for text in ("no, " + "use " * 5000, "a b " * 20_000, "не" * 40_000, "用" * 60_000, "wrong " * 10_000):
        correction(text[:300])
        mine([("user", text)])
