"""The model is asked within a budget: against a real server on loopback that keeps its own accounts."""

import json
import os
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mcp_server.actions.model_call import LOCK_NAME, Spending, call_model, resume, spending
from mcp_server.adapters import files
from mcp_server.bootstrap import Opened, open_for_reading, persons_own
from mcp_server.core.budget import MOST_TRIES, Reply, cost, reserve
from mcp_server.core.errors import ModelUnavailable
from mcp_server.store import Store
from tests.conftest import Clock
from tests.scripted_model import RESET, Answer, ScriptedModel, error, reply

KEY = "sk-ant-a-very-private-key"
PROMPT = "prompt-words-that-stay-private"

Open = Callable[..., Opened]


@pytest.fixture(autouse=True)
def nothing_of_the_tester(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "DAYBOOK_")):
            monkeypatch.delenv(name)


@pytest.fixture
def api() -> Iterator[ScriptedModel]:
    with ScriptedModel() as running:
        yield running


@pytest.fixture
def open_asking(open_here: Open, api: ScriptedModel) -> Open:
    """Open a store whose person has agreed, has a key, and calls the server of the test."""

    def open_(**environment: str) -> Opened:
        return open_here(
            **{
                "DAYBOOK_MODEL_CALLS": "true",
                "ANTHROPIC_API_KEY": KEY,
                "ANTHROPIC_BASE_URL": api.url,
                **environment,
            }
        )

    return open_


@pytest.fixture
def asking(open_asking: Open) -> Store:
    return open_asking().store()


def ask(store: Store, item: str = "chunk-1", *, most_tokens: int = 500, patience: float = 0) -> Reply:
    return call_model(
        store, item=item, system="Extract.", prompt=PROMPT, most_tokens=most_tokens, patience=patience
    )


def refused(store: Store, item: str = "chunk-1", *, later: bool, match: str) -> ModelUnavailable:
    with pytest.raises(ModelUnavailable, match=match) as caught:
        ask(store, item)
    assert caught.value.later is later
    assert KEY not in f"{caught.value!r}{caught.value.hint}{caught.value.__cause__!r}"
    assert PROMPT not in repr(caught.value)
    return caught.value


def events(store: Store, *names: str) -> list[dict[str, object]]:
    lines = [line for path in store.ledger.paths() for line in path.read_text("utf-8").splitlines()]
    return [said for said in map(json.loads, lines) if said["event"] in names]


# A call and its cost


def test_a_call_is_reserved_before_and_settled_after(asking: Store, api: ScriptedModel) -> None:
    assert ask(asking) == Reply("[]", 1000, 200, "end_turn")

    reserved, settled = events(asking, "reserved", "spent")
    assert reserved["item"] == "chunk-1"
    assert reserved["usd"] == reserve(len("Extract." + PROMPT), 500)
    assert settled["call"] == reserved["call"]
    assert settled["usd"] == api.asked[0].usd == cost(1000, 200)
    assert (settled["input"], settled["output"], settled["outcome"]) == (1000, 200, "ok")
    assert spending(asking) == Spending(cost(1000, 200), 1, "", None, 0)


def test_while_a_call_is_under_way_all_that_it_may_cost_counts(open_asking: Open, api: ScriptedModel) -> None:
    answered = threading.Event()
    api.answers = [reply(after=answered)]
    asker = threading.Thread(target=lambda: ask(open_asking().store()))
    asker.start()
    assert api.wait_for_calls(1)

    now = spending(open_asking().store())
    answered.set()
    asker.join(10)

    assert now == Spending(reserve(len("Extract." + PROMPT), 500), 1, "", None, 0)


def test_text_in_scripts_of_many_bytes_is_reserved_for_its_bytes(asking: Store) -> None:
    call_model(asking, item="1", system="", prompt="記憶" * 100, most_tokens=10)

    assert events(asking, "reserved")[0]["usd"] == reserve(600, 10)


