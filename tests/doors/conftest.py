"""`daybook`, run in this process or as a person types it in a terminal, and the tools of a server."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from mcp_server.adapters import own_process
from mcp_server.bootstrap import Opened
from mcp_server.core.memory_parts import Level
from tests.conftest import Open
from tests.doors.called import Caller, connected
from tests.doors.shell import Run, daybook
from tests.memories import stored
from tests.patience import PATIENCE
from tests.person import Agreeing
from tests.recorded import Recorded
from tests.tiny_model import make_model


@pytest.fixture
def run(memory_dir: Path, project: Path) -> Run:
    """Run `daybook` with the words given; EMBEDDING_MODEL=none unless told otherwise."""
    return partial(daybook, memory_dir, folder=project)


@pytest.fixture
def typed(memory_dir: Path, project: Path) -> Run:
    """Run `daybook` as a person who types the words given in a terminal; *answers* are typed when asked."""
    return partial(daybook, memory_dir, folder=project, typed=True)


@pytest.fixture
def call(open_here: Open) -> Iterator[Caller]:
    """Call tools of a server on the store, as Claude does whose person says yes to everything."""
    with connected(open_here(), Agreeing()) as caller:
        yield caller


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model that is loaded at once."""
    return make_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def home(opened: Opened) -> Path:
    """A store with one memory that is not embedded yet."""
    stored(opened.store(), "Quagga", "The quagga is extinct.", level=Level.USER)
    return opened.home


@pytest.fixture
def question_asked(session: Recorded) -> None:
    """The person asked, which is no word for a change."""
    session.user("how long is the upload timeout?")


@pytest.fixture
def no_worker_is_left() -> Iterator[None]:
    """Wait for the workers that a server in this process has started."""
    yield
    for process in own_process._started:
        process.wait(PATIENCE)


@pytest.fixture
def session(scratch_home: Path, project: Path) -> Recorded:
    """The transcript of a session, where Claude Code keeps such."""
    return Recorded(scratch_home / ".claude" / "projects" / "shop", cwd=project)


@pytest.fixture
def claude(open_here: Open, session: Recorded) -> Iterator[Caller]:
    """Call tools as Claude does in *session*, in a client without dialogs."""
    with connected(open_here(CLAUDE_CODE_SESSION_ID=session.session)) as caller:
        yield caller
