"""The outside things that the core and the actions know only by what they do."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from mcp_server.core.budget import Reply

Vector = bytes
"""A normalised embedding: float32, little-endian, `4 * dimensions` bytes."""


class Embedded(NamedTuple):
    """
    What a model makes of a text: one vector for all of it, and one for each token, one after another.

    A token that the text has several times has one vector; there is none where the model tells none.
    """

    vector: Vector
    tokens: Vector


Clock = Callable[[], datetime]
"""Returns the present moment, aware and in UTC."""


class Embedder(Protocol):
    """A model that turns texts into vectors whose dot product is their likeness."""

    @property
    def model(self) -> str:
        """The name stored beside each vector; vectors of different models are never compared."""

    @property
    def dimensions(self) -> int: ...

    def embed_query(self, text: str) -> Embedded: ...

    def embed_passages(self, texts: Sequence[str]) -> list[Embedded]: ...


class Model(Protocol):
    """A language model that is paid by the token."""

    @property
    def identity(self) -> str:
        """A digest that changes with the key and the endpoint, and tells neither."""

    def ask(self, *, system: str, prompt: str, most_tokens: int) -> "Reply":
        """Make one call and return its reply; raises CallFailed for everything else."""
