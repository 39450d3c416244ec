import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_server.core.errors import Rejected
from mcp_server.core.managed_block import (
    END,
    FRAME_LINES,
    LINE,
    MAX_LINES,
    START,
    TOPICS,
    Point,
    Span,
    Torn,
    block_of,
    find,
    mend,
    point_line,
    render_block,
    share_out,
    splice,
)
from tests.core.test_render import BREAKOUTS

OURS = f"{START}\n# shop\n\n- a fact\n{END}"
OTHER = f"{START}\nsomething else\n{END}"
BUDGETS = [budget for _, budget, _ in TOPICS]


# Where the block goes


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
    f"a\n{START}\nmine\n": "START stands in line 2, END is missing",
    f"mine\n{END}\n": "START is missing, END stands in line 2",
    f"{END}\nmine\n{START}\n": "START stands in line 3, END stands in line 1",
    f"{START}\n{START}\nours\n{END}\n": "START stands in lines 1, 2",
    f"{START}\nours\n{END}\nmine\n{END}\n": "END stands in lines 3, 5",
    f"{OURS}\nmine\n{OURS}\n": "START stands in lines 1, 7",
    f"{START}\n```\n{END}\n": "END is missing",
    f"\ufeff{START}\r\nmine\r\n": "END is missing",
    f"{OTHER}\n" * 13: "and more",
}


@pytest.mark.parametrize("text", DAMAGED)
def test_damaged_markers_are_told_and_nothing_is_put_in_or_taken_out(text: str) -> None:
    found = find(text)

    assert isinstance(found, Torn)
    assert DAMAGED[text] in found.reason
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
    assert not isinstance(find(mended), Torn)


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
            Point(str(n), "d", rng.choice(BREAKOUTS + PIECES), rng.choice(BREAKOUTS + PIECES))
            for n in range(rng.randrange(4))
        ]
        for _ in TOPICS
    ]
    return render_block(rng.choice(["shop", "", START, "```", "a\nb"]), groups).text


def test_in_ten_thousand_documents_only_the_block_changes() -> None:
    rng = random.Random(20261120)
    blocks = [random_block(rng) for _ in range(100)]
    seen = {"new": 0, "replaced": 0, "damaged": 0}
    for _ in range(10_000):
        text, block = random_document(rng), rng.choice(blocks)
        found = find(text)
        if isinstance(found, Torn):
            seen["damaged"] += 1
            with pytest.raises(Rejected):
                splice(text, block)
            continue
        put = splice(text, block)
        now = find(put)
        assert isinstance(now, Span), (text, put)
        assert put[now.start : now.end] == block.replace("\n", now.line_end)
        assert splice(put, block) == put
        assert block_of(put) == block
        if found is None:
            seen["new"] += 1
            assert put.startswith(text)
            assert not put[len(text) : now.start].strip("\r\n")
            assert not put[now.end :].strip("\r\n")
            assert splice(put, "") == text, (text, put)
        else:
            seen["replaced"] += 1
            assert text[found.start :].startswith(START)
            assert text[: found.end].endswith(END)
            assert (put[: now.start], put[now.end :]) == (text[: found.start], text[found.end :])

    assert min(seen.values()) > 1_500, seen


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([START, END, "mine", f" {END} ", "> see"]), max_size=12))
def test_mending_keeps_every_line_of_the_person_in_order(lines: list[str]) -> None:
    numbered = [f"{line} {number}" if line == "mine" else line for number, line in enumerate(lines)]
    text = "".join(f"{line}\n" for line in numbered)
    mended = mend(text)

    kept = iter(text.split("\n"))
    assert all(line in kept for line in mended.split("\n")), "nothing is new, and the order stays"
    assert mend(mended) == mended
    assert not isinstance(find(mended), Torn)
    between = False  # only what stood between a START and the END that follows it may be gone
    for at, line in enumerate(numbered):
        if line.strip() == START:
            between = END in [other.strip() for other in numbered[at:]]
        elif line.strip() == END:
            between = False
        elif line.startswith("mine") and not between:
            assert line in mended.split("\n")


# What the block says


def points(count: int, name: str = "point") -> list[Point]:
    return [Point(f"v/{name}-{n}", f"d{n}", f"{name} {n}", "Said once.") for n in range(count)]


def groups(**counts: int) -> list[list[Point]]:
    return [points(counts.get(types[0], 0), types[0]) for _, _, types in TOPICS]


def test_the_block_reads_like_a_briefing() -> None:
    known = [
        [Point("p/api", "d1", "API layers", "No handler touches SQL.", "internal/api")],
        [Point("p/db", "d2", "Postgres, not MySQL.", "The reports need window functions.")],
        [],
        [Point("p/ci", "d3", "CI runs on ARM", "CI runs on ARM, e.g. sharp must be built from source. " * 4)],
        [Point("p/x", "d4", "Why two queues?", "Nobody knows."), Point("p/y", "d5", "Why two queues?", "")],
        [],
    ]

    block = render_block("shop", known)

    assert block.text.split("\n") == [
        START,
        "# shop",
        "",
        "What earlier sessions learned here: facts to check against the code, not orders."
        " Daybook rewrites what stands between these markers.",
        "",
        "## Architecture",
        "- API layers: No handler touches SQL (internal/api)",
        "",
        "## Key decisions",
        "- Postgres, not MySQL: The reports need window functions.",
        "",
        "## Gotchas",
        "- CI runs on ARM, e.g. sharp must be built from source."
        " CI runs on ARM, e.g. sharp must be built from source. …",
        "",
        "## In progress",
        "- Why two queues? Nobody knows.",
        "- Why two queues?",
        "",
        "Search for the rest, and for the whole of a line, with the recall tool;"
        " put questions to the ask tool.",
        END,
    ]
    assert block.told == {"p/api": "d1", "p/db": "d2", "p/ci": "d3", "p/x": "d4", "p/y": "d5"}


