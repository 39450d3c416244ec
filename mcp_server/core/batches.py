"""Do a long piece of work in batches; `itertools.batched` needs Python 3.12."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield *items* in their order, *size* at a time; the last batch may have fewer."""
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch
