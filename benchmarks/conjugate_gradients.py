"""
Solves the equations of kernel ridge regression by conjugate gradients.

They need only the product with the kernel, which costs less than the kernel, and takes less memory.
"""

from collections.abc import Callable

import numpy as np

from mcp_server.adapters.index.search.quantised import Floats

CLOSE = 1e-3  # how much of what is wanted may be left unexplained by the solution
MOST_STEPS = 200


def solved(product: Callable[[Floats], Floats], wanted: Floats) -> Floats:
    """Return what *product*, symmetric and positive, makes *wanted* of, by conjugate gradients."""
    solution, rest = np.zeros_like(wanted), wanted.copy()
    direction, size = rest.copy(), float(np.sum(rest * rest))
    enough = CLOSE**2 * size
    for _ in range(MOST_STEPS):
        if size <= enough:
            break
        ahead = product(direction)
        step = size / float(np.sum(direction * ahead))
        solution += step * direction
        rest -= step * ahead
        before, size = size, float(np.sum(rest * rest))
        direction = rest + size / before * direction
    return solution
