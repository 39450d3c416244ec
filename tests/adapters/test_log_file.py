"""What goes wrong is written down without what must stay secret."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import logging, sys
from pathlib import Path
from mcp_server.adapters.log_file import send_warnings_to
send_warnings_to(Path(sys.argv[1]))
try:
    raise ValueError('it says ghp_' + 'k3Jx9QmZ7bTn4LwR2s' + 'Vf8YhC6dGp1AeU5oIq')
except ValueError as error:
    logging.getLogger("daybook").warning("a line: %s", error)
    logging.getLogger("daybook").exception("a traceback")
"""


def logged(path: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path)], capture_output=True, text=True, check=True
    )


def test_secrets_in_messages_and_tracebacks_are_masked(tmp_path: Path) -> None:
    logged(tmp_path / "logs" / "server.log")

    (path,) = (tmp_path / "logs").iterdir()
    text = path.read_text("utf-8")
    assert "a line: it says" in text and "Traceback" in text
    assert "k3Jx9QmZ" not in text


def test_where_no_folder_can_be_made_warnings_go_to_stderr(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    stderr = logged(tmp_path / "file" / "logs" / "server.log").stderr

    assert "WARNING" in stderr
    assert "k3Jx9QmZ" not in stderr


def test_a_log_that_cannot_be_written_tells_no_secret_either(tmp_path: Path) -> None:
    (tmp_path / "logs" / "server.log").mkdir(parents=True)

    assert logged(tmp_path / "logs" / "server.log").stderr == ""
