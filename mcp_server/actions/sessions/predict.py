"""predict: which memories are recalled one after the other, and which is likely to be wanted next."""

from dataclasses import dataclass

from mcp_server.actions.context.hot import likely_next
from mcp_server.actions.files.read import find
from mcp_server.actions.files.sync import refresh_index
from mcp_server.actions.files.unindexed import self_healing
from mcp_server.adapters.index.events import transitions
from mcp_server.adapters.index.memories import selections
from mcp_server.core.memory_parts import id_in
from mcp_server.core.search.query import check_limit
from mcp_server.core.worth import prediction
from mcp_server.store import Store


@dataclass(frozen=True, slots=True)
class Pattern:
    """Two memories of which `second` follows on `first` with `probability`, as seen `count` times."""

    first: str
    second: str
    second_title: str
    probability: float
    count: int


@self_healing
def access_patterns(store: Store, *, limit: int = 20) -> list[Pattern]:
    """
    Return which memory is likely to follow which, the likeliest first, at most *limit*.

    Raises Rejected for a bad limit, IndexUnavailable.
    """
    check_limit(limit)
    refresh_index(store)
    keys = store.keys
    patterns: list[Pattern] = []
    with store.database.read() as db:
        for likely in prediction.predictions(transitions.steps(db, None, store.now())):
            first, second = selections.with_ref(db, likely.after), selections.with_ref(db, likely.ref)
            if first and second and first.vault in keys and second.vault in keys:
                patterns.append(Pattern(first.id, second.id, second.title, likely.probability, likely.times))
            if len(patterns) >= limit:
                break
    return patterns


def predict_next(store: Store, memory_id: str = "") -> list[Pattern]:
    """
    Return the memories likely to follow one, by default the last recall of this session; at most three.

    Raises NotFound, IndexUnavailable.
    """
    refs = [find(store, memory_id).ref] if memory_id else []
    refresh_index(store)
    patterns: list[Pattern] = []
    with store.database.read() as db:
        for prediction, row in likely_next(store, db, refs=refs):
            after = selections.with_ref(db, prediction.after)
            first = after.id if after else id_in(prediction.after)
            patterns.append(Pattern(first, row.id, row.title, prediction.probability, prediction.times))
    return patterns
