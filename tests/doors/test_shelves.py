"""The two shelves of an answer, as a session, a terminal and a program see them."""

import json

from tests.doors.called import Caller
from tests.doors.shell import Run, output_of

QUESTION = "when do we deploy to production?"
RIGHT = "Production deploys only on Tuesdays after 10:00 UTC."
BELOW = "From past conversations, which also contain guesses"
ALONE = "No memory answers this with confidence."


def test_both_doors_show_the_same_shelves(call: Caller, run: Run) -> None:
    call("save_conversation", title="Deploys", messages=[{"role": "user", "content": RIGHT}])
    answer = call("recall", query=QUESTION)
    assert answer.startswith("High confidence, by past conversations alone")
    assert f"{ALONE} {BELOW}" in answer

    call("remember", title="Deploys on Tuesdays", content=RIGHT, type="decision")
    answer = call("recall", query=QUESTION)
    assert answer.startswith("High confidence (")
    assert 0 < answer.index("decision ·") < answer.index(BELOW) < answer.index("conversation ·")
    asked_for = call("recall", query=QUESTION, kind="conversation")
    assert BELOW not in asked_for
    assert "decision ·" not in asked_for

    output = output_of(run("recall", QUESTION))
    assert output.index("  decision  ") < output.index(BELOW) < output.index("  conversation  ")
    hits = json.loads(output_of(run("recall", QUESTION, "--json")))["hits"]
    assert [(hit["type"], hit["below"]) for hit in hits] == [
        ("decision", False),
        ("conversation", True),
    ]
    assert all(hit["outdated_by"] == [] for hit in hits)
    alone = json.loads(output_of(run("recall", QUESTION, "--kind", "conversation", "--json")))["hits"]
    assert [(hit["type"], hit["below"]) for hit in alone] == [("conversation", False)]
