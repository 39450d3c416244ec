"""The outside things that the core and the actions know only by what they do."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

Vector = bytes
"""A normalised embedding: float32, little-endian, `4 * dimensions` bytes."""

Clock = Callable[[], datetime]
"""Returns the present moment, aware and in UTC."""


class Embedder(Protocol):
    """A model that turns texts into vectors whose dot product is their likeness."""

    @property
    def model(self) -> str:
        """The name stored beside each vector; vectors of different models are never compared."""

    @property
    def dimensions(self) -> int: ...

    def embed_query(self, text: str) -> Vector: ...

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]: ...
