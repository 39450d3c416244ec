"""An interactive Claude Code in a terminal of its own: what a person types, and what the screen shows."""

import functools
import itertools
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from harness.mock_anthropic import MockAPI, Request, Turn

LOOK = 0.1  # seconds between two looks at something that can only be looked at
KEY_LOST = 4.0  # seconds after which a key that changed nothing is pressed again
PATIENCE = 240.0  # seconds after which something that should happen does not

needs_tmux = pytest.mark.skipif(
    not shutil.which("tmux"), reason="an interactive session needs tmux, which is not here"
)


class Terminal:
    """An interactive client, the program *binary*, in a private tmux server."""

    def __init__(
        self,
        binary: Path,
        *,
        project: Path,
        environment: Callable[[str], Mapping[str, str]],
        columns: int,
        rows: int,
    ) -> None:
        """Start it in *project*; *environment* is that of a client whose model is at a given address."""
        self.api = MockAPI()
        self._folder = tempfile.mkdtemp()  # a socket's path must be short
        settings = [f"{name}={value}" for name, value in environment(self.api.url).items()]
        command = shlex.join(["env", "-i", *settings, str(binary)])
        size = ("-x", str(columns), "-y", str(rows))
        self._tmux("new-session", "-d", *size, "-c", str(project), command)

    def __enter__(self) -> "Terminal":
        self._wait_for_screen("❯")
        return self

    def __exit__(self, *_: object) -> None:
        # A client that is still ending writes its settings over those that the next one is given.
        for client in self._tmux("list-panes", "-F", "#{pane_pid}").split():
            os.kill(int(client), signal.SIGHUP)
        wait_until(lambda: not self._tmux("list-panes"), self._screen)
        self.api.__exit__()
        shutil.rmtree(self._folder, ignore_errors=True)

    def send(self, text: str, turns: Sequence[Turn]) -> list[Request]:
        """Type *text*, press Enter, wait until *turns* were played, the last a text; return the requests."""
        before = len(self.api.main())
        arrived = functools.partial(self.api.wait_for_main, before + 1)
        self.api.add(turns)
        self._tmux("send-keys", "-l", text)
        self._wait_for_screen(rf"❯\s{re.escape(text)}\s*$")
        # An Enter that follows too closely counts as a part of the text: then another one is needed.
        wait_until(lambda: self._tmux("send-keys", "Enter") or arrived(2), self._screen)
        assert self.api.wait_for_main(before + len(turns), PATIENCE), self._screen()
        self._wait_for_screen(re.escape(str(turns[-1])))
        return self.api.main()[before:]

    def ask(self, text: str, turns: Sequence[Turn], answers: Sequence[tuple[str, str]]) -> list[Request]:
        """
        Do as `send` does while a dialog is answered: each of *answers* is a pattern and the key pressed then.

        A key that a dialog is not ready for is lost, so it is pressed until the next pattern is there.
        """
        before = len(self.api.main())
        arrived = functools.partial(self.api.wait_for_main, before + 1)
        self.api.add(turns)
        self._tmux("send-keys", "-l", text)
        self._wait_for_screen(rf"❯\s{re.escape(text)}\s*$")
        wait_until(lambda: self._tmux("send-keys", "Enter") or arrived(2), self._screen)
        self._wait_for_screen(answers[0][0])
        then = [pattern for pattern, _ in answers[1:]] + [re.escape(str(turns[-1]))]
        for (_, key), next_pattern in zip(answers, then, strict=True):
            wait_until(functools.partial(self._pressed, key, next_pattern), self._screen)
        assert self.api.wait_for_main(before + len(turns), PATIENCE), self._screen()
        return self.api.main()[before:]

    def type(self, text: str) -> None:
        """Type *text* wherever the keys go."""
        self._tmux("send-keys", "-l", text)

    def paste(self, text: str) -> None:
        """Paste *text* as a terminal does, which tells the client so."""
        self._tmux("set-buffer", "--", text)
        self._tmux("paste-buffer", "-p")

    def key(self, key: str) -> None:
        """Press *key* once."""
        self._tmux("send-keys", key)

    def press(self, key: str, pattern: str) -> str:
        """Press *key* until the screen shows *pattern*, for a key that comes too early is lost; return it."""
        wait_until(functools.partial(self._pressed, key, pattern), self.screen)
        return self.screen()

    def wait_for(self, pattern: str) -> str:
        """Wait until the screen shows *pattern*, and return it."""
        self._wait_for_screen(pattern)
        return self.screen()

    def screen(self, *, coloured: bool = False) -> str:
        """Return what is on the screen now, *coloured* with the terminal's own escape sequences."""
        return self._tmux("capture-pane", "-p", *(["-e"] if coloured else []))

    def command(self, text: str, shows: str, answers: Sequence[tuple[str, str]] = ()) -> str:
        """
        Type a command that no model answers; return the screen once it shows the pattern *shows*.

        Each of *answers* is a pattern of a dialog and the key pressed then, until the next pattern is there.
        """
        self._tmux("send-keys", "-l", text)
        typed = (
            rf"─\n❯\s{re.escape(text)}\s*\n─"  # still in the box: an Enter too early is a part of the text
        )
        self._wait_for_screen(typed)
        wait_until(lambda: self._pressed("Enter", rf"\A(?!(?s:.*){typed})"), self._screen)
        for (pattern, key), (then, _) in itertools.pairwise([*answers, (shows, "")]):
            self._wait_for_screen(pattern)
            wait_until(functools.partial(self._pressed, key, then), self._screen)
        self._wait_for_screen(shows)
        return self._screen()

    def _pressed(self, key: str, pattern: str) -> bool:
        """Press *key*; tell whether the screen shows *pattern* within some seconds."""
        self._tmux("send-keys", key)
        return self.shows(pattern, KEY_LOST)

    def shows(self, pattern: str, seconds: float) -> bool:
        """Tell whether the screen shows *pattern* within so many seconds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if re.search(pattern, self._screen(), re.MULTILINE):
                return True
            time.sleep(LOOK)
        return False

    def _wait_for_screen(self, pattern: str) -> None:
        wait_until(lambda: re.search(pattern, self._screen(), re.MULTILINE), self._screen)

    def _screen(self) -> str:
        return self._tmux("capture-pane", "-p", "-S", "-100")

    def _tmux(self, *args: str) -> str:
        process = subprocess.run(
            ["tmux", "-S", f"{self._folder}/s", "-f", "/dev/null", *args],
            check=False,
            capture_output=True,
            encoding="utf-8",
        )
        return process.stdout


def wait_until(holds: Callable[[], object], describe: Callable[[], str] = str) -> None:
    """Look until *holds* says so; *told* says what there was to see when it never did."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, describe()
        time.sleep(LOOK)
