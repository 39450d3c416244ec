"""The ways of searching that are measured, among them recall without each of its parts."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from mcp_server.core.search import ranking
from mcp_server.core.search.query import Mode


@dataclass(frozen=True, slots=True)
class Way:
    """A way of searching: a mode of recall, and the constants of core/search/ranking that differ in it."""

    name: str
    mode: Mode = Mode.HYBRID
    changed: Mapping[str, float] = field(default_factory=dict)


MODES = tuple(Way(mode.value, mode) for mode in Mode)

WITHOUT = (
    Way("without words of the memory", changed={"LEXICAL_MEMORY": 0.0}),
    Way("without words near each other", changed={"LEXICAL_NEAR": 0.0}),
    Way("without tokens", changed={"MAXSIM": 0.0, "CLOSE_MEANING": 0.6}),
    Way("without the best passage's meaning", changed={"MEAN_SHARE": 1.0}),
    Way("without the mean of the best passages", changed={"MEAN_SHARE": 0.0}),
    Way("without coverage", changed={"ENOUGH_COVERAGE": 1e-9}),
    Way("without damping", changed={"DAMPING": 1.0}),
    Way("without the boost for a tag", changed={"TAG_BOOST": 1.0}),
    Way("without the boost for a phrase", changed={"PHRASE_BOOST": 1.0}),
    Way("without the boost for a path", changed={"PATH_BOOST": 1.0}),
)
"""Each has one part of relevance taken out; meaning as a whole is out in keyword, words in semantic."""


@contextmanager
def as_in(way: Way) -> Iterator[None]:
    """Rank as *way* does; afterwards everything is as before."""
    before = {name: getattr(ranking, name) for name in way.changed}
    try:
        for name, value in way.changed.items():
            setattr(ranking, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(ranking, name, value)
