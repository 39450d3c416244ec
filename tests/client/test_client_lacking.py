"""A client that lacks what a part of the module needs: that part alone is off, and doctor says so."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from harness.drive_claude import Claude
from harness.mock_anthropic import call
from harness.terminal import needs_tmux, wait_until

from tests.client.test_client_learning import keep_a_session, ledger
from tests.client.test_client_states import TROUBLE

pytestmark = pytest.mark.client

TUESDAYS = "Production deploys run on Tuesdays only."
FRIDAYS = "Production deploys run on Fridays only."
ASKS = "when do production deploys run?"


def without(*calls: str) -> Callable[[Path], None]:
    """Make of *calls*, `$.noun.event` each, calls of what no client has, in a plugin's folder."""

    def change(copy: Path) -> None:
        text = {path: path.read_text(encoding="utf-8") for path in (copy / "hooks").glob("*.ts*")}
        assert all(any(f"{name}(" in source for source in text.values()) for name in calls)
        named = re.compile("(" + "|".join(map(re.escape, calls)) + r")\(")
        for path, source in text.items():
            patient = source.replace(
                "PROMPT_PATIENCE = 300 ", "PROMPT_PATIENCE = 60_000 "
            )  # on a slow machine, too
            path.write_text(named.sub(r"\1InAnotherClient(", patient), encoding="utf-8")

    return change


def doctor(claude: Claude) -> str:
    """Return what `daybook doctor` says of the module."""
    (program,) = claude.home.glob("../changed/daybook/bin/daybook")
    environment = claude.environment("http://127.0.0.1:9")
    process = subprocess.run(
        [program, "doctor"],
        cwd=claude.project,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    (line,) = [line for line in process.stdout.splitlines() if "module" in line] or [
        process.stdout + process.stderr
    ]
    return line


@needs_tmux
def test_without_dialogs_a_pane_a_status_line_and_a_model_the_rest_goes_on_and_doctor_names_them(
    claude: Claude, plugin: Path, store: Path, tmp_path: Path
) -> None:
    lacks = ("$.ui.ask", "$.ui.open", "$.ui.status", "$.model.complete")
    claude.install_changed(plugin, tmp_path, without(*lacks))
    keep_a_session(claude, store)
    claude.env["DAYBOOK_PLAN_CALLS"] = "yes"

    with claude.interactive(rows=90) as terminal:
        screen = terminal.command(f"/remember Deploys | {TUESDAYS}", r"deploys-\w+: remembered")
        (old,) = re.findall(r"(deploys-\w+): remembered", screen)
        terminal.command(f"/remember Deploys | {FRIDAYS}", rf"Near it: {old}(?s:.*)--distinct\s+{old}")
        terminal.command(f"/forget {old}", "Nothing was forgotten")
        terminal.command("/daybook", r"Claude was shown \d+ memor")
        terminal.send("good morning", ["good morning to you"])
        wait_until(lambda: ledger(store, "spent"), terminal.screen)
        (request,) = terminal.send(ASKS, ["on Tuesdays"])
        screen = terminal.screen()

    assert TUESDAYS in "".join(request.hook_context("UserPromptSubmit"))
    assert not re.search(TROUBLE, screen), screen
    assert len(ledger(store, "reserved")) == 1
    sentence = doctor(claude)
    assert re.search(r"last seen in Claude Code [\d.]+, without (.*), which that client lacks", sentence), (
        sentence
    )
    named = set(re.findall(r"without (.*), which", sentence)[0].split(", "))
    assert named == {"asking", "learning", "pane", "status"}


@pytest.mark.parametrize("lacks", ["$.mcp.call", "on('prompt.submit'"])
def test_where_it_cannot_work_at_all_hooks_do_what_they_do_without_it(
    claude: Claude, plugin: Path, store: Path, tmp_path: Path, lacks: str
) -> None:
    def change(copy: Path) -> None:
        if lacks.startswith("$"):
            return without(lacks)(copy)
        path = (
            copy / "hooks" / "daybook.tsx"
        )  # the name of an event that a client does not know: it refuses it all
        path.write_text(
            path.read_text(encoding="utf-8").replace(lacks, "on('prompt.another'"), encoding="utf-8"
        )
        return None

    claude.install_changed(plugin, tmp_path, change)
    claude.prompt("Remember it", [call("remember", title="Deploys", content=TUESDAYS), "kept"])
    run = claude.prompt(ASKS, ["on Tuesdays"])

    (request,) = run.main
    assert TUESDAYS in "".join(
        request.hook_context("SessionStart") + request.hook_context("UserPromptSubmit")
    )
    assert "Daybook" in "".join(run.hooks_said)
    assert [line for line in run.stderr.splitlines() if line] == []
