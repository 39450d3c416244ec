"""bin/daybook, really run, with nothing downloaded."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.machine import PYTHON, UV, Machine, finish
from tests.patience import PATIENCE

SETTING_UP = "daybook: setting up its Python environment (once, about a minute) ...\n"
MARKED = "marked"  # the module in the client reached no server with a prompt of #remember


def test_without_python_it_says_so_in_one_line(bare: Machine) -> None:
    line = "daybook: Python 3.11 or newer is needed; found nothing. Install it, then run this again.\n"
    assert bare.run("recall", "anything") == (1, "", line)


def test_a_python_that_is_too_old_is_named_and_one_that_is_only_a_name_is_not(bare: Machine) -> None:
    bare.put("python3.14", "#!/bin/sh\necho 'python3.14: command not found' >&2\nexit 127\n")
    bare.put("python3", "#!/bin/sh\necho 3.9.18\n")
    assert "needed; found python3, which is 3.9.18. Install" in bare.run("where")[2]
    bare.put("python", Path(PYTHON))
    bare.put("uv", UV)
    assert bare.probe("where")["args"] == ["where"]


def test_the_first_run_sets_up_and_later_ones_start_at_once(machine: Machine) -> None:
    code, out, err = machine.run("recall", "two words", "--json")
    assert (code, err) == (0, SETTING_UP)
    answer = json.loads(out)
    assert (answer["module"], answer["args"]) == ("mcp_server.doors.cli", ["recall", "two words", "--json"])
    assert answer["prefix"] == str(machine.venv)
    assert machine.run("where")[2] == ""
    assert machine.installs() == 1


def test_python_makes_the_environment_when_uv_fails(bare: Machine) -> None:
    bare.put("python3", Path(PYTHON))
    bare.put("uv", "#!/bin/sh\nexit 2\n")
    assert bare.probe("where")["prefix"] == str(bare.venv)
    assert (bare.venv / "bin" / "pip").exists()


def test_a_python_that_cannot_make_environments_says_which_package_to_install(bare: Machine) -> None:
    answers = 'case "$*" in *ensurepip*) exit 1 ;; *realpath*) echo "$0" ;; *)'
    bare.put("python3", f'#!/bin/sh\n{answers} exec "{PYTHON}" "$@" ;; esac\n')
    code, out, err = bare.run("where")
    assert (code, out) == (1, "")
    assert "python3-venv" in err


def test_an_install_that_fails_shows_why_and_where_the_log_is(bare: Machine) -> None:
    bare.put("python3", Path(PYTHON))
    bare.requirements.write_text("nowhere @ file:///nowhere/nowhere-1.0.tar.gz\n", encoding="utf-8")
    code, out, err = bare.run("where")
    assert (code, out) == (1, "")
    assert "No such file or directory" in err
    assert err.endswith(f" The whole log is {bare.venv}/setup.log\n")


@pytest.mark.parametrize("name", ["with spaces and 'quotes\" $HOME", "Übung-日記"])
def test_it_works_in_a_folder_of_any_name_and_through_links(tmp_path: Path, name: str) -> None:
    machine = Machine(tmp_path / name)
    relative = machine.root / "bin" / "relative"
    relative.symlink_to("daybook")
    link = machine.put("daybook", relative)
    answer = machine.probe("where", launcher=link)
    assert answer["prefix"] == str(machine.venv)
    assert answer["env"]["PYTHONPATH"] == str(machine.root)


def test_neither_the_working_folder_nor_the_persons_settings_choose_the_code(machine: Machine) -> None:
    other = machine.home / "mcp_server" / "doors"
    other.mkdir(parents=True)
    (other / "cli.py").write_text("print('not ours')", encoding="utf-8")
    wrong = {"PYTHONPATH": str(machine.home), "PYTHONHOME": "/nowhere"}
    assert machine.probe("where", **wrong)["module"] == "mcp_server.doors.cli"


def test_changed_requirements_make_the_environment_anew(machine: Machine) -> None:
    machine.run("where")
    (machine.venv / "lib" / "left-over").touch()
    machine.requirements.write_text("# another\n", encoding="utf-8")
    assert machine.run("where")[2] == SETTING_UP
    assert machine.installs() == 2
    assert not (machine.venv / "lib" / "left-over").exists()


def test_an_environment_whose_python_is_gone_is_made_anew(machine: Machine) -> None:
    machine.run("where")
    (machine.venv / "bin" / "python").unlink()
    (machine.venv / "bin" / "python").symlink_to("/nowhere/python3")
    assert machine.probe("where")["prefix"] == str(machine.venv)


def test_many_at_once_make_one_environment(machine: Machine) -> None:
    machine.close_gate()
    several = [machine.start("where") for _ in range(6)]
    machine.wait_for_arrival()
    assert [process.stderr and process.stderr.readline() for process in several] == [SETTING_UP] * 6
    assert not machine.somebody_arrives(seconds=0.5)
    machine.open_gate()
    assert [finish(process)[0] for process in several] == [0] * 6
    assert machine.installs() == 1


def test_a_set_up_killed_half_way_leaves_nothing_in_the_way(machine: Machine) -> None:
    machine.close_gate()
    killed = machine.start("where")
    machine.wait_for_arrival()
    os.killpg(killed.pid, signal.SIGKILL)
    finish(killed)
    assert (machine.venv / "half-made").exists()
    (machine.home / "gate").unlink()
    assert machine.probe("where")["prefix"] == str(machine.venv)
    assert not (machine.venv / "half-made").exists()


def test_an_installer_that_outlives_the_killed_set_up_is_waited_for(machine: Machine) -> None:
    machine.close_gate()
    (machine.home / "orphan").touch()
    killed = machine.start("where")
    machine.wait_for_arrival()
    assert finish(killed)[0] == 1
    after = machine.start("where")
    assert after.stderr and after.stderr.readline() == SETTING_UP
    assert not machine.somebody_arrives(seconds=0.5)
    machine.open_gate()
    assert finish(after)[0] == 0
    assert machine.installs() == 2


def test_a_folder_that_is_not_ours_is_left_alone(machine: Machine) -> None:
    theirs = machine.home / "thesis"
    theirs.mkdir()
    (theirs / "chapter-1").touch()
    code, _, err = machine.run("where", DAYBOOK_VENV=str(theirs))
    assert (code, [path.name for path in theirs.iterdir()]) == (1, ["chapter-1"])
    assert err.startswith(f"daybook: {theirs} was not made by Daybook.")


def test_a_checkout_keeps_its_environment_in_itself(machine: Machine) -> None:
    (machine.root / ".git").mkdir()
    assert machine.probe("where")["prefix"] == str(machine.root / ".venv")


def test_an_installed_plugin_finds_one_environment_however_it_is_called(tmp_path: Path) -> None:
    plugins = tmp_path / "home" / ".claude" / "plugins"
    machine = Machine(tmp_path, root=plugins / "cache" / "the-market" / "daybook" / "0.1.0")
    (machine.root / ".git").mkdir()  # an installed copy may carry its history; still nothing is put into it
    data = plugins / "data" / "daybook-the-market"
    machine.run("setup-environment")
    by_claude = machine.probe("serve", CLAUDE_PLUGIN_ROOT=str(machine.root), CLAUDE_PLUGIN_DATA=str(data))
    assert by_claude["prefix"] == str(data / "venv")
    assert machine.probe("where")["prefix"] == str(data / "venv")
    other = {"CLAUDE_PLUGIN_ROOT": str(machine.home), "CLAUDE_PLUGIN_DATA": str(machine.home / "other")}
    assert machine.probe("where", **other)["prefix"] == str(data / "venv")
    assert machine.installs() == 1
    assert not list(machine.root.rglob("__pycache__"))


def test_serve_becomes_the_server(machine: Machine) -> None:
    machine.run("setup-environment")
    process = machine.start("serve")
    code, out, err = finish(process)
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert (answer["module"], answer["pid"]) == ("mcp_server.__main__", process.pid)


def test_serve_before_the_environment_is_there_becomes_the_waiting_room_on_any_python(
    machine: Machine,
) -> None:
    answer = machine.probe("serve")
    assert answer["module"] == "mcp_server.doors.waiting_room"
    assert answer["args"] == [str(machine.root / "bin" / "daybook")]
    assert (answer["env"]["DAYBOOK_VENV"], answer["site"]) == (str(machine.venv), False)
    assert list(machine.home.iterdir()) == list(machine.root.rglob("__pycache__")) == []


def test_without_a_python_the_start_of_a_session_says_so_and_no_hook_says_more(bare: Machine) -> None:
    missing = "Daybook needs Python 3.11 or newer and found {}, so nothing is remembered. "
    after = "Install it, then start a new session."
    assert json.loads(bare.run("hook", "SessionStart")[1]) == {
        "systemMessage": missing.format("nothing") + after
    }
    bare.put("python3", "#!/bin/sh\necho 3.10.13\n")
    code, out, err = bare.run("hook", "SessionStart")
    assert (code, err) == (0, "")
    sentence = missing.format("python3, which is 3.10.13") + after
    assert json.loads(out) == {"systemMessage": sentence}
    odd = bare.put('py "3" \\', "#!/bin/sh\necho 3.10.13\n")
    answer = json.loads(bare.run("hook", "SessionStart", DAYBOOK_PYTHON=str(odd))[1])
    assert answer == {"systemMessage": missing.format("one that is older") + after}
    for event in ("UserPromptSubmit", "SubagentStart", "Stop", "PreCompact", "SessionEnd"):
        assert bare.run("hook", event) == (0, "", "")
    assert list(bare.home.iterdir()) == []


def test_a_hook_does_nothing_where_the_module_in_the_client_says_that_it_is_there(machine: Machine) -> None:
    with_module = {"DAYBOOK_MODULE": "s1", "CLAUDE_CODE_SESSION_ID": "s1"}
    for event in ("UserPromptSubmit", "Stop"):
        assert machine.run("hook", event, **with_module) == (0, "", "")
    assert machine.probe("hook", "SubagentStart", **with_module)["args"] == ["SubagentStart"]
    # After a /clear, or in a session that was started in this one.
    assert machine.probe("hook", "UserPromptSubmit", **with_module | {"CLAUDE_CODE_SESSION_ID": "s2"})["args"]
    machine.run("setup-environment")
    assert machine.run("hook", "UserPromptSubmit", DAYBOOK_MODULE="away") == (0, "", "")
    for module in ("", MARKED):
        assert machine.probe("hook", "UserPromptSubmit", DAYBOOK_MODULE=module)["args"]


WRITES_DOWN = """
import os, sys
open(os.environ["HOME"] + "/go").read()
heard = sys.stdin.read()
open(os.environ["HOME"] + "/heard", "w").write(f"{len(heard)} {sys.argv[1]}")
"""


@pytest.mark.parametrize("module", ["", MARKED])
def test_what_an_answer_leaves_to_be_done_goes_on_without_the_launcher_and_hears_all(
    machine: Machine, module: str
) -> None:
    machine.run("setup-environment")
    (machine.root / "mcp_server" / "doors" / "hooks.py").write_text(WRITES_DOWN, encoding="utf-8")
    for name in ("go", "heard"):
        os.mkfifo(machine.home / name)
    launcher = machine.start("hook", "Stop", stdin=subprocess.PIPE, DAYBOOK_MODULE=module)

    assert launcher.communicate("x" * 300_000, timeout=PATIENCE) == ("", "")
    assert launcher.returncode == 0
    (machine.home / "go").write_text("", encoding="utf-8")
    assert (machine.home / "heard").read_text(encoding="utf-8") == "300000 Stop"


def test_a_hook_runs_before_the_environment_is_there_and_starts_its_making(machine: Machine) -> None:
    assert machine.probe("hook", "SubagentStart")["env"]["DAYBOOK_SETUP"] == "missing"
    assert list(machine.home.iterdir()) == list(machine.root.rglob("__pycache__")) == []
    machine.close_gate()
    answer = machine.probe("hook", "SessionStart")  # returns though the set-up stands at the gate
    assert (answer["module"], answer["args"]) == ("mcp_server.doors.hooks", ["SessionStart"])
    machine.wait_for_arrival()
    machine.open_gate()
    machine.run("setup-environment")
    assert machine.installs() == 1
    answer = machine.probe("hook", "SessionStart")
    assert "DAYBOOK_SETUP" not in answer["env"]
    assert not answer["site"]


def test_a_hook_succeeds_whatever_becomes_of_python(machine: Machine) -> None:
    assert machine.run("hook", "SessionEnd", HOME="")[0] == 0
    machine.run("setup-environment")
    for code in ("raise SystemExit(2)", "this is no Python", "import os; os.kill(os.getpid(), 9)"):
        (machine.root / "mcp_server" / "doors" / "hooks.py").write_text(code, encoding="utf-8")
        assert machine.run("hook", "SessionStart")[:2] == (0, "")
