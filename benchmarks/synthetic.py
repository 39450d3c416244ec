"""
Made-up memories and questions: plausible in length, in how words repeat, and in how many share a topic.

The same number always gives the same text. No sentence of it means anything.
"""

import bisect
import itertools
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import new_id
from mcp_server.core.memory_types import TYPES
from mcp_server.core.text.languages import FUNCTION_SETS

VOCABULARY = 20_000
FLATTENING = (
    50  # Zipf-Mandelbrot: the commonest word is in about a quarter of the memories, as in English notes
)
TOPICS = 300
TOPIC_WORDS = 40
TOPIC_SHARE = 0.3  # of the words of a memory that come from its topic
EPOCH = datetime(2026, 11, 1, tzinfo=UTC)

_SYLLABLES = [a + b for a in "b c d f g k l m n p r s t v".split() for b in "a e i o u".split()]
_OF_A_LANGUAGE = frozenset().union(*FUNCTION_SETS.values())  # "todo": texts are to be of none, as English is
_FILLING = ("how do we", "why does the", "what is the", "where did I put the", "when was", "which", "")


class Words:
    """A vocabulary with the frequencies of a natural language."""

    def __init__(self, seed: int = 0) -> None:
        chance = random.Random(seed)
        words_found: dict[str, None] = {}
        while len(words_found) < VOCABULARY:
            word = "".join(chance.choices(_SYLLABLES, k=chance.choice((2, 2, 3, 3, 4))))
            if word not in _OF_A_LANGUAGE:
                words_found[word] = None
        self._words = list(words_found)
        self._sums = list(itertools.accumulate(1 / (rank + FLATTENING) for rank in range(VOCABULARY)))
        self._topics = [chance.sample(self._words, TOPIC_WORDS) for _ in range(TOPICS)]

    def text(self, chance: random.Random, length: int) -> str:
        """Return *length* words in sentences and paragraphs, about one topic."""
        topic = chance.choice(self._topics)
        sentences, paragraphs = [], []
        while length > 0:
            size = min(length, chance.randint(5, 18))
            words = [
                chance.choice(topic) if chance.random() < TOPIC_SHARE else self._word(chance)
                for _ in range(size)
            ]
            sentences.append(" ".join(words).capitalize() + ".")
            length -= size
            if chance.random() < 0.2 or length <= 0:
                paragraphs.append(" ".join(sentences))
                sentences = []
        return "\n\n".join(paragraphs)

    def _word(self, chance: random.Random) -> str:
        return self._words[bisect.bisect(self._sums, chance.random() * self._sums[-1])]


def memories(count: int, *, seed: int = 0) -> Iterator[Memory]:
    """Yield *count* memories of 20 to 400 words, half of them below 80."""
    vocabulary = Words()
    chance = random.Random(seed)
    for _ in range(count):
        length = int(min(400, max(20, chance.lognormvariate(4.4, 0.7))))
        text = vocabulary.text(chance, length)
        title = " ".join(text.split()[: chance.randint(3, 8)]).rstrip(".")
        day = EPOCH - timedelta(days=chance.randint(0, 400), seconds=chance.randint(0, 86_400))
        yield Memory(
            id=new_id(title, text, day),
            title=title,
            text=text,
            created=day,
            updated=day,
            type=chance.choice(TYPES),
            tags=tuple(dict.fromkeys(chance.choices(_SYLLABLES[:30], k=2))),
        )


def questions(memories_asked: list[Memory], count: int, *, seed: int = 1) -> list[str]:
    """Return *count* questions of two to nine words found in one of the memories *asked* about."""
    chance = random.Random(seed)
    question_texts = []
    for _ in range(count):
        words = chance.choice(memories_asked).text.replace(".", "").lower().split()
        sampled = chance.sample(words, min(len(words), chance.randint(2, 9)))
        question_texts.append(f"{chance.choice(_FILLING)} {' '.join(sampled)}?".strip())
    return question_texts
