"""Whatever stands in config.toml or the environment: a sentence, no traceback, and hooks say nothing."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.bootstrap import memory_dir, read_settings
from mcp_server.core.errors import SettingsError
from mcp_server.core.memory_parts import parse_timestamp
from tests.doors.shell import daybook
from tests.durability.served import Served, environment
from tests.patience import PATIENCE

TEXTS: dict[str, bytes] = {
    "100,000 brackets": b"[" * 100_000,
    "brackets that fit": b"a = " + b"[" * 50_000,
    "3,000 tables": b"a = " + b"{a=" * 3_000,
    "dotted": b".".join([b"a"] * 3_000) + b" = 1",
    "NUL": b'capture = "\0"',
    "not UTF-8": b'capture = "\xff\xfe"',
    "UTF-16": 'capture = "auto"'.encode("utf-16"),
    "twice": b'capture = "auto"\ncapture = "auto"',
    "a long number": b"hot_cache_max_items = " + b"9" * 5_000,
    "a long hexadecimal number": b"hot_cache_max_items = 0x" + b"f" * 5_000,
    "a long key of the model": b"api_key = 0x" + b"f" * 5_000,
    "a date": b"hot_cache_max_items = 2026-11-22",
    "a table": b"[capture]\na = 1",
    "a list": b'capture = ["auto"]',
    "infinity": b"daily_usd = inf",
    "a long name": b"x" * 60_000 + b" = 1",
    "a long value": b'capture = "' + b"y" * 60_000 + b'"',
    "not there": b"frobnicate = 1",
}
PLACES: dict[str, Callable[[Path], object]] = {
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "a loop of links": lambda path: path.symlink_to(path.name),
    "a hundred megabytes": lambda path: path.write_bytes(b"#" * (100 << 20)),
}


@pytest.mark.parametrize("case", [*TEXTS, *PLACES])
def test_a_config_that_cannot_be_used_is_a_sentence(tmp_path: Path, case: str) -> None:
    path = tmp_path / "config.toml"
    if case in TEXTS:
        path.write_bytes(TEXTS[case])
    else:
        PLACES[case](path)

    with pytest.raises(SettingsError) as refused:
        read_settings({"MEMORY_DIR": str(tmp_path)})
    assert len(str(refused.value)) < 600
    assert refused.value.hint


def test_a_config_that_is_a_link_to_a_file_counts(tmp_path: Path) -> None:
    (tmp_path / "dotfiles.toml").write_text("hot_cache_max_items = 7\n", encoding="utf-8-sig")
    (tmp_path / "config.toml").symlink_to(tmp_path / "dotfiles.toml")

    assert read_settings({"MEMORY_DIR": str(tmp_path)}).hot_cache_max_items == 7


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('capture = "often"', "capture in config.toml is 'often', which is not a way to capture."),
        ("daily_usd = -1", "daily_usd in config.toml is '-1', which is not an amount from 0 to 100."),
        ('toolsets = ["core", "all"]', "toolsets in config.toml names 'all', which is not a set of tools."),
        ('capture = "\xff"', "is not UTF-8 text."),
    ],
)
def test_a_mistake_is_named_where_it_is(tmp_path: Path, line: str, sentence: str) -> None:
    (tmp_path / "config.toml").write_bytes(line.encode("latin-1"))

    with pytest.raises(SettingsError, match=re.escape(sentence)):
        read_settings({"MEMORY_DIR": str(tmp_path)})
    with pytest.raises(SettingsError, match=r"^DAYBOOK_CAPTURE is 'never'"):
        (tmp_path / "config.toml").write_text('capture = "auto"', encoding="utf-8")
        read_settings({"MEMORY_DIR": str(tmp_path), "DAYBOOK_CAPTURE": "never"})


def test_sets_of_tools_may_be_a_list(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('toolsets = ["core", "graph"]', encoding="utf-8")

    assert read_settings({"MEMORY_DIR": str(tmp_path)}).toolsets == ("core", "graph")


NAMES = (
    *("HOT_CACHE_MAX_ITEMS", "AUTO_ARCHIVE_DAYS", "DAYBOOK_DAILY_USD", "DAYBOOK_CAPTURE", "DAYBOOK_TOOLSETS"),
    *("EMBEDDING_MODEL", "ENABLE_AUTO_INDEXING", "DAYBOOK_MODEL_CALLS"),
)
VALUES = ("9" * 5_000, "nan", "-1", "x" * 100_000, "\ud800", "\uff11\uff10", "0x10", "[]")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", VALUES)
def test_an_odd_variable_is_a_sentence(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name) as refused:
        read_settings({"MEMORY_DIR": str(tmp_path), name: value})
    assert len(str(refused.value)) < 600


@pytest.mark.parametrize("name", NAMES)
def test_a_blank_variable_says_nothing(tmp_path: Path, name: str) -> None:
    usual = {"MEMORY_DIR": str(tmp_path)}

    assert read_settings({**usual, name: " "}) == read_settings(usual)


@pytest.mark.parametrize(
    "value", ["/a\0b", "/" + "x" * 300, "/" + "x/" * 5_000, "relative", "/etc/passwd", "/etc/passwd/a"]
)
def test_an_odd_folder_of_the_memory_is_a_sentence(value: str) -> None:
    with pytest.raises(SettingsError, match="MEMORY_DIR") as refused:
        memory_dir({"MEMORY_DIR": value})
    assert len(str(refused.value)) < 600


@pytest.mark.parametrize(
    ("named", "settings_given"), [("config.toml", {}), ("MEMORY_DIR", {"MEMORY_DIR": "/" + "x" * 300})]
)
def test_every_door_says_it_and_goes_on(tmp_path: Path, named: str, settings_given: dict[str, str]) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/config.toml").write_bytes(TEXTS["brackets that fit"])
    more = {"HOME": str(tmp_path), **settings_given}
    settings = environment(tmp_path / "memory", tmp_path / "shop") | more

    def run(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", f"mcp_server.doors.{arguments[0]}", *arguments[1:]]
        return subprocess.run(
            command, env=settings, input=stdin, capture_output=True, timeout=PATIENCE, cwd=tmp_path
        )

    for words in ("recall x", "remember a|b", "status", "where", "maintain clean"):
        typed = daybook(tmp_path / "memory", *words.split(), folder=tmp_path, **more)
        assert (typed.returncode, typed.stdout) == (2, ""), words
        assert 1 <= len(typed.stderr.splitlines()) <= 2
    start = run("hooks", "SessionStart", stdin=b'{"session_id": "s", "source": "startup"}')
    assert (start.returncode, start.stderr) == (0, b"")
    assert "Daybook rests until its settings are right" in json.loads(start.stdout)["systemMessage"]
    end = run("hooks", "SessionEnd", stdin=b'{"session_id": "s", "transcript_path": "/a.jsonl"}')
    assert (end.returncode, end.stdout, end.stderr) == (0, b"", b"")
    assert run("worker").returncode == 1
    with Served(tmp_path / "memory", tmp_path / "shop", **more) as server:
        server.greet()
        assert named in server.call("recall", query="x")


@pytest.mark.parametrize(
    "value", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "9" * 5_000, "", "x"]
)
def test_a_date_at_the_end_of_time_is_no_date(value: str) -> None:
    with pytest.raises(ValueError):
        parse_timestamp(value)
