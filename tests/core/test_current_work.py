import pytest

from mcp_server.core.context.current_work import branch_pattern, of_branch


@pytest.mark.parametrize(
    "branch", ["main", "master", "develop", "", "feature/JIRA-123", "release/2.4", "fix", "users/test"]
)
def test_a_branch_that_tells_nothing_has_no_words(branch: str) -> None:
    assert branch_pattern(branch) is None


@pytest.mark.parametrize(
    ("branch", "title", "tags", "touches"),
    [
        ("feature/gift-cards", "Gift card codes are case sensitive", (), ()),
        ("fix/SHOP-12-checkout-total", "Totals are rounded half to even", (), ()),
        ("user/ada/importer", "A title of something else", ("importer",), ()),
        ("importer_rewrite", "A title of something else", (), ("src/importer_csv.py:12",)),
        ("Fehler/Rechnungsprüfung", "Die RECHNUNGSPRÜFUNG läuft nachts", (), ()),
    ],
)
def test_a_memory_is_of_a_branch_by_a_word_of_title_tag_or_file(
    branch: str, title: str, tags: tuple[str, ...], touches: tuple[str, ...]
) -> None:
    pattern = branch_pattern(branch)

    assert pattern and of_branch(pattern, title, tags, touches)


@pytest.mark.parametrize("title", ["The cardinal rule", "We discard old rows", "Postcards", "Total of 3"])
def test_a_word_inside_another_is_none(title: str) -> None:
    pattern = branch_pattern("feature/card-tot")

    assert pattern and not of_branch(pattern, title, (), ())
