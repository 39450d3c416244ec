"""
An embedding model that another program runs, asked over HTTP as OpenAI's `/v1/embeddings` is.

Ollama, vLLM, LiteLLM and others answer the same request. Whatever the other side does, a call ends within its
deadline, reads a bounded number of bytes, follows no redirection, and is told no secret. After a failure the
endpoint is left alone for a while.
"""

import json
import math
import struct
import time
from collections.abc import Callable, Iterator, Sequence

from mcp_server.adapters.availability import RESTS, Availability, NotAnswered
from mcp_server.adapters.http_request import NoAnswer, Poster
from mcp_server.core.embedding_models import MOST_DIMENSIONS, Endpoint
from mcp_server.core.errors import EmbedderUnavailable
from mcp_server.core.ports import Embedded, Vector
from mcp_server.core.secrets.redaction import redact

DEADLINE = 60.0  # seconds of one request; a program on this machine may have to load the model first
MOST_TEXTS = 16  # of one request
LONGEST_TEXT = 8192  # characters; passages are shorter
MOST_BYTES = 16 * 1024 * 1024  # of an answer
PAUSES = (0.5, 2.0)  # seconds before passages that an overloaded endpoint refused are sent again


class _Failed(Exception):
    """A request without vectors; *again* tells whether the same request may succeed in a moment."""

    def __init__(self, sentence: str, *, again: bool = False, retry_after: float = 0.0) -> None:
        super().__init__(sentence)
        self.again, self.retry_after = again, retry_after


class EndpointEmbedder:
    """
    The model behind *endpoint*; its vectors get length one, and tokens have none.

    *key* is called for each request; it returns '' for an endpoint that wants none. *own_network* is false
    when the environment names proxies and certificates that the person did not set; a request to this
    machine never goes through a proxy. An endpoint whose dimensions are not known is asked for them now,
    which may raise EmbedderUnavailable.
    """

    sends = True

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        key: Callable[[], str] = str,
        own_network: bool = True,
        deadline: float = DEADLINE,
        rests: Sequence[float] = RESTS,
    ) -> None:
        self._endpoint = endpoint
        self._key = key
        self._post = Poster(endpoint.embeddings, own_network=own_network, deadline=deadline, most=MOST_BYTES)
        self._who = f"The embedding endpoint {endpoint.address}"
        self._availability = Availability[list[Embedded]](self._who, rests)
        self.dimensions = endpoint.dimensions
        if not self.dimensions:
            (probe,) = self._embedded(["probe"])
            self.dimensions = len(probe.vector) // 4
        self.model = endpoint._replace(dimensions=self.dimensions).model

    @property
    def problem(self) -> str:
        return self._availability.problem

    def embed_queries(self, texts: Sequence[str], *, patience: float = math.inf) -> list[Embedded]:
        try:
            return self._availability.asked(
                lambda: self._embedded(texts), patience=patience, name="embed-queries"
            )
        except NotAnswered as late:
            self._availability.problem = str(late)
            raise EmbedderUnavailable(str(late)) from None

    def embed_passages(self, texts: Sequence[str]) -> list[Embedded]:
        starts = range(0, len(texts), MOST_TEXTS)
        return [embedded for at in starts for embedded in self._embedded(texts[at : at + MOST_TEXTS], PAUSES)]

    def _embedded(self, texts: Sequence[str], pauses: Sequence[float] = ()) -> list[Embedded]:
        """Ask once, and again after each of *pauses* while that may help; raise EmbedderUnavailable."""
        if self._availability.is_resting:
            raise EmbedderUnavailable(self.problem)
        for pause in (*pauses, None):
            try:
                vectors = [*self._vectors(self._posted(texts), len(texts))]
                break
            except _Failed as failed:
                if pause is None or not failed.again or failed.retry_after > pause:
                    self._availability.note_failure(str(failed), retry_after=failed.retry_after)
                    raise EmbedderUnavailable(str(failed)) from None
                time.sleep(pause)
        self._availability.note_answer()
        return [Embedded(vector, b"") for vector in vectors]

    def _posted(self, texts: Sequence[str]) -> bytes:
        """Return the body of the answer; raise _Failed for every other end, within the deadline."""
        inputs = [_sendable(text) for text in texts]
        headers = {"user-agent": "daybook"}
        if key := self._key():
            headers["authorization"] = f"Bearer {key}"
        content = json.dumps({"model": self._endpoint.name, "input": inputs}).encode("ascii")
        try:
            answer = self._post(content, headers)
        except NoAnswer as failed:
            raise _Failed(f"{self._who} {failed}", again=failed.again) from None
        if not answer.is_success:
            raise self._refusal(answer.status, answer.retry_after)
        return answer.body

    def _refusal(self, status: int, retry_after: float) -> _Failed:
        name = self._endpoint.name
        if status in (401, 403):
            return _Failed(f"{self._who} refused the key, or asks for one (HTTP {status}).")
        if status == 404:
            return _Failed(
                f"{self._who} lacks the model '{name}', or is not this kind of endpoint (HTTP 404)."
            )
        if 300 <= status < 400:
            return _Failed(
                f"{self._who} redirects to another address, which Daybook does not follow (HTTP {status})."
            )
        again = status == 429 or status >= 500
        return _Failed(f"{self._who} answered with HTTP {status}.", again=again, retry_after=retry_after)

    def _vectors(self, body: bytes, wanted: int) -> Iterator[Vector]:
        """Yield a vector of length one for each text; raise _Failed when the answer has no such vectors."""
        try:
            data = enumerate(json.loads(body)["data"])
            rows = sorted((entry.get("index", place), entry["embedding"]) for place, entry in data)
            places = [place for place, _ in rows]
            embeddings = [[*embedding] for _, embedding in rows]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise _Failed(f"{self._who} gave an answer without vectors.") from None
        if places != [*range(wanted)]:
            raise _Failed(f"{self._who} gave {len(rows)} vectors that do not belong to the {wanted} texts.")
        dimensions = self.dimensions or len(embeddings[0])
        for embedding in embeddings:
            if len(embedding) != dimensions or not 0 < dimensions <= MOST_DIMENSIONS:
                raise _Failed(
                    f"{self._who} gave a vector of {len(embedding)} numbers instead of {dimensions}:"
                    " its model has changed. 'daybook model use' with the same name embeds everything again."
                )
            if not all(type(number) in (int, float) and abs(number) < 1e18 for number in embedding):
                raise _Failed(f"{self._who} gave a vector that contains something other than numbers.")
            length = math.hypot(*embedding)
            if length < 1e-12:
                raise _Failed(f"{self._who} gave a vector of zeros.")
            yield struct.pack(f"<{dimensions}f", *(number / length for number in embedding))


def _sendable(text: str) -> str:
    """Return what is sent of *text*: no secret, no half characters, never nothing."""
    return redact(text)[:LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8") or " "
