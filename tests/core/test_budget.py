import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.budget import (
    JITTER,
    LONGEST_PAUSE,
    MOST_TRIES,
    CallOutcome,
    Rest,
    cost,
    is_hopeless,
    outcome_of,
    refusal,
    reserve,
    rest_after,
)
from mcp_server.core.errors import SettingsError
from mcp_server.core.settings import DEFAULTS, environment_told, is_told, parse_settings

tokens = st.integers(0, 1_000_000)
usd = st.floats(0, 200)


@pytest.mark.feature("A-50")
def test_a_million_tokens_cost_what_is_published() -> None:
    assert cost(DEFAULTS, 1_000_000, 0) == 1.0
    assert cost(DEFAULTS, 0, 1_000_000) == 5.0


@given(tokens, tokens)
def test_what_is_reserved_is_never_less_than_what_is_spent(characters: int, most: int) -> None:
    assert reserve(DEFAULTS, characters, most) >= cost(DEFAULTS, int(characters / 2.5), most)


@given(spent=usd, calls=st.integers(0, 100), reserved=usd, cap=usd, most=st.integers(0, 100))
def test_no_call_goes_over_a_cap(spent: float, calls: int, reserved: float, cap: float, most: int) -> None:
    allowed = refusal(spent, calls, reserved, DEFAULTS._replace(daily_usd=cap, daily_calls=most)) == ""

    assert allowed == (spent + reserved <= cap and calls < most)


def test_a_cap_of_nothing_allows_nothing() -> None:
    assert "calls of the model (0)" in refusal(0, 0, 0.001, DEFAULTS._replace(daily_calls=0))
    assert "$0.0010" in refusal(0, 0, 0.001, DEFAULTS._replace(daily_usd=0))


@pytest.mark.parametrize(
    ("status", "message", "expected"),
    [
        (200, "", CallOutcome.OK),
        (400, "invalid_request_error max_tokens: must be positive", CallOutcome.BAD_REQUEST),
        (400, "invalid_request_error Your credit balance is too low", CallOutcome.NO_CREDIT),
        (401, "", CallOutcome.REFUSED_KEY),
        (402, "", CallOutcome.NO_CREDIT),
        (403, "", CallOutcome.REFUSED_KEY),
        (404, "", CallOutcome.NO_MODEL),
        (
            400,
            "invalid_request_error {'error': '/v1/messages: Invalid model name passed in model=x'}",
            CallOutcome.NO_MODEL,
        ),
        (400, 'api_error model "qwen3" not found, try pulling it first', CallOutcome.NO_MODEL),
        (500, "The model `qwen3` does not exist.", CallOutcome.NO_MODEL),
        (400, "litellm.BadRequestError: LLM Provider NOT provided. You passed model=x", CallOutcome.NO_MODEL),
        (400, "prompt is too long: 210000 tokens", CallOutcome.BAD_REQUEST),
        (429, "Rate limit of the model: not found in cache", CallOutcome.RATE_LIMITED),
        (408, "", CallOutcome.OVERLOADED),
        (413, "", CallOutcome.BAD_REQUEST),
        (429, "rate_limit_error Slow down", CallOutcome.RATE_LIMITED),
        (429, "rate_limit_error You have reached your spend limit", CallOutcome.NO_CREDIT),
        (429, "rate_limit_error You reached your API usage limits", CallOutcome.NO_CREDIT),
        (500, "credit balance", CallOutcome.OVERLOADED),
        (529, "", CallOutcome.OVERLOADED),
        (307, "", CallOutcome.UNUSABLE),
    ],
)
def test_a_status_means_what_can_be_done_about_it(status: int, message: str, expected: CallOutcome) -> None:
    assert outcome_of(status, message) is expected


def test_what_only_the_person_can_mend_waits_for_other_settings_or_the_time_that_was_told() -> None:
    assert rest_after(CallOutcome.REFUSED_KEY, 1, 5.0, 0) == Rest(None, lifted=True)
    assert rest_after(CallOutcome.NO_CREDIT, 1, None, 0) == Rest(None, lifted=True)
    assert rest_after(CallOutcome.NO_CREDIT, 1, 3600.0, 0) == Rest(3600.0, lifted=True)


@pytest.mark.parametrize(("tries", "pause"), [(1, 30), (2, 120), (3, 600), (4, 600), (99, 600)])
def test_pauses_grow_with_the_tries(tries: int, pause: float) -> None:
    for outcome in (
        CallOutcome.OVERLOADED,
        CallOutcome.UNREACHABLE,
        CallOutcome.UNUSABLE,
        CallOutcome.RATE_LIMITED,
    ):
        assert rest_after(outcome, tries, None, 0) == Rest(pause, lifted=False)
        assert rest_after(outcome, tries, None, 1) == Rest(pause * (1 + JITTER), lifted=False)


