import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.text.excerpt import LEFT_OUT, excerpt
from tests.growth import grows_evenly

TEXT = (
    "Callbacks come from the provider. They are queued.\n"
    "Each is verified by its HMAC. The secret lies in the vault.\n"
    "Callbacks that fail are sent again. After three days nobody sends them."
)


@pytest.mark.parametrize(
    ("terms", "most", "expected"),
    [
        (["hmac"], 1000, TEXT),
        (["hmac"], 31, "…Each is verified by its HMAC.…"),
        (["callbacks", "fail"], 40, "…Callbacks that fail are sent again.…"),
        (["secret", "vault", "callbacks"], 40, "…The secret lies in the vault.…"),
        (["nothing"], 40, "Callbacks come from the provider.…"),
        ([], 40, "Callbacks come from the provider.…"),
        (["days"], 20, "…After three days n…"),
    ],
)
def test_the_sentences_that_have_most_of_the_terms_are_kept(
    terms: list[str], most: int, expected: str
) -> None:
    assert excerpt(TEXT, terms, most) == expected


def test_of_rows_with_the_same_terms_the_one_that_has_them_more_often_is_kept() -> None:
    text = "The queue is slow. It was wet. It was cold. The queue has one worker. The queue has no limit."

    assert excerpt(text, ["queue"], 60) == "…The queue has one worker. The queue has no limit."


def test_identifiers_and_characters_without_spaces_are_found_by_their_parts() -> None:
    text = "First words of it. The function updateCartTotals() runs last. 配置文件在目录里。数据库每天备份。"

    assert "updateCartTotals" in excerpt(text, ["cart"], 50)
    assert "备份" in excerpt(text, ["备份"], 30)


@given(st.text(alphabet="ab .!\n。", max_size=80), st.integers(10, 60))
def test_an_excerpt_is_of_the_text_and_never_too_long(text: str, most: int) -> None:
    shortened = excerpt(text, ["a"], most)

    assert len(shortened) <= most
    assert shortened.strip(LEFT_OUT) in text


def test_a_text_of_short_lines_takes_no_longer_than_its_length() -> None:
    def text(times: int) -> str:
        return "\n" * times + "The queue is slow."

    assert excerpt(text(32_000), ["queue"], 3000) == "…The queue is slow."
    assert grows_evenly(text, lambda long_text: excerpt(long_text, ["queue"], 3000))
