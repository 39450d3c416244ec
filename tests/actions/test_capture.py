"""From transcripts to the raw tier, without any model."""

import json
import os
from pathlib import Path

import pytest

from mcp_server.actions.capture.capture import conversation_id, keep, with_subagents
from mcp_server.actions.capture.note import note_answer
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import rebuild
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.upkeep.work import note_left_behind
from mcp_server.adapters.index.events import transcripts
from mcp_server.core.memory_parts import Kind
from mcp_server.core.search.query import Filter, Query
from mcp_server.core.sessions.conversation import parse_turns
from mcp_server.store import Store
from tests.conftest import Open
from tests.recorded import Recorded, kept_words, queued, seen


def test_what_was_said_is_found_again(store: Store, recorded: Recorded) -> None:
    recorded.user("Why does the invoice total round wrongly?")
    recorded.claude("Because half cents are rounded per line.")
    recorded.call("Bash", command="pytest tests/invoice", failed=True)
    recorded.call("Edit", file_path="src/invoice.py")

    keep(store, seen(store, recorded))

    assert kept_words(store, recorded) == [
        "user: Why does the invoice total round wrongly?",
        "claude: Because half cents are rounded per line.\n\n"
        "[Bash]: pytest tests/invoice -> failed\n[Edit]: src/invoice.py",
    ]
    answer = recall(store, Query("half cents rounded", filter=Filter(kinds=(Kind.CONVERSATION,))))
    assert [hit.id for hit in answer.hits] == [recorded.session]
    assert read(store, recorded.session).memory.title == "Why does the invoice total round wrongly?"


@pytest.mark.feature("A-16")
def test_a_second_reading_adds_only_what_is_new(store: Store, recorded: Recorded) -> None:
    recorded.user("First question about billing")
    recorded.claude("First answer about billing")
    keep(store, seen(store, recorded))
    keep(store, queued(store, recorded))
    recorded.user("Second question about shipping")

    keep(store, seen(store, recorded))

    assert kept_words(store, recorded) == [
        "user: First question about billing",
        "claude: First answer about billing",
        "user: Second question about shipping",
    ]


def test_a_kill_between_writing_and_noting_adds_nothing_twice(store: Store, recorded: Recorded) -> None:
    recorded.user("Keep me exactly once")
    recorded.claude("Certainly, once.")
    before = seen(store, recorded)
    keep(store, before)
    for path in store.ledger.paths():  # the line that ends the piece was never written
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join(x for x in lines if "transcript_kept" not in x), encoding="utf-8")
    recorded.claude("And more of the same turn.")
    rebuild(store)

    keep(store, seen(store, recorded))

    words = "\n".join(kept_words(store, recorded))
    assert words.count("Keep me exactly once") == 1
    assert words.count("Certainly, once.") == 1
    assert words.count("And more of the same turn.") == 1


def test_a_fork_brings_only_its_own_turns(store: Store, recorded: Recorded, tmp_path: Path) -> None:
    recorded.user("Shared beginning of both")
    recorded.claude("Shared answer of both")
    keep(store, seen(store, recorded))
    fork = Recorded(tmp_path / "transcripts", cwd=recorded.cwd)
    fork.write(recorded.path.read_text(encoding="utf-8").replace(recorded.session, fork.session))
    fork.minute, fork.second = recorded.minute, recorded.second
    fork.user("Only in the fork")

    keep(store, seen(store, fork))

    assert kept_words(store, fork) == ["user: Only in the fork"]


def test_a_transcript_written_anew_brings_what_it_did_not_have(store: Store, recorded: Recorded) -> None:
    recorded.user("The old beginning of it")
    recorded.claude("An answer that stays")
    keep(store, seen(store, recorded))
    lines = recorded.path.read_text(encoding="utf-8").splitlines(keepends=True)
    recorded.path.write_text(lines[1], encoding="utf-8")
    recorded.user("A new question after it")

    keep(store, seen(store, recorded))

    assert kept_words(store, recorded) == [
        "user: The old beginning of it",
        "claude: An answer that stays",
        "user: A new question after it",
    ]


def test_a_deleted_transcript_leaves_what_was_kept(store: Store, recorded: Recorded) -> None:
    recorded.user("Something to keep for ever")
    keep(store, seen(store, recorded))
    recorded.path.unlink()

    keep(store, queued(store, recorded))

    assert kept_words(store, recorded) == ["user: Something to keep for ever"]
    assert queued(store, recorded).kept > 0


def test_half_a_line_waits(store: Store, recorded: Recorded) -> None:
    recorded.user("A whole line of words")
    whole = recorded.path.stat().st_size
    recorded.write('{"type":"user","message":{"role":"user","content":"half')
    keep(store, seen(store, recorded))

    assert queued(store, recorded).kept == whole
    with store.database.read() as db:
        assert transcripts.unkept(db) == []

    recorded.write(' of a line"}}\n')
    keep(store, seen(store, recorded))

    assert kept_words(store, recorded)[-1] == "user: half of a line"


def test_private_words_and_secrets_are_nowhere(store: Store, recorded: Recorded, memory_dir: Path) -> None:
    key = "sk-ant-" + "api03-" + "Zq8vLw3nRt6yBx1mKp4s" * 4
    recorded.user(f"Use <private>my bank is Hypo Nord</private> this key: {key}")
    recorded.user("Forget this please #skip")
    recorded.claude("The answer to what was to be skipped")
    recorded.user("Back to work now")

    keep(store, seen(store, recorded))

    everything = b"".join(path.read_bytes() for path in memory_dir.rglob("*") if path.is_file())
    for absent in (b"Hypo Nord", key.encode(), b"Forget this please", b"to be skipped"):
        assert absent not in everything
    assert b"Back to work now" in everything


