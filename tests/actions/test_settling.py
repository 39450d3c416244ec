"""What a person settles in their own words waits for them, where the model at hand knows what these mean."""

import pytest

from mcp_server.actions.capture.capture import keep
from mcp_server.actions.capture.mine import run_mining
from mcp_server.actions.judge.candidate import review_candidates
from mcp_server.store import Store
from tests.recorded import Recorded, seen

SETTLES = "Deploys happen from the jenkins box in room 12, nobody has access from outside."
ASKS = "Add a column for the discount to the orders table."


def waiting(store: Store) -> list[str]:
    return [candidate.memory.text for candidate in review_candidates(store)]


@pytest.fixture
def spoken(recorded: Recorded) -> Recorded:
    recorded.user(f"{SETTLES} {ASKS}")
    recorded.claude("Done. We always deploy from the jenkins box in room 12.")
    return recorded


def test_what_is_settled_without_a_telling_word_waits(meaning_store: Store, spoken: Recorded) -> None:
    keep(meaning_store, seen(meaning_store, spoken))
    run_mining(meaning_store)

    assert waiting(meaning_store) == [SETTLES]


def test_without_the_model_patterns_alone_look(store: Store, spoken: Recorded) -> None:
    keep(store, seen(store, spoken))

    assert waiting(store) == []
