"""settling: which sentences of a person settle something for good, judged by the embedding model at hand."""

from collections.abc import Sequence

from mcp_server.core.capture.mining import Judge
from mcp_server.core.errors import EmbedderUnavailable
from mcp_server.core.ports import Vector
from mcp_server.core.search.confidence import MEASURED
from mcp_server.store import Store


def judge_of(store: Store) -> Judge:
    """
    Return what judges sentences; the model is loaded for those whose words alone do not rule it out.

    With another model than the shipped one, for which sentences were labelled, nothing settles anything.
    """

    def embed(texts: Sequence[str]) -> Sequence[Vector]:
        meaning = store.meaning()
        if meaning is None or meaning.embedder.model != MEASURED:
            raise EmbedderUnavailable("No model is at hand for which sentences were labelled.", "")
        return [embedded.vector for embedded in meaning.embedder.embed_queries(texts)]

    def judge(sentences: Sequence[str]) -> Sequence[str]:
        from mcp_server.adapters.kinds.settling import settled  # slow to import

        try:
            return settled(sentences, embed)
        except EmbedderUnavailable:
            return [""] * len(sentences)

    return judge
