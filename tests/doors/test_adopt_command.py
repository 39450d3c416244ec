"""A moved project in a terminal: what is told of it, and the command that takes its memory over."""

import json
from pathlib import Path

from tests.doors.shell import Run, output_of


def test_a_moved_project_is_told_of_and_adopted_by_its_person(
    run: Run, typed: Run, project: Path, memory_dir: Path
) -> None:
    output_of(run("remember", "Webhook | It needs the raw body."))
    (key,) = (place.name for place in (memory_dir / "projects").iterdir())
    project.rename(project.with_name("before"))
    project.mkdir()
    (memory_dir / "projects" / key).rename(memory_dir / "projects" / "shop-00000000")
    noted = memory_dir / "projects" / "shop-00000000" / "project.json"
    about = json.loads(noted.read_text())
    noted.write_text(json.dumps({**about, "root": "/nowhere/shop"}))

    where = output_of(run("where"))
    assert "perhaps  /nowhere/shop, which is gone" in where
    assert "'daybook adopt shop-00000000'" in output_of(run("status"))
    by_claude = run("adopt")
    assert by_claude.returncode and "daybook adopt" in by_claude.stderr
    assert "1 memory of /nowhere/shop moved here." in output_of(typed("adopt"))
    assert "raw body" in output_of(run("recall", "webhook"))
    assert "perhaps" not in output_of(run("where"))
