"""Reading page by page ends, whatever a server answers."""

from collections.abc import Sequence

from mcp_server.core.storage.port import Stored, all_pages
from tests.actions.team.people import memory


def test_a_server_that_gives_the_same_page_again_is_asked_once_more() -> None:
    asked: list[str] = []

    def page(*, after: str, most: int) -> Sequence[Stored]:
        asked.append(after)
        return [Stored(memory(f"memory-{number}"), "") for number in range(most)]

    assert [len(stored) for stored in all_pages(page, 2)] == [2]
    assert asked == ["", "memory-1"]
