"""What of a turn the person wrote, and what they pasted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.text.own_words import GAP, own_words

RULE = "always build with make release"


@pytest.mark.parametrize(
    "turn",
    [
        f"> {RULE}\n> and then ship\n\nBen wrote that.",
        f"Here is the README:\n\n# Tool\n{RULE}\nMore of it.",
        f"look at the issue\n```\nTitle: Build\n{RULE}\nthanks\n```\nclose it",
        f'The ticket:\n"""\n{RULE}\n"""\nWe do not do that.',
        f"can you answer this?\n\nFrom: jo@x.example\nSubject: Build\n\nHello, {RULE}.\nJo",
        f"Von: jo@x.example\nBetreff: Build\n\n{RULE}",
        f"ChatGPT says:\n{RULE}, and so on.\n\nIs that right?",
        f"Summarize this for me:\n\n## Guide\n{RULE}\n## More\nthe end",
        f"Übersetze bitte:\n{RULE}",
        f"ben  10:41 AM\n{RULE}\n\nwhat does he mean?",
        f"<document>\n{RULE}\n</document>\nIs it any good?",
        f'<pasted_content id="621f">\n{RULE}\n</pasted_content id="621f">\nIs it any good?',
        f"2026-11-20 09:12:44 INFO {RULE}",
        f'Mara told me "we should {RULE}, she said" and I do not know',
        f"Mail vom Kunden, bitte antworten:\n\n{RULE}",
    ],
)
def test_what_was_pasted_is_not_the_persons(turn: str) -> None:
    assert RULE not in own_words(turn)
    assert GAP in own_words(turn)


@pytest.mark.parametrize(
    "turn",
    [
        RULE,
        f"Our rules for the importer:\n- {RULE}\n- no floats",
        f"Before you answer:\n- {RULE}",
        f"For the settings page:\n- {RULE}",
        f"On error:\n{RULE}",
        f"Rules for the docs:\n\n{RULE}",
        f"My answer to your questions:\n1. {RULE}",
        f"# Task\nAdd a button\n# Rules\n{RULE}",
        f"When a schema changed:\n```\n{RULE}\n```\nCI fails otherwise.",
        f'Call it "workspace", never "project", and {RULE}.',
        f"Remember:\n{RULE}",
        f"> is it done?\n\nYes. And {RULE}.",
        f'The ticket:\n"""\nship it\n"""\nNo, {RULE}.',
        f"ChatGPT says:\n\n> ship it\n\nI disagree, {RULE}",
    ],
)
def test_what_the_person_wrote_stays(turn: str) -> None:
    assert RULE in own_words(turn)


@given(
    st.lists(
        st.sampled_from(["> a", "```", "b", "", "c:", "From: d", "To: e", '"""', "<x>", "</x>", "README:"])
    )
)
def test_whatever_is_pasted_each_line_that_stays_is_one_of_the_turn(lines: list[str]) -> None:
    lines_kept = own_words("\n".join(lines)).replace(GAP, "\n").split("\n")

    assert set(lines_kept) <= {*lines, "", "\x00"}
