"""What is known answers first; past conversations stand below it, few, and only where they answer."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_server.actions.capture.capture import keep
from mcp_server.actions.context.compaction import before_compaction
from mcp_server.actions.memory.conversation import save_conversation
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.recall.ask import ask
from mcp_server.actions.recall.recall import recall
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind
from mcp_server.core.render import estimated_tokens
from mcp_server.core.search.query import Answer, Confidence, Filter, Query
from mcp_server.doors.server.replies import shown_lines
from mcp_server.doors.shown.recall import answered
from mcp_server.store import Store
from tests.actions.work.worked import ended, worked
from tests.conftest import Clock, Open
from tests.recorded import Recorded, seen

QUESTION = "when do we deploy to production?"
RIGHT = "Production deploys only on Tuesdays after 10:00 UTC."
VAGUE = (
    "I do not know yet.",
    "I don't know yet when we deploy to production; nothing that is stored says so.",
    "That is not clear to me.",
)
CONVERSATIONS = Filter(kinds=(Kind.CONVERSATION,))


@pytest.fixture
def converse(store: Store, project: Path, tmp_path: Path) -> Callable[..., Recorded]:
    """Keep what was said in a session of its own, in turns of the person and of Claude."""

    def said_(*turns: str, subagent_of: Recorded | None = None) -> Recorded:
        conversation = spoken(tmp_path, project, *turns, subagent_of=subagent_of)
        keep(store, seen(store, conversation))
        return conversation

    return said_


def spoken(folder: Path, cwd: Path, *turns: str, subagent_of: Recorded | None = None) -> Recorded:
    conversation = Recorded(folder / "transcripts", cwd=cwd, subagent_of=subagent_of)
    for number, words in enumerate(turns):
        conversation.claude(words) if number % 2 else conversation.user(words)
    return conversation


def decided(store: Store) -> str:
    draft = Draft("Production deploys only on Tuesdays", RIGHT, type="decision")
    return remember(store, draft).memory.id


def shelves(answer: Answer) -> tuple[list[str], list[str]]:
    above = [hit.id for hit in answer.hits if not hit.below]
    return above, [hit.id for hit in answer.hits if hit.below]


@pytest.mark.parametrize("model", ["none", "minilm-l6"])
@pytest.mark.parametrize("answers", [(RIGHT,), VAGUE, ()], ids=["right", "vague", "none"])
def test_a_question_of_six_sessions_leaves_its_answer_first(
    open_here: Open, project: Path, tmp_path: Path, model: str, answers: tuple[str, ...]
) -> None:
    opened = open_here(EMBEDDING_MODEL=model)
    store = opened.store()
    decision = decided(store)
    embed_pending(store)
    first = tokens(store)

    for number in range(6):
        turns = (QUESTION, answers[number % len(answers)]) if answers else (QUESTION,)
        session = spoken(tmp_path, project, *turns)
        ended(store, session)
        worked(opened)
        embed_pending(store)
        answer = recall(store, Query(QUESTION))

        assert answer.hits[0].id == decision
        assert answer.verdict is Confidence.HIGH
        assert tokens(store) <= 1.3 * first
    assert len(recall(store, Query(QUESTION, filter=CONVERSATIONS, limit=10)).hits) == 6


def tokens(store: Store) -> int:
    return estimated_tokens(shown_lines(answered(recall(store, Query(QUESTION)), QUESTION)))


def test_a_conversation_answers_where_nothing_that_is_known_does(
    store: Store, converse: Callable[..., Recorded]
) -> None:
    remember(store, Draft("Colours", "The buttons are green."))
    for answer in VAGUE:
        converse(QUESTION, answer)
    right = converse(QUESTION, RIGHT)

    answer = recall(store, Query(QUESTION))

    assert answer.verdict is Confidence.MEDIUM
    assert shelves(answer)[1] == [right.session]
    (below,) = (hit for hit in answer.hits if hit.below)
    assert RIGHT in below.text
    assert QUESTION not in below.text
    assert shown_lines(answered(answer, QUESTION)).startswith(
        "Medium confidence, by past conversations alone"
    )
    assert right.session in [hit.id for hit in ask(store, QUESTION).hits]


@pytest.mark.parametrize(
    "turns",
    [
        (QUESTION,),
        *((QUESTION, answer) for answer in VAGUE),
        ("Tell me when we deploy to production.", "Let me look."),
        ("Morning! Do you know when we deploy the shop to production?", "No idea, nothing is known."),
        (f"I wonder. {QUESTION} It is Friday.", "When do we deploy to production? I cannot tell."),
    ],
)  # fmt: skip
def test_who_asks_the_same_is_no_evidence(
    store: Store, converse: Callable[..., Recorded], turns: tuple[str, ...]
) -> None:
    session = converse(*turns)

    assert recall(store, Query(QUESTION)).hits == ()
    asked_for = recall(store, Query(QUESTION, filter=CONVERSATIONS))
    assert [hit.id for hit in asked_for.hits] == [session.session]
    assert asked_for.verdict is Confidence.NONE


@pytest.mark.parametrize(
    ("question", "turn"),
    [
        ("is the timeout of the API gateway 30 seconds?", "the timeout of the API gateway is 30 seconds"),
        (QUESTION, "when we deploy to production, somebody runs the smoke tests"),
    ],
)
def test_what_a_person_states_is_evidence(
    store: Store, converse: Callable[..., Recorded], question: str, turn: str
) -> None:
    session = converse(turn, "Noted.")

    answer = recall(store, Query(question))

    assert shelves(answer) == ([], [session.session])
    assert turn in answer.hits[0].text


def test_of_what_was_asked_for_the_conversation_that_answers_comes_first(
    store: Store, converse: Callable[..., Recorded]
) -> None:
    right = converse(QUESTION, RIGHT)
    for number in range(9):
        converse(QUESTION, VAGUE[number % len(VAGUE)])

    answer = recall(store, Query(QUESTION, filter=CONVERSATIONS))

    assert answer.hits[0].id == right.session
    assert {hit.confidence for hit in answer.hits[1:]} == {Confidence.NONE}


def test_at_most_two_stand_below_and_each_tells_little(
    store: Store, converse: Callable[..., Recorded]
) -> None:
    for hour in range(10, 14):
        converse("Ship it", f"Production deploys go out at {hour}:00. {'We talked about it for long. ' * 30}")
    remember(store, Draft("Deploys of the docs", "The docs are deployed from main, production or not."))

    answer = recall(store, Query("production deploys go out"))

    above, below = shelves(answer)
    assert len(above) == 1
    assert len(below) == 2
    assert [hit.id for hit in answer.hits] == above + below
    assert all(len(hit.text) <= 400 for hit in answer.hits if hit.below)
    assert len(recall(store, Query("production deploys go out", filter=CONVERSATIONS)).hits) == 4


def test_the_limit_and_what_is_asked_for_hold_below_too(
    store: Store, converse: Callable[..., Recorded]
) -> None:
    session = converse("Ship it", "Production deploys go out on Tuesdays.")
    converse("Ship it again", "Production deploys go out on Tuesdays, always.")
    query = Query("production deploys go out", limit=1)

    assert len(shelves(recall(store, query))[1]) == 1
    for filter in (Filter(types=("note",)), Filter(kinds=(Kind.KNOWLEDGE,)), Filter(tags=("release",))):
        assert recall(store, Query("production deploys go out", filter=filter)).hits == ()
    assert session.session in shelves(recall(store, Query("production deploys go out")))[1]


def test_what_is_said_in_the_session_that_asks_is_not_past_until_it_is_shortened(
    store: Store, converse: Callable[..., Recorded]
) -> None:
    running = converse("How do production deploys go out?", RIGHT)
    asking, another = store.in_session(running.session), store.in_session("another")
    query = Query("production deploys Tuesdays")

    assert recall(asking, query).hits == ()
    assert [hit.id for hit in recall(another, query).hits] == [running.session]
    assert [hit.id for hit in recall(asking, replace(query, filter=CONVERSATIONS)).hits] == [running.session]
    before_compaction(asking, running.path)
    assert [hit.id for hit in recall(asking, query).hits] == [running.session]


def test_a_subagent_is_heard_only_where_conversations_are_asked_for(
    store: Store, converse: Callable[..., Recorded]
) -> None:
    session = converse("Look into the deploys.", "An agent does.")
    for _ in range(3):
        converse("Find out when production deploys go out.", RIGHT, subagent_of=session)
    of_a_person = save_conversation(
        store, "Talk with the agent Smith", [{"role": "user", "content": RIGHT}]
    ).memory.id

    unasked = recall(store, Query("production deploys Tuesdays"))
    asked_for = recall(store, Query("production deploys Tuesdays", filter=CONVERSATIONS))

    assert "-agent-" in of_a_person
    assert [hit.id for hit in unasked.hits] == [of_a_person]
    assert sum("-agent-" in hit.id and hit.id.startswith(session.session) for hit in asked_for.hits) == 3


# What holds no more

OLD, NEW = "The API gateway timeout is 30 seconds.", "The API gateway timeout is 60 seconds, raised from 30."


def outdated_by(store: Store, question: str) -> dict[str, tuple[str, ...]]:
    answer = recall(store, Query(question, filter=CONVERSATIONS))
    return {hit.id: hit.outdated_by for hit in answer.hits}


def superseded(store: Store, old: str = OLD, new: str = NEW) -> str:
    before = remember(store, Draft("Before", old)).memory.id
    return remember(store, Draft("Now", new, supersedes=(before,))).memory.id


def test_what_has_been_superseded_since_is_marked(
    store: Store, converse: Callable[..., Recorded], clock: Clock
) -> None:
    outdated = converse("The timeout of the API gateway is 30 seconds, so mind that.", "Noted.")
    others = [
        converse(
            "Is the API gateway timeout 30 seconds?", "The timeout of the API gateway is what I asked for."
        ),
        converse("The API gateway timeout is 90 seconds.", "Noted."),
        converse("The API gateway timeout is not 30 seconds.", "Noted."),
        converse("I raise the API gateway timeout from 30 seconds to 60 seconds.", "Fine."),
    ]
    clock.pass_days(1)
    now = superseded(store)

    marks = outdated_by(store, "timeout of the API gateway")

    assert marks == {outdated.session: (now,), **{other.session: () for other in others}}
    answer = recall(store, Query("timeout of the API gateway", filter=CONVERSATIONS))
    assert f"says what was later superseded by {now}" in shown_lines(answered(answer, ""))


def test_what_is_said_after_a_memory_was_superseded_is_not_marked(
    store: Store, converse: Callable[..., Recorded], clock: Clock
) -> None:
    clock.pass_days(-3)
    superseded(store)
    clock.pass_days(3)
    later = converse("The API gateway timeout is 30 seconds again.", "Noted.")

    assert outdated_by(store, "API gateway timeout") == {later.session: ()}


def test_the_mark_names_what_holds_at_the_end_and_nothing_that_is_gone(
    store: Store, converse: Callable[..., Recorded], clock: Clock
) -> None:
    session = converse("The API gateway timeout is 30 seconds.", "Noted.")
    clock.pass_days(1)
    second = superseded(store)
    third = remember(store, Draft("Today", "The gateway waits for 90 s.", supersedes=(second,))).memory.id

    assert outdated_by(store, "API gateway timeout") == {session.session: (third,)}
    forget(store, third)
    assert outdated_by(store, "API gateway timeout") == {session.session: ()}


def test_words_from_which_a_superseded_memory_was_made_are_marked(
    store: Store, converse: Callable[..., Recorded], clock: Clock
) -> None:
    words = "we give the gateway half a minute before we hang up"
    session = converse(f"As I said, {words}.", "Noted.")
    draft = Draft("Gateway", OLD, session=session.session, evidence=words, source="extracted")
    old = remember(store, draft).memory.id
    clock.pass_days(1)
    now = remember(store, Draft("Now", NEW, supersedes=(old,))).memory.id

    assert outdated_by(store, "gateway half a minute") == {session.session: (now,)}
    (below,) = (hit for hit in recall(store, Query("gateway half a minute")).hits if hit.below)
    assert below.outdated_by == (now,)


def test_words_are_looked_up_once_for_both_shelves(store: Store, converse: Callable[..., Recorded]) -> None:
    decided(store)
    converse("Production deploys are announced in the morning.", "I announce production deploys.")
    statements: list[str] = []
    store.database.connection().set_trace_callback(statements.append)

    recall(store, Query(QUESTION))

    lookups = [sql for sql in statements if "count(*) FROM memories_fts" in sql or "NEAR(" in sql]
    assert len(lookups) > 2
    assert sorted(set(lookups)) == sorted(lookups)
