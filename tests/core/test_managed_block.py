"""Where the block goes in a document of the person, and that nothing else in it changes."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_server.core.context.managed_block import (
    END,
    START,
    TOPICS,
    BlockPoint,
    BlockSpan,
    block_of,
    find,
    mend,
    render_block,
    splice,
)
from mcp_server.core.errors import Rejected
from tests.core.test_render import BREAKOUTS

OURS = f"{START}\n# shop\n\n- a fact\n{END}"
OTHER = f"{START}\nsomething else\n{END}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"{OURS}\n"),
        ("# Mine\n", f"# Mine\n\n{OURS}\n"),
        ("# Mine", f"# Mine\n\n{OURS}"),
        ("# Mine\n\n", f"# Mine\n\n\n{OURS}\n"),
        ("\n", f"\n\n{OURS}\n"),
        ("\ufeff# Mine\n", f"\ufeff# Mine\n\n{OURS}\n"),
        ("\ufeff", f"\ufeff{OURS}\n"),
        ("a\r\nb\r\n", "a\r\nb\r\n\r\n" + OURS.replace("\n", "\r\n") + "\r\n"),
        ("a\rb\r", "a\rb\r\r" + OURS.replace("\n", "\r") + "\r"),
        ("a\nb\r\nc\n", f"a\nb\r\nc\n\n{OURS}\n"),
        ("a\nb\nc\r", "a\nb\nc\r\r\n" + OURS.replace("\n", "\r\n") + "\r\n"),
    ],
)
def test_a_first_block_goes_below_the_last_line_and_taking_it_out_leaves_what_was_there(
    before: str, after: str
) -> None:
    assert splice(before, OURS) == after
    assert splice(after, OURS) == after
    assert splice(after, "") == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"a\n{OTHER}\nb\n", f"a\n{OURS}\nb\n"),
        (f"{OTHER}", OURS),
        (f"\ufeff{OTHER}\nb", f"\ufeff{OURS}\nb"),
        (f"a\n  {START} \t\nold\n {END}  \nb", f"a\n  {OURS}  \nb"),
        (f"a\n{START}\r\nold\r\n{END}\r\nb\n", "a\n" + OURS.replace("\n", "\r\n") + "\r\nb\n"),
        (f"```\n{OTHER}\n```\n{OTHER}\n", f"```\n{OTHER}\n```\n{OURS}\n"),
    ],
)
def test_a_block_is_replaced_where_it_stands(before: str, after: str) -> None:
    assert splice(before, OURS) == after
    assert splice(after, OURS) == after


def test_a_block_with_text_below_it_goes_with_its_own_lines_only() -> None:
    assert splice(f"a\n\n{OURS}\n\nb\n", "") == "a\n\n\nb\n"
    assert splice(f"a\n{OURS}\n", "") == "a\n"
    assert splice(f"a\n{OURS}", "") == "a\n"
    assert splice(f"a\r\n{OURS}\n", "") == "a\r\n"
    assert splice("a\n", "") == "a\n"


@pytest.mark.feature("3.1-8")
@pytest.mark.parametrize(
    "text",
    [
        f"Daybook writes between {START} and {END}.\n",
        f"> {START}\n> {END}\n",
        f"- {START}\n- {END}\n",
        f"```\n{START}\n{END}\n```\n",
        f"~~~ markdown\n{START}\n```\n{END}\n~~~\n",
        f"````\n```\n{START}\n```\n{END}\n````\n",
        f"```\n{START}\n```not the end\n{END}\n```  \n",
        f"   ```html\n{START}\n   ```\n",
        f"1. look:\n\n   ```\n   {START}\n   ```\n",
        f"- ```\n  {START}\n  {END}\n  ```\n",
        f"10. ```\n    {START}\n    ```\n",
        f"    {START}\n    old\n    {END}\n",
        f"\t{START}\n",
        "<!-- MEMORY:START-->\n<!--MEMORY:END -->\n<!-- memory:start -->\n",
    ],
)
def test_a_marker_in_code_or_in_prose_does_not_count(text: str) -> None:
    assert find(text) is None
    assert splice(text, OURS) == f"{text}\n{OURS}\n"
    assert mend(text) == text


DAMAGED = {
    f"a\n{START}\nmine\n": "START is in line 2, END is missing",
    f"mine\n{END}\n": "START is missing, END is in line 2",
    f"{END}\nmine\n{START}\n": "START is in line 3, END is in line 1",
    f"{START}\n{START}\nours\n{END}\n": "START is in lines 1, 2",
    f"{START}\nours\n{END}\nmine\n{END}\n": "END is in lines 3, 5",
    f"{OURS}\nmine\n{OURS}\n": "START is in lines 1, 7",
    f"{START}\n```\n{END}\n": "END is missing",
    f"\ufeff{START}\r\nmine\r\n": "END is missing",
    f"{OTHER}\n" * 13: "and more",
}


@pytest.mark.parametrize("text", DAMAGED)
def test_damaged_markers_are_told_and_nothing_is_put_in_or_taken_out(text: str) -> None:
    problem = find(text)

    assert isinstance(problem, Rejected)
    assert DAMAGED[text] in str(problem)
    for block in (OURS, ""):
        with pytest.raises(Rejected, match="markers of the managed block are damaged"):
            splice(text, block)
    assert block_of(text) == ""


def test_a_block_is_not_put_into_a_code_fence_that_nobody_closed() -> None:
    text = "a\n```\ncode\n"

    with pytest.raises(Rejected, match="begins in line 2 is never closed"):
        splice(text, OURS)
    assert splice(f"{OTHER}\n{text}", OURS) == f"{OURS}\n{text}"
    assert splice("- ```\n  code\n", OURS) == f"- ```\n  code\n\n{OURS}\n"


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        (f"a\n{START}\nmine\n", "a\nmine\n"),
        (f"mine\n{END}", "mine\n"),
        (f"{END}\nmine\n{START}\n", "mine\n"),
        (f"{START}\nmine\n{OTHER}\nb\n", f"mine\n{OTHER}\nb\n"),
        (f"{OTHER}\nmine\n{END}\nb\n", f"{OTHER}\nmine\nb\n"),
        (f"a\n{OTHER}\nmine\n{OURS}\nb\n", f"a\n{OTHER}\nmine\nb\n"),
        (f"\ufeff{START}\r\nmine", "\ufeffmine"),
        (f"```\n{START}\n```\n{END}\nmine\n", f"```\n{START}\n```\nmine\n"),
        (f"{START}\n{START}\nours\n{END}\n{END}\n", f"{START}\nours\n{END}\n"),
    ],
)
def test_mending_takes_out_stray_markers_and_second_blocks_and_no_text_of_the_person(
    text: str, mended: str
) -> None:
    assert mend(text) == mended
    assert not isinstance(find(mended), Rejected)


def test_what_is_no_single_block_is_never_put_in() -> None:
    for block in ("no markers", f"{OURS}\n{OURS}", f"mine\n{OURS}", f"{START}\n```\n{END}"):
        with pytest.raises(ValueError, match="a block begins with START"):
            splice("a\n", block)


PIECES = [
    START, END, f" {START}", f"{END}\t", f"see {START}", "```", "```", "~~~~", "- ```", "  ```", "    ```",
    "# Heading", "", "", "text", "\\1 $& \\g<0>", "ünï\u2028code", "\ufeff", "@import.md", "\x0b\x0c",
]  # fmt: skip


def random_document(rng: random.Random) -> str:
    ends = rng.choice(["\n", "\r\n", "\r", "mixed"])
    mixed = ["\n", "\r\n", "\r"]
    # Most documents have no block or one whole block, or few would come through.
    pieces = PIECES[4:] if rng.random() < 0.6 else PIECES
    lines = [rng.choice(pieces) for _ in range(rng.randrange(12))]
    if pieces is not PIECES and rng.random() < 0.5:
        at = rng.randrange(len(lines) + 1)
        lines[at:at] = [START, *rng.choices(["old", "", "# x", "- y"], k=rng.randrange(4)), END]
    text = "".join(line + (rng.choice(mixed) if ends == "mixed" else ends) for line in lines)
    return rng.choice(["", "", "\ufeff"]) + (text.rstrip("\r\n") if rng.random() < 0.3 else text)


def random_block(rng: random.Random) -> str:
    groups = [
        [
            BlockPoint(str(n), "d", rng.choice(BREAKOUTS + PIECES), rng.choice(BREAKOUTS + PIECES))
            for n in range(rng.randrange(4))
        ]
        for _ in TOPICS
    ]
    return render_block(rng.choice(["shop", "", START, "```", "a\nb"]), groups).text


@pytest.mark.feature("A-33")
def test_in_ten_thousand_documents_only_the_block_changes() -> None:
    rng = random.Random(20261120)
    blocks = [random_block(rng) for _ in range(100)]
    counts = {"new": 0, "replaced": 0, "damaged": 0}
    for _ in range(10_000):
        text, block = random_document(rng), rng.choice(blocks)
        span = find(text)
        if isinstance(span, Rejected):
            counts["damaged"] += 1
            with pytest.raises(Rejected):
                splice(text, block)
            continue
        with_block = splice(text, block)
        now = find(with_block)
        assert isinstance(now, BlockSpan), (text, with_block)
        assert with_block[now.start : now.end] == block.replace("\n", now.line_end)
        assert splice(with_block, block) == with_block
        assert block_of(with_block) == block
        if span is None:
            counts["new"] += 1
            assert with_block.startswith(text)
            assert not with_block[len(text) : now.start].strip("\r\n")
            assert not with_block[now.end :].strip("\r\n")
            assert splice(with_block, "") == text, (text, with_block)
        else:
            counts["replaced"] += 1
            assert text[span.start :].startswith(START)
            assert text[: span.end].endswith(END)
            assert (with_block[: now.start], with_block[now.end :]) == (text[: span.start], text[span.end :])

    assert min(counts.values()) > 1_500, counts


@settings(max_examples=300)
@given(st.lists(st.sampled_from([START, END, "mine", f" {END} ", "> see"]), max_size=12))
def test_mending_keeps_every_line_of_the_person_in_order(lines: list[str]) -> None:
    numbered = [f"{line} {number}" if line == "mine" else line for number, line in enumerate(lines)]
    text = "".join(f"{line}\n" for line in numbered)
    mended = mend(text)

    rest = iter(text.split("\n"))
    assert all(line in rest for line in mended.split("\n")), "nothing is new, and the order stays"
    assert mend(mended) == mended
    assert not isinstance(find(mended), Rejected)
    between = False  # only what stood between a START and the END that follows it may be gone
    for at, line in enumerate(numbered):
        if line.strip() == START:
            between = END in [other.strip() for other in numbered[at:]]
        elif line.strip() == END:
            between = False
        elif line.startswith("mine") and not between:
            assert line in mended.split("\n")
