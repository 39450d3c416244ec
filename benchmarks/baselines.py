"""What any search must beat: grep, and BM25 as every textbook has it."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping

from benchmarks.measures import DEPTH
from mcp_server.core.text.words import query_terms

K1, B = 1.2, 0.75  # as in Lucene and FTS5
_WORD = re.compile(r"\w+")


def grep(question: str, texts: Mapping[str, str]) -> list[str]:
    """
    Return the keys of *texts* (in lower case) that contain a term of *question*, as grep would find them.

    Those with the most different terms come first, among equals the shortest.
    """
    terms = query_terms(question)
    counts = {key: sum(term in text for term in terms) for key, text in texts.items()}
    keys = [key for key, count in counts.items() if count]
    return sorted(keys, key=lambda key: (-counts[key], len(texts[key]), key))[:DEPTH]


class Bm25:
    """BM25 over whole texts (in lower case): stop words out, nothing stemmed, nothing split."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._frequencies: defaultdict[str, dict[str, int]] = defaultdict(dict)
        self._lengths: dict[str, int] = {}
        for key, text in texts.items():
            words = _WORD.findall(text)
            self._lengths[key] = len(words)
            for word, count in Counter(words).items():
                self._frequencies[word][key] = count
        self._mean = sum(self._lengths.values()) / max(1, len(self._lengths))

    def search(self, question: str) -> list[str]:
        """Return the keys of the best texts for *question*, best first."""
        scores: Counter[str] = Counter()
        for term in query_terms(question):
            having = self._frequencies.get(term, {})
            weight = math.log(1 + (len(self._lengths) - len(having) + 0.5) / (len(having) + 0.5))
            for key, count in having.items():
                length = 1 - B + B * self._lengths[key] / self._mean
                scores[key] += weight * count * (K1 + 1) / (count + K1 * length)
        return sorted(scores, key=lambda key: (-scores[key], key))[:DEPTH]
