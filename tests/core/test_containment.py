"""When a text says all that another says, and limits nothing of it."""

import pytest

from mcp_server.core.text.containment import contains
from mcp_server.core.text.text_relation import Statement
from mcp_server.core.text.titles import split_title

PART = "Receipts are sent by email"


def stated(words: str, *, type: str = "decision") -> Statement:
    return Statement(*split_title(words), type)


@pytest.mark.parametrize(
    "whole",
    [
        "Receipts are sent by email. They like that.",
        "Receipts are sent by email, because it is cheap.",
        "receipts are  sent by EMAIL; the shop wants it so",
        "That is settled. Receipts are sent by email.",
    ],
)
def test_a_clause_of_its_own_is_added_to_the_same_words(whole: str) -> None:
    assert contains(stated(whole), stated(f"{PART}."))
    assert not contains(stated(PART), stated(whole))


@pytest.mark.parametrize(
    "whole",
    [
        PART,
        "Receipts are always sent by email.",
        "Receipts are sent by email to the accountant.",
        "We never said that receipts are sent by email.",
        "Receipts are sent by email. Not to guests.",
        "Receipts are sent by email, but that was the plan.",
        "Receipts are sent by email, except to guests.",
        "Receipts are sent by email if the customer asks.",
        "Receipts are sent by email, only at night.",
        "Receipts are sent by email. That takes 3 minutes.",
        "Receipts are sent by email. That is Postmark.",
        "Receipts are sent by email. Postmark does that.",
        "Receipts are sent by email, aber nur sonntags.",
        "Receipts are sent by email. 只在周日。",
        "Receipts are sent by email. Sauf dimanche.",
        "In the outlet | Receipts are sent by email. They like that.",
    ],
)
def test_what_may_limit_it_leaves_both(whole: str) -> None:
    assert not contains(stated(whole), stated(PART))


def test_an_own_title_must_be_the_same() -> None:
    part = stated(f"Shop | {PART}.")

    assert contains(stated(f"Shop | {PART}. They like that."), part)
    assert not contains(stated(f"Outlet | {PART}. Customers like that."), part)
    assert not contains(stated(f"{PART}. They like that."), stated(f"Receipt | {PART}."))


def test_another_type_or_case_inside_code_is_another_thing() -> None:
    part = stated("Call `Run` first.")

    assert contains(stated("Call `Run` first, because it is quick."), part)
    assert not contains(stated("Call `run` first, because it is quick."), part)
    assert not contains(stated("Call `Run` first, because it is quick.", type="gotcha"), part)
