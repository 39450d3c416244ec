import sqlite3

import pytest

from mcp_server.core.text.words import _IRREGULAR, _regular, word_forms

VERBS = [verb.split() for verb in _IRREGULAR.split(",")]


@pytest.mark.parametrize(
    ("term", "others"),
    [
        ("go", {"goes", "went", "gone"}),
        ("went", {"go", "goes", "gone"}),
        ("writing", {"wrote", "written"}),
        ("runs", {"ran"}),
        ("running", {"ran"}),
        ("seeing", {"saw", "seen"}),
        ("teaches", {"taught"}),
        ("walk", set()),
        ("sites", set()),
    ],
)
def test_a_verb_counts_in_each_of_its_forms(term: str, others: set[str]) -> None:
    first, *rest = word_forms([term])[term]

    assert first == term
    assert others <= set(rest)
    assert bool(others) == bool(rest)


def test_neighbours_written_as_one_word_count_as_either() -> None:
    assert word_forms(["data", "base", "row"]) == {
        "data": ["data", "database"],
        "base": ["base", "database", "baserow"],
        "row": ["row", "baserow"],
    }
    assert word_forms([]) == {}


def test_a_word_counts_without_its_ending_in_the_languages_of_its_script() -> None:
    languages = ("de", "fr", "es", "ru")

    assert word_forms(["rechnungen"], languages)["rechnungen"][1:5] == [
        "rechn0de",
        "rechnungen0fr",
        "rechnung0es",
        "rechn1de",
    ]
    assert word_forms(["rechnungen"], ["fr"]) == {"rechnungen": ["rechnungen", "rechnungen0fr"]}
    assert word_forms(["таблицы"], languages)["таблицы"] == ["таблицы", "таблиц0ru"]
    assert word_forms(["数据"], languages) == {"数据": ["数据"]}


def test_only_what_stemming_does_not_know_is_listed() -> None:
    assert len({verb[0] for verb in VERBS}) == len(VERBS) > 80
    for base, *others in VERBS:
        assert not any(stem(other) == stem(base) for other in others), base
        assert len({stem(other) for other in others}) == len(others), base
        regular, *continuous = _regular(base)
        assert base == "go" or stem(regular) == stem(base)
        assert stem(base) in map(stem, continuous)


def stem(word: str) -> str:
    """Return what the index makes of *word*."""
    with sqlite3.connect(":memory:") as db:
        db.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='porter unicode61')")
        db.execute("CREATE VIRTUAL TABLE terms USING fts5vocab(t, 'row')")
        db.execute("INSERT INTO t VALUES (?)", (word,))
        (row,) = db.execute("SELECT term FROM terms").fetchall()
        return str(row[0])
