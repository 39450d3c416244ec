"""An option, an argument or a filter that would have no effect is refused: whoever gave it expects one."""

from pathlib import Path

import pytest

from mcp_server.actions.memory.remember import remember
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import Draft
from mcp_server.store import Store
from tests.doors.called import Caller
from tests.doors.shell import Run

PAIR = ("lamps-a1b2", "lights-c3d4")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (("connect", "--print"), "--print has no effect without a client."),
        (("connect", "codex", "--json"), "--json has no effect with a client."),
        (("contradictions", "--limit", "3"), "--limit has no effect without --find."),
        (("contradictions", "--mark", *PAIR, "--find"), "--find has no effect with --mark."),
        (("contradictions", "--mark", *PAIR, "--resolve", *PAIR), "--resolve has no effect with --mark."),
        (
            ("contradictions", "--resolve", *PAIR, "--how", "weaken", "--about", "lamps-a1b2"),
            "--about has no effect with --resolve.",
        ),
        (("graph", "--svg", "--json"), "--json has no effect with --svg."),
        (("graph", "--svg", "--mermaid"), "--mermaid has no effect with --svg."),
        (("graph", "--mermaid", "--json"), "--json has no effect with --mermaid."),
        (("history", "--version", "1"), "--version is of one memory."),
        (
            ("history", "lamps-a1b2", "--version", "1", "--session", "s"),
            "--session has no effect with --version.",
        ),
        (
            ("history", "lamps-a1b2", "--version", "1", "--limit", "9"),
            "--limit has no effect with --version.",
        ),
        (
            ("init", "--repair", "--no-repository"),
            "--repository/--no-repository has no effect with --repair.",
        ),
        (("maintain", "--apply"), "--apply has no effect with 'check'."),
        (("mine", "--status", "--log", "build.txt"), "--status has no effect with --log."),
        (("mine", "--status", "--hours", "9"), "--hours has no effect with --status."),
        (("mine", "--log", "build.txt", "--hours", "9"), "--hours has no effect with --log."),
        (("promote", "lamps-a1b2", "--keep-secrets"), "--keep-secrets has no effect without --to."),
        (("recall", "lamps", "--preset", "precision", "--limit", "9"), "The preset 'precision' has a limit"),
        (("recall", "lamps", "--preset", "exploratory", "--limit", "5"), "The preset 'exploratory' has a"),
        (("review", "--limit", "3", "holds", "lamps-a1b2"), "--limit has no effect with 'holds'."),
        (("sessions", "--patterns", "--all-projects"), "--all-projects has no effect with --patterns."),
        (("sessions", "--patterns", "--topic", "lamps"), "--topic has no effect with --patterns."),
        (("sessions", "s1", "--patterns"), "ID has no effect with --patterns."),
        (("sessions", "s1", "--limit", "3"), "--limit has no effect with an ID."),
        (("view", "--export", "page.html", "--no-open"), "--no-open has no effect with --export."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_command_refuses_it_and_does_nothing(
    run: Run, project: Path, line: tuple[str, ...], sentence: str
) -> None:
    process = run(*line)

    assert process.returncode == Rejected.exit_code, process.stdout
    assert sentence in process.stderr
    assert process.stdout == ""
    assert not (project / "page.html").exists()


@pytest.mark.parametrize(
    ("tool", "given", "sentence"),
    [
        (
            "list_memories",
            {"filter": "note", "type": "gotcha"},
            "'note' is a type, and a type is given already.",
        ),
        (
            "recall",
            {"query": "lamps", "preset": "exploratory", "limit": 7},
            "The preset 'exploratory' has a limit",
        ),
        (
            "remember",
            {"title": "Lamps", "content": "Lit at dusk.", "level": "team", "distinct": "lamps-a1b2"},
            "distinct has no effect for a memory of the team.",
        ),
    ],
)
def test_a_tool_refuses_it(
    call: Caller, store: Store, tool: str, given: dict[str, object], sentence: str
) -> None:
    remember(store, Draft("Lamps", "Lit at dusk.", tags=("night",)))

    assert sentence in call(tool, **given)
    assert call.failed


def test_what_has_an_effect_beside_another_option_is_heeded(run: Run, store: Store) -> None:
    """As JSON a command prints what it did, whichever of its ways was chosen."""
    remember(store, Draft("Lamps", "Lit at dusk.", id="lamps"))

    assert run("history", "lamps", "--limit", "9", "--json").stdout.startswith("{")
    assert run("mine", "--status", "--json").stdout.startswith("{")
    assert run("graph", "--level", "project", "--mermaid").returncode == 0
    assert run("maintain", "rebuild", "--json").returncode == 0
