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
    return [(link_of.rel, link_of.to) for link_of in read(store, memory_id).memory.links]


@pytest.fixture
def four_ids(store: Store) -> list[str]:
    return [put(store, text) for text in FIVE]


def test_guessed_links_go_once_and_what_somebody_wrote_stays(store: Store, four_ids: list[str]) -> None:
    first, second, third, *_ = four_ids
    before = files_of(store)
    link(store, first, third, "contradicts")
    link(store, first, third, "refines")
    edited = files_of(store)
    guess(store, first, second)
    guess(store, third, second)
    assert len(links(store, first)) == 3

    report = tidy(store)

    assert "taken back: 2 links 'contradicts' that nobody had said" in [
        line(entry) for entry in report.entries
    ]
    assert files_of(store) == {**edited, **{path: before[path] for path in edited if third in path}}
    link(store, third, second, "contradicts")
    rebuild(store)
    assert tidy(store).entries == []
    assert links(store, third) == [("contradicts", second)]


def test_a_guess_that_somebody_wrote_again_stays(store: Store, four_ids: list[str]) -> None:
    first, second, *_ = four_ids
    guess(store, first, second)
    revise(store, first, Revision(links=()))
    link(store, first, second, "contradicts")

    assert tidy(store).entries == []
    assert links(store, first) == [("contradicts", second)]


def test_the_next_session_is_told_once_and_it_can_be_undone(store: Store, four_ids: list[str]) -> None:
    guess(store, four_ids[0], four_ids[1])
    tidy(store)

    notice_text = sentence(notice(store, identity=""))

    assert notice_text.startswith("Daybook: removed from your files: 1 link 'contradicts'")
    assert "'daybook review'" in notice_text
    assert "taken out" not in sentence(notice(store, identity=""))
    undo(store)
    assert links(store, four_ids[0]) == [("contradicts", four_ids[1])]
