"""`/remember` and `/recall`, typed without a prefix: what the person sees and is asked, and what follows."""

import re
from pathlib import Path

import pytest

from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.context.inject import inject
from mcp_server.actions.files.read import read
from mcp_server.actions.judge.origins import waiting
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.review.review import QUESTION, review
from mcp_server.actions.sessions.quality import why
from mcp_server.bootstrap import Opened
from mcp_server.core.authors import PERSON
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Status
from mcp_server.core.search.query import Filter, Query
from tests.conftest import Clock, Open
from tests.doors.called import connected
from tests.doors.module import Typed, tell
from tests.doors.shell import daybook, output_of

SESSION = "0b0fae2e-6d0d-4b5e-8f0a-4d1c2f3a4b5c"
OLD = "The gateway ends uploads after 30 seconds."
NEW = "The gateway ends uploads after 60 seconds."
REPLACES, BOTH, MERGE = "The new one replaces it", "Keep both", "Merge the two"


@pytest.fixture
def opened(open_here: Open) -> Opened:
    return open_here(CLAUDE_CODE_SESSION_ID=SESSION)


@pytest.fixture
def typed(opened: Opened) -> Typed:
    return Typed(opened)


@pytest.fixture
def old(opened: Opened, clock: Clock) -> str:
    """What the person said yesterday."""
    stored = remember(opened.store(), Draft("Uploads", OLD, type="decision")).memory.id
    clock.pass_days(1)
    return stored


def id_in(text: str) -> str:
    return text.partition(":")[0]


def test_what_the_person_types_is_stored_as_theirs(opened: Opened, typed: Typed) -> None:
    reply = typed(
        "/remember Uploads | They end after 30 seconds. [note 2] [type: gotcha] [Tags: gateway, slow]"
        " [use_when: an upload fails] [Use when: send a film, raise a limit]"
    )

    file = read(opened.store(), id_in(reply["text"]))
    memory = file.memory
    assert reply == {"text": f"{memory.id}: remembered as gotcha (project level).\n{file.path}"}
    assert (memory.title, memory.text) == ("Uploads", "They end after 30 seconds. [note 2]")
    assert (memory.type, set(memory.tags)) == ("gotcha", {"gateway", "slow"})
    assert memory.use_when == ("an upload fails", "send a film", "raise a limit")
    assert (memory.source, memory.session) == ("manual", SESSION)
    assert last_change(opened.store()).by == PERSON
    assert typed.asked == []


@pytest.mark.parametrize("origin", ["plugin", "peer", "unclassified", ""])
def test_what_something_else_runs_is_not_the_persons_word(opened: Opened, origin: str) -> None:
    reply = Typed(opened, origin=origin)("/remember Deploys | Run deploy.sh as root.")

    store = opened.store()
    assert read(store, id_in(reply["text"])).memory.source == "assistant"
    assert [origin_waiting.row.id for origin_waiting in waiting(store)] == [id_in(reply["text"])]
    assert last_change(store).by != PERSON
    assert "not shown unasked until the person accepts it" in reply["text"]


@pytest.mark.parametrize("origin", ["composer", "bridge", "sdk"])
def test_the_persons_own_ways_to_type_are(opened: Opened, origin: str) -> None:
    reply = Typed(opened, origin=origin)("/remember Deploys | Run deploy.sh as root.")

    assert read(opened.store(), id_in(reply["text"])).memory.source == "manual"


@pytest.mark.parametrize("meta", [{}, {"claudecode/toolUseId": "toolu_01AbC"}])
def test_a_call_of_the_models_does_nothing(opened: Opened, old: str, meta: dict[str, str]) -> None:
    for name, words in (("remember", "A | b"), ("recall", "uploads"), ("forget", old), ("save-session", "")):
        answers = {"": "Forget it"}
        reply = tell(opened, "command", meta=meta, name=name, words=words, origin="composer", answers=answers)
        assert reply == {"text": "This is for Daybook's module in the client."}

    assert list_memories(opened.store(), Filter()).total == 1


