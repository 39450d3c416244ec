"""One call of a real server on loopback, and how it ended."""

import pytest

from mcp_server.adapters.claude_model import ClaudeModel
from mcp_server.core.budget import CallFailed, Reply
from tests.scripted_model import Answer, ScriptedModel, reply

KEY = "sk-ant-a-very-private-key"
SYSTEM = "system-words-that-stay-private"
PROMPT = "prompt-words-that-stay-private"

GOOD = reply("fine")


def ask(url: str, *, deadline: float = 10, key: str = KEY, own_network: bool = True) -> Reply:
    model = ClaudeModel(key, url, consent=True, own_network=own_network, deadline=deadline)
    return model.ask(system=SYSTEM, prompt=PROMPT, most_tokens=500)


def failure(answer: Answer, *, deadline: float = 10) -> CallFailed:
    """Return how one call ended that was answered with *answer*; in one call that gave nothing away."""
    with ScriptedModel([answer]) as api:
        with pytest.raises(CallFailed) as caught:
            ask(api.url, deadline=deadline)
        assert api.calls == 1
    assert_private(caught.value)
    return caught.value


def assert_private(failed: CallFailed) -> None:
    messages = repr(failed) + str(failed) + repr(failed.__cause__) + repr(vars(failed))
    assert not any(private in messages for private in (KEY, SYSTEM, PROMPT, "very-private"))