def test_no_call_is_made_that_could_go_over_the_days_cap(open_asking: Open, api: ScriptedModel) -> None:
    store = open_asking(DAYBOOK_DAILY_USD="0.005").store()
    ask(store, "1")
    ask(store, "2")

    told = refused(store, "3", later=True, match=r"\$0\.0040 of today's \$0\.01")
    assert "daily_usd" in told.hint
    assert api.calls == 2


def test_no_more_calls_are_made_than_the_day_allows_and_the_next_day_begins_anew(
    open_asking: Open, api: ScriptedModel, clock: Clock
) -> None:
    store = open_asking(DAYBOOK_DAILY_CALLS="2").store()
    ask(store, "1")
    ask(store, "2")
    refused(store, "3", later=True, match="2 calls")
    clock.now = datetime(2026, 11, 20, 23, 59, 59, tzinfo=UTC)
    refused(store, "3", later=True, match="2 calls")

    clock.now = datetime(2026, 11, 21, 0, 0, 0, tzinfo=UTC)
    ask(store, "3")
    assert api.calls == 3
    assert spending(store).today_calls == 1


def test_a_caps_end_outlives_the_index(open_asking: Open, api: ScriptedModel) -> None:
    store = open_asking(DAYBOOK_DAILY_CALLS="1").store()
    ask(store, "1")
    store.database.set_aside()

    refused(open_asking(DAYBOOK_DAILY_CALLS="1").store(), "2", later=True, match="1 calls")
    assert api.calls == 1


def test_a_full_disk_stops_the_call(asking: Store, api: ScriptedModel) -> None:
    ask(asking, "1")
    for path in asking.ledger.paths():
        path.unlink()
        path.symlink_to("/dev/full")

    refused(asking, "2", later=True, match="cannot be written down")
    assert api.calls == 1


def test_a_store_that_cannot_be_locked_stops_the_call(asking: Store, api: ScriptedModel) -> None:
    (asking.home / LOCK_NAME).mkdir(parents=True)

    refused(asking, later=True, match="cannot be written down")
    assert api.calls == 0


# One at a time


def test_one_call_is_in_flight_and_the_others_are_told_at_once(open_asking: Open, api: ScriptedModel) -> None:
    store = open_asking().store()
    with files.lock(store.home / LOCK_NAME):
        refused(store, later=True, match="Another session")
    assert api.calls == 0


def test_who_has_patience_waits_for_the_other_call(open_asking: Open, api: ScriptedModel) -> None:
    answered = threading.Event()
    api.answers = [reply("first", after=answered), reply("second")]
    said: list[str] = []
    threads = [
        threading.Thread(
            target=lambda item=item: said.append(ask(open_asking().store(), item, patience=30).text)
        )
        for item in ("1", "2", "3")
    ]
    for thread in threads:
        thread.start()
    assert api.wait_for_calls(1)
    answered.set()
    for thread in threads:
        thread.join(20)

    assert said == ["first", "second", "second"]
    assert api.most_in_flight == 1


# When it goes wrong


@pytest.mark.parametrize(
    "answer",
    [
        error(401),
        error(403),
        error(402),
        error(429, message="You have reached your spend limit"),
        error(400, message="Your credit balance is too low"),
    ],
    ids=["401", "403", "402", "429 spend limit", "400 credit"],
)
def test_what_the_person_must_mend_is_asked_once_until_the_settings_change(
    open_asking: Open, api: ScriptedModel, clock: Clock, answer: Answer
) -> None:
    api.answers = [answer, reply()]
    store = open_asking().store()
    told = refused(store, later=True, match="HTTP")
    assert "daybook setup" in told.hint
    clock.pass_days(100)
    for item in ("chunk-1", "chunk-2"):
        refused(open_asking().store(), item, later=True, match="until its settings change")
    assert api.calls == 1
    paused = spending(store)
    assert "HTTP" in paused.paused_reason
    assert paused.paused_until is None

    other = open_asking(ANTHROPIC_API_KEY="another-key").store()
    assert spending(other).paused_reason == ""
    ask(other)
    refused(store, "chunk-3", later=True, match="until its settings change")
    assert api.calls == 2


