"""The two shelves of an answer, as a session, a terminal and a program see them."""

import json

from tests.doors.shell import Run, said
from tests.doors.test_server import Answers, Call
from tests.doors.test_server import talk as talk

QUESTION = "when do we deploy to production?"
RIGHT = "Production deploys only on Tuesdays after 10:00 UTC."
BELOW = "From past conversations, which also contain guesses"
ALONE = "No memory answers this with confidence."


def test_both_doors_show_the_same_shelves(talk: Call, run: Run) -> None:
    async def conversation(call: Answers) -> None:
        await call("save_conversation", title="Deploys", messages=[{"role": "user", "content": RIGHT}])
        answer = await call("recall", query=QUESTION)
        assert answer.startswith("High confidence, by past conversations alone")
        assert f"{ALONE} {BELOW}" in answer

        await call("remember", title="Deploys on Tuesdays", content=RIGHT, type="decision")
        answer = await call("recall", query=QUESTION)
        assert answer.startswith("High confidence (")
        assert 0 < answer.index("decision ·") < answer.index(BELOW) < answer.index("conversation ·")
        asked_for = await call("recall", query=QUESTION, kind="conversation")
        assert BELOW not in asked_for
        assert "decision ·" not in asked_for

    talk(conversation)

    told = said(run("recall", QUESTION))
    assert told.index("  decision  ") < told.index(BELOW) < told.index("  conversation  ")
    hits = json.loads(said(run("recall", QUESTION, "--json")))["hits"]
    assert [(hit["type"], hit["below"]) for hit in hits] == [
        ("decision", False),
        ("conversation", True),
    ]
    assert all(hit["outdated_by"] == [] for hit in hits)
    alone = json.loads(said(run("recall", QUESTION, "--kind", "conversation", "--json")))["hits"]
    assert [(hit["type"], hit["below"]) for hit in alone] == [("conversation", False)]
