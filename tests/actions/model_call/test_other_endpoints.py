"""Endpoints, models and prices that the person names: what is asked, what it costs, and what holds."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from mcp_server.actions.model.model_call import spending
from mcp_server.actions.status.checks import CheckedPart
from mcp_server.actions.status.doctor import doctor
from mcp_server.actions.status.status import status
from mcp_server.bootstrap import has_key, model_identity
from mcp_server.core.budget import tokens_of
from mcp_server.core.errors import ModelUnavailable
from mcp_server.doors.cli import daybook
from mcp_server.doors.cli.capture_commands import OFFER, _place, _reader
from mcp_server.doors.shown.doctor import checked
from mcp_server.doors.shown.figures import today
from mcp_server.doors.shown.state import needs as needs_of
from tests.actions.model_call.asking import KEY, PROMPT, ask, events, refused
from tests.conftest import Open
from tests.live import ROOT
from tests.scripted_model import Answer, ScriptedModel, reply

OLLAMA = {"ANTHROPIC_API_KEY": "", "DAYBOOK_MODEL": "qwen3:4b"}
ELSEWHERE = {"ANTHROPIC_BASE_URL": "http://models.invalid", "DAYBOOK_MODEL": "qwen3:4b"}
SIZE = len("Extract." + PROMPT)


@pytest.fixture(autouse=True)
def named(memory_dir: Path, api: ScriptedModel) -> None:
    """Name the endpoint in our own file."""
    memory_dir.mkdir()
    (memory_dir / "config.toml").write_text(f'api_base_url = "{api.url}"\n', encoding="utf-8")


def test_an_endpoint_that_is_named_for_claude_code_needs_the_persons_key(
    open_asking: Open, memory_dir: Path
) -> None:
    (memory_dir / "config.toml").unlink()
    opened = open_asking(**OLLAMA)

    assert opened.model() is None
    assert model_identity(opened.environment) == ""


def test_a_model_on_this_machine_is_asked_without_a_key_and_without_a_price(
    open_asking: Open, api: ScriptedModel
) -> None:
    opened = open_asking(**OLLAMA)
    store = opened.store()
    ask(store)

    (request,) = api.asked
    assert request.body["model"] == "qwen3:4b"
    assert {"x-api-key", "authorization"}.isdisjoint(request.headers)
    assert [(spent["usd"], spent["input"], spent["output"]) for spent in events(store, "spent")] == [
        (0.0, 1000, 200)
    ]
    assert today(spending(store)) == "$0.0000 and calls of qwen3:4b, whose price is not known"
    assert (spending(store).today_usd, spending(store).today_calls) == (0.0, 1)
    assert model_identity(opened.environment) != ""
    assert has_key("", api.url)
    assert needs_of(status(store, has_key=has_key("", api.url))) == []
    checks = {check.part: checked(check).head for check in doctor(store, plugin=ROOT)}
    assert "qwen3:4b is allowed; $0.0000 and calls of qwen3:4b" in checks[CheckedPart.LANGUAGE_MODEL]


def test_a_price_that_was_told_is_what_a_call_costs(open_asking: Open, api: ScriptedModel) -> None:
    store = open_asking(**OLLAMA, DAYBOOK_MODEL_PRICE="2 10.5").store()
    ask(store)

    assert events(store, "reserved")[0]["usd"] == pytest.approx((tokens_of(SIZE) * 2 + 500 * 10.5) / 1e6)
    assert spending(store).today_usd == pytest.approx((1000 * 2 + 200 * 10.5) / 1e6)
    assert today(spending(store)) == "$0.0041"


def test_a_price_of_nothing_is_known(open_asking: Open) -> None:
    store = open_asking(**OLLAMA, DAYBOOK_MODEL_PRICE="0").store()
    ask(store)

    assert (today(spending(store)), spending(store).unpriced) == ("$0.0000", "")


def test_elsewhere_a_model_whose_price_nobody_told_is_not_asked(
    open_asking: Open, api: ScriptedModel
) -> None:
    store = open_asking(**ELSEWHERE).store()

    unknown = refused(store, later=True, match="What qwen3:4b costs is not known")
    assert "DAYBOOK_MODEL_PRICE" in str(unknown.hint)
    assert events(store, "reserved") == []
    priced = open_asking(**ELSEWHERE, DAYBOOK_MODEL_PRICE="0.1 0.4")
    assert priced.store().model() is not None


def test_our_own_file_may_name_endpoint_model_and_price(
    open_here: Open, api: ScriptedModel, memory_dir: Path
) -> None:
    lines = f'model_calls = true\napi_base_url = "{api.url}/v1/"\nmodel = "haiku"\nmodel_price = "3"\n'
    (memory_dir / "config.toml").write_text(lines, encoding="utf-8")
    store = open_here().store()
    ask(store)

    assert (api.asked[0].path, api.asked[0].body["model"]) == ("/v1/messages", "haiku")
    assert spending(store).today_usd == pytest.approx((1000 * 3 + 200 * 3) / 1e6)


def test_the_calls_of_a_day_are_limited_where_neither_tokens_nor_price_are_known(
    open_asking: Open, api: ScriptedModel
) -> None:
    answer_json = json.loads(reply("x" * 100).body)
    del answer_json["usage"]
    api.answers = [Answer(body=json.dumps(answer_json).encode())]
    store = open_asking(**OLLAMA, DAYBOOK_DAILY_CALLS="3").store()
    for number in range(3):
        ask(store, str(number))
    refused(store, "one more", later=True, match="used up")

    assert api.calls == 3
    assert {(spent["input"], spent["output"]) for spent in events(store, "spent")} == {(tokens_of(SIZE), 40)}


def test_dollars_that_are_estimated_are_counted_against_the_days_limit(
    open_asking: Open, api: ScriptedModel
) -> None:
    answer_json = json.loads(reply("x" * 1000).body)
    del answer_json["usage"]
    api.answers = [Answer(body=json.dumps(answer_json).encode())]
    store = open_asking(**OLLAMA, DAYBOOK_DAILY_USD="0.005", DAYBOOK_MODEL_PRICE="1 5").store()
    ask(store, "1")  # reserved 0.0026, and 400 tokens of reply cost 0.0021
    ask(store, "2")
    refused(store, "3", later=True, match=r"\$0.0042 of today's \$0.01 are spent|may cost \$0.0026")

    assert api.calls == 2


def test_an_unknown_model_is_left_alone_until_another_is_named_and_gives_nothing_up(
    open_asking: Open, api: ScriptedModel
) -> None:
    unknown = Answer(400, b'{"error":{"message":"Invalid model name passed in model=qwen3:4b"}}')
    api.answers = [unknown, reply()]
    store = open_asking(**OLLAMA).store()
    refused(store, later=True, match="lacks the model")
    again = refused(store, later=True, match="paused until the settings change")
    assert "the model's name" in str(again.hint)
    assert (api.calls, spending(store).given_up) == (1, 0)

    ask(open_asking(**OLLAMA | {"DAYBOOK_MODEL": "llama3"}).store())
    assert api.asked[-1].body["model"] == "llama3"


@pytest.mark.parametrize(
    "endpoint", ["localhost:11434", "ftp://localhost", "http://", "http://[::1", "http://x:y"]
)
def test_an_endpoint_that_is_no_address_is_said(open_asking: Open, endpoint: str) -> None:
    store = open_asking(ANTHROPIC_BASE_URL=endpoint).store()

    with pytest.raises(ModelUnavailable, match="begins with http:// or https://") as caught:
        ask(store)
    assert KEY not in str(caught.value)
    assert model_identity({"ANTHROPIC_BASE_URL": endpoint, "ANTHROPIC_API_KEY": KEY}) == ""


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"DAYBOOK_MODEL_PRICE": "cheap"}, "'cheap', which is not an amount"),
        ({"DAYBOOK_MODEL_PRICE": "1 2 3"}, "more than two prices"),
        ({"DAYBOOK_MODEL_PRICE": "-1"}, "not an amount"),
        ({"DAYBOOK_MODEL": "a\x07b"}, "control characters"),
        ({"DAYBOOK_MODEL": "a" * 300}, "more than 200 characters"),
    ],
)
def test_a_model_or_price_that_cannot_be_is_said_once(
    settings: dict[str, str], sentence: str, memory_dir: Path
) -> None:
    result = CliRunner().invoke(daybook, ["status"], env=settings)

    assert sentence in str(result.exception)


def test_setup_names_the_model_and_that_nothing_leaves_this_machine(
    open_asking: Open, api: ScriptedModel
) -> None:
    opened = open_asking(**OLLAMA)
    offer = OFFER.format(_reader(opened.settings), _place(opened.environment))

    assert "let qwen3:4b read your sessions" in offer
    assert f"are then sent to {api.url}, on this machine." in offer
