"""A file or folder whose name cannot travel stays here, is named, and holds nothing else up."""

import os
from pathlib import Path

import pytest

from mcp_server.actions.remote.exchange import exchange
from mcp_server.doors.shown.remote import exchanged
from tests.actions.remote.conftest import Machines
from tests.actions.remote.histories import says
from tests.memories import stored

TEXT = "---\nid: kind\ntitle: Kind\n---\nA kind memory.\n"


def write_memory(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.write_text(TEXT, encoding="utf-8")
    except OSError:
        pytest.skip("this system holds no such name either")


@pytest.mark.parametrize(
    ("name", "name_shown"),
    [
        (os.fsdecode(b"caf\xe9.md"), "caf\\xe9.md"),
        ("two\nlines.md", "two lines.md"),
        ("con.md", "con.md"),
        ("a:b.md", "a:b.md"),
    ],
)
def test_a_file_with_such_a_name_stays_here(machines: Machines, name: str, name_shown: str) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    write_memory(desk.home / "knowledge" / name)
    other = stored(desk, "Deploys start from release.")

    from_desk, from_laptop = exchange(desk), exchange(laptop)

    rows = exchanged(from_desk).rows
    assert ("stays here", f"knowledge/{name_shown} has a name that other systems do not allow") in rows
    assert from_laptop.added == (other,)
    assert exchange(desk).given == 0


@pytest.mark.parametrize("name", ["Copy of shop", "user", os.fsdecode(b"caf\xe9")])
def test_a_folder_of_projects_that_is_none_stays_here(machines: Machines, name: str) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    folder = desk.home / "projects" / name
    write_memory(folder / "knowledge" / "kind.md")
    (folder / "project.json").write_text('{"name": "shop"}', encoding="utf-8")

    report = exchange(desk)
    exchange(laptop)

    readable = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    assert report.held == {f"projects/{readable}": "has a name that no project has"}
    assert exchange(desk).given == 0
    assert says(laptop) == {}