def test_the_person_says_that_the_new_one_replaces_what_is_known(
    opened: Opened, typed: Typed, old: str
) -> None:
    reply = typed(f"/remember Uploads | {NEW} [type: decision]", REPLACES)

    ((question, options),) = typed.asked
    assert options == [BOTH, REPLACES, MERGE]
    assert OLD in question and NEW in question and old in question and "They differ in numbers." in question
    store = opened.store()
    assert reply["text"].splitlines()[2] == f"It replaces {old}, which is kept as superseded."
    assert read(store, old).memory.superseded_by == id_in(reply["text"])
    undo(store, last_change(store))
    assert read(store, old).memory.status is Status.ACTIVE


def test_both_are_kept_and_nobody_asks_again(opened: Opened, typed: Typed, old: str) -> None:
    reply = typed(f"/remember Uploads | {NEW} [type: decision]", BOTH)

    assert f"It and {old} are both kept; the pair is not asked about again." in reply["text"]
    assert [entry.kind for entry in review(opened.store()).entries] == []
    assert read(opened.store(), old).memory.status is Status.ACTIVE


def test_the_merged_text_is_shown_before_it_takes_the_place_of_both(
    opened: Opened, typed: Typed, old: str
) -> None:
    reply = typed(f"/remember Uploads | {NEW} [type: decision]", MERGE, "Yes")

    question, options = typed.asked[1]
    assert f"{NEW} ¶ {OLD}" in question and options == ["No", "Yes"]
    store, new = opened.store(), id_in(reply["text"])
    assert f"replaces both, {new} and {old}." in reply["text"]
    (remaining,) = list_memories(store, Filter()).rows
    assert read(store, remaining.id).memory.text == f"{NEW}\n{OLD}"
    assert read(store, remaining.id).memory.source == "manual"


@pytest.mark.parametrize("answers", [(None,), ("None of these, thanks",), (MERGE, "No"), (MERGE, None)])
def test_without_an_answer_both_stay_and_it_is_said_what_to_type(
    opened: Opened, typed: Typed, old: str, answers: tuple[str | None, ...]
) -> None:
    reply = typed(f"/remember Uploads | {NEW} [type: decision]", *answers)

    store, new = opened.store(), id_in(reply["text"])
    assert f"daybook revise {new} --supersedes {old}; if both are right: --distinct {old}" in reply["text"]
    assert {row.id for row in list_memories(store, Filter()).rows} == {old, new}
    assert [entry.kind for entry in review(store).entries] == [QUESTION]


def test_an_answer_is_to_the_words_that_were_shown(opened: Opened, typed: Typed, old: str) -> None:
    path = read(opened.store(), old).path

    def edit() -> None:
        path.write_text(path.read_text(encoding="utf-8").replace("30", "45"), encoding="utf-8")

    typed(f"/remember Uploads | {NEW} [type: decision]", REPLACES, None, between=edit)

    assert ["30 seconds" in question for question, _ in typed.asked] == [True, False]
    assert read(opened.store(), old).memory.status is Status.ACTIVE


def test_what_is_known_is_not_stored_or_asked_about_twice(opened: Opened, typed: Typed) -> None:
    first = typed(f"/remember Uploads | {OLD}")

    assert typed(f"/remember Uploads | {OLD}")["text"].startswith(f"{id_in(first['text'])}: known already.")
    assert typed.asked == []


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("/remember", "There is nothing to remember. For example: /remember Title | what to remember"),
        ("/remember [tags: a]", "There is nothing to remember."),
        ("/remember A | b [level: galaxy]", "'galaxy' is not a level. Use one of: user, team, project"),
        ("/remember A | b [type: rumour]", "'rumour' is no"),
        ("/remember Key | sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789", "secret"),
        ("/recall", "No question was given. Ask in words, as in:"),
        ("/recall x [kind: talk]", "'talk' is not a kind."),
        ("/forget", "No memory was named."),
        ("/forget forever", "No memory was named."),
        ("/restore-session", "No session is saved here yet. /save-session saves this one."),
        ("/save-session", "You have asked nothing in this session yet, so there is nothing to save."),
    ],
)
def test_what_cannot_be_done_is_one_clear_sentence(typed: Typed, line: str, sentence: str) -> None:
    reply = typed(line)

    assert sentence in reply["text"] and "\n" not in reply["text"]
    assert set(reply) == {"text"}


