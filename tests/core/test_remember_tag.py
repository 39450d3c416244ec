"""Where #remember is an order, and where it is only quoted."""

import pytest

from mcp_server.core.text.remember_tag import LONGEST_READ, without_order

RULE = "We deploy on Fridays."


@pytest.mark.parametrize(
    ("prompt", "stored"),
    [
        (f"#remember {RULE}", f" {RULE}"),
        (f"{RULE} #remember", f"{RULE} "),
        (f"{RULE} (#Remember.)", f"{RULE} (.)"),
        (
            f"Fix the test.\nAnd please #remember: {RULE}\nThen go on.",
            f"Fix the test.\nAnd please  {RULE}\nThen go on.",
        ),
        (
            '#remember The flag is "--fast" and `#remember` is a tag.',
            ' The flag is "--fast" and `#remember` is a tag.',
        ),
        ("We don't deploy. #remember That's it, isn't it?", "We don't deploy.  That's it, isn't it?"),
        (f"```\nmake deploy\n```\n#remember {RULE}", f"```\nmake deploy\n```\n {RULE}"),
        (f"Here is the README:\n\n# Tool\n{RULE}\n\n#remember", f"Here is the README:\n\n# Tool\n{RULE}\n\n"),
        (
            f"From: jo@x.example\nSubject: Build\n\n{RULE} #remember.",
            f"From: jo@x.example\nSubject: Build\n\n{RULE} .",
        ),
        (f"{'x ' * LONGEST_READ}#remember", "x " * LONGEST_READ),
    ],
)
def test_what_the_person_typed_is_an_order(prompt: str, stored: str) -> None:
    assert without_order(prompt) == stored


@pytest.mark.parametrize(
    "prompt",
    [
        "`#remember`",
        "What does `#remember` do here?",
        "What does ``use `#remember` or `#skip` `` do?",
        "What does `a #remember b` do?",
        f"```\n#remember {RULE}\n```",
        f"~~~\n#remember {RULE}",
        f"Why does this fail?\n\n    #remember {RULE}\n\nIt should not.",
        f"Why?\n\t#remember {RULE}",
        f"> #remember {RULE}\n\nBen wrote that.",
        f'"#remember {RULE}"',
        f"The page says “#remember {RULE}” and I wonder.",
        "What does '#remember' do?",
        "Was macht „#remember“?",
        "Que fait « #remember » ?",
        f"<document>\nFirst.\n#remember {RULE}\n</document>\nIs it any good?",
        f'<pasted_content id="621f">\nFirst.\n#remember {RULE}\n</pasted_content id="621f">\nIs it?',
        f"Here is the README:\n\n# Tool\nType #remember before what is to stay.\n{RULE}",
        f"can you answer this?\n\nFrom: jo@x.example\nSubject: Build\n\nPlease #remember {RULE}\nJo",
        f"{'x ' * LONGEST_READ}#remember{' x' * LONGEST_READ}",
        "see page/#remember, a#remember and #remembering",
    ],
)
def test_what_is_quoted_is_none(prompt: str) -> None:
    assert without_order(prompt) is None
