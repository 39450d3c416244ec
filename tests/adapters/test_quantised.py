"""Vectors kept small find what the whole ones find."""

import numpy as np
import pytest
from numpy.typing import NDArray

from mcp_server.adapters.index.search.quantised import RESCORED, Quantised

Floats = NDArray[np.float32]


def unit(vectors: Floats) -> Floats:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def chance(count: int, dimensions: int, *, seed: int = 0) -> Floats:
    return unit(np.random.default_rng(seed).standard_normal((count, dimensions), dtype=np.float32))


def quantised(vectors: Floats) -> Quantised:
    empty = Quantised.empty(len(vectors) + 5, vectors.shape[1])
    empty.put(0, vectors)
    return empty


@pytest.mark.parametrize("dimensions", [384, 768, 100])
def test_a_cosine_is_that_of_the_whole_vectors_to_three_thousandths(dimensions: int) -> None:
    vectors = chance(300, dimensions)
    query = unit(vectors[:1] + 0.5 * chance(1, dimensions, seed=1))[0]

    cosines = quantised(vectors).cosines(query, np.arange(300))

    assert np.abs(cosines - vectors @ query).max() < 0.003
    assert cosines[0] == pytest.approx(float(vectors[0] @ query), abs=0.003)


@pytest.mark.parametrize("dimensions", [384, 100])
def test_of_many_vectors_the_nearest_are_among_those_whose_signs_agree(dimensions: int) -> None:
    centres = chance(60, dimensions)
    vectors = unit(np.repeat(centres, 500, axis=0) + 0.06 * chance(30_000, dimensions, seed=1) * 10)
    query = unit(centres[:1] + 0.05 * chance(1, dimensions, seed=2) * 10)[0]

    near = quantised(vectors).near(query, np.arange(30_000))

    nearest = np.argsort(-(vectors @ query))[:100]
    assert len(near) == len(set(near.tolist())) == RESCORED
    assert np.isin(nearest, near).mean() >= 0.99


def test_only_the_numbers_asked_for_are_looked_at() -> None:
    vectors = chance(10_000, 64)
    odd_numbers = np.arange(1, 10_000, 2)

    near = quantised(vectors).near(vectors[0], odd_numbers)

    assert len(near) == RESCORED
    assert np.isin(near, odd_numbers).all()


def test_few_vectors_are_all_near() -> None:
    vectors = chance(RESCORED, 64)
    numbers = np.arange(RESCORED)

    assert quantised(vectors).near(vectors[0], numbers).tolist() == numbers.tolist()


def test_a_vector_of_nothing_but_zeros_is_like_no_other() -> None:
    vectors = np.vstack([np.zeros((1, 64), dtype=np.float32), chance(1, 64)])

    assert quantised(vectors).cosines(vectors[1], np.arange(2)) == pytest.approx([0, 1], abs=0.003)


def test_vectors_taken_over_say_the_same() -> None:
    vectors = chance(50, 100)
    numbers = np.array([3, 4, 40])
    smaller = Quantised.empty(10, 100)

    smaller.copy_from(quantised(vectors), numbers)
    smaller.put(3, vectors[:2])

    query = chance(1, 100, seed=5)[0]
    assert smaller.cosines(query, np.arange(5)).tolist() == quantised(
        vectors[[3, 4, 40, 0, 1]]
    ).cosines(query, np.arange(5)).tolist()  # fmt: skip
    assert (smaller.signs[:, :3] == quantised(vectors).signs[:, numbers]).all()
