"""
What a model is asked about a piece of transcript, and which parts of its answer are accepted.

The model alone is never believed: the shape of its answer is checked, the evidence must occur in the
transcript, and the transcript decides whose word the memory is and whether it waits for the person.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_server.core.capture.support import borne_out
from mcp_server.core.list_key import ListKey
from mcp_server.core.memory import LISTS
from mcp_server.core.memory_types import TYPES
from mcp_server.core.render import one_line
from mcp_server.core.secrets.redaction import find_secrets, redact
from mcp_server.core.sessions.chunks import Chunk, said_in
from mcp_server.core.text.titles import clipped, title_of

MOST = 10  # memories of one answer
LONGEST = 500  # characters of one memory
SHORTEST = 15
NEIGHBOUR = 300  # characters of a known memory in the prompt
KNOWN = 6000  # characters of all known memories in the prompt, about 1,500 tokens
ANSWER_TOKENS = 1024  # of the model, at most
LONGEST_ANSWER = 100_000  # characters that are looked at; no such answer has as many

_REFUSAL = re.compile(
    r"^\W*(?:i(?:'m| am) (?:sorry|unable)|i (?:can(?:no|')t|cannot|won't|will not)|as an ai|sorry,)",
    re.IGNORECASE,
)
_EMPTY = re.compile(r'(?<!":)(?<!": )\[\s*\]')  # no value of a key
_MARKUP = re.compile(r'^\s*[\[{]|"(?:type|content|evidence)"\s*:|</?(?:transcript|known_memories|system)\b')


@dataclass(frozen=True, slots=True)
class Proposal:
    """
    A memory that a model proposes, after the checks; `supersedes` is the number of a neighbour, from 1.

    `waits` says for people why it is only a candidate; '' when it is stored.
    """

    type: str
    title: str
    text: str
    tags: tuple[str, ...]
    evidence: str
    source: str
    supersedes: int | None = None
    waits: str = ""
    use_when: tuple[str, ...] = ()


def request(chunks: Sequence[Chunk], neighbours: Sequence[tuple[str, str, str]], *, today: str) -> str:
    """
    Return the prompt for the model: the *neighbours*, (type, title, text), numbered from 1, then the chunks.

    All of it is data inside tags, and no text in it can close a tag.
    """
    known_lines = "\n".join(
        known_line(number, *neighbour) for number, neighbour in enumerate(neighbours, start=1)
    )
    parts = [
        f"Today is {today}.",
        f"<known_memories>\n{known_lines or 'none'}\n</known_memories>",
    ]
    for chunk in chunks:
        parts += [f"<told_before>\n{_inside(chunk.overlap)}\n</told_before>"] if chunk.overlap else []
        parts.append(f"<transcript>\n{_inside(chunk.text)}\n</transcript>")
    parts.append("The JSON array:")
    return "\n\n".join(parts)


def known_line(number: int, type: str, title: str, text: str) -> str:
    """Return the line that shows a known memory to the model; the model refers to it by *number*."""
    return f"[{number}] {type}: {one_line(title)}: {one_line(text, NEIGHBOUR)}"


def proposals(answer: str, chunks: Sequence[Chunk], *, neighbours: int) -> list[list[Proposal]] | None:
    """
    Return for each of *chunks* the proposals of *answer* that pass the checks; None where it is no answer.

    A proposal belongs to the first chunk that supports it. Of an answer that was cut off, the complete
    objects count.
    """
    objects = objects_in(answer)
    if objects is None:
        return None
    by_chunk: list[list[Proposal]] = [[] for _ in chunks]
    for candidate in objects:
        at, memory_proposal = placed(candidate, chunks, neighbours=neighbours)
        if memory_proposal and sum(map(len, by_chunk)) < MOST:
            by_chunk[at].append(memory_proposal)
    return by_chunk


def placed(candidate: Any, chunks: Sequence[Chunk], *, neighbours: int) -> tuple[int, Proposal | None]:
    """Return the index of the first of *chunks* that supports *candidate*, and its memory; else (0, None)."""
    for at, chunk in enumerate(chunks):
        if memory_proposal := proposal(candidate, chunk, neighbours=neighbours):
            return at, memory_proposal
    return 0, None


def proposal(candidate: Any, chunk: Chunk, *, neighbours: int) -> Proposal | None:
    """Return the memory that the object *candidate* proposes, None when a check fails."""
    if not isinstance(candidate, dict):
        return None
    name, text = candidate.get("type"), candidate.get("content")
    evidence, title = candidate.get("evidence"), candidate.get("title")
    if name not in TYPES or not isinstance(text, str) or not isinstance(evidence, str):
        return None
    text = " ".join(text.split())
    title = (clipped(title) if isinstance(title, str) else "") or title_of(text)
    if "[secret removed" in f"{title}\n{text}" or find_secrets(f"{title}\n{text}"):
        return None  # a masked secret is worth nothing; one that is not masked was never in the chunk
    if not SHORTEST <= len(text) <= LONGEST or _REFUSAL.search(text) or _MARKUP.search(text):
        return None
    borne = borne_out(f"{title}\n{text}", evidence, said_in(chunk))
    if borne is None:
        return None
    number = candidate.get("supersedes")
    lists: dict[str, Any] = {key.name: listed(key, candidate.get(key.name)) for key in LISTS if key.proposed}
    return Proposal(
        type=name,
        title=title,
        text=text,
        evidence=redact(" ".join(evidence.split()))[:200],
        source=borne.source,
        supersedes=number if type(number) is int and 1 <= number <= neighbours else None,
        waits=borne.waits,
        **lists,
    )


def listed(key: ListKey, value: Any) -> tuple[str, ...]:
    """Return the texts that *value*, if it is a list, proposes for *key*, cleaned."""
    texts = [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
    return key.first(texts)[: key.proposed]


def objects_in(answer: str) -> list[Any] | None:
    """
    Return the complete JSON objects in *answer*, those of a list inside an object too; None for no answer.

    [] only where the answer itself is an empty list: one inside an object that cannot be read, such as its
    tags, says nothing.
    """
    objects = [*_objects(answer[:LONGEST_ANSWER])]
    if len(objects) == 1 and isinstance(members := _only_value(objects[0]), list):
        return members  # {"memories": [...]}
    return objects or ([] if _EMPTY.search(answer) else None)


def _objects(answer: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder(strict=False)  # a model may end a line within a text
    at = answer.find("{")
    while at >= 0:
        try:
            member, end = decoder.raw_decode(answer, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield member
        at = answer.find("{", end)


def _only_value(member: dict[str, Any]) -> Any:
    return next(iter(member.values())) if len(member) == 1 else None


def _inside(text: str) -> str:
    return text.replace("</", "‹/")
