"""What a rewrite changes in a file, and what it leaves alone."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mcp_server.adapters.memory_file import parse, render, rewrite
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import Kind, Status

MODIFIED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def read(data: bytes, kind: Kind = Kind.KNOWLEDGE) -> Memory:
    return parse(data, path=f"{kind.folder}/a-file.md", kind=kind, archived=False, modified=MODIFIED)


def check_rewrite(before: str, after: str, **changes: Any) -> None:
    old = read(before.encode())
    new = replace(old, **changes)
    assert rewrite(before.encode(), new, path="knowledge/a-file.md").decode() == after
    assert read(after.encode()) == new


def test_a_file_with_64_keys_is_not_given_one_more() -> None:
    data = ("---\nid: x\n" + "".join(f"k{n}: v\n" for n in range(63)) + "---\n").encode()
    with pytest.raises(Rejected, match="64 keys"):
        rewrite(data, replace(read(data), pinned=True), path="knowledge/x.md")


def test_only_the_lines_that_changed_are_replaced() -> None:
    check_rewrite(
        "---\n"
        "# mine\n"
        "updated: 2026-11-20T12:00:00Z # by hand\n"
        "title:   'Old title'   # why\n"
        "\n"
        "tags:  # two of them\n"
        "  # the first\n"
        "  - a # main\n"
        "\n"
        "  - b\n"
        "  # after them\n"
        "aliases: [ x ]\n"
        "id: x\n"
        "pinned: yes # always\n"
        "created: 2026-11-20\n"
        "---\n"
        "\n"
        "Old text.  \n"
        "\n",
        "---\n"
        "# mine\n"
        "updated: 2026-11-20T12:00:00Z # by hand\n"
        "title: New title   # why\n"
        "\n"
        "tags: [c]  # two of them\n"
        "  # the first\n"
        "# main\n"
        "\n"
        "  # after them\n"
        "aliases: [ x ]\n"
        "id: x\n"
        "# always\n"
        "created: 2026-11-20\n"
        "category: d\n"
        "---\n"
        "\n"
        "New text.\n"
        "\n",
        title="New title",
        tags=("c",),
        pinned=False,
        category="d",
        text="New text.",
    )


def test_a_file_without_frontmatter_gets_one_above_its_untouched_text() -> None:
    before = "\ufeff\r\n---\r\n# Heading\r\nText  \r\n"
    data = before.encode()
    new = replace(read(data), tags=("a",), updated=NOON)
    assert rewrite(data, new, path="knowledge/a-file.md").decode() == (
        "\ufeff---\r\nid: a-file\r\ntitle: Heading\r\ntype: note\r\ntags: [a]\r\n"
        "created: 2026-01-02T03:04:05Z\r\nupdated: 2026-11-20T12:00:00Z\r\nsource: manual\r\n---\r\n"
        "\r\n---\r\n# Heading\r\nText  \r\n"
    )


def test_a_changed_file_says_what_its_name_and_its_date_told_before() -> None:
    check_rewrite(
        "---\ncolor: red\n---\n# Heading\n",
        "---\ncolor: red\nid: a-file\ncreated: 2026-01-02T03:04:05Z\nupdated: 2026-11-20T12:00:00Z\n"
        "pinned: true\n---\n# Heading\n",
        pinned=True,
        updated=NOON,
    )


def test_a_title_that_the_file_name_told_is_written_because_the_archive_renames() -> None:
    data = b"---\nid: x\ncreated: 2026-11-20\nupdated: 2026-11-20\n---\nWords.\n"
    path = "knowledge/On Words.md"
    memory = parse(data, path=path, kind=Kind.KNOWLEDGE, archived=False, modified=MODIFIED)
    assert b"title: On Words\n" in rewrite(data, replace(memory, status=Status.ARCHIVED), path=path)


def test_a_title_is_written_once_the_heading_no_longer_tells_it() -> None:
    check_rewrite(
        "---\nid: x\ncreated: 2026-11-20\nupdated: 2026-11-20\n---\n# Heading\n",
        "---\nid: x\ncreated: 2026-11-20\nupdated: 2026-11-20\ntitle: Heading\n---\nWords.\n",
        text="Words.",
    )


def test_a_value_over_several_lines_goes_as_a_whole_and_leaves_no_words_behind() -> None:
    dates = "id: x\ntitle: x\ncreated: 2026-11-20\nupdated: 2026-11-20\n"
    check_rewrite(
        f"---\n{dates}"
        "evidence: | # as said\n"
        "  # words, no comment\n"
        "\n"
        "  more words\n"
        "\n"
        "# a comment\n"
        "category: 'several\n"
        "\n"
        "  # lines' # of what\n"
        "session: words\n"
        "  and words\n"
        "---\n",
        f"---\n{dates}evidence: a # as said\n\n# a comment\ncategory: b\n# of what\nsession: c\n---\n",
        evidence="a",
        category="b",
        session="c",
    )


def test_indented_keys_get_indented_company() -> None:
    check_rewrite(
        "---\n  id: x\n  title: x\n  created: 2026-11-20\n  updated: 2026-11-20\n  tags: [a]\n---\n",
        "---\n  id: x\n  title: x\n  created: 2026-11-20\n  updated: 2026-11-20\n"
        "  tags: [b]\n  notes:\n    - c\n---\n",
        tags=("b",),
        notes=("c",),
    )


def test_blank_lines_above_the_frontmatter_stay() -> None:
    check_rewrite(
        "\n \n---\nid: x\ntitle: x\ncreated: 2026-11-20\nupdated: 2026-11-20\ntags: [a]\n---\nText\n",
        "\n \n---\nid: x\ntitle: x\ncreated: 2026-11-20\nupdated: 2026-11-20\ntags: [b]\n---\nText\n",
        tags=("b",),
    )


def test_a_file_that_ends_with_its_frontmatter_gets_a_text() -> None:
    check_rewrite(
        "---\nid: x\ntitle: x\ncreated: 2026-11-20\nupdated: 2026-11-20\n---",
        "---\nid: x\ntitle: x\ncreated: 2026-11-20\nupdated: 2026-11-20\n---\nx\n",
        text="x",
    )


@pytest.mark.parametrize(
    ("word", "archived", "status"),
    [
        ("", False, Status.ACTIVE), ("", True, Status.ARCHIVED),
        ("active", False, Status.ACTIVE), ("active", True, Status.ARCHIVED),
        ("archived", False, Status.ARCHIVED), ("archived", True, Status.ARCHIVED),
        ("orphaned", False, Status.ACTIVE), ("orphaned", True, Status.ORPHANED),
        ("superseded", False, Status.SUPERSEDED), ("superseded", True, Status.SUPERSEDED),
    ],
)  # fmt: skip
def test_a_memory_is_archived_by_its_folder_or_by_its_word(word: str, archived: bool, status: Status) -> None:
    path = "archive/x.md" if archived else "knowledge/x.md"
    data = f"---\nid: x\nstatus: {word}\n---\nx\n".encode()
    memory = parse(data, path=path, kind=Kind.KNOWLEDGE, archived=archived, modified=MODIFIED)
    assert memory.status is status
    assert rewrite(data, memory, path=path) == data


def test_a_status_left_over_from_another_folder_goes_with_the_next_change() -> None:
    before = "---\nid: x\ntitle: x\ncreated: 2026-11-20\nupdated: 2026-11-20\nstatus: archived\n"
    before += "archived_reason: aged\n---\n"
    assert read(before.encode()).status is Status.ACTIVE
    after = before.replace("status: archived\n", "").replace("aged\n", "aged\npinned: true\n")
    check_rewrite(before, after, pinned=True)


def test_a_file_that_says_already_that_it_is_archived_only_has_to_be_moved() -> None:
    data = b"---\ntitle: x\nstatus: archived\n---\n"
    memory = replace(read(data), status=Status.ARCHIVED)
    assert rewrite(data, memory, path="knowledge/a-file.md") == data


def test_a_session_that_is_archived_and_restored_stays_a_session() -> None:
    session = Memory(id="x", title="Monday", text="x", created=NOON, updated=NOON, kind=Kind.SESSION)
    data = render(session)
    assert b"kind" not in data
    archived = replace(session, status=Status.ARCHIVED, archived_reason="aged")
    put_away = rewrite(data, archived, path="sessions/x.md")
    assert b"kind: session\nstatus: archived\narchived_reason: aged\n---" in put_away
    memory = parse(put_away, path="archive/x.md", kind=Kind.KNOWLEDGE, archived=True, modified=MODIFIED)
    assert memory == archived
    restored = rewrite(put_away, session, path="archive/x.md")
    assert b"status" not in restored
    assert read(restored, Kind.SESSION) == session


def test_dates_are_compared_as_they_are_written() -> None:
    data = render(Memory(id="x", title="x", text="x", created=NOON, updated=NOON))
    later_in_the_second = NOON + timedelta(microseconds=5)
    assert rewrite(data, replace(read(data), updated=later_in_the_second), path="knowledge/x.md") == data
