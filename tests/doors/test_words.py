"""Every key with which a person puts memories in order can be searched by at each door."""

import inspect

import pytest

from mcp_server.actions.memory.remember import remember
from mcp_server.actions.recall.recall import recall
from mcp_server.core.memory import WORDS, Draft
from mcp_server.core.search.query import Query, filter_of
from mcp_server.doors.cli.search_commands import recall_command
from mcp_server.store import Store
from tests.live import parameters


@pytest.mark.parametrize("word", WORDS)
def test_a_word_of_the_person_is_asked_for_by_tool_and_command(store: Store, word: str) -> None:
    for value in ("billing", "shipping"):
        remember(store, Draft(f"The {value} flamingo", f"The flamingo of {value}.", **{word: value}))

    answer = recall(store, Query("flamingo", filter=filter_of(**{word: "billing"})))

    assert [hit.title for hit in answer.hits] == ["The billing flamingo"]
    assert word in inspect.signature(filter_of).parameters
    assert word in parameters("recall")
    assert word in {param.name for param in recall_command.params}
