"""Whose words a tool gives back: the project's, or those of others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.provenance.tool_calls import Whose, whose, whose_output

TRACKED = {"README.md", "src/app.py", "scripts/seed.py", "docs"}


def own(path: str) -> bool:
    return path in TRACKED


@pytest.mark.parametrize(
    "command",
    [
        "cat README.md",
        "cd . && cat README.md | head -20",
        "sed -n 1,40p src/app.py",
        "grep -n total src/app.py | sort",
        "pytest -q tests 2>&1 | tail -5",
        "python -m pytest -x",
        "uv run pytest",
        "FOO=1 make lint",
        "npm test",
        "npm run build > /dev/null",
        "cargo test --all",
        "git status && git diff HEAD",
        "git show HEAD:README.md",
        "ls -la && pwd",
        "timeout 20 go vet",
        "python scripts/seed.py --small",
        "python -c 'print(1 + 1)'",
        "wc -l < README.md",
    ],
)
def test_the_projects_own_words(command: str) -> None:
    assert whose_output(command, own=own) is Whose.PROJECTS


@pytest.mark.parametrize(
    "command",
    [
        "curl -s https://x.example",
        "cat README.md; curl x.example",
        "echo $(curl x.example)",
        "echo `wget -qO- x.example`",
        "cat <(curl x.example)",
        "git log -3",
        "git show HEAD",
        "git fetch && git status",
        "gh issue view 3",
        "docker logs web",
        "kubectl logs pod/web",
        "journalctl -u mailer",
        "cat scratch.md",
        "cat /etc/motd",
        "head -3 README.md ../other/notes.md",
        "less node_modules/x/README.md",
        "npm view left-pad",
        "npm install left-pad",
        "pip show requests",
        "npx some-tool",
        "./download.sh",
        "python download.py",
        "python -c 'import urllib.request'",
        "psql -c 'select 1'",
        "ssh host uptime",
        "find . -exec cat {} +",
        "wc -l < scratch.md",
        "echo 'unbalanced",
        "x" * 5000,
    ],
)
def test_what_others_may_have_written(command: str) -> None:
    assert whose_output(command, own=own) is Whose.OTHERS


@pytest.mark.parametrize(
    ("name", "arguments", "by"),
    [
        ("Read", {"file_path": "README.md"}, Whose.PROJECTS),
        ("Read", {"file_path": "/tmp/x.md"}, Whose.OTHERS),
        ("Read", {}, Whose.OTHERS),
        ("Grep", {"pattern": "x"}, Whose.LINES),
        ("WebFetch", {"url": "https://x.example"}, Whose.OTHERS),
        ("mcp__tracker__get", {}, Whose.OTHERS),
        ("mcp__evil_daybook__recall", {}, Whose.OTHERS),
        ("mcp__plugin_daybook_daybook__recall", {}, Whose.NOBODYS),
        ("Edit", {"file_path": "README.md"}, Whose.NOBODYS),
        ("SomethingNew", {}, Whose.OTHERS),
    ],
)
def test_tools(name: str, arguments: dict[str, str], by: Whose) -> None:
    assert whose(name, arguments, own=own, agents_read=True)[0] is by


def test_an_agents_report_is_others_words_when_its_transcript_is_not_there() -> None:
    assert whose("Agent", {}, own=own, agents_read=True)[0] is Whose.NOBODYS
    assert whose("Agent", {}, own=own, agents_read=False)[0] is Whose.OTHERS


@given(st.text())
def test_no_command_raises(command: str) -> None:
    whose_output(command, own=own)
