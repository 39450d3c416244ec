"""What settles something for good is told from what does not, in sentences that nothing was learned from."""

from pathlib import Path

import pytest

from benchmarks.settling import NOTHING, judge_by, read
from mcp_server.core.capture.mining import Judge
from mcp_server.embedding import load_embedder
from tests.live import ROOT

LABELLED = ROOT / "tests" / "data" / "corrections"
RIGHT_AT_LEAST, FALSE_AT_MOST = 0.6, 0.05  # shares; processors round the int8 model differently


@pytest.fixture(scope="module")
def judge() -> Judge:
    return judge_by(load_embedder(Path(), "minilm-l6"))


@pytest.mark.parametrize(
    ("name", "is_english", "least"), [("aside", True, 0.6), ("later", True, 0.55), ("later", False, 0.25)]
)
def test_much_of_what_settles_something_is_seen_with_its_type_and_hardly_anything_else(
    judge: Judge, name: str, is_english: bool, least: float
) -> None:
    sentences = [
        sentence for sentence in read(LABELLED / f"{name}.tsv") if (sentence.language == "en") is is_english
    ]

    types = judge([sentence.text for sentence in sentences])

    pairs = list(zip(types, (sentence.type for sentence in sentences), strict=True))
    seen = [type == right for type, right in pairs if right != NOTHING and type]
    false = [bool(type) for type, right in pairs if right == NOTHING]
    assert len(seen) >= least * (len(pairs) - len(false))
    assert sum(seen) >= RIGHT_AT_LEAST * len(seen)
    assert sum(false) <= FALSE_AT_MOST * len(false)


def test_without_sentences_there_is_nothing_to_judge(judge: Judge) -> None:
    assert judge([]) == []
