"""Which known memories a model is shown with a piece: those that any sentence of it may change."""

import re

import pytest

from mcp_server.actions.capture.learn import next_piece
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.model.embed import embed_pending
from mcp_server.core.capture.extraction import KNOWN
from mcp_server.core.memory import Draft
from mcp_server.store import Store
from tests.actions.learn.learned import answer, learn, open_learning, proposal
from tests.conftest import Open
from tests.recorded import Recorded, kept
from tests.scripted_model import ScriptedModel

PARTS = "header sidebar footer toolbar dialog table card menu banner breadcrumb".split()
ASPECTS = (
    "The {0} grid has a gap of {1} pixels between its columns",
    "The {0} collapses below {1} pixels of width on a phone",
    "The {0} keeps its padding at {1} pixels on every breakpoint",
)
LAYOUT = [aspect.format(part, 8 * number) for number, part in enumerate(PARTS, 2) for aspect in ASPECTS]
TALK = (
    "I aligned the {0} with the column next to it and looked at the padding in the browser. "
    "The gap of the {0} still jumps when the window gets narrow, so its width needs a breakpoint. "
    "After that the grid of the {0} looks the same on a phone and on a wide screen. "
)
TIMEOUT = "The API timeout is 30 seconds"
CHANGE = "And from now on set the API timeout to 60 seconds, because the gateway is slow."


def piece_about_layout(recorded: Recorded) -> None:
    """Record 5,900 characters about layout, which end with one sentence of the person's about a timeout."""
    talk = "".join(TALK.format(f"{part} {half}") for half in ("left", "right") for part in PARTS)[:5600]
    recorded.user("Please go on with the layout of the page.")
    for at in range(0, len(talk), 1400):
        recorded.claude(talk[at : at + 1400])
    recorded.user(CHANGE)


def opened(open_here: Open, model: ScriptedModel, how: str) -> Store:
    return open_learning(open_here, model, EMBEDDING_MODEL="none" if how == "words" else "minilm-l6")


def known_in(prompt: str) -> list[str]:
    block = re.search(r"<known_memories>\n(.*?)\n</known_memories>", prompt, re.DOTALL)
    assert block
    return block[1].splitlines()


@pytest.mark.parametrize("others", [30, 300])
@pytest.mark.parametrize("how", ["meaning", "words", "not embedded yet"])
def test_one_sentence_at_the_end_of_a_long_piece_finds_what_it_changes(
    open_here: Open, model: ScriptedModel, recorded: Recorded, how: str, others: int
) -> None:
    store = opened(open_here, model, how)
    old = remember(store, Draft(TIMEOUT, f"{TIMEOUT}.", type="decision")).memory.id
    for number in range(others):
        text = LAYOUT[number % len(LAYOUT)] + (
            f" since release {number // len(LAYOUT)}" if number >= 30 else ""
        )
        remember(store, Draft(text, f"{text}.", type="pattern"))
    if how == "meaning":
        embed_pending(store)
    piece_about_layout(recorded)
    transcript = kept(store, recorded)
    prompts: list[str] = []

    def answer_to(body: dict[str, object]) -> object:
        prompts.append(body["messages"][0]["content"])  # type: ignore[index]
        line = next(line for line in known_in(prompts[-1]) if TIMEOUT in line)
        number = int(line.partition("]")[0][1:])
        superseding = proposal(
            "The API timeout is 60 seconds because the gateway is slow.", CHANGE, supersedes=number
        )
        return answer(superseding)

    model.answers = answer_to  # type: ignore[assignment]
    (settled,) = learn(store, transcript)

    assert settled.superseded == (old,)
    lines = known_in(prompts[0])
    assert [line.partition("]")[0] for line in lines] == [f"[{number}" for number in range(1, len(lines) + 1)]
    assert len("\n".join(lines)) <= KNOWN


def test_what_is_mostly_said_in_conversations_still_finds_the_memory_about_it(
    open_here: Open, model: ScriptedModel, recorded: Recorded
) -> None:
    """What is rare is counted over knowledge: the conversation has these words a hundred times."""
    store = opened(open_here, model, "words")
    old = remember(store, Draft("Timeout", f"{TIMEOUT}.", type="decision")).memory.id
    for number in range(40):
        recorded.user(f"In attempt {number} the API timeout of 30 seconds was too short for the gateway.")
        recorded.claude("It seems so.")

    kept(store, recorded)
    piece = next_piece(store)

    assert piece and old in [hit.id for hit in piece.neighbours]


def test_of_a_long_memory_the_model_is_shown_what_the_sentence_is_about(
    open_here: Open, model: ScriptedModel, recorded: Recorded
) -> None:
    store = opened(open_here, model, "words")
    text = (
        " ".join(f"{sentence}." for sentence in LAYOUT[:10])
        + f" {TIMEOUT}. "
        + " ".join(f"{sentence}." for sentence in LAYOUT[10:])
    )
    remember(store, Draft("Handbook", text, type="reference"))
    piece_about_layout(recorded)
    recorded.user("Once more: the API timeout is what matters to the gateway.")
    kept(store, recorded)

    piece = next_piece(store)

    assert piece and {hit.title for hit in piece.neighbours} == {"Handbook"}
    assert any(TIMEOUT in hit.text for hit in piece.neighbours)
