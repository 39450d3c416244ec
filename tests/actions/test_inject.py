"""What a prompt of several sentences is accompanied by."""

import pytest

from mcp_server.actions.context.inject import decide, inject
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.model.embed import embed_pending
from mcp_server.core.memory import Draft
from mcp_server.store import Store

WEBHOOK = Draft("Payment webhook", "Payment callbacks are verified with the header Stripe-Signature.")
IMPORT = Draft("Price import", "The nightly import of prices reads the supplier's FTP server in Bremen.")
OTHERS = [
    Draft("Plants", "The office plants are watered on Fridays."),
    Draft("Invoices", "Invoices are archived for ten years in the cold storage."),
    Draft("Keyboard", "The keyboard layout of the kiosk is Swiss German."),
]
ASKED = "Which header are payment callbacks verified with?"
AROUND = (
    "Rename the longest variables of the expression parser to something shorter and easier to pronounce.",
    "Then make the flaky unit tests of the chart renderer green again without raising their timeouts.",
)


@pytest.fixture
def filled(meaning_store: Store) -> Store:
    for draft in (WEBHOOK, IMPORT, *OTHERS):
        remember(meaning_store, draft)
    embed_pending(meaning_store)
    return meaning_store


def test_a_sentence_among_others_is_answered(filled: Store) -> None:
    context = inject(filled.in_session("s1"), f"{AROUND[0]} {ASKED} {AROUND[1]}")

    assert "Stripe-Signature" in context
    assert not [other.title for other in (IMPORT, *OTHERS) if other.title in context]


def test_the_marks_of_a_paste_change_nothing_of_what_it_calls_for(filled: Store) -> None:
    paste = f"{AROUND[0]}\n{ASKED}"
    plain, marked = (
        decide(filled, prompt, explained=True).fates
        for prompt in (paste, f'<pasted_content id="621f">\n{paste}\n</pasted_content id="621f">\n')
    )

    assert [(hit.id, hit.score) for hit, _ in marked] == [(hit.id, hit.score) for hit, _ in plain] != []


def test_a_prompt_that_begins_with_a_path_is_no_command(filled: Store) -> None:
    store = filled.in_session("s1")

    assert "Stripe-Signature" in inject(store, f"/src/webhook.ts:3 fails in staging. {ASKED}")
    assert inject(store, f"/daybook:recall {ASKED}") == inject(store, "/compact") == ""


def test_each_sentence_may_call_for_a_memory_of_its_own(filled: Store) -> None:
    prompt = f"{ASKED} Where does the nightly import read prices from? {AROUND[0]}"

    context = inject(filled.in_session("s1"), prompt)

    assert "Stripe-Signature" in context
    assert "Bremen" in context


def test_what_two_sentences_say_together_is_one_question(filled: Store) -> None:
    context = inject(
        filled.in_session("s1"), "Payment callbacks fail in staging. With which header are they verified?"
    )

    assert "Stripe-Signature" in context


def test_sentences_that_call_for_nothing_are_accompanied_by_nothing(filled: Store) -> None:
    prompt = f"{AROUND[0]} {AROUND[1]} Commit both changes with a short message afterwards."

    assert inject(filled.in_session("s1"), prompt) == ""


def test_what_stands_after_a_long_paste_is_answered(filled: Store) -> None:
    log = "".join(
        f"step {number} of the build took {number % 7} seconds to finish\n" for number in range(400)
    )

    context = inject(filled.in_session("s1"), f"The build is slow today.\n{log}\n{ASKED}")

    assert "Stripe-Signature" in context


def test_of_a_long_memory_the_sentences_that_answer_are_shown(meaning_store: Store) -> None:
    before = "Every provider has an account of its own, and each account has two people who know it. " * 7
    answer = "Callbacks are verified with the header Stripe-Signature."
    remember(meaning_store, Draft("Payment providers", f"{before}{answer}"))
    embed_pending(meaning_store)

    context = inject(meaning_store.in_session("s1"), ASKED)

    assert answer in context
    assert len(context) < 700
