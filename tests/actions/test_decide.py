"""What becomes of each memory near a prompt, and by how much it missed; deciding notes nothing."""

from pathlib import Path

import pytest

from mcp_server.actions.context.inject import MOST, Fate, decide, inject
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.model.embed import embed_pending
from mcp_server.core.memory import Draft
from mcp_server.store import Store
from tests.actions.test_pointers import TUESDAYS, drafts

WEBHOOK = Draft("Webhook", "Payment callbacks skip body parsing.", type="gotcha")
ASKED = "why do payment callbacks skip body parsing"


def fates(
    store: Store, prompt: str, *, session: str = "s1", given: tuple[tuple[str, str], ...] = ()
) -> dict[str, Fate]:
    """Return title → fate of the memories near *prompt*; see that the ledger stays as it is."""
    before = [path.read_bytes() for path in store.ledger.paths()]
    decided = decide(store.in_session(session), prompt, already_given=given, explained=True)
    assert [path.read_bytes() for path in store.ledger.paths()] == before
    hook = decide(store.in_session(session), prompt, already_given=given)
    assert (hook.called, hook.is_silence) == (decided.called, decided.is_silence)
    return {hit.title: fate for hit, fate in decided.fates}


def test_what_is_sure_comes_with_its_text_and_what_is_not_says_what_is_missing(store: Store) -> None:
    remember(store, WEBHOOK)
    remember(store, Draft("Body", "The body of the car is blue.", type="decision"))

    assert fates(store, ASKED) == {"Webhook": Fate.TEXT, "Body": Fate.UNSURE}
    decided = decide(store.in_session("s1"), ASKED, explained=True)
    (bar,) = decided.fates[1][0].bars
    assert bar.least == 0.6
    assert 0 < bar.missing <= 0.6


def test_what_waits_for_the_person_does_not_come(store: Store) -> None:
    remember(store, Draft(WEBHOOK.title, WEBHOOK.text, type="gotcha", source="assistant"))

    assert fates(store, ASKED) == {"Webhook": Fate.WAITS}


def test_what_is_about_files_that_are_gone_does_not_come(store: Store, project: Path) -> None:
    (project / "hook.py").write_text("pass\n", encoding="utf-8")
    remember(store, Draft(WEBHOOK.title, WEBHOOK.text, type="gotcha", touches=("hook.py",)))
    assert fates(store, ASKED) == {"Webhook": Fate.TEXT}
    (project / "hook.py").unlink()

    assert fates(store, ASKED) == {"Webhook": Fate.GONE}


def test_what_a_session_was_told_does_not_come_again(store: Store) -> None:
    remember(store, WEBHOOK)
    hit = decide(store.in_session("s2"), ASKED, explained=True).fates[0][0]
    assert inject(store.in_session("s1"), ASKED)

    assert fates(store, ASKED) == {"Webhook": Fate.SHOWN_BEFORE}
    assert fates(store, ASKED, session="s2") == {"Webhook": Fate.TEXT}
    assert fates(store, ASKED, session="s2", given=((hit.ref, hit.digest),)) == {"Webhook": Fate.SHOWN_BEFORE}


def test_a_short_prompt_gets_titles(store: Store) -> None:
    remember(store, WEBHOOK)

    assert fates(store, "webhook") == {"Webhook": Fate.TITLE_OF_SHORT}
    assert inject(store.in_session("s1"), "webhook")
    assert fates(store, "webhook") == {"Webhook": Fate.POINTED_BEFORE}


def test_what_has_no_room_does_not_come(store: Store) -> None:
    for number in range(9):
        remember(store, Draft(f"Callbacks {number} {'of payments ' * 9}", f"{ASKED} {number}. " * 40))

    fates_of_all = [*fates(store, ASKED).values()]

    assert {*fates_of_all} == {Fate.TEXT, Fate.NO_ROOM}
    assert fates_of_all.count(Fate.TEXT) == inject(store.in_session("s1"), ASKED).count("- [")


def test_with_few_words_more_memories_come_by_title(store: Store) -> None:
    for number in range(7):
        remember(store, Draft(f"Callbacks {number}", f"Payment callbacks skip body parsing on day {number}."))

    fates_of_all = [*fates(store, ASKED).values()]
    assert (fates_of_all.count(Fate.TEXT), fates_of_all.count(Fate.TITLE_OF_MANY)) == (MOST, 2)


def test_a_title_may_come_where_no_text_is_sure_enough(meaning_store: Store) -> None:
    for draft in (TUESDAYS, *drafts()[:9]):
        remember(meaning_store, draft)
    embed_pending(meaning_store)

    fate_of = fates(meaning_store, "make it available to everyone")
    assert Fate.TITLE in fate_of.values()
    decided = decide(meaning_store.in_session("s1"), "rename this variable to total", explained=True)
    assert {fate for _, fate in decided.fates} == {Fate.UNSURE}
    assert all(hit.bars[0].missing > 0 for hit, _ in decided.fates)
    bars_for_title = [hit.bars[1:] for hit, _ in decided.fates if hit.bars[1:]]
    assert len(bars_for_title) == 3
    assert all(any(bar.missing > 0 for bar in bars) for bars in bars_for_title)


@pytest.mark.parametrize("prompt", ["", "  ", "/compact", "<task-notification>done"])
def test_what_is_no_prompt_of_the_persons_asks_for_nothing(store: Store, prompt: str) -> None:
    remember(store, WEBHOOK)

    decided = decide(store.in_session("s1"), prompt, explained=True)
    assert (decided.asks, decided.fates, decided.is_silence) == (False, (), False)


def test_a_prompt_that_gets_nothing_is_noted_by_the_hook_alone(store: Store) -> None:
    remember(store, WEBHOOK)

    fates(store, "water the plants on the roof")
    assert "kept_silent" not in ledger(store)
    inject(store.in_session("s1"), "water the plants on the roof")
    assert "kept_silent" in ledger(store)


def ledger(store: Store) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in store.ledger.paths())