def test_a_spending_limit_ends_at_the_time_that_was_told(
    asking: Store, api: ScriptedModel, clock: Clock
) -> None:
    api.answers = [error(429, message="You reached your spend limit", retry_after="7200"), reply()]
    refused(asking, later=True, match="limit")
    clock.now += timedelta(seconds=7199)
    refused(asking, later=True, match="2026-11-20T11:12:03Z")
    clock.now += timedelta(seconds=1)
    ask(asking)
    assert api.calls == 2


def test_the_person_can_say_that_a_bill_is_paid(asking: Store, api: ScriptedModel) -> None:
    api.answers = [error(402), reply()]
    refused(asking, later=True, match="credit")
    refused(asking, later=True, match="left alone")

    resume(asking)
    ask(asking)
    assert spending(asking).paused_reason == ""


@pytest.mark.parametrize("status", [400, 413])
def test_what_cannot_be_taken_is_given_up_and_the_next_item_is_asked(
    asking: Store, api: ScriptedModel, status: int
) -> None:
    api.answers = [error(status), reply()]
    refused(asking, "bad", later=False, match=str(status))
    refused(asking, "bad", later=False, match="could not take")
    ask(asking, "good")
    assert api.calls == 2
    assert spending(asking).given_up == 1


def test_a_rate_limit_is_waited_out_by_everybody(asking: Store, api: ScriptedModel, clock: Clock) -> None:
    api.answers = [error(429, retry_after="300"), reply()]
    refused(asking, later=True, match="too often")
    now = spending(asking)
    assert now.paused_until is not None
    assert now.paused_until - clock.now >= timedelta(seconds=300)
    clock.now += timedelta(seconds=299)
    refused(asking, "chunk-2", later=True, match="left alone until 2026-11-20T09:1")
    assert api.calls == 1

    clock.now = now.paused_until
    ask(asking, "chunk-2")
    assert api.calls == 2


@pytest.mark.parametrize(
    "answer",
    [error(429), error(500), error(529), RESET, Answer(body=b"{"), Answer(body=b" " * 10 * 1024 * 1024)],
    ids=["429", "500", "529", "reset", "cut", "10 MB"],
)
def test_an_item_is_asked_four_times_in_its_life_with_longer_and_longer_pauses(
    open_asking: Open, api: ScriptedModel, clock: Clock, answer: Answer
) -> None:
    api.answers = [answer]
    pauses = []
    for number in range(1, MOST_TRIES + 1):
        store = open_asking().store()
        refused(store, later=number < MOST_TRIES, match=".")
        until = spending(store).paused_until
        assert until is not None
        pauses.append((until - clock.now).total_seconds())
        refused(store, "other", later=True, match="left alone until")
        clock.now = until

    for pause, least in zip(pauses, (30, 120, 600, 600), strict=True):
        assert least <= pause <= least * 1.5 + 1
    refused(open_asking().store(), later=False, match="4 times")
    assert api.calls == MOST_TRIES
    assert spending(store).given_up == 1


@pytest.mark.parametrize("url", ["https://nowhere.invalid", "http://127.0.0.1:9", "tls"])
def test_what_never_left_the_machine_costs_nothing_but_a_try(
    open_asking: Open, api: ScriptedModel, url: str
) -> None:
    url = api.url.replace("http", "https") if url == "tls" else url
    store = open_asking(ANTHROPIC_BASE_URL=url).store()
    refused(store, later=True, match="could not be reached")

    assert spending(store).today_usd == 0
    assert spending(store).today_calls == 1
    assert spending(store).paused_until is not None
    assert api.calls == 0


@pytest.mark.parametrize("answer", [RESET, Answer(body=b"{")], ids=["reset", "cut"])
def test_what_may_have_cost_something_counts_in_full(
    asking: Store, api: ScriptedModel, answer: Answer
) -> None:
    api.answers = [answer]
    refused(asking, later=True, match=".")

    assert spending(asking).today_usd == reserve(len("Extract." + PROMPT), 500)


