"""Through the doors: what the person put away, replaced or marked, Claude takes back only with their word."""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.memory.archive import archive
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.link import link
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.repository import trust
from mcp_server.core.authors import CLAUDE
from mcp_server.core.errors import NotFound
from mcp_server.core.links import CONTRADICTS, SUPERSEDES
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level, Status
from mcp_server.core.provenance.provenance import ASSISTANT
from mcp_server.core.search.query import Filter
from mcp_server.store import Store
from tests.conftest import Open
from tests.doors.called import Caller, connected
from tests.doors.shell import Run
from tests.person import Person
from tests.recorded import Recorded

OLD, NEW = "The upload timeout is 30 seconds.", "Uploads end after 60 seconds."
TYPE_IT = "The person types it in their own terminal, not one that Claude started: daybook "


pytestmark = pytest.mark.usefixtures("question_asked")


class Pair(NamedTuple):
    """Two memories by their ids."""

    old: str
    new: str


@pytest.fixture
def replaced(store: Store) -> Pair:
    """A memory, and the one by which the person replaced it."""
    old = remember(store, Draft("Upload timeout", OLD, "decision")).memory.id
    return Pair(old, remember(store, Draft("Uploads", NEW, "decision", supersedes=(old,))).memory.id)


@pytest.fixture
def claudes(store: Store) -> Pair:
    """Two memories of Claude's that nothing joins."""
    by_claude = store.acting_as(CLAUDE)
    old, new = (
        remember(by_claude, Draft(title, text, "decision", source=ASSISTANT)).memory.id
        for title, text in (("Upload timeout", OLD), ("Uploads", NEW))
    )
    trust(store, (old, new))
    return Pair(old, new)


UNLINKING = [
    ("unlink_memories", {"from": "{new}", "to": "{old}"}),
    ("unlink_memories", {"from": "Uploads", "to": "upload timeout", "rel": "Supersedes"}),
    ("kg_delete_edge", {"level": "project", "from": "{new}", "to": "{old}", "rel": "supersedes"}),
    ("restore_memory", {"id": "{old}"}),
]


@pytest.mark.parametrize(("tool", "arguments"), UNLINKING)
def test_what_the_person_replaced_stays_replaced(
    claude: Caller, session: Recorded, replaced: Pair, store: Store, tool: str, arguments: dict[str, str]
) -> None:
    named = {name: value.format(**replaced._asdict()) for name, value in arguments.items()}

    answer = claude(tool, **named)

    assert "taking back what the person said or did needs the person's consent" in answer.lower()
    assert TYPE_IT in answer
    assert read(store, replaced.old).memory.status is Status.SUPERSEDED
    session.user("restore the upload timeout memory, and remove the link that replaces it")
    claude(tool, **named)
    assert read(store, replaced.old).memory.status is Status.ACTIVE


def test_a_link_that_the_person_made_between_claudes_memories_stays(
    claude: Caller, claudes: Pair, store: Store
) -> None:
    link(store, claudes.new, claudes.old, CONTRADICTS)

    for rel, option in ((CONTRADICTS, f" --rel {CONTRADICTS}"), ("", "")):
        answer = claude("unlink_memories", **{"from": claudes.new, "to": claudes.old, "rel": rel})
        assert answer.endswith(f"{TYPE_IT}unlink {claudes.new} {claudes.old}{option}")
    assert "needs the person's consent" in claude("revise", id=claudes.new, links="src/uploads.py")
    assert [made.rel for made in read(store, claudes.new).memory.links] == [CONTRADICTS]
    link(store, claudes.new, claudes.old, SUPERSEDES)
    assert "needs the person's consent" in claude(
        "unlink_memories", **{"from": claudes.new, "to": claudes.old}
    )


def test_a_link_that_the_person_wrote_into_claudes_file_stays_also_after_claude_changed_that(
    claude: Caller, claudes: Pair, store: Store
) -> None:
    path = read(store, claudes.new).path
    written = path.read_text(encoding="utf-8")
    links = f"links:\n  - {{rel: contradicts, to: {claudes.old}}}\n---\n"
    path.write_text(links.join(written.rsplit("---\n", 1)), encoding="utf-8")
    asked = {"from": claudes.new, "to": claudes.old, "rel": CONTRADICTS}

    assert "needs the person's consent" in claude("unlink_memories", **asked)
    claude("revise", id=claudes.new, tags="uploads")
    assert read(store, claudes.new).memory.tags == ("uploads",)
    assert "needs the person's consent" in claude("unlink_memories", **asked)


