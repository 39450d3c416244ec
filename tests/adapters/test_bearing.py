"""What bears on a prompt, by the shipped model and the numbers that were made of written projects."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from mcp_server.adapters.kinds.bearing import MEMORY_READ, bearing
from mcp_server.embedding import load_embedder

EMBEDDER = load_embedder(Path(), "minilm-l6")
MIGRATIONS = "Every schema change has an undo script\nThe DBAs reject a release in which one is missing."
RELEASES = "Nothing goes live on Fridays\nOnly Monday to Thursday before three, after a call to the desk."
PERSONS = "Data of customers is deleted after 90 days\nThe data protection officer checks every new field."
COLOURS = "The brand has two blues\nThe dark one is for headings, the light one for links."
OFFICE = "The team meets in room 312\nOn Mondays at ten, and Yann brings the cake."


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("ship 5.3.1", RELEASES),
        ("can the hotfix go out now?", RELEASES),
        ("each stay needs a new field for the reason of isolation, nullable", MIGRATIONS),
        ("keep the phone number of the next of kin too", PERSONS),
        ("make the links easier to see", COLOURS),
    ],
)
def test_what_is_known_of_such_work_bears_on_it_most(prompt: str, expected: str) -> None:
    memories = [MIGRATIONS, RELEASES, PERSONS, COLOURS, OFFICE]

    values = of(prompt, memories)

    assert memories[values.index(max(values))] == expected
    assert of(prompt, [*reversed(memories)]) == pytest.approx([*reversed(values)], abs=1e-5)


def test_without_memories_nothing_bears_on_a_prompt() -> None:
    assert bearing("ship it", EMBEDDER.embed_queries(["ship it"])[0].vector, []) == []


def test_signs_alone_and_a_long_text_are_weighed_too() -> None:
    beginning = f"{RELEASES} ".ljust(MEMORY_READ, ".")

    signs, short, long = of("ship it", ["***", beginning, f"{beginning} {COLOURS} {OFFICE}"])

    assert signs == pytest.approx(0, abs=0.3)
    assert short > signs
    assert long == pytest.approx(short, abs=0.1)  # what is read ends before; the embedding read a little more


def of(prompt: str, memories: Sequence[str]) -> list[float]:
    vectors = [embedded.vector for embedded in EMBEDDER.embed_passages(memories)]
    asked = EMBEDDER.embed_queries([prompt])[0].vector
    return bearing(prompt, asked, [*zip(memories, vectors, strict=True)])
