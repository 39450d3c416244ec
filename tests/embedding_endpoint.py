"""An endpoint that embeds: the scripted server on loopback, answering as OpenAI's `/v1/embeddings` does."""

import hashlib
import json
import random
from collections.abc import Callable
from typing import Any

from mcp_server.core.text.words import query_terms
from tests.scripted_model import Answer, ScriptedModel

NAME = "nomic-embed-text"


def vector(text: str, dimensions: int = 8) -> list[float]:
    """Return the sum of a vector for each word: texts that share words are near each other."""
    numbers = [0.01] * dimensions
    for word in query_terms(text):
        chance = random.Random(hashlib.sha256(word.encode()).digest())
        numbers = [number + chance.gauss(0, 1) for number in numbers]
    return numbers


def answer(*vectors: object, **more: Any) -> Answer:
    """Return the answer of an endpoint that holds *vectors*, whatever they are."""
    data = [
        {"object": "embedding", "index": place, "embedding": numbers} for place, numbers in enumerate(vectors)
    ]
    return Answer(body=json.dumps({"object": "list", "data": data, "model": NAME}).encode(), **more)


def embeds(dimensions: int = 8) -> Callable[[dict[str, Any]], Answer]:
    """Return what makes an endpoint of a server: vectors of that many *dimensions* for each request."""
    return lambda body: answer(*(vector(text, dimensions) for text in body["input"]))


def setting(server: ScriptedModel, name: str = NAME) -> str:
    """Return how the person names the endpoint."""
    return f"{server.url}#{name}"


def texts(server: ScriptedModel) -> list[str]:
    """Return every text that was sent to the server."""
    with server.changed:
        return [text for request in server.asked for text in request.body["input"]]