def test_a_reply_that_is_asked_for_again_and_again_is_bounded_too(asking: Store, api: ScriptedModel) -> None:
    for _ in range(MOST_TRIES):
        ask(asking)
    refused(asking, later=False, match="4 times")
    assert api.calls == MOST_TRIES
    assert spending(asking).given_up == 0


def test_neither_the_key_nor_the_prompt_is_written_down(asking: Store, api: ScriptedModel) -> None:
    api.answers = [error(401, message=f"invalid {KEY}: {PROMPT}")]
    refused(asking, later=True, match="refused the key")
    asking.database.close()

    written = b"".join(path.read_bytes() for path in asking.home.rglob("*") if path.is_file())
    assert b"paused" in written
    assert KEY.encode() not in written
    assert PROMPT.encode() not in written


@pytest.mark.parametrize(
    "line",
    [
        '{"at":"2026-11-20T09:00:00Z","event":"spent","call":"x","usd":-100}',
        '{"at":"2026-11-20T09:00:00Z","event":"reserved","call":"x","item":"i","usd":-100}',
        '{"at":"2026-11-20T09:00:00Z","event":"reserved","usd":NaN}',
        '{"at":"2026-11-20T09:00:00Z","event":"reserved","usd":' + "9" * 400 + "}",
        '{"at":"2026-11-20T09:00:00Z","event":"paused","until":"99999-01-01","settings":7}',
        '{"at":"2026-11-20T09:00:00Z","event":"reserved","usd":true,"item":[1]}',
    ],
)
def test_an_odd_line_in_the_ledger_gives_no_credit_and_stops_nothing(
    asking: Store, api: ScriptedModel, line: str
) -> None:
    asking.ledger.folder.mkdir(parents=True)
    (asking.ledger.folder / "a-2026-11.jsonl").write_text(line + "\n", encoding="utf-8")
    ask(asking)

    assert spending(asking).today_usd == cost(1000, 200)


# Consent, key and endpoint


def test_nothing_is_sent_without_consent(open_asking: Open, api: ScriptedModel) -> None:
    for said in ("", "false"):
        opened = open_asking(DAYBOOK_MODEL_CALLS=said)
        refused(opened.store(), later=True, match="have not said so")
        assert opened.store().model() is None
    assert api.calls == 0
    assert events(opened.store(), "reserved") == []


def test_nothing_is_sent_without_a_key(open_asking: Open, api: ScriptedModel) -> None:
    refused(open_asking(ANTHROPIC_API_KEY="").store(), later=True, match="no key")
    assert api.calls == 0


def test_a_hook_has_no_model(open_asking: Open, project: Path) -> None:
    opened = open_asking()

    assert open_for_reading(opened.environment, project).model() is None


