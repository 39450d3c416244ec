"""The attack: each part runs, and sees a fault that is planted."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.attack.__main__ import attack, table
from benchmarks.attack.facts import GONE, LIVE, TRASH, Fact, allow, check, copies, signed
from benchmarks.attack.one import PARTS, part
from benchmarks.attack.outcome import Row
from benchmarks.attack.soak import Look, judged
from tests.patience import PATIENCE

ROOT = Path(__file__).resolve().parent.parent
SEED = 20261122
SOUND = {  # and how often each is tried here; what is not listed has tests of its own
    "kills": 20, "server_kills": 1, "races": 40, "counters": 24, "soak": 60, "disk": 10, "poison": 8,
    "secrets": 1, "canaries": 1,
}  # fmt: skip
PLANTED = SOUND | {
    "kills": 80, "counters": 80, "waits": 1, "damage": 1, "fuzz": 20, "clock": 1, "repository": 1,
    "growth": 1,
}  # fmt: skip


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_store_passes(name: str) -> None:
    rows = attack(part(name), SOUND[name], SEED)

    assert sum(row.tried for row in rows) >= SOUND[name]
    assert not any(row.is_bad for row in rows), [fault for row in rows for fault in row.failures]


@pytest.mark.parametrize("name", PARTS)
def test_a_planted_fault_is_seen(name: str) -> None:
    rows = attack(part(name), PLANTED[name], SEED, planted=True)

    assert any(row.is_bad for row in rows), table({name: rows})
    assert not any("the part itself ended" in fault for row in rows for fault in row.failures)


def test_a_part_that_does_not_end_is_ended_and_leaves_nothing(tmp_path: Path) -> None:
    before = set(Path("/dev/shm").glob("daybook-attack-*"))

    rows = attack(replace(part("soak"), longest=0.5), 20_000, SEED)

    assert [row.failures for row in rows] == [["it did not end within 0 s"]]
    assert set(Path("/dev/shm").glob("daybook-attack-*")) <= before


def test_the_whole_prints_a_table_and_says_how_to_do_it_again() -> None:
    process = attacked("server_kills", "--count", "1", "--planted")

    assert process.returncode == 1
    assert "| server_kills | kill -9 of the MCP server" in process.stdout
    assert re.search(r"\| \*\*\d+\*\* \|", process.stdout)
    assert f"again: python -m benchmarks.attack server_kills --count 1 --seed {SEED}" in process.stderr


def test_what_is_within_the_goal_is_no_failure() -> None:
    rows = [Row("secrets", 100, ["missed"], allowed=5), Row("others", 100, ["harmed"])]

    assert [row.is_bad for row in rows] == [False, True]
    assert "| 1 |" in table({"secrets": rows[:1]})
    assert "| **1** |" in table({"secrets": rows[1:]})


def test_a_text_tells_whether_it_is_whole_and_where_it_stands(tmp_path: Path) -> None:
    for place, text in {
        "knowledge/a.md": f"---\nid: a\n---\n{signed('k1', 2)}\n",
        "trash/user/knowledge/b.md": signed("k2", 1),
        "knowledge/c.md": signed("k3", 1)[:-30],
    }.items():
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    copies_held = copies([tmp_path])

    assert [(copy.version, copy.whole, copy.state) for copy in copies_held["k1"]] == [(2, True, LIVE)]
    assert [(copy.whole, copy.state) for copy in copies_held["k2"]] == [(True, TRASH)]
    assert not copies_held["k3"][0].whole
    assert check(Fact("k1", allow(2, LIVE)), copies_held["k1"], most=1) == []
    assert check(Fact("k1", allow(1, LIVE), pending=allow(2, LIVE)), copies_held["k1"], most=1) == []
    for fact, name, fault in (
        (Fact("k1", allow(3, LIVE)), "k1", "wrong text"),
        (Fact("k1", allow(2, GONE)), "k1", "brought back"),
        (Fact("k2", allow(1, LIVE)), "k2", "lost"),
        (Fact("k3", allow(1, LIVE)), "k3", "torn"),
        (Fact("k4", allow(1, LIVE)), "k4", "lost"),
    ):
        assert fault in check(fact, copies_held.get(name, []), most=1)[0]
    assert "doubled" in check(Fact("k1", allow(2, LIVE)), copies_held["k1"] * 2, most=1)[0]


def test_growth_and_a_late_end_are_seen() -> None:
    look = Look(200, 18, 22)

    assert judged(look, look, 0.1) == []
    assert len(judged(look, Look(260, 40, 90), 9.0)) == 4


def test_the_rows_are_printed_as_json() -> None:
    process = attacked("repository", "--planted", "--json")

    (row,) = json.loads(process.stdout)
    assert (row["part"], row["tried"], len(row["failures"])) == ("repository", 1, 1)


def test_the_table_is_made_of_what_was_saved(tmp_path: Path) -> None:
    row = {
        "part": "clock",
        "what": "odd instants",
        "tried": 165,
        "failures": ["late"],
        "figures": "x",
        "allowed": 0,
    }
    (tmp_path / "clock.json").write_text(json.dumps([row]), encoding="utf-8")

    process = attacked("clock", "soak", "--saved", str(tmp_path))

    assert process.returncode == 1
    assert process.stdout.splitlines()[-1] == "| clock | odd instants | 165 | **1** | x |"
    assert "soak.json is not there" in process.stderr


def attacked(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.attack", *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )
