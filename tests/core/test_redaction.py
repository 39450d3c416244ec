"""What a mask says and covers, and how its work grows with the text."""

import base64
import random
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.secrets.redaction import Secret, find_secrets, redact
from tests.core.made_secrets import ALNUM, SHAPED, any_of, jwt
from tests.growth import grows_evenly


def test_the_mask_says_what_was_there_and_leaves_the_rest() -> None:
    source = random.Random(1)
    aws, token = SHAPED["AWS"](source), SHAPED["GitLab"](source)

    assert redact(f"key {aws}, token {token}.") == (
        "key [secret removed: an AWS access key], token [secret removed: a GitLab token]."
    )
    assert redact("postgres://app:" + "s3cr3t-99@db/x") == (
        "postgres://app:[secret removed: a password in a URL]@db/x"
    )
    assert redact("redis://:" + f"s3cr3t-99@db {aws}") == (
        "redis://:[secret removed: a password in a URL]@db [secret removed: an AWS access key]"
    )
    assert redact("DB_PASSWORD=hunter2!x # old") == "DB_PASSWORD=[secret removed: a password] # old"


def test_a_private_key_is_masked_as_a_whole_however_it_is_written() -> None:
    block = SHAPED["RSA key"](random.Random(2))
    one_line = block.replace("\n", "\\n")
    quoted = block.replace("\n", "\n> ")
    cut_short = block[: block.index("=")]

    for text in (block, one_line, quoted, cut_short):
        assert redact(f"before\n{text}\nafter") == "before\n[secret removed: a private key]\nafter"


def test_a_manifest_of_secrets_keeps_its_names_and_loses_its_values() -> None:
    value = base64.b64encode(b"hunter2-and-more").decode("ascii")
    other = "---\nkind: ConfigMap\ndata:\n  greeting: SGVsbG8gd29ybGQh\n"
    manifest = f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  any-name: {value}\n{other}"

    assert redact(manifest) == manifest.replace(value, "[secret removed: a secret in a manifest]")


def test_two_ways_to_one_secret_give_one_mask_with_the_vendor_s_name() -> None:
    token = SHAPED["GitHub personal"](random.Random(3))
    text = f'GITHUB_TOKEN="{token}" https://ada:{token}@github.com'

    assert [secret.kind for secret in find_secrets(text)] == ["a GitHub token", "a GitHub token"]


def test_a_secret_in_a_longer_one_is_masked_with_it() -> None:
    aws = SHAPED["AWS"](random.Random(3))

    assert redact(f'password: "x9!-{aws}-tail7"') == 'password: "[secret removed: an AWS access key]"'


def test_a_secret_is_found_at_every_offset_of_a_long_text() -> None:
    token = SHAPED["npm"](random.Random(4))
    for offset in range(3500, 4700, 7):
        text = "word " * (offset // 5) + " " * (offset % 5) + token + " and more words" * 300

        assert find_secrets(text) == [Secret(offset, offset + len(token), "an npm token")]


def test_a_long_secret_is_masked_to_its_end() -> None:
    source = random.Random(5)
    token = jwt(source) + any_of(ALNUM, 9000)(source)
    password = any_of(ALNUM, 3000, "a1!")(source)

    assert redact(f"Bearer {token} x") == "Bearer [secret removed: a JSON web token] x"
    assert redact(f"see {token} x") == "see [secret removed: a JSON web token] x"
    assert redact(f'"password": "{password}",') == '"password": "[secret removed: a password]",'
    assert redact(f"password: {password} x") == "password: [secret removed: a password] x"


def test_a_secret_that_a_mask_uncovers_is_masked_too() -> None:
    first, second = (any_of(ALNUM, 12, "a1B2")(random.Random(seed)) for seed in (1, 2))
    masked = redact(f"credentials are {first}: {second}")

    assert first not in masked and second not in masked
    assert redact(masked) == masked


def test_the_words_of_a_mask_name_no_secret_after_it() -> None:
    aws = SHAPED["AWS"](random.Random(6))

    assert redact(f"{aws}: A1b2C3d4E5f6") == "[secret removed: an AWS access key]: A1b2C3d4E5f6"


def test_a_mask_is_never_masked_itself() -> None:
    masked = "credentials are ada / A1b2C3d4E5f6<[secret removed: an AWS access key]"

    assert redact(masked).endswith("<[secret removed: an AWS access key]")


def test_letters_that_grow_in_lower_case_do_not_move_the_mask() -> None:
    assert redact("İİİ password=hunter2!x ß") == "İİİ password=[secret removed: a password] ß"


def test_a_secret_cannot_hide_in_something_like_a_mask() -> None:
    aws = SHAPED["AWS"](random.Random(6))

    assert aws not in redact(f"[secret removed: an {aws}]")


words = st.sampled_from(
    "password token api_key secret is : = == ' \" \\ \n @ :// http://ada: hunter2!x a8f3k2j9d0s7 Bearer "
    "curl -u ada:x9 [secret removed: a token] } ) , & key login x İ … ${X} <b> kind: data:".split(" ")
)


@given(st.lists(words | st.text(max_size=6), max_size=30).map("".join) | st.lists(words).map(" ".join))
def test_masking_again_changes_nothing_and_secrets_are_in_order(text: str) -> None:
    secrets = find_secrets(text)
    once = redact(text)

    assert all(0 <= secret.start < secret.end <= len(text) for secret in secrets)
    assert all(first.end <= second.start for first, second in pairwise(secrets))
    assert redact(once) == once


@pytest.mark.parametrize(
    "text",
    [
        lambda times: "key" * times,
        lambda times: "password=" * times,
        lambda times: "token: " * times,
        lambda times: 'password="' * times,
        lambda times: "the password for a b c is " * times,
        lambda times: "eyJ-" * times,
        lambda times: "-----BEGIN PRIV" + "ATE KEY-----" * times,
        lambda times: ("-----BEGIN PRIV" + "ATE KEY-----") * times,
        lambda times: "http://" + "a:" * times + "a@" * times,
        lambda times: "curl -u a:b" * times,
        lambda times: "password" + " " * times + "=",
        lambda times: "password='" + "\\'" * times,
        lambda times: "[secret removed: " * times,
        lambda times: base64.b64encode(random.Random(7).randbytes(times)).decode("ascii"),
        lambda times: "The quick brown fox has 12 tokens and a password. " * times,
    ],
    ids=lambda text: text(1)[:24],
)
def test_no_text_takes_longer_than_its_length(text: Callable[[int], str]) -> None:
    # A pattern that is quick on one page can take seconds on 200 KB of one word.
    assert grows_evenly(text, redact)
