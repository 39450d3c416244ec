"""A git that takes too long, or that something else ends, is called that: our repository is not damaged."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.actions.remote.exchange import exchange, repository_of
from mcp_server.adapters.remote import repository
from mcp_server.adapters.remote.repository import HEAD, Repository
from mcp_server.core.errors import RemoteUnavailable
from mcp_server.store import Store
from tests.actions.remote.conftest import Machines
from tests.memories import stored


def listed(own: Repository) -> object:
    return own.tree(own.ref(HEAD))


def read(own: Repository) -> object:
    return own.data(["0" * 40])


def with_git(store: Store, folder: Path, verb: str, does: str) -> Repository:
    """Return the repository of *store*, with a git whose *verb* *does* something else."""
    program = folder / "bin" / "git"
    program.parent.mkdir()
    (git,) = [path for place in store.git.path.split(":") if (path := Path(place) / "git").is_file()][:1]
    program.write_text(
        f'#!/bin/sh\ncase " $* " in *" {verb} "*) {does};; esac\nexec {git} "$@"\n', encoding="ascii"
    )
    program.chmod(0o755)
    own = repository_of(store)
    return Repository(own.folder, own.git._replace(path=f"{program.parent}:{own.git.path}"), own.around)


@pytest.mark.parametrize(("ask", "verb"), [(listed, "ls-tree"), (read, "cat-file")])
@pytest.mark.parametrize(
    ("does", "sentence"),
    [
        ("exec sleep 600", "Git did not finish within 1 seconds."),
        ("kill -9 $$", r"Git was ended before it had finished \(signal 9\)."),
    ],
)
def test_it_is_said_and_nobody_takes_the_remote_out(
    machines: Machines,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ask: Callable[[Repository], object],
    verb: str,
    does: str,
    sentence: str,
) -> None:
    desk = machines.joined("desk")
    stored(desk, "The port is 80.")
    exchange(desk)
    own = with_git(desk, tmp_path, verb, does)
    if "sleep" in does:
        monkeypatch.setattr(repository, "LOCAL", 1.0)

    with pytest.raises(RemoteUnavailable, match=sentence) as ended:
        ask(own)

    assert ended.value.hint == "Nothing is lost. Try again when the machine has less to do."
