"""Where bin/daybook makes its environment: any folder, a full disk, and never a second one."""

import json
import resource
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.machine import (
    PATIENCE,
    PYTHON,
    Machine,
    as_nobody_special,
    finish,
    half_made,
    own_index,
    start_until_ready,
    told_at_start,
    wheel,
)


def run_bound(machine: Machine, before: Callable[[], None], *args: str, **env: str) -> tuple[int, str, str]:
    process = subprocess.run(
        [machine.root / "bin" / "daybook", *args],
        env={"HOME": str(machine.home), "PATH": str(machine.path), **env},
        cwd=machine.home,
        preexec_fn=before,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )
    return process.returncode, process.stdout, process.stderr


def all_below(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def test_the_plugins_folder_is_only_read(machine: Machine) -> None:
    (machine.root / ".git").mkdir()
    before = all_below(machine.root)
    for path in (machine.root, *(path for path in before if path.is_dir())):
        path.chmod(0o555)
    refused = subprocess.run(
        ["mkdir", machine.root / "new"], preexec_fn=as_nobody_special, capture_output=True, check=False
    )

    answers = [
        run_bound(machine, as_nobody_special, *args)
        for args in (["hook", "SessionStart"], ["where"], ["serve"])
    ]
    for path in (machine.root, *(path for path in before if path.is_dir())):
        path.chmod(0o755)

    assert refused.returncode
    assert [code for code, _, _ in answers] == [0, 0, 0]
    assert [json.loads(out)["prefix"] for _, out, _ in answers[1:]] == [str(machine.venv)] * 2
    assert all_below(machine.root) == before


def test_a_place_for_the_environment_that_cannot_be_written_to_is_told_when_a_session_starts(
    machine: Machine,
) -> None:
    closed = machine.home / "closed"
    closed.mkdir(mode=0o555)
    venv = closed / "venv"

    code, out, err = run_bound(machine, as_nobody_special, "hook", "SessionStart", DAYBOOK_VENV=str(venv))

    assert (code, err) == (0, "")
    problem = json.loads(out)["env"]["DAYBOOK_SETUP_FAILED"]
    assert problem == f"cannot write to {venv}; set DAYBOOK_VENV to another folder."


ROOM = 20 << 20  # bytes that a file may have, of which pip takes a few for itself


def test_a_full_disk_is_told_leaves_nothing_half_made_and_with_room_it_is_set_up(
    bare: Machine, tmp_path: Path
) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))

    bare.put("python3", Path(PYTHON))
    bare.requirements.write_text("thing==1.0\n", encoding="utf-8")
    env = own_index(wheel(tmp_path / "wheels", size=2 * ROOM))

    code, out, err = run_bound(bare, limit, "where", **env)

    full = f"the disk is full. Make room for its Python environment, some 350 MB in {bare.venv}."
    assert (code, out) == (1, "")
    assert f"daybook: {full} The whole log" in err.splitlines()[-1]
    assert half_made(bare.venv) == []
    assert told_at_start(bare, **env) == full
    start_until_ready(bare, **env)


def test_on_a_disk_that_is_really_full_a_session_says_so_and_no_prompt_does(
    bare: Machine, small_disk: Path
) -> None:
    bare.put("python3", Path(PYTHON))
    venv = small_disk / "venv"
    bare.run("where", DAYBOOK_VENV=str(venv))  # pip alone takes more
    with open(small_disk / "ballast", "wb", buffering=0) as ballast:
        try:
            while ballast.write(b"x" * 4096):
                pass
        except OSError:
            pass

    code, _, err = bare.run("where", DAYBOOK_VENV=str(venv))
    sentence = told_at_start(bare, DAYBOOK_VENV=str(venv))
    prompts = [bare.probe("hook", "UserPromptSubmit", DAYBOOK_VENV=str(venv)) for _ in range(2)]

    full = f"the disk is full. Make room for its Python environment, some 350 MB in {venv}."
    assert (code, full in err) == (1, True)
    assert sentence == full
    assert [hook_answer["env"]["DAYBOOK_SETUP_FAILED"] for hook_answer in prompts] == ["", ""]