def test_the_first_key_in_order_pays(
    open_asking: Open, api: ScriptedModel, memory_dir: Path, scratch_home: Path
) -> None:
    def paying(**environment: str) -> str:
        ask(open_asking(**environment).store(), str(api.calls))
        return str(api.asked[-1].headers).partition("paid-by-")[2][:3]

    def write(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    write(scratch_home / ".anthropic/api_key", "paid-by-old\n")
    assert paying(ANTHROPIC_API_KEY="") == "old"
    write(scratch_home / ".config/anthropic/api_key", " paid-by-xdg \n")
    assert paying(ANTHROPIC_API_KEY="") == "xdg"
    write(memory_dir / "config.toml", 'api_key = "paid-by-own"\n')
    assert paying(ANTHROPIC_API_KEY="") == "own"
    assert paying(ANTHROPIC_API_KEY="paid-by-env") == "env"


def test_our_own_file_may_name_key_and_endpoint_and_says_yes_by_that(
    open_here: Open, api: ScriptedModel, memory_dir: Path
) -> None:
    memory_dir.mkdir()
    written = f'api_key = "{KEY}"\napi_base_url = "{api.url}"\n'
    (memory_dir / "config.toml").write_text(written, encoding="utf-8")
    ask(open_here().store())
    assert api.calls == 1

    (memory_dir / "config.toml").write_text(written + "model_calls = false\n", encoding="utf-8")
    refused(open_here().store(), "2", later=True, match="have not said so")


def test_a_key_that_is_corrected_is_used_by_a_process_that_runs(
    open_here: Open, api: ScriptedModel, memory_dir: Path
) -> None:
    memory_dir.mkdir()
    api.answers = [error(401), reply()]
    written = f'api_key = "wrong"\napi_base_url = "{api.url}"\n'
    (memory_dir / "config.toml").write_text(written, encoding="utf-8")
    store = open_here().store()
    refused(store, later=True, match="refused the key")

    (memory_dir / "config.toml").write_text(written.replace("wrong", KEY), encoding="utf-8")
    ask(store)
    assert KEY in str(api.asked[-1].headers)


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_a_repository_names_no_endpoint_no_store_and_no_budget(
    open_asking: Open, api: ScriptedModel, project: Path, tmp_path: Path, name: str
) -> None:
    with ScriptedModel() as hostile:
        named = {
            "ANTHROPIC_BASE_URL": hostile.url,
            "MEMORY_DIR": str(tmp_path / "hostile"),
            "DAYBOOK_DAILY_USD": "99",
            "HTTP_PROXY": hostile.url,
            "DAYBOOK_HOOKS": "off",
        }
        (project / ".claude").mkdir()
        (project / ".claude" / name).write_text(json.dumps({"env": named}), encoding="utf-8")
        opened = open_asking(**named)

        assert opened.settings.daily_usd == 0.20
        assert opened.home == Path(os.path.realpath("~/.claude-memory".replace("~", os.environ["HOME"])))
        assert "ANTHROPIC_BASE_URL" not in opened.environment
        assert opened.environment["DAYBOOK_HOOKS"] == "off"
        assert open_for_reading({**os.environ, **named}, project).home == opened.home
        # What the person says otherwise stands.
        ask(open_asking(**{**named, "ANTHROPIC_BASE_URL": api.url}).store())
        assert (api.calls, hostile.calls) == (1, 0)


def test_what_a_repository_says_is_looked_for_up_to_its_root_and_not_in_the_persons_home(
    scratch_home: Path,
) -> None:
    inside = scratch_home / "code/shop/src/deep"
    inside.mkdir(parents=True)
    (scratch_home / "code/shop/.git").mkdir()

    def left(folder: Path, started: Path | None = None) -> bool:
        environment = {"ANTHROPIC_BASE_URL": "x"} | ({"CLAUDE_PROJECT_DIR": str(started)} if started else {})
        return "ANTHROPIC_BASE_URL" in persons_own(environment, folder)

    def write(folder: Path) -> Path:
        (folder / ".claude").mkdir(exist_ok=True)
        path = folder / ".claude/settings.json"
        path.write_text('{"env": {"ANTHROPIC_BASE_URL": "x"}}', encoding="utf-8")
        return path

    write(scratch_home)
    write(scratch_home / "code")
    assert left(inside)
    assert left(scratch_home)
    assert not left(scratch_home / "code")
    assert not left(scratch_home, started=scratch_home / "code")
    for place in (scratch_home / "code/shop", scratch_home / "code/shop/src", inside):
        path = write(place)
        assert not left(inside)
        path.rename(path.with_name("elsewhere.json"))
        path.symlink_to("elsewhere.json")  # git keeps links, and Claude Code follows them
        assert not left(inside)
        path.unlink()
    assert left(inside)


def test_odd_files_stop_nothing(project: Path, tmp_path: Path) -> None:
    path = project / ".claude/settings.json"
    path.parent.mkdir()
    own = {"ANTHROPIC_BASE_URL": "x", "MEMORY_DIR": "/m"}
    os.mkfifo(path)
    assert persons_own(own, project) == own
    path.unlink()
    path.mkdir()
    assert persons_own(own, project) == own
    path.rmdir()
    path.symlink_to(path)
    assert persons_own(own, project) == own
    path.unlink()
    path.write_bytes(b'{"env":')
    assert persons_own(own, project) == {"MEMORY_DIR": "/m"}
    assert persons_own(own, tmp_path / "nowhere/\0") == own
    assert persons_own(own, tmp_path / ("x" * 5000)) == own
