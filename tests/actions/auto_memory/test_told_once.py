"""What Claude Code tells by itself is not told twice."""

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mcp_server.actions.context.brief import brief
from mcp_server.actions.context.claude_md import current_block
from mcp_server.actions.context.inject import inject
from mcp_server.actions.exchange.imports.batch import Outcome
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.adapters import auto_memory_folder
from mcp_server.adapters.auto_memory_folder import slug_of
from mcp_server.core.memory import Draft
from mcp_server.store import Store
from tests.actions.auto_memory.folder_of_claude import PARQUET, PROMPT, items_taken_in, topic, total
from tests.conftest import Open
from tests.doors.shell import daybook, output_of
from tests.hook_process import run_hook
from tests.opened import run_daybook

# Not told twice


@pytest.fixture
def known_memory(store: Store, claude: Path, folder: Path) -> str:
    """The id of a memory that came from `exports.md`."""
    topic(folder, "exports", PARQUET)
    return items_taken_in(store, claude)["exports.md"].id


def text_shown(store: Store, *, session: str = "s1") -> str:
    return brief(store).text + current_block(store).text + inject(store.in_session(session), PROMPT)


def test_what_claude_code_tells_is_told_neither_by_a_brief_nor_a_prompt_nor_a_block(
    store: Store, known_memory: str, claude: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "parquet" not in text_shown(store)
    assert "parquet" in read(store, known_memory).memory.text

    monkeypatch.setenv(auto_memory_folder.OFF, "1")
    assert known_memory in brief(store).text
    assert "parquet" in current_block(store).text
    assert known_memory in inject(store.in_session("s2"), PROMPT)


def test_a_subagent_is_told_because_not_every_one_is_given_the_index(
    store: Store, claude: Path, folder: Path
) -> None:
    topic(folder, "exports", "We decided that exports are parquet files.")
    items_taken_in(store, claude)

    assert "parquet" in brief(store, for_subagent=True).text


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "exports.md").unlink(),
        lambda folder: (folder / "exports.md").write_text(f"{PARQUET}!", encoding="utf-8"),
        lambda folder: (folder / "exports.md").write_bytes(
            (folder / "exports.md").read_bytes().replace(b"parquet", b"arrow!!")
        ),
        lambda folder: (folder / "MEMORY.md").unlink(),
        lambda folder: (folder / "MEMORY.md").write_text("- something else\n", encoding="utf-8"),
        lambda folder: (folder / "MEMORY.md").write_text(
            "- filling\n" * 200 + "- [exports](exports.md)\n", encoding="utf-8"
        ),
        lambda folder: (folder / "MEMORY.md").write_text(
            "x" * 25_000 + "\n- [exports](exports.md)\n", encoding="utf-8"
        ),
    ],
    ids=["deleted", "longer", "as long", "no index", "not in it", "below line 200", "behind 25 KB"],
)
def test_it_is_told_again_once_claude_code_does_not_tell_it(
    store: Store, known_memory: str, folder: Path, change: Callable[[Path], object]
) -> None:
    change(folder)

    assert "parquet" in brief(store).text
    assert "parquet" in inject(store.in_session("s1"), PROMPT)


def test_a_topic_file_that_was_only_touched_still_tells_it(
    store: Store, known_memory: str, folder: Path
) -> None:
    os.utime(folder / "exports.md", (1, 1))

    assert "parquet" not in text_shown(store)


def test_a_memory_that_was_pinned_is_told_until_the_next_import(
    store: Store, known_memory: str, claude: Path
) -> None:
    revise(store, known_memory, Revision(pinned=True))
    assert "parquet" in brief(store).text

    items_taken_in(store, claude)
    assert "parquet" not in brief(store).text


def test_a_memory_that_says_more_than_the_topic_file_is_told(
    store: Store, claude: Path, folder: Path
) -> None:
    richer = f"{PARQUET} That is settled."
    memory = remember(store, Draft("Exports", richer, type="context")).memory
    topic(folder, "exports", PARQUET, description="Exports")

    (item,) = items_taken_in(store, claude).values()

    assert (item.outcome, item.id) == (Outcome.MERGED, memory.id)
    assert "settled" in brief(store).text


def test_a_memory_that_says_something_else_by_now_is_told(store: Store, known_memory: str) -> None:
    revise(store, known_memory, Revision(text=f"{PARQUET} They are compressed."))

    assert "compressed" in brief(store).text


@pytest.mark.parametrize(
    ("place", "settings"),
    [
        ("home", {"autoMemoryEnabled": False}),
        ("home", {"env": {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}}),
        ("project", {"autoMemoryEnabled": False}),
    ],
)
def test_settings_that_switch_auto_memory_off_make_us_tell_it(
    store: Store, known_memory: str, claude: Path, project: Path, place: str, settings: dict[str, object]
) -> None:
    path = (claude if place == "home" else project / ".claude") / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(settings), encoding="utf-8")

    assert "parquet" in brief(store).text


