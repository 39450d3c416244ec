"""Whose word a proposed memory is, by what was said around its evidence."""

import pytest

from mcp_server.core.capture.support import UNCONFIRMED, Borne, borne_out, utterances_with
from mcp_server.core.sessions.transcript import Speaker, Utterance

PERSONS, CLAUDES, WAITS = Borne("extracted"), Borne("assistant"), Borne("assistant", UNCONFIRMED)


def utterance(words: str, speaker: Speaker = Speaker.CLAUDE, at: int = 0) -> Utterance:
    return Utterance(speaker, words, "", at, at + 10, f"{at:016x}")


def talk(*lines: str) -> list[Utterance]:
    """Return utterances from lines like `USER: words`."""
    parts = [part.partition(": ") for part in lines]
    return [utterance(words, Speaker(who.lower()), 10 * at) for at, (who, _, words) in enumerate(parts)]


TALK = [
    utterance("Perhaps you deploy from main?", Speaker.CLAUDE, 0),
    utterance("Yes, deploy from main.", Speaker.USER, 0),
    utterance("We deploy on\n  Fridays, “never” before — that’s final.", Speaker.USER, 0),
    utterance("Noted: you deploy on Fridays. The port is 5433.", Speaker.CLAUDE, 10),
    utterance("[Bash]: docker compose up", Speaker.TOOL, 20),
    utterance("The port is 5433 indeed.", Speaker.AGENT, 30),
]


@pytest.mark.parametrize(
    ("quote", "speakers"),
    [
        ("We deploy on Fridays", [Speaker.USER]),
        ('we DEPLOY on fridays, "never" before - that\'s final', [Speaker.USER]),
        ("deploy on Fridays", [Speaker.USER, Speaker.CLAUDE]),
        ("deploy from main", [Speaker.CLAUDE, Speaker.USER]),
        ("USER (2026-11-20 15:28): We deploy on Fridays", [Speaker.USER]),
        ("you deploy on Fridays", [Speaker.CLAUDE]),
        ("The port is 5433", [Speaker.CLAUDE, Speaker.AGENT]),
        ("5433 indeed.", [Speaker.AGENT]),
        ("docker compose up", [Speaker.TOOL]),
        ("TOOL [Bash]: docker compose up", [Speaker.TOOL]),
        ("We deploy on Mondays", []),
        ("final. Noted: you", []),
        ("Fridays", []),
        ("   Fridays   ", []),
        ("USER: Fridays", []),
        ("", []),
    ],
)
def test_evidence_is_from_whoever_said_it(quote: str, speakers: list[Speaker]) -> None:
    assert [utterance_found.speaker for utterance_found in utterances_with(quote, TALK)] == speakers


POOL = "The connection pool of the worker is limited to eight."
SAID = talk(
    "USER: why does the worker hang?",
    f"CLAUDE: {POOL} The cache is warm, too.",
    "USER: perfect, that was it",
    "CLAUDE: The queue is purged by the job sweep-all every Sunday.",
    "USER: no, nothing purges the queue. The queue is drained by the consumer in eu-1.",
    "CLAUDE: The page says that tokens are sent to https://drop.example/in after each build.",
    "USER: add a button",
    "CLAUDE: Retries wait for thirty seconds, I suppose.",
    "USER: what else?",
    "TOOL: [Bash]: make test",
)


@pytest.mark.parametrize(
    ("text", "evidence", "borne"),
    [
        ("The queue is drained by the consumer in eu-1.", "drained by the consumer in eu-1", PERSONS),
        (POOL, "limited to eight", CLAUDES),
        (POOL, "perfect, that was it", CLAUDES),
        ("Retries wait for thirty seconds.", "Retries wait for thirty seconds", WAITS),
        ("The queue is purged by the job sweep-all every Sunday.", "purged by the job sweep-all", None),
        ("The queue is purged by the job sweep-all every Sunday.", "nothing purges the queue", None),
        ("Tokens are sent to https://drop.example/in after each build.", "add a button", None),
        ("Tokens are sent to https://evil.example/in after each build.", "tokens are sent to", None),
        ("Backups are encrypted with age.", "The queue is drained by the consumer", None),
        ("Retries wait for thirty seconds.", "everybody agreed on thirty", None),
        ("The queue is filled by the consumer in us-2.", "[Bash]: make test", None),
    ],
)
def test_what_was_said_decides_whose_word_it_is(text: str, evidence: str, borne: Borne | None) -> None:
    assert borne_out(text, evidence, SAID) == borne


def test_what_the_person_pasted_bears_nothing_out() -> None:
    turns = talk("USER: Here is the README:\n\nThe pool is limited to eight connections.")

    assert (
        borne_out("The pool is limited to eight connections.", "limited to eight connections", turns) is None
    )


def test_the_opposite_of_what_the_person_said_is_not_theirs() -> None:
    turns = talk("USER: The export never contains birthdays.")

    assert borne_out("The export contains birthdays.", "export never contains birthdays", turns) == WAITS
    assert borne_out("The export never contains birthdays.", "never contains birthdays", turns) == PERSONS
