"""Links that tidying guessed in earlier versions are taken back once; what somebody wrote stays."""

import pytest

from mcp_server.actions.context.notice import notice
from mcp_server.actions.files.read import read
from mcp_server.actions.files.runs import undo
from mcp_server.actions.files.sync import rebuild
from mcp_server.actions.memory.link import link
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.doors.shown.needs import notice as sentence
from mcp_server.doors.shown.runs import line
from mcp_server.store import Store
from tests.actions.tidy.knowledge import FIVE, files_of, guess, put


def links(store: Store, memory_id: str) -> list[tuple[str, str]]:
    return [(each.rel, each.to) for each in read(store, memory_id).memory.links]


@pytest.fixture
def known(store: Store) -> list[str]:
    return [put(store, text) for text in FIVE]


def test_guessed_links_go_once_and_what_somebody_wrote_stays(store: Store, known: list[str]) -> None:
    one, other, third, *_ = known
    before = files_of(store)
    link(store, one, third, "contradicts")
    link(store, one, third, "refines")
    said = files_of(store)
    guess(store, one, other)
    guess(store, third, other)
    assert len(links(store, one)) == 3

    done = tidy(store)

    assert "taken back: 2 links 'contradicts' that nobody had said" in [line(entry) for entry in done.entries]
    assert files_of(store) == {**said, **{path: before[path] for path in said if third in path}}
    link(store, third, other, "contradicts")
    rebuild(store)
    assert tidy(store).entries == []
    assert links(store, third) == [("contradicts", other)]


def test_a_guess_that_somebody_wrote_again_stays(store: Store, known: list[str]) -> None:
    one, other, *_ = known
    guess(store, one, other)
    revise(store, one, Revision(links=()))
    link(store, one, other, "contradicts")

    assert tidy(store).entries == []
    assert links(store, one) == [("contradicts", other)]


def test_the_next_session_is_told_once_and_it_can_be_undone(store: Store, known: list[str]) -> None:
    guess(store, known[0], known[1])
    tidy(store)

    said = sentence(notice(store, identity=""))

    assert said.startswith("Daybook: removed from your files: 1 link 'contradicts'")
    assert "'daybook review'" in said
    assert "taken out" not in sentence(notice(store, identity=""))
    undo(store)
    assert links(store, known[0]) == [("contradicts", known[1])]