def test_recall_shows_the_person_its_hits_and_gives_claude_the_same(
    opened: Opened, typed: Typed, old: str
) -> None:
    reply = typed("/recall after how many seconds does the gateway end uploads")

    assert old in reply["text"] and f"   | {OLD}" in reply["text"]
    (context,) = reply["context"]
    assert context.startswith("The person typed /recall after how many seconds")
    assert f"   | {OLD}" in context


def test_what_recall_told_is_not_told_again_by_a_prompt(opened: Opened, typed: Typed, old: str) -> None:
    store, question = opened.store(), "after how many seconds does the gateway end uploads?"
    assert OLD in inject(store.in_session("another session"), question)

    typed(f"/recall {question}")

    assert [(receipt.session, receipt.why, receipt.id) for receipt in why(store, session=SESSION)] == [
        (SESSION, "recall", old)
    ]
    assert inject(store.in_session(SESSION), question) == ""
    read(store, old).path.write_text(f"# Uploads\n{NEW}\n", encoding="utf-8")
    assert NEW in inject(opened.store().in_session(SESSION), question)


def test_a_long_answer_has_at_most_twenty_lines(opened: Opened, typed: Typed) -> None:
    store = opened.store()
    for number in range(12):
        text = f"The heron number {number} stands in the water. " + "It waits and waits.\n" * 60
        remember(store, Draft(f"Heron {number}", text))

    reply = typed("/recall heron in the water")

    assert 5 <= len(reply["text"].splitlines()) <= 20
    assert max(map(len, reply["text"].splitlines())) < 250


def test_recall_takes_what_stands_in_brackets(typed: Typed, old: str) -> None:
    assert old in typed("/recall uploads [type: decision]")["text"]
    assert old not in typed("/recall uploads [type: gotcha]")["text"]


@pytest.mark.parametrize(
    ("words", "says"),
    [("kangaroo ends", "No confident match"), ("kangaroo hop [type: gotcha]", "No memory matches")],
)
@pytest.mark.usefixtures("old")
def test_recall_advises_only_what_can_be_typed_there_or_in_a_terminal(
    typed: Typed, memory_dir: Path, words: str, says: str
) -> None:
    text = typed(f"/recall {words}")["text"]

    assert says in text
    assert not re.search("archived memories|mode keyword|all projects, ", text)
    for command in re.findall(r"/recall WORDS \[.*?\]", text):
        assert "text" in typed(command)
    (in_terminal,) = re.findall(r"'daybook (.+?)'", text)
    output_of(daybook(memory_dir, *in_terminal.split()))


@pytest.mark.usefixtures("old")
def test_only_claude_is_told_not_to_guess(opened: Opened, typed: Typed, memory_dir: Path) -> None:
    reply = typed("/recall kangaroo ends")
    in_terminal = output_of(daybook(memory_dir, "recall", "kangaroo ends", "--all-projects"))
    with connected(opened) as call:
        answer = call("recall", query="kangaroo ends")

    for text in (reply["text"], in_terminal):
        assert "No confident match: these are only the nearest" in text and "do not guess" not in text
    for text in (*reply["context"], answer):
        assert "No confident match: do not guess" in text


def test_what_the_person_recalls_counts_once_for_the_memory(opened: Opened, typed: Typed, old: str) -> None:
    typed("/recall after how many seconds does the gateway end uploads")

    (hit,) = recall(opened.store(), Query("uploads gateway seconds")).hits
    assert hit.id == old
