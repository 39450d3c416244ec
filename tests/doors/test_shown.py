"""How results are shown to Claude, in a terminal and to programs; `UPDATE=1` renews the snapshots."""

import errno
import json
import os

import pytest

from mcp_server.core.errors import IndexUnavailable, NotFound
from mcp_server.core.remarks import FromFiles, IndexBehind, NotRecorded
from mcp_server.doors.cli.output import print_shown
from mcp_server.doors.server.replies import LIMIT, shown_lines
from mcp_server.doors.shown import Shown, trouble
from tests.doors.shown_families import FAMILIES
from tests.doors.shown_values import SECRET
from tests.live import ROOT


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_of_results_is_shown_as_its_snapshot_says(
    family: str, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = []
    for result in FAMILIES[family]():
        print_shown(result, texts=family in ("contradictions", "memory", "recall"))
        printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
        program = json.dumps(result.json, ensure_ascii=False, default=str)
        texts += ["= to Claude", shown_lines(result), "= in a terminal", *printed]
        texts += ["= to a program", program, ""] if result.json is not None else [""]
    text = "\n".join(texts).replace(SECRET, "(a token)")

    path = ROOT / "tests" / "data" / "shown" / f"{family}.txt"
    if os.environ.get("UPDATE"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_that_is_shown_to_claude_passes_for_ours_or_holds_a_secret(family: str) -> None:
    for result in FAMILIES[family]():
        for line in shown_lines(result).splitlines():
            assert SECRET not in line
            assert line.startswith("   | ") or not {"<", "`", "[["} & set(line)


def test_a_row_without_a_value_and_an_empty_note_are_left_out() -> None:
    shown = Shown(rows=[("tags", ""), ("stored", 0), ("",), ("a sentence",)], notes=["", "A note."])
    table = Shown(headers=("id", "title"), rows=[("an-id", "")])

    assert shown_lines(shown) == "stored: 0\na sentence\nA note."
    assert shown_lines(table) == "an-id"


def test_a_title_that_is_cut_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    print_shown(Shown(headers=("id", "title"), rows=[("an-id", "连接池" * 30), ("other", "Short")]))

    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.endswith("…")] == [line for line in lines if "an-id" in line] != []


def test_what_does_not_fit_is_counted_once_and_a_page_says_where_it_goes_on() -> None:
    rows = [("an-id", "x" * 90)] * 100
    notes = ("A note that comes last.",)
    below = Shown("Below:", ("id", "title"), rows)

    cut = shown_lines(Shown("Head.", ("id", "title"), rows, below=(below,), notes=notes))
    page = shown_lines(Shown("Head.", ("id", "title"), rows, offset=20, total=500))
    alone = shown_lines(Shown("Head.", ("id",), [("an-id",)], ("y" * 9000,)))

    assert max(map(len, (cut, page, alone))) <= LIMIT
    count = cut.count("an-id")
    assert cut.endswith(
        f"\n({200 - count} more did not fit; the command line shows all.)\nA note that comes last."
    )
    count = page.count("an-id")
    assert page.endswith(f"\n({480 - count} more: offset={20 + count})")
    assert alone.endswith("(cut; read_memory shows all of it)")


@pytest.mark.parametrize("refusal", [OSError(errno.ENOSPC, "No space left"), IndexUnavailable("It is held.")])
def test_what_the_disk_or_the_index_refuses_is_not_said_to_be_answered_or_saved(refusal: Exception) -> None:
    of_the_index, recorded = (
        (FromFiles("It is held.", 0), IndexBehind("It is held.")),
        NotRecorded("moved", "x"),
    )

    after_refusal = trouble.remarks([*of_the_index, recorded], refusal=refusal)

    assert after_refusal == [trouble.remark(recorded)]
    assert trouble.remarks(of_the_index, refusal=NotFound("x")) == [*map(trouble.remark, of_the_index)]