@given(
    outcome=st.sampled_from([CallOutcome.RATE_LIMITED, CallOutcome.OVERLOADED]),
    pause=st.floats(allow_nan=False),
    chance=st.floats(0, 1),
)
def test_a_pause_is_at_least_what_was_told_and_never_for_ever(
    outcome: CallOutcome, pause: float, chance: float
) -> None:
    rest = rest_after(outcome, 1, pause, chance)

    assert rest is not None
    assert rest.seconds is not None
    assert min(pause, LONGEST_PAUSE) <= rest.seconds <= LONGEST_PAUSE


def test_an_item_is_given_up_after_its_tries_or_when_it_cannot_be_taken() -> None:
    assert is_hopeless(CallOutcome.BAD_REQUEST, 1)
    assert not is_hopeless(CallOutcome.OVERLOADED, MOST_TRIES - 1)
    assert is_hopeless(CallOutcome.OVERLOADED, MOST_TRIES)
    assert rest_after(CallOutcome.BAD_REQUEST, 1, None, 0) is None


# Settings


def test_the_caps_and_the_way_of_capture_are_read_from_both_places() -> None:
    environment = {"DAYBOOK_DAILY_USD": "1.5", "DAYBOOK_DAILY_CALLS": "0", "DAYBOOK_CAPTURE": "Manual"}
    config = {"daily_usd": 1.5, "daily_calls": 0, "capture": "manual"}

    assert parse_settings(environment, {}) == DEFAULTS._replace(
        daily_usd=1.5, daily_calls=0, capture="manual"
    )
    assert (
        parse_settings({}, config)
        == parse_settings(environment, {})
        == parse_settings(environment, {"daily_usd": 9})
    )


@pytest.mark.parametrize(
    ("environment", "config", "agreed"),
    [
        ({}, {}, False),
        ({"ANTHROPIC_API_KEY": "key"}, {}, False),
        ({}, {"api_key": "key"}, True),
        ({}, {"api_key": ""}, False),
        ({}, {"api_key": "key", "model_calls": False}, False),
        ({"DAYBOOK_MODEL_CALLS": "no"}, {"api_key": "key", "model_calls": True}, False),
        ({"DAYBOOK_MODEL_CALLS": "yes"}, {"model_calls": False}, True),
        ({}, {"model_calls": True}, True),
    ],
)
def test_consent_is_said_by_the_person_or_by_a_key_put_into_our_own_file(
    environment: dict[str, str], config: dict[str, object], agreed: bool
) -> None:
    assert parse_settings(environment, config).model_calls is agreed


@pytest.mark.parametrize(
    "amount", ["-1", "100.01", "nan", "inf", "1e1", "much", "0x1", "1,5", "9" * 400, "٣"]
)
def test_an_amount_that_is_none_is_refused(amount: str) -> None:
    with pytest.raises(SettingsError, match="DAYBOOK_DAILY_USD"):
        parse_settings({"DAYBOOK_DAILY_USD": amount}, {})


def test_an_unknown_way_of_capture_is_refused() -> None:
    with pytest.raises(SettingsError, match="DAYBOOK_CAPTURE"):
        parse_settings({"DAYBOOK_CAPTURE": "sometimes"}, {})
    assert DEFAULTS.capture == "auto"


@pytest.mark.parametrize(
    ("value", "exported"),
    [('"x"', "x"), ("5", "5"), ("1.50", "1.5"), ("1e2", "100"), ("true", "true"), ('"\\u0078"', "x")],
)
def test_a_value_is_recognised_as_the_client_exports_it(value: str, exported: str) -> None:
    settings = environment_told(f'\ufeff{{"env": {{"ANTHROPIC_X": {value}}}}}'.encode())

    assert is_told(settings, "ANTHROPIC_X", exported)
    assert not is_told(settings, "ANTHROPIC_X", exported + "y")
    assert not is_told(settings, "ANTHROPIC_Y", exported)


@pytest.mark.parametrize(
    "data",
    [b'{"env": {"ANTHROPIC_X": "x"}', b"{" * 10, b'{"a":' * 100_000, b"[1,", b"\x00"],
)
def test_a_file_that_nobody_can_read_ends_what_sends_and_spends_and_nothing_else(data: bytes) -> None:
    settings = environment_told(data)

    assert is_told(settings, "ANTHROPIC_BASE_URL", "x")
    assert is_told(settings, "DAYBOOK_DAILY_USD", "100")
    assert not is_told(settings, "MEMORY_DIR", "/x")


@pytest.mark.parametrize("data", [b"", b"\n", b"[]", b"{}", b'{"env": 5}', b'{"env": null}', b"null"])
def test_a_file_that_says_nothing_ends_nothing(data: bytes) -> None:
    assert environment_told(data) == {}


def test_numbers_that_are_long_and_bytes_that_are_no_text_hide_nothing() -> None:
    settings = environment_told(b'{"n": ' + b"1" * 5000 + b', "s": "\xff", "env": {"ANTHROPIC_X": "x"}}')

    assert is_told(settings, "ANTHROPIC_X", "x")
