"""One call of the model, its outcome, and what was written down."""

import json

import pytest

from mcp_server.actions.model.model_call import call_model
from mcp_server.core.budget import Reply
from mcp_server.core.errors import ModelUnavailable
from mcp_server.store import Store

KEY = "sk-ant-a-very-private-key"
PROMPT = "prompt-words-that-stay-private"


def ask(store: Store, item: str = "chunk-1", *, most_tokens: int = 500, patience: float = 0) -> Reply:
    return call_model(
        store, item=item, system="Extract.", prompt=PROMPT, most_tokens=most_tokens, patience=patience
    )


def refused(store: Store, item: str = "chunk-1", *, later: bool, match: str) -> ModelUnavailable:
    with pytest.raises(ModelUnavailable, match=match) as caught:
        ask(store, item)
    assert caught.value.later is later
    assert KEY not in f"{caught.value!r}{caught.value.hint}{caught.value.__cause__!r}"
    assert PROMPT not in repr(caught.value)
    return caught.value


def events(store: Store, *names: str) -> list[dict[str, object]]:
    lines = [line for path in store.ledger.paths() for line in path.read_text("utf-8").splitlines()]
    return [event for event in map(json.loads, lines) if event["event"] in names]
