"""A quick look before a pattern rules out no text in which the pattern finds something."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.masking import SETS, negatives, positives
from benchmarks.poison import items
from mcp_server.core.provenance import instructions
from mcp_server.core.provenance.instruction_patterns import SIGNALS
from mcp_server.core.secrets import commands, phrases
from mcp_server.core.secrets.beginnings import matches
from mcp_server.core.secrets.mnemonic_words import BEGINNINGS
from mcp_server.core.secrets.names import WORD, WORD_BEGINNINGS
from mcp_server.core.text import languages, words
from tests.core.test_no_secrets import NO_SECRETS

LONG = " ." * 200  # a short text is read by the pattern itself
SIGNS = st.text("abcjnsCJNS013457@$ _-.*#+:=/'\n\té密", max_size=8)
LABELLED = sorted(
    {
        *NO_SECRETS,
        *(case.text for kinds, lines in SETS.values() for case in (*positives(kinds), *negatives(lines))),
        *(item.text for item in items()),
    }
)
LITERALS = (phrases._ENTRY, phrases._ENTRY_BEGINNINGS), (WORD, WORD_BEGINNINGS)


def spans(found: object) -> list[tuple[int, int]]:
    return [match.span() for match in found]  # type: ignore[attr-defined]


def pieces(*more: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(st.one_of(SIGNS, *more), max_size=30).map("".join)


@pytest.mark.parametrize(("pattern", "beginnings"), LITERALS, ids=["entry", "word"])
def test_literals_find_what_the_pattern_finds(pattern: re.Pattern[str], beginnings: tuple[str, ...]) -> None:
    cut = st.sampled_from(beginnings).flatmap(lambda word: st.integers(1, len(word)).map(lambda n: word[:n]))

    @given(pieces(st.from_regex(pattern, fullmatch=True), st.sampled_from(beginnings), cut))
    def agree(text: str) -> None:
        lowered = f"{text}{LONG}".lower()
        assert spans(matches(pattern, beginnings, lowered)) == spans(pattern.finditer(lowered))

    agree()


@pytest.mark.parametrize(("pattern", "beginnings"), LITERALS, ids=["entry", "word"])
def test_literals_find_what_the_pattern_finds_in_labelled_texts(
    pattern: re.Pattern[str], beginnings: tuple[str, ...]
) -> None:
    for text in LABELLED:
        lowered = f"{text}{LONG}".lower()
        assert spans(matches(pattern, beginnings, lowered)) == spans(pattern.finditer(lowered)), text


def has_a_phrase(text: str) -> bool:
    return any(
        all(word[:4] in BEGINNINGS for word in run[0].split()) for run in re.finditer(phrases._RUN, text)
    )


LISTED = st.sampled_from(sorted(word for word in BEGINNINGS if len(word) > 2))
SEPARATED = st.sampled_from((" ", " ", " ", "\n", "  ", " \n"))
NEARLY_A_PHRASE = st.lists(st.tuples(LISTED, SEPARATED), min_size=11, max_size=26).map(
    lambda parts: "".join(word + separator for word, separator in parts)
)


@given(st.lists(st.one_of(NEARLY_A_PHRASE, SIGNS, LISTED), max_size=6).map("".join))
def test_no_recovery_phrase_is_passed_over(text: str) -> None:
    assert phrases._may_have_a_run(text) or not has_a_phrase(text)


@given(LISTED, st.sampled_from((12, 15, 18, 21, 24)), st.data())
def test_a_recovery_phrase_is_seen_wherever_it_stands(before: str, length: int, data: st.DataObject) -> None:
    phrase = data.draw(st.lists(LISTED, min_size=length, max_size=length))
    text = f"{before}, and " * data.draw(st.integers(0, 12)) + f"({' '.join(phrase)})."

    assert has_a_phrase(text) and phrases._may_have_a_run(text)


def test_a_recovery_phrase_is_seen_when_signs_hide_its_first_and_its_last_word() -> None:
    short = sorted(word for word in BEGINNINGS if len(word) == 3)[:2]
    phrase = " ".join([short[0], *sorted(word for word in BEGINNINGS if len(word) == 4)[:100:10], short[1]])

    assert all(phrases._may_have_a_run(f"{'no ' * before}({phrase})") for before in range(13))


def programs(words_of_a_text: set[str]) -> set[str]:
    return words_of_a_text & commands._by_program()[0].keys()


NAMES = st.sampled_from(sorted(commands._by_program()[0]))


@given(st.one_of(pieces(NAMES), st.lists(st.one_of(NAMES, st.text("_-./ x1", max_size=2))).map("".join)))
def test_every_program_in_a_text_is_seen(text: str) -> None:
    assert programs(commands._words(text)) == programs(set(commands._WORDS.findall(text)))


PARTS = sorted({part for groups, _ in SIGNALS for part in re.split("[|&]", groups)})


@pytest.mark.parametrize("end", ["", "x", " ", "é", "_", "9"])
@pytest.mark.parametrize("beginning", ["", "x", " ", "é", "_", "9"])
def test_a_part_of_a_text_shows_how_a_word_begins(beginning: str, end: str) -> None:
    for part in PARTS:
        flat = f"{beginning}{part}{end}"
        begins = {word[:5] for word in re.findall(r"[^\W\d_]+", flat)}

        assert instructions._begun_by(part) in {*begins, ""}, part


def test_what_words_begin_with_is_known_of_most_parts_that_are_more_than_a_word() -> None:
    known = {part: instructions._begun_by(part) for part in ("tests pass", "no vulnerab", "is safe", "not ")}

    assert known == {"tests pass": "", "no vulnerab": "vulne", "is safe": "", "not ": ""}
    assert instructions._begun_by("all other rules") == "other"


def agrees(text: str) -> bool:
    """Tell whether each quick look at *text* lets through what its pattern finds."""
    return (
        (instructions._may_be_spread(text) or not re.search(instructions._SPREAD_END, text))
        and (instructions._may_be_leet(text) or not re.search(instructions._LEET_END, text))
        and (words._may_have_sign(text) or not words._SIGN.search(text))
    )


@example("say i_g_n_o_r_e it")
@given(st.one_of(pieces(), *(st.text(signs, max_size=20) for signs in ("a _.-*", "aB14@$ ", "cj.+# xJN1_"))))
def test_a_quick_look_lets_through_what_the_pattern_finds(text: str) -> None:
    assert agrees(text)


def test_a_quick_look_lets_through_what_the_pattern_finds_in_labelled_texts() -> None:
    assert [text for text in LABELLED if not agrees(text)] == []


def test_a_quick_look_rules_out_prose() -> None:
    prose = "Deploys go out on Friday; the build takes nine minutes, and nobody waits for it."

    assert not instructions._may_be_spread(prose)
    assert not instructions._may_be_leet(prose)
    assert not words._may_have_sign(prose)
    assert not phrases._may_have_a_run(prose)


SMALL = sorted(
    {word for small_words in languages.FUNCTION_SETS.values() for word in small_words if word.isascii()}
)


@given(st.lists(st.sampled_from(SMALL), max_size=12), st.integers(0, 80))
def test_a_text_with_few_small_words_is_in_the_language_that_counting_tells(
    small: list[str], others: int
) -> None:
    text = " ".join((*small, *(f"zz{number}" for number in range(others))))
    folded = frozenset(words.folded_words(text))

    # With a sign that is not in ASCII, and says nothing, they are counted.
    assert languages.languages_of(text, folded) == languages.languages_of(f"{text} →", folded)
