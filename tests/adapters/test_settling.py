"""What settles something for good is told from what does not, in sentences that nothing was learned from."""

from pathlib import Path

import pytest

from benchmarks.settling import NOTHING, Sentence, judge_by, read
from mcp_server.core.capture.mining import Judge
from mcp_server.embedding import load_embedder
from tests.live import ROOT

LABELLED = ROOT / "tests" / "data" / "corrections"
FOUND_AT_LEAST, RIGHT_AT_LEAST, FALSE_AT_MOST = 0.55, 0.8, 0.04  # shares


@pytest.fixture(scope="module")
def judge() -> Judge:
    return judge_by(load_embedder(Path(), "minilm-l6"))


def of_english(name: str) -> list[Sentence]:
    return [sentence for sentence in read(LABELLED / f"{name}.tsv") if sentence.language == "en"]


@pytest.mark.parametrize("name", ["aside", "later"])
def test_most_of_what_settles_something_is_seen_with_its_type_and_hardly_anything_else(
    judge: Judge, name: str
) -> None:
    sentences = of_english(name)

    types = judge([sentence.text for sentence in sentences])

    pairs = list(zip(types, (sentence.type for sentence in sentences), strict=True))
    seen = [type == right for type, right in pairs if right != NOTHING and type]
    false = [bool(type) for type, right in pairs if right == NOTHING]
    assert len(seen) >= FOUND_AT_LEAST * (len(pairs) - len(false))
    assert sum(seen) >= RIGHT_AT_LEAST * len(seen)
    assert sum(false) <= FALSE_AT_MOST * len(false)


def test_other_languages_are_left_to_the_patterns(judge: Judge) -> None:
    assert judge(
        ["Wir haben beschlossen, dass der Server in Frankfurt bleibt.", "以后都用 pnpm,不要用 npm。"]
    ) == ["", ""]


def test_without_sentences_there_is_nothing_to_judge(judge: Judge) -> None:
    assert judge([]) == []