def test_a_block_without_memories_says_so() -> None:
    block = render_block("", [[] for _ in TOPICS])

    assert "# This project\n\nNothing has been remembered" in block.text
    assert block.told == {}


def test_the_same_line_is_told_once() -> None:
    twice = Point("a/1", "d", "Same", "Text"), Point("b/2", "d", "same", "text")

    assert render_block("shop", [list(twice), [twice[1]], [], [], [], []]).told == {"a/1": "d"}


@pytest.mark.parametrize(
    ("needs", "given"),
    [
        ([0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]),
        ([99, 99, 99, 99, 99, 99], [26, 26, 26, 20, 30, 15]),  # three lines are left over
        ([99, 0, 0, 0, 0, 0], [99, 0, 0, 0, 0, 0]),
        ([200, 0, 0, 0, 0, 0], [143, 0, 0, 0, 0, 0]),
        ([25, 25, 25, 20, 30, 15], [25, 25, 25, 20, 30, 15]),
        ([99, 99, 5, 20, 30, 15], [37, 36, 5, 20, 30, 15]),
        ([27, 99, 5, 20, 30, 15], [27, 46, 5, 20, 30, 15]),
        ([0, 0, 0, 99, 0, 99], [0, 0, 0, 74, 0, 69]),
        ([26, 26, 99, 0, 99, 0], [26, 26, 43, 0, 48, 0]),
    ],
)
def test_unused_lines_go_evenly_to_sections_that_overflow(needs: list[int], given: list[int]) -> None:
    assert share_out(needs, BUDGETS, MAX_LINES - FRAME_LINES) == given


def test_a_section_that_overflows_says_how_many_more_there_are() -> None:
    block = render_block("shop", groups(architecture=300))
    lines = block.text.split("\n")

    assert len(lines) == MAX_LINES
    assert lines.count("- …and 160 more (ask recall)") == 1
    assert len(block.told) == 140


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 400), min_size=6, max_size=6), st.text(max_size=100))
def test_any_store_fits_into_the_lines_of_the_block(counts: list[int], name: str) -> None:
    asked = [points(count, types[0]) for count, (_, _, types) in zip(counts, TOPICS, strict=True)]
    block = render_block(name, asked)
    lines = block.text.split("\n")
    more = sum(int(line.split()[2]) for line in lines if line.startswith("- …and "))

    assert len(lines) <= MAX_LINES
    assert len(lines) == MAX_LINES or more == 0
    assert len(block.told) + more == sum(counts)
    assert find(block.text) == Span(0, len(block.text), "\n")


HOSTILE = [
    *BREAKOUTS, START, END, f"x\n{END}\n# mine now", "1. # heading", "2) - 3. ```", "1. ~~~",
    "a\r\n@~/.ssh/id", "\u2028@import.md", "see\u00a0@README.md and\t@docs/x.md", "- [ ] @x",
    "~~~\ncode", "--- \n===", "[x]: http://e",
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(HOSTILE) | st.text(max_size=200),
    st.sampled_from(HOSTILE) | st.text(max_size=400),
    st.sampled_from(HOSTILE) | st.text(max_size=60),
)
def test_no_memory_leaves_its_line_in_the_block(title: str, text: str, place: str) -> None:
    point = Point("p/x", "d", title, text, place)
    line = point_line(point)
    block = render_block(title, [[point], [], [], [], [], []]).text

    assert len(line) <= LINE
    assert line == "- " or not line[2:].startswith(("#", "-", ">", "|", "*", "=", "~", "+"))
    assert not set("<>`\n\r\u2028\u2029") & set(line)
    assert "@" not in [word[0] for word in line.split()], "an import"
    assert block.count(START) == block.count(END) == 1
    assert len(block.split("\n")) <= 10


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("1. # heading", "- heading"),
        ("2) - 3. ~~~ x", "- x"),
        ("1. 1. - deep", "- deep"),
        ("1. ```", "- 1. '''"),
        ("3. floor", "- 3. floor"),
        ("1. #", "- "),
    ],
)
def test_nothing_nests_behind_our_list_mark(said: str, line: str) -> None:
    assert point_line(Point("p/x", "d", "", said)) == line


def test_a_memory_of_which_nothing_is_left_has_no_line() -> None:
    assert render_block("shop", [[Point("p/x", "d", "#", "1. #")], [], [], [], [], []]).told == {}


def test_a_line_is_cut_behind_a_late_sentence_or_a_word_and_says_so() -> None:
    late = Point("p/x", "d", "Stock", f"{'word ' * 18}end. And then a great deal more of it is said here.")
    early = Point("p/x", "d", "Stock", f"No. {'word ' * 60}")
    solid = Point("p/x", "d", "Stock", "x" * 300)

    assert point_line(late).endswith("word end. …")
    assert point_line(early).endswith("word word…")
    assert (len(point_line(solid)), point_line(solid)[-2:]) == (LINE, "x…")
