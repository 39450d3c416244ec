"""Quadratic forms on embeddings: how strongly a text is of a kind, by what labelled texts have in common."""

import numpy as np

from mcp_server.adapters.index.search.quantised import Floats


def values(numbers: Floats, vectors: Floats) -> Floats:
    """
    Return the value of the form for each of *vectors*, by the table *numbers*.

    The first row of *numbers* holds a direction and the number that is added to the product; each other row
    holds a direction and the sign with which the square of its product counts.
    """
    products = vectors @ numbers[:, :-1].T
    return np.asarray(products[..., 0] + numbers[0, -1] + products[..., 1:] ** 2 @ numbers[1:, -1])
