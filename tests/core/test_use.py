import pytest

from mcp_server.core.worth.use import MOST, is_used, telling_tokens


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("Amounts go through roundHalfEven.", "roundhalfeven"),
        ("Set `retry_limit` to 3.", "retry_limit"),
        ("See src/lib/stripe.ts:42, please.", "src/lib/stripe.ts:42"),
        ("The server listens on 127.0.0.1:8443x", "127.0.0.1:8443x"),
        ("It is called heron7.", "heron7"),
        ("We use GraphQL here", "graphql"),
        ("Run pnpm-lock first", "pnpm-lock"),
    ],
)
def test_a_token_tells_by_a_sign_a_digit_or_an_inner_capital(text: str, token: str) -> None:
    assert telling_tokens(text) == (token,)


@pytest.mark.parametrize(
    "text",
    [
        "plain words tell nothing", "POSTGRES", "a-b_1", "e.g. 2026-11-20 and 12:30:59 or 100.000.000",
        "read-only follow-up, and/or client/server, well-known", "…", "",
    ],
)  # fmt: skip
def test_what_many_replies_hold_tells_nothing(text: str) -> None:
    assert telling_tokens(text) == ()


def test_at_most_ten_tokens_tell_and_the_id_is_one_more() -> None:
    tokens = telling_tokens(" ".join(f"name_number_{number}" for number in range(30)), id="Some-Id-k3f9")

    assert len(tokens) == MOST + 1
    assert tokens[0] == "some-id-k3f9"


def test_a_reply_uses_a_token_as_a_whole_word_in_any_case() -> None:
    tokens = telling_tokens("Set retry_limit.")

    assert is_used(tokens, "I set RETRY_LIMIT=3.")
    assert is_used(tokens, "xretry_limit, but then retry_limit")
    assert not is_used(tokens, "my_retry_limits and retry_limit2")
    assert not is_used(tokens, "I did something else.")
    assert not is_used((), "anything")


def test_what_the_person_said_themselves_proves_nothing() -> None:
    tokens = telling_tokens("Set retry_limit in config.toml.")

    assert not is_used(tokens, "retry_limit is 3", prompt="what is retry_limit?")
    assert is_used(tokens, "retry_limit stands in config.toml", prompt="what is retry_limit?")
