"""K5: nobody who opens, looks at, closes or inherits an index takes a row from somebody else."""

from pathlib import Path

from tests.conftest import Run


def test_no_row_is_lost_while_others_open_and_close_the_index(run_program: Run, tmp_path: Path) -> None:
    report = run_program("three_processes", tmp_path, "ours")

    assert report == {"rows": ["1 A", "2 A after a close look", "3 C", "4 A"]}


def test_the_same_scenario_shows_what_opening_the_file_by_other_means_costs(
    run_program: Run, tmp_path: Path
) -> None:
    report = run_program("three_processes", tmp_path, "raw")

    assert report["rows"] != ["1 A", "3 C", "4 A"], "a row should be missing"


def test_a_child_gets_a_connection_of_its_own_and_its_parent_keeps_its(
    run_program: Run, tmp_path: Path
) -> None:
    report = run_program("three_processes", tmp_path, "fork")

    assert report == {"rows": ["1 parent", "2 child", "3 parent", "4 parent"]}
