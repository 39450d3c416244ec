"""Tokens are compared one by one, and what every memory answers alike decides nothing."""

from collections.abc import Sequence

import numpy as np
import pytest

from mcp_server.actions.memory.remember import remember
from mcp_server.adapters.index.search import vectors
from mcp_server.adapters.index.search.maxsim import MOST_TOKENS, Match, maxsim, packed
from mcp_server.core.memory import Draft
from mcp_server.core.ports import Embedded
from mcp_server.store import Store

DIMENSIONS = 384
MODEL = "made up"
CHANCE = np.random.default_rng(3)


def unit(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    directions = CHANCE.standard_normal((*shape, DIMENSIONS)).astype("<f4")
    return np.asarray(directions / np.linalg.norm(directions, axis=-1, keepdims=True))


RARE, COMMON, OTHER = unit(3)
BEGINNING = CHANCE.bit_generator.state


@pytest.fixture(autouse=True)
def same_numbers_whatever_ran_before() -> None:
    CHANCE.bit_generator.state = BEGINNING


def embedded(*tokens: Sequence[float]) -> Embedded:
    return Embedded(unit(1).tobytes(), np.array(tokens, dtype="<f4").tobytes())


def keep(store: Store, *passages: Embedded) -> int:
    """Remember something of as many passages, as the model is said to have made them; return its row."""
    text = "\n\n".join(f"# Part {unit(1)[0, 0]}\n\nwords" for _ in passages)
    ref = remember(store, Draft(f"Note {unit(1)[0, 0]}", text)).memory.id
    with store.database.write() as db:
        (row,) = db.execute("SELECT row FROM memories WHERE id = ?", (ref,)).fetchone()
        vectors.put_vectors(db, MODEL, zip(passages_of(store, row), passages, strict=True))
    return int(row)


def passages_of(store: Store, row: int) -> list[int]:
    with store.database.read() as db:
        rows = db.execute("SELECT row FROM passages WHERE memory = ? ORDER BY row", (row,)).fetchall()
    return [number for (number,) in rows]


def matches(store: Store, query: Embedded, *rows: int) -> dict[int, Match]:
    with store.database.read() as db:
        return maxsim(db, MODEL, query, {row: passages_of(store, row) for row in rows})


def scores(store: Store, query: Embedded, *rows: int) -> dict[int, float]:
    return {row: match.maxsim for row, match in matches(store, query, *rows).items()}


def test_signs_tell_a_cosine_to_about_five_hundredths(store: Store) -> None:
    askeds = unit(200)
    near = askeds + 0.7 * unit(200)
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    off = []
    for question, answer in zip(askeds, near, strict=True):
        row = keep(store, embedded(answer))
        off.append(scores(store, embedded(question), row)[row] - float(question @ answer))

    assert abs(float(np.mean(off))) < 0.01
    assert float(np.std(off)) < 0.05


def test_a_token_that_every_memory_has_says_nothing_about_which_is_better(store: Store) -> None:
    rare, common = keep(store, embedded(RARE, COMMON)), keep(store, embedded(OTHER, COMMON))

    score_of = scores(store, embedded(RARE, COMMON), rare, common)

    assert score_of[rare] == pytest.approx(1.0, abs=0.05)
    assert score_of[common] < 0.2  # as much as RARE and OTHER have in common, not the half of COMMON


def test_where_nothing_is_better_every_token_counts_alike(store: Store) -> None:
    row = keep(store, embedded(COMMON))

    assert scores(store, embedded(COMMON, RARE), row)[row] == pytest.approx(0.5, abs=0.1)


def test_of_a_memory_the_best_passage_and_the_mean_of_them_count(store: Store) -> None:
    row = keep(store, embedded(RARE), embedded(OTHER))

    score = scores(store, embedded(RARE), row)[row]

    best, elsewhere = 1.0, float(RARE @ OTHER)
    assert score == pytest.approx(0.7 * best + 0.3 * (best + elsewhere) / 2, abs=0.1)


def test_of_each_memory_the_passage_that_answers_best_is_told(store: Store) -> None:
    one = keep(store, embedded(OTHER), embedded(COMMON), embedded(RARE))
    other = keep(store, embedded(RARE), embedded(OTHER))

    match_of = matches(store, embedded(RARE), one, other)

    assert match_of[one].passage == passages_of(store, one)[2]
    assert match_of[other].passage == passages_of(store, other)[0]


def test_what_has_no_tokens_is_left_out(store: Store) -> None:
    row, bare = keep(store, embedded(RARE)), keep(store, embedded())

    assert scores(store, embedded(RARE), row, bare).keys() == {row}
    assert scores(store, embedded(), row) == {}
    assert scores(store, embedded(RARE)) == {}


def test_of_a_long_question_the_first_tokens_are_compared(store: Store) -> None:
    rare, common = keep(store, embedded(RARE)), keep(store, embedded(OTHER))
    others = unit(MOST_TOKENS)

    within = scores(store, embedded(*others[1:], RARE), rare, common)
    beyond = scores(store, embedded(*others, RARE), rare, common)

    assert within[rare] > within[common] + 0.1
    assert abs(beyond[rare] - beyond[common]) < 0.05


def test_dimensions_that_fill_no_whole_byte_are_kept(store: Store) -> None:
    tokens = np.array([[1, -1, 1, 1, -1, 1, -1, 1, -1, -1, 1]], dtype="<f4")

    assert packed(tokens.tobytes(), 11) == bytes([0b10110101, 0b00100000])


@pytest.mark.filterwarnings("error")
def test_memories_that_say_the_same_are_as_good_as_one_of_them_however_many(store: Store) -> None:
    passages = embedded(*unit(20))
    query = embedded(*unit(5))
    rows = [keep(store, passages) for _ in range(15)]

    alone = scores(store, query, rows[0])[rows[0]]

    for many in (3, 5, 6, 7, 10, 15):
        assert [*scores(store, query, *rows[:many]).values()] == pytest.approx([alone] * many, abs=1e-4)