def test_claude_takes_back_its_own_links(claude: Caller, claudes: Pair, store: Store) -> None:
    claude("link_memories", **{"from": claudes.new, "to": claudes.old, "rel": SUPERSEDES})
    assert read(store, claudes.old).memory.status is Status.SUPERSEDED

    assert "unlinked" in claude("unlink_memories", **{"from": claudes.new, "to": claudes.old})
    assert read(store, claudes.old).memory.status is Status.ACTIVE
    claude("link_memories", **{"from": claudes.new, "to": claudes.old, "rel": "depends-on"})
    assert "unlinked" in claude("unlink_memories", **{"from": claudes.new, "to": claudes.old})


@pytest.mark.parametrize("put_away", [forget, lambda store, name: archive(store, [name])])
def test_what_the_person_put_away_stays_away(
    claude: Caller, session: Recorded, claudes: Pair, store: Store, put_away: Callable[[Store, str], object]
) -> None:
    put_away(store, claudes.old)

    assert f"{TYPE_IT}restore {claudes.old}" in claude("restore_memory", id=claudes.old)
    for tool, arguments in (("kg_recall", {}), ("kg_put_node", {"gist": "Uploads time out."})):
        if put_away is not forget:
            assert f"{TYPE_IT}restore {claudes.old}" in claude(
                tool, level="project", id=claudes.old, **arguments
            )
    assert claudes.old not in [row.id for row in list_memories(store, Filter()).rows]
    session.user("bring back the upload timeout")
    assert "restored" in claude("restore_memory", id=claudes.old)


def test_claude_brings_back_what_it_put_away_itself(claude: Caller, claudes: Pair, store: Store) -> None:
    claude("forget", id=claudes.old)
    with pytest.raises(NotFound):
        read(store, claudes.old)

    assert "restored" in claude("restore_memory", id=claudes.old)


@pytest.mark.parametrize(("answer", "status"), [("yes", Status.ACTIVE), ("no", Status.SUPERSEDED)])
def test_the_person_says_in_the_dialog_whether_it_holds_again(
    open_here: Open, replaced: Pair, answer: str, status: Status
) -> None:
    opened = open_here()
    for tool, arguments in UNLINKING[:1] + UNLINKING[3:]:
        person = Person(answer)
        with connected(opened, person) as call:
            call(tool, **{name: value.format(**replaced._asdict()) for name, value in arguments.items()})
        assert person.saw and "Upload timeout" in person.saw[0]
        assert read(opened.store(), replaced.old).memory.status is status
        link(opened.store(), replaced.new, replaced.old, SUPERSEDES)


def test_a_shell_that_claude_runs_takes_nothing_back(
    run: Run, session: Recorded, replaced: Pair, store: Store
) -> None:
    claudes_shell = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": session.session}

    processes = [
        run("unlink", replaced.new, replaced.old, **claudes_shell),
        run("restore", replaced.old, **claudes_shell),
    ]

    assert [process.returncode for process in processes] == [12, 12]
    assert f"{TYPE_IT}unlink {replaced.new} {replaced.old}" in processes[0].stderr
    assert read(store, replaced.old).memory.status is Status.SUPERSEDED
    assert run("unlink", replaced.new, replaced.old).returncode == 0
    assert read(store, replaced.old).memory.status is Status.ACTIVE


@pytest.mark.parametrize("verb", ["remember", "revise"])
def test_a_link_called_supersedes_replaces_as_the_argument_does(
    claude: Caller, store: Store, verb: str
) -> None:
    """Otherwise a project's memory with such a link would hide the person's own everywhere in it."""
    persons = remember(store, Draft("Packages", "Use pnpm, never npm.", "preference", level=Level.USER))
    others = remember(store, Draft("Npm", "This code base builds with npm.", "decision", source=ASSISTANT))
    said = {"title": "Npm", "content": "This code base builds with npm 11.", "level": "project"}
    arguments = said if verb == "remember" else {"id": others.memory.id}

    answer = claude(verb, **arguments, links=f"Supersedes: {persons.memory.id}, src/build.js")

    assert f"{persons.memory.id} stays active: only the person can replace it." in answer
    assert persons.memory.id in [row.id for row in list_memories(store, Filter()).rows]