def test_a_skipped_turn_stays_skipped_when_its_answer_comes_later(store: Store, recorded: Recorded) -> None:
    recorded.user("Not this one #skip")
    keep(store, seen(store, recorded))
    recorded.claude("An answer that nobody wants kept")
    recorded.user("But this one")

    keep(store, seen(store, recorded))

    assert kept_words(store, recorded) == ["user: But this one"]


def test_a_turn_marked_to_be_remembered_becomes_a_memory(store: Store, recorded: Recorded) -> None:
    recorded.user("#remember The staging database is read-only on Sundays.")

    keep(store, seen(store, recorded))

    (hit,) = recall(store, Query("staging database", filter=Filter(kinds=(Kind.KNOWLEDGE,)))).hits
    memory = read(store, hit.id).memory
    assert memory.text == "The staging database is read-only on Sundays."
    assert (memory.source, memory.session) == ("manual", recorded.session)


def test_a_subagent_has_a_conversation_of_its_own(store: Store, recorded: Recorded, tmp_path: Path) -> None:
    recorded.user("Find out where rates are cached")
    agent = Recorded(tmp_path, cwd=recorded.cwd, subagent_of=recorded)
    agent.user("Look for the cache of rates")
    agent.claude("Rates are cached in rates.py")

    for transcript in with_subagents(store, seen(store, recorded)):
        keep(store, transcript)

    answer = recall(store, Query("cache of rates", filter=Filter(kinds=(Kind.CONVERSATION,))))
    memory = read(store, conversation_id(queued(store, agent))).memory
    assert memory.id in [hit.id for hit in answer.hits]
    assert [turn.speaker for turn in parse_turns(memory.text)] == ["claude", "agent"]


def test_a_long_session_goes_on_in_another_file(store: Store, recorded: Recorded) -> None:
    for number in range(40):
        recorded.user(f"Question {number}: " + "word " * 700)

    keep(store, seen(store, recorded))

    first, second = read(store, recorded.session).memory, read(store, f"{recorded.session}-2").memory
    assert len(first.text) <= 50_000
    assert second.title.endswith("(part 2)")
    rest = [read(store, f"{recorded.session}-{part}").memory.text for part in (3, 4)]
    words = "".join([first.text, second.text, *rest])
    assert all(f"Question {number}:" in words for number in range(40))


@pytest.mark.feature("A-10")
def test_an_answer_is_noted_from_three_lines_on(store: Store, recorded: Recorded) -> None:
    acting, folder = store.in_session(recorded.session), str(recorded.cwd)
    recorded.user("one")
    recorded.claude("two")
    assert note_answer(acting, recorded.path, folder=folder) is False
    assert list(store.ledger.paths()) == []

    recorded.claude("three")
    assert note_answer(acting, recorded.path, folder=folder) is False  # too little to start a worker for
    assert queued(store, recorded).seen == recorded.path.stat().st_size

    recorded.noise("y" * 30_000)
    recorded.noise()
    recorded.noise()
    assert note_answer(acting, recorded.path, folder=folder) is True


def test_nothing_is_noted_when_the_person_wants_no_capture(open_here: Open, recorded: Recorded) -> None:
    store = open_here(DAYBOOK_CAPTURE="manual").store()
    for _ in range(5):
        recorded.user("nobody reads this")

    assert note_answer(store.in_session("s"), recorded.path, folder="") is False
    assert store.ledger.paths() == []


def test_odd_lines_of_the_ledger_are_left_out(store: Store, recorded: Recorded) -> None:
    recorded.user("hello there")
    seen(store, recorded)
    (path,) = store.ledger.paths()
    for data in ({"path": 3}, {"path": "x", "end": "far"}, {"path": "x", "end": -1, "turns": 7}):
        event = {"at": "2026-11-20T09:00:00Z", "event": "transcript_kept", **data}
        with open(path, "a", encoding="utf-8") as handle:
            handle.write(json.dumps(event) + "\n")

    assert queued(store, recorded).kept == 0


def test_a_session_that_ended_without_a_word_is_noted_when_it_is_quiet(
    store: Store, recorded: Recorded
) -> None:
    recorded.user("What a hook told of")
    keep(store, seen(store, recorded, ended=False))
    assert note_left_behind(store) is False

    recorded.user("And what nobody told of, for the client was killed")
    os.utime(recorded.path, (store.now() - 60, store.now() - 60))
    assert note_left_behind(store) is False

    os.utime(recorded.path, (store.now() - 3600, store.now() - 3600))
    assert note_left_behind(store) is True

    keep(store, queued(store, recorded))
    assert kept_words(store, recorded)[-1] == "user: And what nobody told of, for the client was killed"
    assert note_left_behind(store) is False


def test_a_session_that_a_command_began_is_called_after_it(store: Store, recorded: Recorded) -> None:
    name, arguments = (
        "<command-name>/daybook:recall</command-name>",
        "<command-args>invoice rounding</command-args>",
    )
    recorded.user(f"<command-message>daybook:recall</command-message>\n{name}\n{arguments}")
    recorded.claude("Doing it. The total is rounded per line.")

    keep(store, seen(store, recorded))

    assert read(store, recorded.session).memory.title == "/daybook:recall invoice rounding"