def test_another_project_is_told_what_this_ones_index_says_of_the_person(
    store: Store, claude: Path, folder: Path, open_here: Open, tmp_path: Path
) -> None:
    topic(folder, "role", "Ada is a data engineer.", kind="user")
    items_taken_in(store, claude)

    assert "data engineer" not in brief(store).text
    assert "data engineer" in brief(open_here(folder=tmp_path / "blog").store()).text


# The processes


@pytest.fixture
def run(memory_dir: Path, project: Path) -> Callable[..., str]:
    """Run `daybook import auto-memory` in the project; return what it prints."""

    def run_(*words: str, **environment: str) -> str:
        words = ("import", "auto-memory", *words)
        return output_of(daybook(memory_dir, *words, folder=project, **environment))

    return run_


def test_the_hook_leaves_it_out_until_the_topic_file_is_deleted_or_auto_memory_is_off(
    run: Callable[..., str], claude: Path, folder: Path, project: Path, memory_dir: Path, store: Store
) -> None:
    path = topic(folder, "exports", PARQUET)
    topic(folder, "webhook", "The webhook skips body parsing.")
    remember(store, Draft("Colour", "Buttons are green.", type="decision"))
    run()
    event = {"session_id": "s1", "source": "startup", "cwd": str(project)}

    def brief_of_hook(**environment: str) -> str:
        return run_hook(memory_dir, "SessionStart", event, folder=project, **environment).stdout.decode()

    at_first = brief_of_hook()
    assert "green" in at_first
    assert "parquet" not in at_first and "webhook" not in at_first

    off = brief_of_hook(CLAUDE_CODE_DISABLE_AUTO_MEMORY="1")
    assert "parquet" in off and "webhook" in off

    path.unlink()
    afterwards = brief_of_hook()
    assert "parquet" in afterwards and "webhook" not in afterwards


def test_the_command_tells_what_was_taken_in_and_what_was_not(
    run: Callable[..., str], claude: Path, folder: Path
) -> None:
    topic(folder, "exports", PARQUET)
    (folder / "empty.md").write_bytes(b"")

    dry = run("--dry-run")
    output = run()
    again = json.loads(run("--json"))

    assert "would be" in dry and "exports.md" in dry
    assert "1 taken, 1 refused" in output and "A memory needs text." in output
    (source,) = again["sources"]
    assert source["place"] == str(folder)
    assert {item["key"]: item["outcome"] for item in source["items"]} == {
        "empty.md": "refused",
        "exports.md": "unchanged",
    }


def test_only_the_person_may_say_where_claude_codes_folder_is(
    run: Callable[..., str], claude: Path, project: Path
) -> None:
    place = project / "config" / "projects" / slug_of(project) / "memory"
    place.mkdir(parents=True)
    topic(place, "exports", PARQUET)
    assert "exports.md" in run("--dry-run", CLAUDE_CONFIG_DIR=str(project / "config"))

    (project / ".claude").mkdir()
    settings = json.dumps({"env": {"CLAUDE_CONFIG_DIR": str(project / "config")}})
    (project / ".claude" / "settings.json").write_text(settings, encoding="utf-8")
    assert "keeps no memory" in run("--dry-run", CLAUDE_CONFIG_DIR=str(project / "config"))


def test_two_imports_at_once_take_everything_in_once(
    memory_dir: Path, project: Path, claude: Path, folder: Path, store: Store
) -> None:
    topic(folder, "exports", PARQUET)
    topic(folder, "webhook", "The webhook skips body parsing.")
    topic(folder, "colours", "Buttons on the landing page are green.")
    topic(folder, "deploys", "Ada starts each deploy by hand at noon.")

    with ThreadPoolExecutor(2) as pool:
        words = ("import", "auto-memory", "--json")
        processes = pool.map(lambda _: run_daybook(memory_dir, *words, cwd=project), range(2))
        reports = [json.loads(output_of(process)) for process in processes]

    outcomes = [{item["outcome"] for item in report["sources"][0]["items"]} for report in reports]
    assert sorted(outcomes, key=min) == [{"taken"}, {"unchanged"}]
    sync(store)
    assert total(store) == 4


def test_the_command_says_in_one_sentence_that_there_is_nothing(
    run: Callable[..., str], claude: Path, project: Path
) -> None:
    place = claude / "projects" / slug_of(project) / "memory"

    nothing = f"There is nothing to import from {place}.\n"
    assert run().startswith(f"{nothing}Claude Code keeps no")

    place.mkdir(parents=True)
    assert run() == nothing
