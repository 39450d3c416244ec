"""What the documents show in a console is what is printed."""

import os
import re
import sys
from pathlib import Path

import click
import pytest

from tests.documents import fenced, text
from tests.live import ROOT
from tests.recorded import Recorded
from tests.terminal import type_in_terminal


def steps(document: str) -> list[tuple[str, list[str]]]:
    """Return the commands of all console blocks with the lines that they are said to print."""
    commands_found: list[tuple[str, list[str]]] = []
    for block in fenced(document, "console"):
        for line in block.splitlines():
            if line.startswith("$ "):
                commands_found.append((line[2:].partition("  #")[0].strip(), []))
            else:
                commands_found[-1][1].append(line)
    return commands_found


NOT_RUN = ("claude ", "bin/daybook demo", "make ", "UPDATE=1 ")  # need Claude Code, a network or the tests
RUN = ("daybook ", "perl ")
SUFFIX = "k3f9"  # of every id in the documents
CAPTURE = "docs/capture.md"


@pytest.mark.parametrize("name", ["README.md", "docs/privacy.md", CAPTURE, "CONTRIBUTING.md"])
def test_the_console_prints_what_the_document_shows(name: str, tmp_path: Path, scratch_home: Path) -> None:
    shop = scratch_home / "shop"
    shop.mkdir()
    shim = tmp_path / "daybook"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m mcp_server.doors.cli "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    slugs = set(re.findall(rf"([a-z-]+-){SUFFIX}\b", text(name)))
    real = {}  # the ids that the documents' ids became
    told = steps(text(name))
    if name == CAPTURE:
        record_sessions(scratch_home, shop)
        told.insert(0, ("daybook backfill", []))
    for command, expected in told:
        if command.startswith(NOT_RUN):
            continue
        assert command.startswith(RUN), command
        line = command
        for command_shown, became in real.items():
            line = line.replace(command_shown, became)
        process = type_in_terminal(["/bin/sh", "-c", line], cwd=shop, env=environment)
        assert process.returncode == 0, process.stdout
        printed = click.unstyle(process.stdout).replace(str(scratch_home), "/home/ada")
        for slug in slugs:
            for became in re.findall(rf"\b{slug}[a-z0-9]{{4}}\b", printed):
                real[slug + SUFFIX] = became
                printed = printed.replace(became, slug + SUFFIX)
        if expected:
            assert [normal(line) for line in expected] == [normal(line) for line in printed.splitlines()]


def record_sessions(home: Path, shop: Path) -> None:
    """Write the transcripts of two sessions in *shop*, from which patterns get the candidates of CAPTURE."""
    for _ in range(2):
        session = Recorded(home / ".claude" / "projects" / "shop", cwd=shop)
        session.user("It turns out that CI has no network.")
        session.call("Bash", command="npm install stripe")


def normal(line: str) -> str:
    """Return *line* without what differs: a folder's digest, the figures of a cosine, the day."""
    line = re.sub(r"\b\d{4}-\d\d-\d\d\b", "(day)", line)
    return re.sub(r"meaning -?\d\.\d\d", "meaning #", re.sub(r"\bshop-[0-9a-f]{8}\b", "shop-#", line))
