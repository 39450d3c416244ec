import itertools
import re
import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_server.core.text.words import (
    folded,
    folded_words,
    identifier_parts,
    match_expression,
    near_expression,
    query_terms,
    words,
)

ODD_QUERIES = [
    "multi-agent",
    "a'b",
    "20.04",
    "GB/s",
    "NEAR(",
    "col:x",
    "*",
    "^",
    "AND OR NOT",
    '"unbalanced',
    "a" * 100_000,
    "nul\0byte",
    "",
    "   ",
    "the of and",
    "日本語の検索",
    "Москва",
    "привет мир",
    "🙂",
    "x AND (y OR",
    "-minus",
    "tags:a*",
    "{a b}: c",
    "ÄÖÜ straße",
    "\ud800",
    "__init__",
    "a_b_c",
    "C++",
    "#42",
    "@user",
    "100%",
    "..",
    "\\",
    "''",
    '""""',
]


@pytest.fixture(scope="module")
def table() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='porter unicode61')")
    connection.execute("INSERT INTO t VALUES ('the multi-agent webhook of Москва in 日本語 ÄÖÜ straße')")
    return connection


def count_found(table: sqlite3.Connection, text: str) -> int:
    expression = match_expression(query_terms(text))
    return count(table, expression) if expression else 0


def count(table: sqlite3.Connection, expression: str) -> int:
    return len(table.execute("SELECT rowid FROM t WHERE t MATCH ?", (expression,)).fetchall())


@pytest.mark.parametrize("text", ODD_QUERIES, ids=range(len(ODD_QUERIES)))
def test_odd_queries_are_valid_searches(table: sqlite3.Connection, text: str) -> None:
    assert count_found(table, text.encode("utf-8", "replace").decode()) in (0, 1)


@settings(max_examples=1500)
@given(text=st.text())
def test_any_text_is_a_valid_search(table: sqlite3.Connection, text: str) -> None:
    assert count_found(table, text) in (0, 1)


@pytest.mark.parametrize("text", ODD_QUERIES, ids=range(len(ODD_QUERIES)))
def test_neighbours_in_odd_queries_are_valid_searches(table: sqlite3.Connection, text: str) -> None:
    assert near(table, text.encode("utf-8", "replace").decode()) <= 1


@settings(max_examples=1000)
@given(text=st.text())
def test_neighbours_in_any_text_are_a_valid_search(table: sqlite3.Connection, text: str) -> None:
    assert near(table, text) <= 1


def near(table: sqlite3.Connection, text: str, between: int = 3) -> int:
    """Return how many texts of *table* have two neighbouring terms of *text* near each other, at the most."""
    pairs = itertools.pairwise(query_terms(text))
    expressions = [near_expression([first], [second], between) for first, second in pairs]
    return max((count(table, expression) for expression in expressions), default=0)


def test_words_are_near_when_few_others_stand_between_them(table: sqlite3.Connection) -> None:
    assert near(table, "webhook agent", between=0) == 1
    assert near(table, "multi äöü", between=5) == 0
    assert near(table, "multi äöü", between=6) == 1


def test_a_word_that_is_two_in_one_needs_no_other_near_it(table: sqlite3.Connection) -> None:
    assert count(table, near_expression(["web", "webhook"], ["hook", "webhook"], 3)) == 1
    assert count(table, near_expression(["web", "webhook"], ["agent"], 0)) == 1
    assert count(table, near_expression(["web"], ["agent", "hook"], 0)) == 0


@pytest.mark.parametrize("word", ["multi-agent", "webhook", "webhooks", "Москва", "МОСКВА", "äöü", "multi"])
def test_every_plain_word_of_a_text_finds_it(table: sqlite3.Connection, word: str) -> None:
    assert count_found(table, word) == 1


@pytest.mark.feature("A-26")
def test_stop_words_are_left_out_unless_nothing_else_remains() -> None:
    assert query_terms("how do we verify the webhook") == ["verify", "webhook"]
    assert query_terms("to be or not to be") == ["to", "be", "or", "not"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("getUserById", ["get", "user", "by", "id"]),
        ("HTTPServer parseURL2", ["http", "server", "parse", "url", "2"]),
        ("HTTPServer", ["http", "server"]),
        ("a utf8 text", ["utf", "8"]),
        ("the ES6 way", ["es", "6"]),
        ("the 2nd time", ["2", "nd"]),
        ("in 3D", ["3", "d"]),
        ("snake_case", []),
        ("Plain words of 2026, AND in FULL", []),
        ("日本語", ["日本", "本語"]),
    ],
)
def test_identifiers_are_split(text: str, parts: list[str]) -> None:
    assert identifier_parts(text) == parts


@given(st.text(st.characters(max_codepoint=0x17F)) | st.text(st.characters(codec="ascii")))
def test_words_are_the_same_whether_or_not_other_letters_stand_beside_them(text: str) -> None:
    """A text in ASCII is read in another way, which is quicker."""
    raw_words = re.findall(r"\w+", text)

    assert folded_words(text) == [folded(word) for word in raw_words]
    assert words(text) == [word.casefold() for word in raw_words]
