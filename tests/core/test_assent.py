"""Which turns of a person's confirm what Claude said."""

import pytest

from mcp_server.core.capture.assent import assents


@pytest.mark.parametrize(
    "turn",
    [
        "yes exactly, do that",
        "perfect, that was it",
        "Ok, perfect. Now the docs.",
        "sounds good, let's do that",
        "that works",
        "ok, leave it off. We want merge commits here",
        "Genau, das war's. Leg ihn wieder an.",
        "oui, c'est ça",
        "sí, exacto",
        "да, верно",
        "对，就是这个原因，改成 50m。",
        "はい、そうです。",
    ],
)
def test_who_agrees_confirms(turn: str) -> None:
    assert assents(turn)


@pytest.mark.parametrize(
    "turn",
    [
        "",
        "ok",
        "thanks",
        "yes, go on",
        "yes please continue",
        "ok. next, the header is 2px too high",
        "hm, not sure. Let me talk to ops first.",
        "yes, but the port is another",
        "right?",
        "no, that is wrong",
        "great, but it is not what I asked for",
        "add a test for it",
        "Nein, so nicht",
        "ja, aber nicht heute",
        "不对",
    ],
)
def test_what_may_answer_anything_or_takes_back_confirms_nothing(turn: str) -> None:
    assert not assents(turn)
