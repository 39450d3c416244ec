"""The interfaces by which the core and the actions use the clock, the embedder and the model."""

import math
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from mcp_server.core.budget import Reply

Vector = bytes
"""A normalised embedding: float32, little-endian, `4 * dimensions` bytes."""


class Embedded(NamedTuple):
    """
    What an embedder returns for a text: one vector for the whole, and the vectors of its tokens, joined.

    A token that occurs several times has one vector; `tokens` is empty if the model gives no token vectors.
    """

    vector: Vector
    tokens: Vector


Clock = Callable[[], datetime]
"""Returns the current time, aware and in UTC."""


class Embedder(Protocol):
    """A model that turns texts into vectors whose dot product is their similarity."""

    @property
    def model(self) -> str:
        """The name stored with each vector; vectors of different models are never compared."""

    @property
    def dimensions(self) -> int: ...

    @property
    def sends(self) -> bool:
        """Whether texts are sent to another program, which gets no secret and may not answer."""

    @property
    def problem(self) -> str:
        """Why it does not answer now, a sentence; '' while it does."""

    def embed_queries(self, texts: Sequence[str], *, patience: float = math.inf) -> list[Embedded]:
        """
        Return what each of *texts* becomes as a question.

        Raises EmbedderUnavailable, and does so within *patience* seconds where another program is asked.
        """

    def embed_passages(self, texts: Sequence[str]) -> list[Embedded]:
        """Return what each of *texts* becomes as a part of a memory; raises EmbedderUnavailable."""


class Model(Protocol):
    """A language model that is paid by the token."""

    @property
    def identity(self) -> str:
        """A digest that changes with the key and the endpoint, and reveals neither."""

    def ask(self, *, system: str, prompt: str, most_tokens: int) -> "Reply":
        """Make one call and return its reply; raises CallFailed for everything else."""
