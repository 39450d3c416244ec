import pytest

from mcp_server.core.search.prompt_parts import parts_of
from mcp_server.core.search.query import MAX_QUERY

ONE = "Which header carries the signature of the payment webhook?"
TWO = "The nightly import of the price list fails."
THREE = "Move the release notes to another folder."
FOUR = "The staging database wants its own password."


@pytest.mark.parametrize("prompt", ["", "   \n", ONE, f"  {ONE}\n", "Go on.", "Thanks! Go on. Do it."])
def test_one_sentence_or_none_is_asked_as_it_is(prompt: str) -> None:
    assert parts_of(prompt) == ()


def test_a_sentence_among_empty_words_is_asked_beside_the_whole() -> None:
    prompt = f"Thanks! {ONE} Go on."

    assert parts_of(prompt) == (prompt, ONE)


def test_two_sentences_may_be_about_one_thing() -> None:
    assert parts_of(f"{ONE} {TWO}") == (f"{ONE} {TWO}", ONE, TWO)


def test_of_more_each_is_asked_and_of_many_the_first_and_the_last_two() -> None:
    assert parts_of(f"{ONE}\n{TWO} {THREE}") == (ONE, TWO, THREE)
    assert parts_of(f"{ONE} {TWO} {THREE} {FOUR}") == (ONE, THREE, FOUR)
    assert parts_of(f"{ONE} {TWO} {TWO} {FOUR}") == (ONE, TWO, FOUR)


def test_fenced_code_asks_for_nothing() -> None:
    code = "```python\ndef import_prices(list, nightly):\n    return read_rows(list) + nightly\n```"
    prompt = f"{ONE}\n{code}\n{TWO}\n{THREE}"

    assert parts_of(prompt) == (ONE, TWO, THREE)
    assert parts_of(f"{ONE}\n{code}") == (f"{ONE}\n{code}", ONE)
    assert parts_of(f"{ONE}\n{code[:-3]}") == (f"{ONE}\n{code[:-3]}", ONE)
    assert parts_of(code) == ()


def test_code_that_begins_where_nothing_is_looked_at_hides_nothing() -> None:
    log = "error of step number one thousand\n" * MAX_QUERY

    parts = parts_of(f"{ONE}\n{log}```\n{log}```\n{FOUR}")

    assert (parts[0], parts[-1]) == (ONE, FOUR)


def test_names_with_dots_are_not_taken_apart() -> None:
    prompt = "Why does v1.2.3 of prices.py read config.toml twice?"

    assert parts_of(prompt) == ()


def test_languages_without_spaces_have_sentences_too() -> None:
    first, second, third = "数据库的密码在哪里？", "请把发布说明移到别的文件夹。", "价格表的导入失败了。"

    assert parts_of(first + second + third) == (first, second, third)


def test_of_a_page_the_beginning_and_the_end_are_looked_at() -> None:
    log = "error of step number one thousand\n" * 4 * MAX_QUERY

    parts = parts_of(f"{ONE}\n{log}{log}{FOUR}")

    assert parts[0] == ONE
    assert parts[-1] == FOUR
    assert sum(map(len, parts)) <= MAX_QUERY