# One environment


def plugin_read_from_a_folder(machine: Machine) -> dict[str, str]:
    """Return what Claude Code says to hooks and servers of a plugin that it reads from a git folder."""
    (machine.root / ".git").mkdir()
    data = machine.home / ".claude" / "plugins" / "data" / "daybook-daybook"
    return {"CLAUDE_PLUGIN_ROOT": str(machine.root), "CLAUDE_PLUGIN_DATA": str(data)}


def test_the_shell_uses_the_environment_of_a_plugin_that_is_read_from_a_git_folder(machine: Machine) -> None:
    plugin = plugin_read_from_a_folder(machine)
    machine.close_gate()
    machine.run("hook", "SessionStart", **plugin)
    machine.wait_for_arrival()
    shell = machine.start("where")  # Claude's, or the person's, while the session's is still being made
    machine.open_gate()

    code, out, _ = finish(shell)

    assert (code, json.loads(out)["prefix"]) == (0, f"{plugin['CLAUDE_PLUGIN_DATA']}/venv")
    assert machine.installs() == 1
    assert not (machine.root / ".venv").exists()


def test_a_plugin_that_is_read_from_a_folder_uses_the_environment_that_a_shell_made_there(
    machine: Machine,
) -> None:
    plugin = plugin_read_from_a_folder(machine)
    machine.run("where")

    assert machine.probe("serve", **plugin)["prefix"] == str(machine.root / ".venv")
    assert machine.installs() == 1


def test_a_session_from_before_an_update_does_not_take_the_environment_away(tmp_path: Path) -> None:
    plugins = tmp_path / "home" / ".claude" / "plugins"
    old = Machine(tmp_path, root=plugins / "cache" / "market" / "daybook" / "1.0")
    new = old.root.with_name("2.0")
    shutil.copytree(old.root, new)
    (new / "requirements.txt").write_text("# other\n", encoding="utf-8")
    installed = plugins / "installed_plugins.json"

    def start(root: Path) -> str:
        return str(
            old.probe("hook", "SessionStart", launcher=root / "bin" / "daybook")["env"][
                "DAYBOOK_SETUP_FAILED"
            ]
        )

    installed.write_text(f'{{"installPath": "{old.root}"}}', encoding="utf-8")
    assert old.run("where")[0] == 0
    installed.write_text(f'{{"installPath": "{new}"}}', encoding="utf-8")
    assert start(new) == ""
    assert (
        old.run("setup-environment", launcher=new / "bin" / "daybook")[0] == 0
    )  # it waits for the other one
    assert start(old.root).startswith("it was updated while this session ran. Type /reload-plugins")
    code, _, err = old.run("setup-environment")  # what a server of that session runs that is started anew
    assert (code, "it was updated while this session ran" in err) == (1, True)

    assert old.probe("where", launcher=new / "bin" / "daybook")["prefix"].endswith("/venv")
    assert old.installs() == 2


def test_a_command_of_another_copy_does_not_take_the_environment_away(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.run("where")
    other = machine.home / "another copy"
    shutil.copytree(machine.root, other)
    (other / "requirements.txt").write_text("# other\n", encoding="utf-8")

    code, out, err = machine.run("where", launcher=other / "bin" / "daybook")

    assert (code, out) == (1, "")
    assert err.startswith(
        f"daybook: the environment in {machine.venv} is that of {machine.root}: use its bin/daybook"
    )
    assert machine.probe("where")["prefix"] == str(machine.venv)
    assert machine.installs() == 1
    assert machine.run("setup-environment", launcher=other / "bin" / "daybook")[0] == 0
    assert machine.probe("where", launcher=other / "bin" / "daybook")["prefix"] == str(machine.venv)
    shutil.rmtree(other)
    assert machine.run("where")[0] == 0  # nobody else's any more
    assert machine.installs() == 3
